"""The bootstrap: how rows are drawn, what is counted, where runs are computed, and what is saved."""

from __future__ import annotations

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

import rfdag
from rfdag.bootstrapping import runs as bootstrapping
from rfdag.bootstrapping.consensus import consensus_dag
from rfdag.bootstrapping.edge_lists import edge_matrix
from rfdag.bootstrapping.frequencies import Bootstrap
from rfdag.bootstrapping.resampling import Sampling, drawn_moments, standardised
from rfdag.errors import DataError, DeviceError, FileError, NumericalWarning, OptionError
from rfdag.evidence.moments import Moments
from rfdag.graphs import cpdag, descendants, find_cycle, markov_equivalent, topological_order
from rfdag.methods.settings import Settings
from rfdag.orders import tuning

# Hard counts need no compiled beam, and are as good for counting.
QUICK = {"method": "rfd", "alpha": 0.001}
DAG = np.array([[0, 0, 1, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0]])
NAMES = ["a", "b", "c", "d", "alone"]


def rows_of(dag=DAG, n=800, seed=0):
    """Return rows in which every variable is the sum of its parents and noise."""
    noise = np.random.default_rng(seed).normal(size=(n, len(dag)))
    return noise @ np.linalg.inv(np.eye(len(dag)) - dag)


@pytest.fixture(scope="module")
def rows():
    return rows_of()


@pytest.fixture(scope="module")
def found(rows):
    return rfdag.bootstrap(rows, runs=30, n_jobs=1, names=NAMES, random_state=3, **QUICK)


def same(first, second):
    counted = ("directed", "undirected", "ancestors", "places")
    return all(np.array_equal(getattr(first, name), getattr(second, name)) for name in counted)


# Draws.


def test_moments_of_a_draw_are_those_of_the_rows_it_repeats():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(40, 3)) @ rng.normal(size=(3, 3)) + 5
    columns = np.array([2, 0, 1])
    whole = Moments.from_data(values)
    standard = standardised(values, whole)
    assert np.allclose(standard.std(axis=0, ddof=1), 1)
    drawn = drawn_moments(standard, "abc", columns, Sampling(), np.random.default_rng(4))
    # The generator draws the same rows again.
    counts = Sampling().counts(40, np.random.default_rng(4))
    repeated = np.repeat(values, counts, axis=0)[:, columns]
    assert drawn.names == ("c", "a", "b")
    assert drawn.n_samples == int(40**2 / (counts**2).sum())
    assert np.allclose(drawn.correlation, np.corrcoef(repeated, rowvar=False), atol=1e-12)
    assert np.allclose(drawn.scales * whole.scales[columns], repeated.std(axis=0, ddof=1))


def test_moments_of_many_rows_are_taken_in_steps(monkeypatch):
    values = np.random.default_rng(0).normal(size=(50, 3))
    draw = [values, "abc", np.arange(3), Sampling()]
    at_once = drawn_moments(*draw, np.random.default_rng(1)).correlation
    monkeypatch.setattr("rfdag.evidence.row_factor.CELLS_AT_ONCE", 12)
    assert np.allclose(drawn_moments(*draw, np.random.default_rng(1)).correlation, at_once, atol=1e-12)


def test_ill_conditioned_columns_keep_their_precision():
    rng = np.random.default_rng(0)
    first = rng.normal(size=300)
    values = np.column_stack([first, first + 1e-7 * rng.normal(size=300)])
    whole = Moments.from_data(values)
    moments = drawn_moments(standardised(values, whole), "ab", np.arange(2), Sampling(), np.random.default_rng(1))
    # A cross-product would leave noise of a tenth; the factor is good to its condition, 10⁷, times 10⁻¹⁶.
    counts = Sampling().counts(300, np.random.default_rng(1))
    repeated = np.repeat(values, counts, axis=0)
    residual = repeated[:, 1] - repeated[:, 0]
    expected = np.linalg.svd(Moments.from_data(repeated).factor, compute_uv=False)[-1]
    assert np.linalg.svd(moments.factor, compute_uv=False)[-1] == pytest.approx(expected, rel=1e-6)
    assert expected == pytest.approx(residual.std() / first.std() / np.sqrt(2), rel=0.2)


def test_a_subsample_has_no_row_twice():
    counts = Sampling(sampling="subsample", share=0.3).counts(50, np.random.default_rng(0))
    assert counts.sum() == 15
    assert counts.max() == 1


def test_a_corrected_draw_is_worth_half():
    counts = Sampling().counts(10_000, np.random.default_rng(0))
    assert Sampling(corrected=False).worth(counts) == 10_000
    assert Sampling().worth(counts) == int(10_000**2 / (counts**2).sum())
    assert Sampling().worth(counts) == pytest.approx(5000, rel=0.05)
    half = Sampling(sampling="subsample")
    assert half.worth(half.counts(10_000, np.random.default_rng(0))) == 5000


def test_a_draw_in_which_a_column_does_not_vary_is_made_again():
    rare = np.zeros(60)
    rare[:2] = 1
    values = np.column_stack([np.random.default_rng(0).normal(size=60), rare])
    sampling = Sampling(sampling="subsample", share=0.1)
    generator = np.random.default_rng(0)
    draws = [sampling.counts(60, generator) for _ in range(5)]
    assert any(not counts[:2].any() for counts in draws)
    for seed in range(5):
        drawn = drawn_moments(values, "ab", np.arange(2), sampling, np.random.default_rng(seed))
        assert np.isfinite(drawn.correlation).all()
        assert abs(drawn.correlation[0, 1]) < 1
    values[:2, 1] = 0
    with pytest.raises(DataError, match=r"'b' did not vary among the rows.*Drop columns"):
        drawn_moments(values, "ab", np.arange(2), sampling, generator)


# Counting.


def test_frequencies_agree_with_the_runs_counted_one_by_one(rows, tmp_path):
    found = rfdag.bootstrap(rows, runs=12, n_jobs=1, out=tmp_path, **QUICK)
    kept = [json.loads(line) for line in (tmp_path / "runs.jsonl").read_text().splitlines()]
    runs = [entry["found"] for entry in kept if "run" in entry]
    assert len(runs) == 12
    p = rows.shape[1]
    for i in range(p):
        for j in range(p):
            there = sum([i, j] in run["directed"] for run in runs)
            back = sum([j, i] in run["directed"] for run in runs)
            open_ = sum([min(i, j), max(i, j)] in run["undirected"] for run in runs)
            assert found.edge_frequency[i, j] == pytest.approx((there + back + open_) / 12)
            assert found.direction_frequency[i, j] == pytest.approx((there + open_ / 2) / 12)
            assert found.compelled_frequency[i, j] == pytest.approx(there / 12)
            assert found.ancestor_frequency[i, j] == pytest.approx(
                sum(j in descendants(edge_matrix(run["directed"], p), i) for run in runs) / 12
            )
    orders = np.array([run["order"] for run in sorted(runs, key=lambda run: run["order"])])
    for variable, rank in enumerate(found.ranks):
        places = 1 + np.argwhere(orders == variable)[:, 1]
        assert rank.mean == pytest.approx(places.mean())
        assert (rank.lower, rank.median, rank.upper) == tuple(np.percentile(places, [5, 50, 95]))


def test_a_clear_collider_is_found_in_nearly_every_run(found):
    assert found.edge_frequency[0, 2] == 1
    assert found.compelled_frequency[0, 2] > 0.9
    assert found.compelled_frequency[2, 0] == 0
    assert found.ancestor_frequency[0, 3] > 0.9
    assert (found.edge_frequency == found.edge_frequency.T).all()
    assert np.allclose(found.direction_frequency + found.direction_frequency.T, found.edge_frequency)
    assert np.array_equal(found.consensus(), DAG)


def test_a_variable_without_edges_may_stand_anywhere(found):
    ranks = dict(zip(NAMES, found.ranks, strict=True))
    assert ranks["alone"].upper - ranks["alone"].lower >= 3
    assert ranks["d"].lower >= 4 - 1e-9
    assert ranks["a"].median < ranks["c"].median < ranks["d"].median


def test_directions_that_the_class_leaves_open_count_half_each_way():
    chain = np.triu(np.ones((2, 2)), 1)
    found = rfdag.bootstrap(rows_of(chain), runs=10, n_jobs=1, **QUICK)
    assert found.edge_frequency[0, 1] == 1
    assert found.direction_frequency.tolist() == [[0, 0.5], [0.5, 0]]
    assert not found.ancestor_frequency.any()
    assert found.pairs[0].undirected == 1
    # Ties are not decided by the place of a column in the table.
    assert 0 < (found.places[:, 0] == 1).mean() < 1


def test_the_plain_run_is_that_of_learn(rows, found):
    plain = rfdag.learn(rows, names=NAMES, random_state=3, **QUICK)
    assert plain.order == found.result.order
    assert np.array_equal(plain.dag, found.result.dag)


def test_knowledge_holds_in_every_run(rows):
    known = rfdag.Knowledge(tiers=[["d"], ["a", "b", "c", "alone"]])
    found = rfdag.bootstrap(rows, runs=5, n_jobs=1, names=NAMES, knowledge=known, **QUICK)
    assert (found.places[:, 3] == 1).all()
    assert not found.direction_frequency[:, 3].any()


# Consensus.


def random_votes(rng, p=9):
    """Return frequencies of arrows and of open edges as so many equivalence classes may have had them."""
    shares = rng.dirichlet([0.5, 0.5, 0.5, 0.5], size=(p, p)).round(3)
    arrows, lines = np.zeros((p, p)), np.zeros((p, p))
    for i in range(p):
        for j in range(i):
            arrows[i, j], arrows[j, i] = shares[i, j, :2]
            lines[i, j] = lines[j, i] = shares[i, j, 2]
    return arrows, lines


@pytest.mark.parametrize("seed", range(20))
def test_a_consensus_is_acyclic_and_has_all_frequent_pairs(seed):
    rng = np.random.default_rng(seed)
    arrows, lines = random_votes(rng)
    lines += 0.01 * (1 - np.eye(9))
    dag = consensus_dag(arrows, lines, rng.random(9), threshold=0.6)
    assert not find_cycle(dag)
    joined = arrows + arrows.T + lines >= 0.6 - 1e-9
    np.fill_diagonal(joined, False)
    assert np.array_equal((dag + dag.T) > 0, joined)
    assert dag.sum() > 5


@pytest.mark.parametrize("seed", range(20))
def test_what_all_have_is_the_consensus_up_to_equivalence(seed):
    rng = np.random.default_rng(seed)
    dag = rfdag.simulate.random_dag(9, 0.4, rng)
    votes = cpdag(dag)
    found = consensus_dag((votes == 1) * 1.0, (votes == 2) * 1.0, rng.random(9), 0.5)
    assert markov_equivalent(found, dag)


def test_open_edges_make_no_collider_that_nobody_had():
    """Both ends of the middle of a chain are as often before as after it; a collider would be another class."""
    chain = np.array([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]])
    for seed in range(6):
        found = rfdag.bootstrap(rows_of(chain, 500, seed), runs=10, n_jobs=1, random_state=seed, **QUICK)
        assert markov_equivalent(found.consensus(), chain)


def test_a_cycle_is_broken_at_its_least_frequent_arrow():
    often, open_ = np.zeros((3, 3)), np.zeros((3, 3))
    often[0, 1], often[1, 2], often[2, 0] = 0.9, 0.8, 0.7
    dag = consensus_dag(often, open_, np.zeros(3), 0.5)
    assert np.argwhere(dag).tolist() == [[0, 1], [1, 2]]
    often[0, 2] = 0.1
    assert np.argwhere(consensus_dag(often, open_, np.zeros(3), 0.5)).tolist() == [[0, 1], [0, 2], [1, 2]]


def test_ties_of_a_consensus_go_by_the_places():
    even, none = np.array([[0, 0.5], [0.5, 0]]), np.zeros((2, 2))
    for votes in ((even, none), (none, even)):
        assert consensus_dag(*votes, np.array([1.0, 2.0]), 0.5).tolist() == [[0, 1], [0, 0]]
        assert consensus_dag(*votes, np.array([2.0, 1.0]), 0.5).tolist() == [[0, 0], [1, 0]]


@pytest.mark.parametrize("seed", range(20))
def test_a_consensus_obeys_tiers_also_by_detours(seed):
    rng = np.random.default_rng(seed)
    arrows, lines = random_votes(rng)
    known = rfdag.Knowledge(tiers=[[0, 3, 5], [1, 2], [4]])
    demands = known.constraints(range(9))
    # Nobody has an arrow against the tiers; a detour through 6, 7 or 8 may still come of different votes.
    between = demands.before | demands.before.T
    arrows, lines = arrows * ~demands.before.T, lines * ~between
    dag = consensus_dag(arrows, lines, rng.random(9), 0.3, demands.before)
    order = topological_order(dag + demands.before)
    assert sorted(order) == list(range(9))
    assert dag.sum() > 5
    for node in (1, 2, 4):
        assert not set(descendants(dag, node)) & {0, 3, 5}


@pytest.mark.parametrize("threshold", [0, 1.1, -1, "half", True, float("nan")])
def test_a_threshold_is_a_share(found, threshold):
    with pytest.raises(OptionError, match="threshold is a share"):
        found.consensus(threshold)


# Who runs them.


def test_neither_the_number_of_runs_nor_that_of_workers_changes_a_run(rows, found):
    more = rfdag.bootstrap(rows, runs=32, n_jobs=2, names=NAMES, random_state=3, **QUICK)
    assert np.array_equal(more.places[:30], found.places)
    other = rfdag.bootstrap(rows, runs=30, n_jobs=1, names=NAMES, random_state=4, **QUICK)
    assert not np.array_equal(other.places, found.places)


@pytest.mark.filterwarnings("ignore")
def test_on_a_dask_cluster(rows, found):
    distributed = pytest.importorskip("distributed")
    from joblib import parallel_config

    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
        parallel_config("dask"),
    ):
        there = rfdag.bootstrap(rows, runs=30, names=NAMES, random_state=3, **QUICK)
        ran = client.run(lambda dask_worker: dask_worker.state.executed_count)
    assert same(there, found)
    assert sum(ran.values()) >= 30


def test_a_stopped_command_says_what_is_kept(run, table, tmp_path, monkeypatch):
    def stop(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(rfdag, "bootstrap", stop)
    stopped = run(table, "--out", tmp_path / "kept")
    assert stopped.exit_code == 130
    assert "no run was complete" in stopped.output
    (tmp_path / "kept").mkdir(exist_ok=True)
    (tmp_path / "kept" / bootstrapping.JOURNAL).touch()
    assert "the same command goes on from there" in " ".join(run(table, "--out", tmp_path / "kept").output.split())
    assert "nothing is kept without --out" in run(table).output


def test_runs_have_narrow_beams_unless_a_width_is_given(rows, monkeypatch):
    widths = []

    learn = rfdag.Soft.learn

    def noted(method, evidence, run):
        widths.append(method.beam)
        return learn(method, evidence, run)

    monkeypatch.setattr(rfdag.Soft, "learn", noted)
    rfdag.bootstrap(rows, runs=1, n_jobs=1)
    # The best DAG of few variables takes no longer.
    assert widths == ["auto", "auto"]
    widths.clear()
    monkeypatch.setattr(tuning, "LARGEST_P_FOR_EXACT_RUNS", 0)
    for given in ({}, {"beam": 2}, {"beam": "auto"}, {"method": rfdag.Soft(beam=3)}):
        rfdag.bootstrap(rows, runs=1, n_jobs=1, **given)
    assert widths == ["auto", 8, 2, 2, "auto", "auto", 3, 3]


@pytest.mark.parametrize(("p", "n"), [(10, 26), (10, 30), (6, 24)])
def test_draws_with_too_few_rows_are_made_again(p, n):
    """Rows are enough on average; a draw that is worth less must not end the whole."""
    rows = np.random.default_rng(p).normal(size=(n, p))
    found = rfdag.bootstrap(rows, runs=30, n_jobs=1, method="rfd")
    assert found.runs == 30


# What is kept.


def test_an_interrupted_plain_run_is_not_gone_on_from(rows, monkeypatch):
    learn = rfdag.Rfd.learn

    def interrupted(method, evidence, run):
        return replace(learn(method, evidence, run), interrupted=True, warnings=("The search was interrupted.",))

    monkeypatch.setattr(rfdag.Rfd, "learn", interrupted)
    monkeypatch.setattr(bootstrapping._Plan, "run", lambda *arguments: pytest.fail("a run began"))
    with pytest.warns(NumericalWarning), pytest.raises(KeyboardInterrupt):
        rfdag.bootstrap(rows, runs=3, n_jobs=1, **QUICK)


def test_only_rows_are_drawn_anew_for_errors_of_rows(rows, monkeypatch):
    calls = []

    def fails(*arguments):
        calls.append(1)
        raise DeviceError("The device has no memory left.")

    monkeypatch.setattr(bootstrapping._Plan, "_learn", fails)
    with pytest.raises(DeviceError, match=r"^The device has no memory left\.$"):
        rfdag.bootstrap(rows, runs=2, n_jobs=1, **QUICK)
    assert len(calls) == 1


def test_an_interrupted_run_is_neither_counted_nor_followed(rows, tmp_path, monkeypatch):
    learn = rfdag.Rfd.learn
    calls = []

    def interrupted(method, evidence, run):
        calls.append(len(calls))
        learnt = learn(method, evidence, run)
        # The first is the plain run.
        return replace(learnt, interrupted=True) if len(calls) == 4 else learnt

    monkeypatch.setattr(rfdag.Rfd, "learn", interrupted)
    with pytest.raises(KeyboardInterrupt):
        rfdag.bootstrap(rows, runs=6, n_jobs=1, out=tmp_path, **QUICK)
    assert calls == [0, 1, 2, 3]
    kept = [json.loads(line) for line in (tmp_path / "runs.jsonl").read_text().splitlines()]
    assert [entry["run"] for entry in kept if "run" in entry] == [0, 1]


@pytest.fixture
def calls(monkeypatch):
    made = []
    run = bootstrapping._Plan.run
    monkeypatch.setattr(bootstrapping._Plan, "run", lambda plan, values, at: made.append(at) or run(plan, values, at))
    return made


def test_an_ended_bootstrap_goes_on(rows, tmp_path, calls):
    first = rfdag.bootstrap(rows, runs=3, n_jobs=1, out=tmp_path, **QUICK)
    assert calls == [0, 1, 2]
    again = rfdag.bootstrap(rows, runs=3, n_jobs=1, out=tmp_path, **QUICK)
    assert calls == [0, 1, 2]
    assert same(first, again)
    more = rfdag.bootstrap(rows, runs=5, n_jobs=1, out=tmp_path, **QUICK)
    assert calls == [0, 1, 2, 3, 4]
    assert same(more, rfdag.bootstrap(rows, runs=5, n_jobs=1, **QUICK))


@pytest.mark.parametrize(
    "other", [{"alpha": 0.5}, {"sampling": "subsample"}, {"corrected": False}, {"random_state": 1}, {"names": NAMES}]
)
def test_runs_of_other_settings_are_neither_used_nor_lost(rows, tmp_path, calls, other):
    first = rfdag.bootstrap(rows, runs=2, n_jobs=1, out=tmp_path, **QUICK)
    rfdag.bootstrap(rows, runs=2, n_jobs=1, out=tmp_path, **(QUICK | other))
    assert calls == [0, 1, 0, 1]
    assert same(first, rfdag.bootstrap(rows, runs=2, n_jobs=1, out=tmp_path, **QUICK))
    assert len(calls) == 4


def test_runs_of_other_rows_are_not_used(rows, tmp_path, calls):
    rfdag.bootstrap(rows, runs=2, n_jobs=1, out=tmp_path, **QUICK)
    changed = rows.copy()
    changed[0, 0] += 1e-9
    rfdag.bootstrap(changed, runs=2, n_jobs=1, out=tmp_path, **QUICK)
    assert calls == [0, 1, 0, 1]


def test_a_line_that_was_cut_short_is_run_again(rows, tmp_path, calls):
    first = rfdag.bootstrap(rows, runs=2, n_jobs=1, out=tmp_path, **QUICK)
    journal = tmp_path / "runs.jsonl"
    journal.write_text(journal.read_text()[:-20])
    assert same(first, rfdag.bootstrap(rows, runs=2, n_jobs=1, out=tmp_path, **QUICK))
    assert calls == [0, 1, 1]


def test_a_file_that_keeps_something_else(rows, tmp_path):
    (tmp_path / "runs.jsonl").write_text('{"cell": 1}\n')
    with pytest.raises(FileError, match="not runs of a bootstrap; choose another folder"):
        rfdag.bootstrap(rows, runs=2, n_jobs=1, out=tmp_path, **QUICK)


def test_saved_and_loaded(found, tmp_path):
    loaded = Bootstrap.load(found.save(tmp_path / "b.json"))
    assert same(found, loaded)
    assert (loaded.names, loaded.runs, loaded.sampling) == (found.names, found.runs, found.sampling)
    assert loaded.random_state == 3
    assert loaded.result.order == found.result.order
    assert str(loaded) == str(found)
    with pytest.raises(FileError, match=r"not a bootstrap of rfdag; pass a file that Bootstrap\.save writes"):
        Bootstrap.load(found.result.save(tmp_path / "r.json"))
    with pytest.raises(FileError, match="not a result of rfdag"):
        rfdag.load(tmp_path / "b.json")


def test_frames_and_words(found):
    frame = found.to_frame()
    assert list(frame.columns) == ["source", "target", "frequency", "forward", "backward", "undirected"]
    assert frame.frequency.is_monotonic_decreasing
    assert np.allclose(frame.frequency, frame.forward + frame.backward + frame.undirected)
    assert (frame.forward >= frame.backward).all()
    assert len(frame) == np.triu(found.edge_frequency > 0, 1).sum()
    assert "30 runs, 5 variables, 800 rows drawn with replacement each" in str(found)
    assert "a → c: 1.00" in str(found)
    assert repr(found) == "Bootstrap(30 runs, 5 variables, sampling='resample')"


def test_what_was_counted_cannot_be_written_to(found):
    with pytest.raises(ValueError, match="read-only"):
        found.edge_frequency[0, 0] = 1


# Input.


def test_files_in_pieces_are_read_whole(rows, tmp_path, found):
    pandas, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    pandas.DataFrame(rows, columns=NAMES).to_parquet(tmp_path / "rows.parquet")
    read = rfdag.bootstrap(tmp_path / "rows.parquet", runs=30, n_jobs=1, random_state=3, **QUICK)
    assert same(read, found)
    assert read.names == found.names


@pytest.mark.parametrize("runs", [0, -3, 2.5, True, "many"])
def test_a_number_of_runs(rows, runs):
    with pytest.raises(OptionError, match="runs is how many times"):
        rfdag.bootstrap(rows, runs=runs)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"sampling": "jackknife"}, "sampling is 'resample' or 'subsample', not 'jackknife'"),
        ({"share": 0.5}, "share=0.5 belongs to sampling='subsample'"),
        ({"sampling": "subsample", "share": 0}, "share is a number between 0 and 1 or None, not"),
        ({"sampling": "subsample", "share": 1}, "share is a number between 0 and 1 or None, not"),
        ({"sampling": "subsample", "share": "half"}, "share is a number between 0 and 1 or None, not"),
        ({"corrected": "yes"}, "corrected is True or False"),
        ({"input": "dag"}, "draws rows, and input='dag' has none"),
        ({"input": "correlation", "n_samples": 50}, "draws rows, and input='correlation' has none"),
        ({"n_samples": 50}, "n_samples goes with a matrix"),
        ({"blocks": True}, "leave blocks=True out"),
        ({"alpha": 2}, "alpha"),
        ({"n_jobs": 0}, "n_jobs is a number"),
    ],
)
def test_options_that_cannot_be(rows, options, words):
    with pytest.raises(OptionError, match=words):
        rfdag.bootstrap(rows, runs=2, **options)


def test_a_subsample_of_too_few_rows(rows):
    with pytest.raises(DataError, match=r"A run of this bootstrap counts for 6 of the 800 rows"):
        rfdag.bootstrap(rows, runs=2, sampling="subsample", share=0.0075, **QUICK)
    with pytest.raises(DataError, match=r"A run of this bootstrap counts for 2 of the 800 rows"):
        rfdag.bootstrap(rows, runs=2, sampling="subsample", share=0.0025)


def test_a_resample_of_too_few_rows():
    with pytest.raises(DataError, match=r"Of 30 rows .* about 19 are distinct, too few for .* 20 columns"):
        Sampling(corrected=False).require(30, 20, Settings())
    Sampling().require(30, 20, Settings())
    Sampling(sampling="subsample").require(30, 20, Settings())
    Sampling(corrected=False).require(20, 20, Settings())
    Sampling(corrected=False).require(60, 20, Settings())
    with pytest.raises(DataError, match=r"A run of this bootstrap counts for 15 of the 30 rows"):
        Sampling().require(30, 20, Settings(rfdag.Rfd()))


def test_what_has_no_rows(rows):
    networkx = pytest.importorskip("networkx")
    for rowless in (networkx.DiGraph([(0, 1)]), Moments.from_data(rows)):
        with pytest.raises(DataError, match="has no rows; pass data, one row per sample"):
            rfdag.bootstrap(rowless, runs=2)
    dask_array = pytest.importorskip("dask.array")
    with pytest.raises(DataError, match=r"Pass its \.compute\(\)"):
        rfdag.bootstrap(dask_array.from_array(rows), runs=2)


def test_a_run_that_fails_says_which(rows, monkeypatch):
    def fail(plan, values, number):
        raise DataError("Too bad.")

    monkeypatch.setattr(bootstrapping._Plan, "run", fail)
    with pytest.raises(DataError, match=r"Too bad\. This happened in run 0 of a bootstrap"):
        rfdag.bootstrap(rows, runs=2, n_jobs=1, **QUICK)


def test_progress_ends_at_one(rows):
    shares = []
    rfdag.bootstrap(rows, runs=3, n_jobs=1, progress=shares.append, **QUICK)
    assert shares == pytest.approx([0, 1 / 3, 2 / 3, 1])


def test_moments_that_are_known_are_learnt_from(rows):
    moments = Moments.from_data(rows, NAMES)
    assert rfdag.learn(moments, **QUICK).order == rfdag.learn(rows, names=NAMES, **QUICK).order


# The command.


@pytest.fixture
def run():
    from typer.testing import CliRunner

    from rfdag.cli import app

    return lambda *arguments: CliRunner().invoke(app, ["bootstrap", *map(str, arguments)])


@pytest.fixture
def table(rows, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("\n".join([",".join(NAMES), *(",".join(map(repr, row)) for row in rows.tolist())]))
    return path


def test_the_command_says_which_bic_the_consensus_is_scored_by(run, table):
    for penalty, price in (("2", "2 ln n"), ("1", "ln n")):
        shown = run(table, "--runs", 2, "--penalty", penalty, "--restarts", 0, "--jobs", 1)
        assert f"BIC on all rows, {price} per edge: " in " ".join(shown.output.split()), shown.output


def test_the_command_writes_frequencies_places_and_a_consensus(run, table, tmp_path, found):
    out = tmp_path / "out"
    options = ["--runs", 30, "--method", "rfd", "--seed", 3, "--jobs", 1]
    shown = run(table, *options, "--out", out)
    assert shown.exit_code == 0, shown.output
    assert "30 runs over 5 variables, 800 rows drawn with replacement each" in shown.output
    assert "Consensus: 3 edges" in shown.output
    assert same(Bootstrap.load(out / "bootstrap.json"), found)
    edges, ranks, consensus = (
        list(csv.DictReader((out / f"{name}.csv").read_text().splitlines())) for name in ("edges", "ranks", "consensus")
    )
    assert [float(row["frequency"]) for row in edges] == [pair.frequency for pair in found.pairs]
    assert [(row["variable"], float(row["upper"])) for row in ranks] == [(r.variable, r.upper) for r in found.ranks]
    assert {(row["source"], row["target"]) for row in consensus} == {("a", "c"), ("b", "c"), ("c", "d")}
    printed = json.loads(run(table, *options, "--json").stdout)
    assert printed["pairs"][0] == found.pairs[0]._asdict()
    assert len(printed["consensus"]) == 3
    assert printed["files"] == []


def test_the_command_and_bad_options(run, table):
    refused = run(table, "--runs", 0)
    assert refused.exit_code == 2
    assert "runs is how many times rows are drawn" in refused.output
    assert run(table, "--threshold", 2).exit_code == 2
    few = run(table, "--sampling", "subsample", "--share", 0.0025)
    assert few.exit_code == 1
    assert "2 of the 800 rows" in few.output


def test_the_result_of_all_rows_says_how_the_file_is_written(tmp_path):
    import pandas

    rows = np.random.default_rng(11).normal(size=(80, 3))
    pandas.DataFrame(rows, columns=list("abc")).to_csv(tmp_path / "rows.csv", sep=";", index=False)
    found = rfdag.bootstrap(tmp_path / "rows.csv", runs=2, n_jobs=1, delimiter=";", **QUICK)
    assert found.result.settings.given() == {"method": "rfd", "delimiter": ";"}
