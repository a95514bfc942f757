"""The command line, run as users run it: in a process of its own."""

from __future__ import annotations

import errno
import json
import os
import pty
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import rfdag
from rfdag.cli import app
from rfdag.commands import learn
from rfdag.result.ordering import order_in_words

PROGRAM = [sys.executable, "-c", "from rfdag.cli import main; main()"]


def run(*words, **options):
    environment = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}
    return subprocess.run(
        [*PROGRAM, *map(str, words)], capture_output=True, text=True, env=environment, check=False, **options
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("cli") / "sim"
    done = run("simulate", path, "--nodes", 8, "--samples", 400, "--density", 0.4, "--seed", 3)
    assert done.returncode == 0, done.stderr
    assert "400 rows of 8 variables" in done.stdout
    return path


def test_simulate_learn_compare(folder, tmp_path):
    done = run("learn", folder / "data.csv", "--out", tmp_path / "found")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    expected = rfdag.learn(folder / "data.csv")
    assert order_in_words(expected, 100) in done.stdout
    assert f"{len(expected.edges)} edges" in done.stdout
    files = {path.name for path in (tmp_path / "found").iterdir()}
    assert files == {"result.json", "edges.csv", "order.txt", "graph.dot", "graph.graphml"} == set(learn.FILES)
    for name in files:
        assert name in done.stdout
    saved = rfdag.load(tmp_path / "found" / "result.json")
    assert saved.order == expected.order
    assert (tmp_path / "found" / "order.txt").read_text().split() == list(expected.order)

    compared = run("compare", folder / "truth.csv", tmp_path / "found" / "result.json", "--json")
    assert compared.returncode == 0, compared.stderr
    table = json.loads(compared.stdout)
    names = list(expected.names)
    truth = np.zeros((8, 8), int)
    for line in (folder / "truth.csv").read_text().split()[1:]:
        source, target, _ = line.split(",")
        truth[names.index(source), names.index(target)] = 1
    assert table["shd"] == rfdag.metrics.shd(truth, expected.dag)
    assert table["f1"] == pytest.approx(rfdag.metrics.skeleton(truth, expected.dag).f1)
    assert table["true_edges"] == truth.sum()
    shown = run("compare", folder / "truth.csv", tmp_path / "found" / "edges.csv")
    assert shown.returncode == 0
    assert "order_error" in shown.stdout


def test_json_is_json(folder):
    done = run("learn", folder / "data.csv", "--json", "--method", "min-degree", "--alpha", "0.01")
    content = json.loads(done.stdout)
    expected = rfdag.learn(folder / "data.csv", method="min-degree", alpha=0.01)
    assert content["order"] == list(expected.order)
    assert len(content["edges"]) == len(expected.edges)
    assert content["method"] == content["settings"]["method"]["name"] == "min-degree"
    assert content["settings"]["method"]["alpha"] == 0.01
    assert done.stderr == ""


def test_options_reach_the_library(tmp_path):
    path = tmp_path / "matrix.csv"
    path.write_text("a;b\n1;0.5\n0.5;1\n")
    done = run("learn", path, "--input", "correlation", "--n-samples", 50, "--delimiter", ";", "--json", "--seed", 1)
    assert json.loads(done.stdout)["n_samples"] == 50


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["learn", "nowhere.csv"], 1, "no file nowhere.csv"),
        (["learn", "{data}", "--alpha", "2"], 2, "alpha"),
        (["learn", "{data}", "--depth", "0"], 2, "depth"),
        (["learn", "{data}", "--method", "magic"], 2, "magic"),
        (
            ["learn", "{data}", "--method", "rfd", "--beam", "3"],
            2,
            "Method 'rfd' has no option --beam; method 'soft' has it.",
        ),
        (["learn", "{data}", "--alpha", "0.01"], 2, "or pass --parents threshold with --no-refine"),
        (["learn", "{data}", "--penalty", "1,two"], 2, "'1,two' is not a number from 0 to 1000000"),
        (["learn", "{data}", "--time-limit", "0"], 2, "'0' is not a number above 0."),
        (["learn", "{data}", "--blocks", "--penalty", "1,2"], 2, "pass a single one, or --no-blocks"),
        (["bootstrap", "{data}", "--share", "0.5"], 2, "--share 0.5 belongs to --sampling subsample"),
        (["bootstrap", "{data}", "--sampling", "draws"], 2, "draws"),
        (["bootstrap", "{data}", "--threshold", "0"], 2, "--threshold is a share of the runs"),
        (["bootstrap", "{data}", "--input", "correlation"], 2, "No such option"),
        (["learn", "{data}", "--beam", "wide"], 2, "beam"),
        (["learn", "{data}", "--beam", "0"], 2, "beam"),
        (["learn", "{data}", "--penalty", "nan"], 2, "penalty"),
        (["learn", "{data}", "--time-limit", "0"], 2, "--time-limit"),
        (["learn", "{data}", "--n-samples", "10"], 2, "--n-samples goes with"),
        (["learn", "{data}", "--seed", "-1"], 2, "--seed"),
        (["learn", "{data}", "--delimiter", "tabs"], 2, "delimiter"),
        (["learn", "{data}", "--jobs", "0"], 2, "--jobs is a number"),
        (["learn", "{data}", "--input", "correlation"], 2, "pass --n-samples"),
        (["simulate", "somewhere", "--seed", "-1"], 2, "--seed"),
        (["learn", "{data}", "--delimiter", ";"], 1, "commas"),
        (["learn", "{truth}", "--score", "bdeu"], 2, "'weight' holds numbers"),
        (["learn"], 2, "Missing argument"),
        (["learn", "{data}", "--out", "{data}"], 1, "could not be written"),
        (["compare", "{data}", "{data}"], 1, "source,target"),
        (["simulate", "somewhere", "--density", "3"], 2, "--density is a number between 0 and 1, not 3"),
        (["simulate", "somewhere", "--density", "0.1", "--degree", "2"], 2, "either --density"),
        (["dance"], 2, "No such command"),
    ],
)
def test_exit_status_and_message(folder, tmp_path, words, status, message):
    places = {"data": folder / "data.csv", "truth": folder / "truth.csv"}
    done = run(*[word.format(**places) for word in words], cwd=tmp_path)
    assert done.returncode == status, done.stdout + done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", learn.FILES)
@pytest.mark.parametrize("place", ["found", "found/../found", "other/../found"])
def test_a_report_does_not_take_the_place_of_a_result(folder, tmp_path, monkeypatch, name, place):
    monkeypatch.setattr("rfdag.learn", lambda *arguments, **options: pytest.fail("it learnt first"))
    for each in ("found", "other"):
        (tmp_path / each).mkdir()
    words = ["learn", folder / "data.csv", "--out", tmp_path / "found", "--report", tmp_path / place / name]
    done = CliRunner().invoke(app, list(map(str, words)))
    assert done.exit_code == 2
    assert f"--out writes {name} into" in done.stderr
    assert list((tmp_path / "found").iterdir()) == []


@pytest.mark.parametrize("kind", ["a file", "a file above", "a folder called like a file", "read-only"])
def test_a_folder_that_cannot_be_written_is_seen_before_learning(folder, tmp_path, monkeypatch, kind):
    monkeypatch.setattr("rfdag.learn", lambda *arguments, **options: pytest.fail("it learnt first"))
    out = tmp_path / "found"
    if kind == "a folder called like a file":
        (out / "graph.dot").mkdir(parents=True)
    elif kind == "read-only":
        # Root may write to any folder, so the refusal of a read-only file system is played.
        def refuse(**options):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))

        monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    else:
        out.write_text("kept")
        out = out / "below" if kind == "a file above" else out
    before = sorted(tmp_path.rglob("*"))
    done = CliRunner().invoke(app, ["learn", str(folder / "data.csv"), "--out", str(out)])
    assert done.exit_code == 1
    assert f"{out} could not be written to" in done.stderr.replace("\n", "")
    assert sorted(tmp_path.rglob("*")) == before


def test_version_and_help_show_defaults():
    assert run("--version").stdout == f"rfdag {rfdag.__version__}\n"
    text = run("learn", "--help").stdout
    for default in ("default: soft", "default: 1]", "default: 2]", "default: 0.001", "default: all", "default: data"):
        assert default in text


def test_compare_refuses_other_variables(folder, tmp_path):
    run("learn", folder / "data.csv", "--out", tmp_path)
    truth = tmp_path / "truth.csv"
    truth.write_text("from,to\nx1,stranger\n")
    done = run("compare", truth, tmp_path / "result.json")
    assert done.returncode == 1
    assert "'stranger'" in done.stderr


def test_compare_names_a_cycle(tmp_path):
    path = tmp_path / "cycle.csv"
    path.write_text("source,target\na,b\nb,a\n")
    done = run("compare", path, path)
    assert done.returncode == 1
    assert "'a' → 'b' → 'a'" in done.stderr
    path.write_text("source,target\n")
    assert "nothing to compare" in run("compare", path, path).stderr


def test_full_disks_and_closed_pipes_end_quietly(folder):
    words = [*PROGRAM, "learn", str(folder / "data.csv"), "--json"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "No space left" in done.stderr


def test_names_cannot_steer_the_terminal(tmp_path):
    path = tmp_path / "names.csv"
    path.write_text("\x1b[31mred,b\n1,2\n2,1\n3,5\n4,4\n9,1\n")
    done = run("learn", path, "--out", tmp_path / "out")
    assert "\x1b[31m" not in done.stdout
    assert "\\x1b[31mred" in done.stdout


def test_runs_without_a_place_for_compiled_kernels(tmp_path):
    """Where numba finds no folder for its cache, kernels are compiled in every process."""
    code = (
        "from numba.core import caching\n"
        "caching.FunctionCache._impl_class._locator_classes = []\n"
        "from rfdag.runtime.compilation import kernel\n"
        "print(kernel()(lambda x: x + 1)(2))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "3\n", done.stderr


def test_progress_bar_on_a_terminal_only():
    """A slow run in a pseudo-terminal shows a bar; into a pipe, only that it compiles."""
    code = (
        "import time; from rfdag.runtime import progress; progress.PATIENCE = 0.05\n"
        "with progress.Progress() as bar:\n"
        "    report = bar.stage('Eliminating')\n"
        "    time.sleep(0.3); report(0.25); time.sleep(0.3); report(0.5); time.sleep(0.3)\n"
        "    bar.compiling('Once.'); bar.stage('Refining'); time.sleep(0.3)\n"
    )
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    with subprocess.Popen([sys.executable, "-c", code], stderr=theirs, env=environment) as process:
        process.wait()
    os.close(theirs)
    shown = os.read(ours, 100_000).decode()
    os.close(ours)
    assert "Eliminating" in shown
    assert "50%" in shown
    assert "Once." in shown
    assert "Compiling and refining" in shown
    silent = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert silent.stderr == b"Once.\n"


def test_the_program_starts_without_loading_numerics():
    """Asking for help, or completing a word, must not wait for them."""
    code = "import sys, rfdag.cli; print([name for name in ('numpy', 'scipy', 'numba') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# Ctrl-C


def test_an_interrupted_run_ends_in_one_line(folder, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("rfdag.learn", interrupted)
    done = CliRunner().invoke(app, ["learn", str(folder / "data.csv")])
    assert done.exit_code == 130
    assert done.stderr == "Interrupted.\n"
    assert done.stdout == ""


def test_an_interrupt_while_a_file_is_read_leaves_no_traceback(folder):
    """The signal comes before anything is found."""
    code = (
        "import os, signal, rfdag.input.sources as sources\n"
        "sources.read_text = lambda *arguments: os.kill(os.getpid(), signal.SIGINT)\n"
        "from rfdag.cli import main; main()\n"
    )
    words = [sys.executable, "-c", code, "learn", str(folder / "data.csv")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "Interrupted.\n")


def test_the_best_so_far_is_shown_with_a_warning(folder, monkeypatch):
    from rfdag.methods import judged

    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(judged, "descend", interrupted)
    done = CliRunner().invoke(app, ["learn", str(folder / "data.csv"), "--method", "rfd", "--refine"])
    assert done.exit_code == 0
    assert "Causal order" in done.stdout
    assert "The search was interrupted; this is the best order found until then." in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("true", "found", "words"),
    [
        ("a,b\nb,c", "c,b\nb,a", "Markov equivalent (shd 0)"),
        ("a,b\nb,c", "a,b\nb,c\na,c", "sid and ancestor_aid are 0 although the graphs differ"),
        ("a,b\nb,c", "a,b\nb,c", "nan (order_error)"),
    ],
)
def test_compare_explains_scores_that_seem_to_contradict(true, found, words, tmp_path):
    for name, edges in (("true", true), ("found", found)):
        (tmp_path / f"{name}.csv").write_text(f"source,target\n{edges}\n")
    done = CliRunner().invoke(app, ["compare", str(tmp_path / "true.csv"), str(tmp_path / "found.csv")])
    told = " ".join(done.stdout.split())
    assert words in told
    assert ("Markov equivalent" in told) == ("shd 0" in words)
