"""The GPU: the same answers as the CPU where there is one, and clear words where there is none."""

from __future__ import annotations

import subprocess
import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array
from typer.testing import CliRunner

import rfdag
from devices import on_gpu
from rfdag import Rfd, Soft
from rfdag.cli import app
from rfdag.eliminate.beams.gpu import GpuBeam, bytes_of_states
from rfdag.eliminate.beams.soft import SoftBeam
from rfdag.eliminate.engines.gpu import GpuEngine, bytes_of_engine
from rfdag.eliminate.engines.gpu_oracle import GpuOracleEngine, bytes_of_oracle
from rfdag.errors import DataError, DeviceError, OptionError
from rfdag.evidence import gpu as gpu_moments
from rfdag.evidence import gpu_local
from rfdag.evidence.gpu import DeviceMoments, bytes_of_moments
from rfdag.evidence.gpu_local import DeviceCorrelations
from rfdag.evidence.moments import Moments
from rfdag.evidence.reading import read_evidence
from rfdag.methods import preflight
from rfdag.orders import tuning
from rfdag.orders.candidates import Candidates
from rfdag.orders.grams import Grams
from rfdag.runtime import device
from rfdag.simulate import linear_sem, random_dag, sample


def rows_of(p, n, seed=0, degree=6):
    generator = np.random.default_rng(seed)
    return sample(linear_sem(random_dag(p, degree=min(degree, p - 1), rng=generator), generator), n, generator)


class FakeError(RuntimeError):
    pass


def fake_cupy(**runtime):
    """As much of CuPy as the checks before a run ask for."""
    return SimpleNamespace(
        arange=np.arange,
        cuda=SimpleNamespace(
            runtime=SimpleNamespace(CUDARuntimeError=FakeError, **runtime),
            driver=SimpleNamespace(CUDADriverError=type("DriverError", (RuntimeError,), {})),
            memory=SimpleNamespace(OutOfMemoryError=type("OutOfMemory", (MemoryError,), {})),
        ),
        get_default_memory_pool=lambda: SimpleNamespace(free_bytes=lambda: 10),
    )


@pytest.fixture
def with_fake(monkeypatch):
    """Return a function that puts a fake CuPy in place; what was found out with it is forgotten afterwards."""
    device.require_device.cache_clear()
    yield lambda fake: monkeypatch.setitem(sys.modules, "cupy", fake)
    device.require_device.cache_clear()


def test_missing_cupy_names_the_extra(with_fake):
    with_fake(None)
    with pytest.raises(ImportError, match=r"pip install 'rfdag\[cuda\]'.*cupy-cuda12x"):
        rfdag.learn(rows_of(4, 40), device="cuda")


def test_no_device(with_fake):
    with_fake(fake_cupy(getDeviceCount=lambda: 0))
    with pytest.raises(DeviceError, match=r"found no GPU\. Use device='cpu'"):
        rfdag.learn(rows_of(4, 40), device="cuda")


def test_a_driver_that_does_not_work(with_fake):
    def fail():
        raise FakeError("cudaErrorInsufficientDriver")

    with_fake(fake_cupy(getDeviceCount=fail))
    with pytest.raises(RuntimeError, match="no GPU that works: cudaErrorInsufficientDriver"):
        rfdag.learn(rows_of(4, 40), device="cuda")


def test_the_program_says_so_too(with_fake, tmp_path):
    with_fake(fake_cupy(getDeviceCount=lambda: 0))
    np.save(tmp_path / "rows.npy", rows_of(4, 40))
    done = CliRunner().invoke(app, ["learn", str(tmp_path / "rows.npy"), "--device", "cuda"])
    assert done.exit_code == 1
    assert "--device cpu" in " ".join(done.output.split())


def test_memory_is_asked_for_before_any_work(with_fake):
    with_fake(fake_cupy(getDeviceCount=lambda: 1, memGetInfo=lambda: (300 * 2**20, 10**9)))
    rows = np.zeros((4000, 3000))
    with pytest.raises(DeviceError, match=r"3000 variables with a beam of 8 need 2\.\d GB .* 0\.0 GB are free"):
        rfdag.learn(rows, device="cuda")


def test_what_would_fit_is_told():
    free = device.SPARE + 1000 * 100
    with pytest.raises(DeviceError) as caught:
        device.require_memory(20, 8, lambda p, width: 1000.0 * p * width, free=free)
    words = str(caught.value)
    assert "up to 12 variables fit" in words
    assert "beam=5" in words
    device.require_memory(12, 8, lambda p, width: 1000.0 * p * width, free=free)
    with pytest.raises(DeviceError, match="up to 100 variables") as caught:
        device.require_memory(120, 0, lambda p, width: 1000.0 * p, free=free)
    assert "beam" not in str(caught.value)


def test_errors_of_the_device_are_translated(with_fake):
    fake = fake_cupy()
    with_fake(fake)
    with pytest.raises(DeviceError, match="ran out of memory: 5 bytes"), device.reporting():
        raise fake.cuda.memory.OutOfMemoryError("5 bytes")
    with pytest.raises(DeviceError, match="reports: illegal address"), device.reporting():
        raise FakeError("illegal address")


def test_free_memory_counts_what_the_pool_holds(with_fake):
    with_fake(fake_cupy(memGetInfo=lambda: (32, 64)))
    assert device.free_memory() == 42


def test_options():
    with pytest.raises(OptionError, match="device is 'cpu' or 'cuda', not 'gpu'"):
        rfdag.learn(rows_of(4, 40), device="gpu")
    with pytest.raises(OptionError, match="leave device='cuda' out"):
        rfdag.learn(rows_of(4, 40), device="cuda", blocks=True)
    assert rfdag.RFD(device="cuda").get_params()["device"] == "cuda"


def test_memory_needed_grows_with_the_problem():
    soft, rfd, deep = Soft(beam=4), Rfd(), Rfd(depth=2)
    assert (soft.beam_width, Soft().beam_width, rfd.beam_width) == (4, 8, 0)
    needed = preflight.bytes_on_device
    sizes = [needed(soft, 2 * p, p, 4) for p in (100, 1000, 10_000)]
    assert sizes == sorted(sizes)
    assert needed(soft, 2000, 1000, 5) > needed(soft, 2000, 1000, 4)
    assert needed(deep, 2000, 1000, 0) >= needed(rfd, 2000, 1000, 0)
    # A matrix of doubles is the least that anything takes.
    assert min(bytes_of_engine(1000), bytes_of_states(1000, 1), bytes_of_moments(2000, 1000)) > 8e6
    assert bytes_of_oracle(1000) > 8e6


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("sys.modules['numba'] = None", "numba is not installed"),
        ("os.environ['NUMBA_DISABLE_JIT'] = '1'", "NUMBA_DISABLE_JIT is set"),
    ],
)
def test_kernels_run_as_plain_python_without_numba(line, why):
    """Slow, and said so once; the answers stay the same."""
    program = f"""
import os, sys, logging
{line}
logging.basicConfig(level=logging.WARNING, format="%(message)s", stream=sys.stdout)
import numpy as np, rfdag
rows = np.random.default_rng(3).normal(size=(60, 4)) @ np.triu(np.ones((4, 4)))
for method in (rfdag.Rfd(), rfdag.Soft(beam=2, restarts=0), rfdag.Sp()):
    print(*rfdag.learn(rows, method, progress=False, n_jobs=1).order)
from rfdag.orders.family_scores import CountScore
same = np.array([[0, 1] * 50, [0, 1] * 50], np.uint8)
pair = CountScore(same, np.array([2, 2]), np.ones(100, np.int32))
print(*pair.scan(np.array([1]), np.array([[0]]), np.array([0]), np.array([[-1], [0]]))[1].ravel().round(2))
"""
    quietly = [sys.executable, "-W", "error::RuntimeWarning", "-c", program]
    done = subprocess.run(quietly, capture_output=True, text=True, check=True)
    said, *orders, score = done.stdout.splitlines()
    assert why in said
    # ln 100 for each of two probabilities: nothing is left to chance.
    assert score == "9.21"
    rows = np.random.default_rng(3).normal(size=(60, 4)) @ np.triu(np.ones((4, 4)))
    methods = rfdag.Rfd(), rfdag.Soft(beam=2, restarts=0), rfdag.Sp()
    found = [rfdag.learn(rows, method, progress=False) for method in methods]
    assert orders == [" ".join(map(str, result.order)) for result in found]


@on_gpu
@pytest.mark.parametrize("noise", [0.0, 2.0])
@pytest.mark.parametrize(
    ("p", "width", "every"), [(5, 1, 1), (40, 1, 3), (150, 1, 16), (90, 1, 1), (60, 6, 5), (70, 4, 1)]
)
def test_beams_find_the_orders_of_the_cpu(p, width, every, noise):
    rows = rows_of(p, 4 * p, seed=p)
    partial = Moments.from_data(rows).partial_correlations()
    options = {"c": 6.0, "noise": noise, "rescore_every": every}
    ours = GpuBeam(partial, len(rows), width, 0.5, **options).search()
    theirs = SoftBeam(partial, len(rows), width, 0.5, **options).search()
    np.testing.assert_array_equal(ours.orders, theirs.orders)
    np.testing.assert_allclose(ours.costs, theirs.costs, atol=1e-9)


@on_gpu
@pytest.mark.parametrize(("width", "every"), [(1, 4), (5, 3), (64, 5), (65, 1), (300, 4)])
def test_beams_that_obey_find_the_orders_of_the_cpu(width, every):
    """Narrow beams choose by a kernel, wide ones by sorting."""
    rows = rows_of(30, 90, seed=8)
    partial = Moments.from_data(rows).partial_correlations()
    known = rfdag.Knowledge(required=[(0, 7), (3, 9)], tiers=[range(10, 15), range(15, 20)]).constraints(range(30))
    for constraints in (None, known):
        options = {"c": 6.0, "rescore_every": every, "constraints": constraints}
        ours = GpuBeam(partial, len(rows), width, 0.5, **options).search()
        theirs = SoftBeam(partial, len(rows), width, 0.5, **options).search()
        np.testing.assert_allclose(ours.costs, theirs.costs, atol=1e-8)
        # Removals that have nothing to do with each other cost the same in either order, up to rounding.
        assert np.mean(ours.orders != theirs.orders) < 0.05


@on_gpu
def test_local_moments_are_those_of_the_cpu(monkeypatch):
    """Gathered in one piece, or in several."""
    rows = rows_of(40, 300)
    ours, theirs = DeviceMoments.from_data(rows).local(), Moments.from_data(rows).local()
    assert isinstance(ours, DeviceCorrelations)
    generator = np.random.default_rng(3)
    lists = Candidates.among(generator.random((40, 40)) < 0.3)
    for at_once in (gpu_local.ENTRIES_AT_ONCE, 100):
        monkeypatch.setattr(gpu_local, "ENTRIES_AT_ONCE", at_once)
        made = [Grams.along(lists, moments) for moments in (ours, theirs)]
        for y in range(40):
            np.testing.assert_allclose(made[0].of(y), made[1].of(y), atol=1e-13)
    some = np.array([4, 17, 30])
    coefficients = csr_array(np.where(generator.random((3, 40)) < 0.2, 0.5, 0.0))
    np.testing.assert_allclose(
        device.on_host(ours.of_residuals(some, coefficients)), theirs.of_residuals(some, coefficients), atol=1e-13
    )
    np.testing.assert_allclose(ours.gram(5, some), theirs.gram(5, some), atol=1e-13)
    np.testing.assert_allclose(ours.matrices, theirs.matrices, atol=1e-13)
    np.testing.assert_array_equal(ours.matrices[0], ours.matrices[0].T)


@on_gpu
def test_few_candidates_give_the_answer_of_the_cpu(monkeypatch):
    monkeypatch.setattr(tuning, "LEAST_P_FOR_FEWER_CANDIDATES", 100)
    rows = rows_of(150, 400, seed=150, degree=3)
    ours, theirs = (rfdag.learn(rows, progress=False, device=where) for where in ("cuda", "cpu"))
    assert ours.order == theirs.order
    np.testing.assert_array_equal(ours.dag, theirs.dag)
    np.testing.assert_allclose(ours.moments.correlation, theirs.moments.correlation, atol=1e-13)


@on_gpu
@pytest.mark.parametrize(("p", "n", "options"), [(200, 120, {"clusters": True}), (150, 60, {})])
def test_few_rows_give_a_dag_as_good_as_that_of_the_cpu(p, n, options, monkeypatch):
    """There are fewer rows than columns; restarts would start from other orders of the same DAG."""
    monkeypatch.setattr(tuning, "LEAST_P_FOR_FEWER_CANDIDATES", 100)
    monkeypatch.setattr(tuning, "CORE_OF_CLUSTER", 40)
    monkeypatch.setattr(tuning, "HALO_OF_CLUSTER", 30)
    rows = rows_of(p, n, seed=p, degree=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = (
            rfdag.learn(rows, progress=False, device=where, restarts=0, **options) for where in ("cuda", "cpu")
        )
    assert ours.score == pytest.approx(theirs.score, abs=1e-6)


@on_gpu
def test_dense_graphs_have_more_neighbours_than_room_in_shared_memory(monkeypatch):
    """Rows and lists are then worked on in pieces, with the same answer."""
    from rfdag.eliminate.beams import gpu as gpu_soft

    generator = np.random.default_rng(2)
    rows = sample(linear_sem(random_dag(80, 0.5, rng=generator), generator), 4000, generator)
    partial = Moments.from_data(rows).partial_correlations()
    whole = [GpuBeam(partial, 4000, 1, 0.4, c=4.0, rescore_every=every).search().orders for every in (1, 4)]
    monkeypatch.setattr(gpu_soft, "CHUNK", 16)
    monkeypatch.setattr(gpu_soft, "shared_memory", lambda: 8 * (gpu_soft.HEADS + 24))
    pieces = [GpuBeam(partial, 4000, 1, 0.4, c=4.0, rescore_every=every).search().orders for every in (1, 4)]
    np.testing.assert_array_equal(whole, pieces)
    theirs = [SoftBeam(partial, 4000, 1, 0.4, c=4.0, rescore_every=every).search().orders for every in (1, 4)]
    np.testing.assert_array_equal(whole, theirs)


@on_gpu
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"beam": 1},
        {"method": "rfd"},
        {"method": "rfd", "depth": 2, "pairs": "neighbours"},
        {"method": "min-fill"},
        {"method": "gsp"},
        {"method": "random", "random_state": 3},
    ],
)
def test_learn_gives_the_answer_of_the_cpu(options):
    rows = rows_of(25, 400, seed=3, degree=4)
    ours, theirs = (rfdag.learn(rows, progress=False, device=where, **options) for where in ("cuda", "cpu"))
    assert ours.order == theirs.order
    np.testing.assert_array_equal(ours.dag, theirs.dag)
    np.testing.assert_array_equal(ours.trace.removal, theirs.trace.removal)
    assert type(ours.moments) is Moments
    assert ours.settings.running.device == "cuda"


@on_gpu
def test_other_input_gives_the_answer_of_the_cpu():
    generator = np.random.default_rng(4)
    dag = random_dag(20, degree=4, rng=generator)
    sem = linear_sem(dag, generator)
    correlation = np.corrcoef(sample(sem, 500, generator).T)
    for data, options in (
        (dag, {"input": "dag"}),
        (sem.precision(), {"input": "precision"}),
        (correlation, {"input": "correlation", "n_samples": 500}),
        (sample(sem, 15, generator), {}),
    ):
        with np.errstate(all="ignore"), pytest.MonkeyPatch.context() as patch:
            patch.setattr("rfdag.learning.python_warnings.warn", lambda *args, **kwargs: None)
            ours, theirs = (rfdag.learn(data, progress=False, device=where, **options) for where in ("cuda", "cpu"))
        assert ours.order == theirs.order


@on_gpu
@pytest.mark.parametrize(("p", "n", "density"), [(20, 200, 0.3), (60, 600, 0.5), (100, 300, 0.5), (150, 1000, 0.5)])
@pytest.mark.parametrize("in_pieces", [False, True])
def test_moments_are_as_accurate_as_on_the_cpu(p, n, density, in_pieces, monkeypatch):
    """From condition 30, where products serve, to 2e7, where only a QR decomposition does."""
    if in_pieces:
        monkeypatch.setattr(gpu_moments, "CELLS_AT_ONCE", 100)
        monkeypatch.setattr(gpu_moments, "free_memory", lambda: 0)
    generator = np.random.default_rng(p)
    rows = sample(linear_sem(random_dag(p, density, rng=generator), generator), n, generator)
    rows = rows * generator.uniform(0.01, 1e6, p) + generator.uniform(-1e6, 1e6, p)
    ours, theirs = DeviceMoments.from_data(rows), Moments.from_data(rows)
    np.testing.assert_allclose(ours.correlation, theirs.correlation, atol=1e-13)
    np.testing.assert_allclose(ours.means, theirs.means)
    np.testing.assert_allclose(ours.scales, theirs.scales)
    assert 0.99 < ours.condition() / theirs.condition() < 3
    allowed = 1e-14 + 1e-17 * theirs.condition()
    np.testing.assert_allclose(ours.partial_correlations(), theirs.partial_correlations(), atol=100 * allowed)
    some = np.array([1, 3, 5])
    np.testing.assert_allclose(ours.partial_correlations(some), theirs.partial_correlations(some), atol=1e-12)


@on_gpu
def test_columns_far_from_zero_keep_their_digits():
    rows = rows_of(5, 400)
    rows[:, 1] = 1e9 + 1e-4 * rows[:, 1]
    ours, theirs = DeviceMoments.from_data(rows), Moments.from_data(rows)
    np.testing.assert_allclose(ours.correlation, theirs.correlation, atol=1e-13)
    np.testing.assert_allclose(ours.scales, theirs.scales)


@on_gpu
def test_rows_in_pieces_are_summed_up_on_the_cpu_and_taken_to_the_device():
    pyarrow = pytest.importorskip("pyarrow")
    rows = rows_of(5, 400)
    found, _ = read_evidence(pyarrow.table(dict(zip("abcde", rows.T, strict=True))), moments=DeviceMoments)
    assert isinstance(found, DeviceMoments)
    np.testing.assert_allclose(found.correlation, Moments.from_data(rows).correlation, atol=1e-13)


@on_gpu
def test_useless_columns_are_named():
    rows = rows_of(5, 50)
    rows[:, 3] = 2.0
    with pytest.raises(DataError, match="constant: 'd'"):
        DeviceMoments.from_data(rows, "abcde")
    rows[:, 3] = 2 * rows[:, 0]
    with pytest.raises(DataError, match="is a copy of"):
        DeviceMoments.from_data(rows, "abcde").partial_correlations()


@on_gpu
@pytest.mark.parametrize("p", [300, 1000])
def test_memory_needed_is_what_is_taken(p):
    pool = device.cupy().get_default_memory_pool()

    def taken(make):
        pool.free_all_blocks()
        before = pool.used_bytes()
        kept = make()
        used = pool.used_bytes() - before
        del kept
        return used

    partial = np.eye(p)
    dag = random_dag(p, 0.1, rng=0)
    for used, told in (
        (taken(lambda: GpuEngine(partial, rfdag.eliminate.Tolerance())), bytes_of_engine(p)),
        (taken(lambda: GpuBeam(partial, 3 * p, 3, 0.5, c=6.0)), bytes_of_states(p, 3)),
        (taken(lambda: GpuOracleEngine(dag)), bytes_of_oracle(p) / 2),
    ):
        assert 0.7 * told < used < 1.1 * told + 1e6
