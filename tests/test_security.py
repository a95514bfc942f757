"""Files of strangers execute nothing and fill no memory, and names of theirs stay text wherever they are shown."""

from __future__ import annotations

import ast
import bz2
import csv
import gzip
import html.parser
import io
import json
import lzma
import pickle
import re
import subprocess
import sys
import warnings
import zipfile
from contextlib import suppress
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas
import pytest

import browser
import rfdag
from readers import FORMATS
from rfdag import exchange
from rfdag.bootstrapping.frequencies import Bootstrap
from rfdag.cli import app
from rfdag.errors import FileError, RfdagError
from rfdag.evidence.reading import read_evidence
from rfdag.input.environments import read_targets
from rfdag.knowledge import Knowledge
from rfdag.runtime import unpacking
from rfdag.runtime.journal import Journal
from rfdag.runtime.json_text import parsed

SOURCES = Path(rfdag.__file__).parent
NAMES = (
    "</script><script>window.hacked = 1</script>", "<img src=x onerror='window.hacked = 2'>", "=cmd|'/c calc'!A0",
    "+1+1", "-2+3", "@SUM(1)", "a\n\r\tb", "\u202eevil\u202c", "\x1b]0;title\x07\x1b[31m", "]]> --> */ ${7*7} {{7*7}}",
    "quo\"te's `tick` \\", "$(touch hacked) ; touch hacked", "\ufffe\uffff\x7f\x9b", "%s%n{0}", "javascript:alert(1)",
)  # fmt: skip
"""Names that other programs would execute, or that would steer a terminal."""


# Reading executes nothing


class Touch:
    """Makes a file when it is unpickled."""

    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return Path.touch, (self.marker,)


def npz(**arrays):
    handle = io.BytesIO()
    np.savez(handle, **arrays)
    return handle.getvalue()


def pickled_files(touch):
    """Yield names and contents of files with a pickle inside, each of which its own library would run if asked to."""
    objects = np.array([[touch, 1.0], [2.0, 3.0]], dtype=object)
    handle = io.BytesIO()
    np.save(handle, objects, allow_pickle=True)
    numbers = np.arange(8.0).reshape(4, 2)
    yield "x.npy", handle.getvalue()
    yield "x.npz", npz(data=objects)
    yield "x.npz", npz(data=numbers, names=np.array([touch, "b"], dtype=object))
    at = {"row": np.array([0, 1]), "col": np.array([1, 0]), "shape": np.array([2, 2]), "format": np.array(b"coo")}
    yield "x.npz", npz(data=np.array([touch, touch], dtype=object), **at)
    yield "x.npz", npz(data=np.ones(2), **{**at, "format": np.array(touch, dtype=object)})
    for format in FORMATS.values():
        yield f"x{format.ending or '.txt'}", pickle.dumps(touch)


def test_no_reader_unpickles(tmp_path):
    marker = tmp_path / "marker"
    files = list(pickled_files(Touch(marker)))
    pickle.loads(files[-1][1])
    assert marker.exists(), "these files are harmless"
    marker.unlink()
    for name, content in files:
        path = tmp_path / name
        path.write_bytes(content)
        reads = [read_evidence, lambda each: read_evidence(each, input="dag"), rfdag.load, Bootstrap.load]
        for read in (*reads, Knowledge.read, read_targets):
            with pytest.raises((RfdagError, ImportError)):
                read(path)
            assert not marker.exists(), name
        path.unlink()


def test_an_extension_type_of_arrow_is_not_unpickled(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    marker, path = tmp_path / "marker", tmp_path / "x.parquet"
    field = arrow.field("a", arrow.float64(), metadata={
        b"ARROW:extension:name": b"arrow.py_extension_type",
        b"ARROW:extension:metadata": pickle.dumps(Touch(marker)),
    })  # fmt: skip
    rows = np.random.default_rng(1).normal(size=(2, 20))
    schema = arrow.schema([field, arrow.field("b", arrow.float64())])
    parquet.write_table(arrow.Table.from_arrays(list(map(arrow.array, rows)), schema=schema), path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with suppress(RfdagError):
            read_evidence(path)
    assert not marker.exists()


FORBIDDEN = {
    "eval", "exec", "compile", "__import__", "pickle.load", "pickle.loads", "joblib.load", "joblib.Memory", "os.system",
    "os.popen", "subprocess.getoutput", "yaml.load", "marshal.loads", "shelve.open", "dill.loads", "cloudpickle.loads",
}  # fmt: skip
OPTIONS = ("allow_pickle", "shell", "autoescape")
MODULES = {
    "pickle",
    "marshal",
    "shelve",
    "dill",
    "cloudpickle",
    "yaml",
    "xmlrpc",
    "telnetlib",
    "ftplib",
    "socket",
    "urllib",
}


def called(node):
    """Return what a call names, as a.b; nothing if it is more complicated than that."""
    match node.func:
        case ast.Name(name):
            return name
        case ast.Attribute(ast.Name(module), name):
            return f"{module}.{name}"
    return ""


def test_the_sources_execute_no_text():
    """Nothing in them unpickles, evaluates text, starts a shell, or opens a connection; templates are escaped."""
    looked_at = 0
    for path in SOURCES.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            place = f"{path}:{getattr(node, 'lineno', 0)}"
            if isinstance(node, ast.Import | ast.ImportFrom):
                modules = [each.name for each in node.names] if isinstance(node, ast.Import) else [node.module or ""]
                assert not MODULES & {module.partition(".")[0] for module in modules}, place
            if isinstance(node, ast.Call):
                looked_at += 1
                given = {each.arg: ast.unparse(each.value) for each in node.keywords if each.arg in OPTIONS}
                assert called(node) not in FORBIDDEN, place
                assert given.get("allow_pickle", "False") == "False", place
                assert given.get("shell", "False") == "False", place
                if called(node) == "Environment" and path.name == "page.py":
                    assert given["autoescape"] == "True", place
    assert looked_at > 10_000


# Small files fill no memory

MEGABYTES = 300
"""Memory beside that of the libraries, in which all of these files are refused; each holds more."""

REFUSE = f"""
import resource, sys, warnings
from pathlib import Path
import rfdag, openpyxl, pyarrow.parquet, scipy.sparse
from rfdag.evidence.reading import read_evidence
from rfdag.simulate import discrete_network

warnings.simplefilter("ignore")
limit = {MEGABYTES} * 2**20 + int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
for name in sys.argv[1:]:
    read = discrete_network if ".bif" in name else rfdag.load if name.endswith(".json") else read_evidence
    try:
        read(Path(name))
    except rfdag.errors.RfdagError as problem:
        print(name, problem)
"""


def packed_files(folder):
    """Write small files that unpack to far more, and return their names with what is said of each."""
    line = b"0,0,0,0\n"
    block = line * (8 * 2**20 // len(line))
    # Members of a gzip file may follow one another: 600 MB.
    (folder / "rows.csv.gz").write_bytes(gzip.compress(b"a,b,c,d\n") + gzip.compress(block) * 75)
    (folder / "net.bif.gz").write_bytes(gzip.compress(block) * 75)
    with zipfile.ZipFile(folder / "rows.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("rows.csv", b"a,b,c,d\n" + block * 9)
    with zipfile.ZipFile(folder / "x.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.npy", bytes(72 * 2**20))
    with zipfile.ZipFile(folder / "sparse.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("format", "shape", "data"):
            archive.writestr(f"{name}.npy", bytes(24 * 2**20))
    sheet(folder / "big.xlsx", bytes(72 * 2**20))
    return {
        **dict.fromkeys(("rows.csv.gz", "rows.zip"), "GB of memory"),
        **dict.fromkeys(("x.npz", "sparse.npz", "big.xlsx"), "500 times its size"),
        "net.bif.gz": "networks in BIF take a few",
        **stretched_files(folder),
    }


def sheet(path, rows, before=b"", dimension=b""):
    """Write an Excel file with these rows in its XML."""
    import openpyxl

    book = openpyxl.Workbook()
    book.save(path)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    whole = (
        b"<worksheet xmlns='http://schemas.openxmlformats.org/spreadsheetml/2006/main'>" + dimension + b"<sheetData>"
    )
    parts["xl/worksheets/sheet1.xml"] = before + whole + rows + b"</sheetData></worksheet>"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def stretched_files(folder):
    """Write small files that say that they hold much, and return their names with what is said of each."""
    wide = b"".join(b'<row r="%d"><c r="XFD%d"><v>%d</v></c></row>' % (at, at, at) for at in range(1, 2000))
    sheet(folder / "wide.xlsx", wide)
    sheet(folder / "long.xlsx", b'<row r="999999999999"><c r="A999999999999"><v>1</v></c></row>')
    names = list(map(str, range(30_000)))
    whole = json.loads(rfdag.learn(np.triu(np.ones((3, 3), int), 1), input="dag").to_json())
    order = list(range(len(names)))
    (folder / "p.json").write_text(json.dumps(whole | {"names": names, "order": order}))
    (folder / "lists.json").write_text('{"format": "rfdag-result", "names": [' + "[]," * 5_000_000 + "[]]}")
    return {
        "wide.xlsx": "stretches it",
        "long.xlsx": "which Excel cannot have written",
        "p.json": "for matrices of 30000 variables",
        "lists.json": "GB of memory",
    }


@pytest.mark.skipif(sys.platform != "linux", reason="the limit on memory is Linux's")
def test_what_unpacks_to_far_more_is_refused_in_little_memory(tmp_path):
    files = packed_files(tmp_path)
    assert all((tmp_path / name).stat().st_size < 2**20 for name in files if name != "lists.json")
    words = [sys.executable, "-c", REFUSE, *files]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    said = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    for name, expected in files.items():
        assert expected in said.get(name, "(nothing)"), name


@pytest.mark.parametrize("ending", unpacking.UNPACK)
def test_text_that_was_packed_too_well_is_refused(ending, tmp_path, monkeypatch):
    arrow = pytest.importorskip("pyarrow")
    monkeypatch.setattr(unpacking, "TRIFLE", 2**20)
    text, path = b"a,b\n" + b"0,0\n" * 2**20, tmp_path / f"x.csv{ending}"
    if ending == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("x.csv", text)
    elif ending == ".zst":
        with arrow.CompressedOutputStream(str(path), "zstd") as handle:
            handle.write(text)
    else:
        path.write_bytes({".gz": gzip, ".bz2": bz2, ".xz": lzma}[ending].compress(text))
    with pytest.raises(FileError, match=r"Up to 500 times its size are read.*unpack it yourself"):
        read_evidence(path)
    (tmp_path / "x.csv").write_bytes(text)
    with pytest.raises(RfdagError, match="constant"):
        read_evidence(tmp_path / "x.csv")


@pytest.mark.parametrize("ending", [".feather", ".parquet"])
@pytest.mark.parametrize("rows", [20_000, 1_000_000])
def test_columns_that_were_packed_too_well_are_refused(ending, rows, tmp_path, monkeypatch):
    """What is refused unpacks to 16 MB; of fewer rows, it unpacks to what is always read."""
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import feather, parquet

    monkeypatch.setattr(unpacking, "TRIFLE", 2**20)
    table, path = arrow.table({"a": np.zeros(rows), "b": np.zeros(rows)}), tmp_path / f"x{ending}"
    table = table.append_column("kind", arrow.array(["u"] * rows).dictionary_encode())
    if ending == ".parquet":
        parquet.write_table(table, path, compression="zstd", use_dictionary=False, data_page_size=2**26)
    else:
        feather.write_feather(table, str(path), compression="zstd", chunksize=rows)
    expected = "Up to 500 times its size are read.*save it again without compression" if rows > 100_000 else "constant"
    with pytest.raises(RfdagError, match=expected):
        read_evidence(path)


def test_what_is_packed_well_and_honestly_is_read(tmp_path):
    rows = np.random.default_rng(5).random((1000, 100)) < 0.02
    text = "".join(",".join(row) + "\n" for row in [[f"v{at}" for at in range(100)], *rows.astype(int).astype(str)])
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(text.encode()))
    assert len(text) > 15 * path.stat().st_size
    assert len(read_evidence(path).evidence.names) == 100


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_workbooks_that_define_entities_are_refused(encoding, tmp_path):
    levels = "".join(f'<!ENTITY l{at} "{f"&l{at - 1};" * 10}">' for at in range(1, 10))
    definitions = f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE x [<!ENTITY l0 "lol">{levels}]>'
    path = tmp_path / "x.xlsx"
    row = b'<row r="1"><c r="A1" t="str"><v>&l9;</v></c></row>'
    sheet(path, row, before=definitions.encode(encoding))
    with pytest.raises(FileError, match=r"defines entities in its part 'xl/worksheets/sheet1.xml'"):
        read_evidence(path)


DEEP = ('{"a":' * 100_000, "[" * 100_000, '{"tiers": ' + "[" * 900 + "]" * 900 + "}", '{"a": ' + "9" * 5000 + "}")


@pytest.mark.parametrize("text", DEEP, ids=["objects", "lists", "tiers", "digits"])
def test_json_beyond_what_python_reads_ends_in_words(text, tmp_path):
    path = tmp_path / "x.json"
    path.write_text(text)
    for read in (rfdag.load, Bootstrap.load, Knowledge.read, read_targets):
        with pytest.raises(RfdagError, match=r"x\.json|lists names of columns"):
            read(path)
    assert list(Journal(path)) in ([], [json.loads(text)] if text is DEEP[2] else [])


def test_deep_names_end_in_words(tmp_path):
    name = '{"tuple": [' * 300 + "1" + "]}" * 300
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"format": "rfdag-result", "version": 3}).replace("}", f', "names": [{name}]}}'))
    with pytest.raises(FileError, match=r"x\.json"):
        rfdag.load(path)


def test_problems_of_json_are_of_one_kind():
    for text in (*DEEP[:2], DEEP[3]):
        with pytest.raises(json.JSONDecodeError, match=r"too deep|digits"):
            parsed(text)


# Names are data


@pytest.fixture(scope="module")
def hostile():
    """Return a result whose variables have these names."""
    p = len(NAMES)
    return rfdag.learn(np.triu(np.ones((p, p), int), 1), "rfd", input="dag", names=NAMES)


class Tags(html.parser.HTMLParser):
    """Collects the tags and attributes of a piece of HTML."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found += [(tag, name, value) for name, value in attributes] or [(tag, "", "")]


def test_names_are_text_in_html(hostile):
    shown = [hostile._repr_html_(), hostile.trace._repr_html_()]
    for text in shown:
        for tag, name, value in Tags(text).found:
            assert tag not in ("script", "img", "iframe", "a", "object", "link", "meta")
            assert not name.startswith("on")
            assert "javascript:" not in (value or "") or name == "title"
        assert not {"\x1b", "\u202e", "\x9b"} & set(text)


def test_names_are_text_in_xml_and_dot(hostile):
    nodes = ElementTree.fromstring(hostile.to_graphml()).iter("{http://graphml.graphdrawing.org/xmlns}node")
    assert len({node.get("id") for node in nodes}) == len(NAMES)
    outside = re.sub(r'"(?:\\.|[^"\\])*"', "name", hostile.to_dot(), flags=re.DOTALL)
    assert set(outside.split("\n")) == {
        "digraph rfdag {",
        "  name;",
        "  name -> name [dir=none];",
        "}",
        "",
    }


def test_names_come_back_from_csv_as_they_were(hostile):
    """Formulas included: a mark before them would be another name. SECURITY.md says so."""
    rows = list(csv.reader(io.StringIO(hostile.to_csv(), newline="")))[1:]
    assert {name for row in rows for name in row[:2]} == set(NAMES)
    assert set(exchange.from_csv(exchange.to_csv(hostile.named_graph("dag"))).names) == set(NAMES)


def test_names_do_not_steer_a_terminal(tmp_path, capsys):
    rows = np.random.default_rng(3).normal(size=(40, len(NAMES)))
    path = tmp_path / "x.csv"
    pandas.DataFrame(rows, columns=NAMES).to_csv(path, index=False)
    out = tmp_path / "out"
    for words in (["learn", str(path), "--out", str(out)], ["effect", str(out / "result.json"), NAMES[1], NAMES[3]]):
        app(words, standalone_mode=False)
        said = capsys.readouterr()
        assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(said.out + said.err)


@pytest.fixture(scope="module")
def chromium():
    if browser.program() is None:
        pytest.skip("no Chromium here: apt-get install chromium to try the report in a browser")
    with browser.Browser() as started:
        yield started


def reports(folder):
    """Yield reports with hostile text in every field: names, levels, files, knowledge, labels, a bootstrap, a truth."""
    generator = np.random.default_rng(7)
    table = pandas.DataFrame(generator.normal(size=(80, 6)), columns=NAMES[:6])
    table[NAMES[1]] += 2 * table[NAMES[0]]
    table[NAMES[3]] += 2 * table[NAMES[1]] + table[NAMES[2]]
    table[NAMES[6]] = np.array(NAMES[:3])[generator.integers(0, 3, 80)]
    data = folder / "<img src=x onerror=window.hacked=3> '\"&.csv"
    table.to_csv(data, index=False)
    known = Knowledge.of({"forbidden": [[NAMES[0], NAMES[1]]], "roots": [NAMES[2]]})
    result = rfdag.learn(data, knowledge=known, restarts=1)
    truth = np.zeros((7, 7), int)
    truth[0, 3] = 1
    bootstrap = rfdag.bootstrap(table, runs=2, n_jobs=1, progress=False, knowledge=known)
    yield result.report(folder / "mixed.html", data=data, truth=truth, bootstrap=bootstrap)
    labels = NAMES[:3]
    pooled = pandas.DataFrame(generator.normal(size=(90, 4)), columns=NAMES[:4]).assign(lab=np.repeat(labels, 30))
    pooled[NAMES[1]] += 2 * pooled[NAMES[0]]
    targets = {labels[0]: [], labels[1]: [NAMES[1]], labels[2]: [NAMES[2]]}
    yield rfdag.learn(pooled, environments="lab", targets=targets).report(folder / "lab.html")


def test_reports_execute_nothing_and_work(chromium, tmp_path):
    for path in reports(tmp_path):
        chromium.open(path)
        assert "default-src 'none'" in chromium.run(
            "document.querySelector('meta[http-equiv=\"Content-Security-Policy\"]').content"
        )
        assert chromium.run("document.querySelectorAll('#edge-table tbody tr').length") > 0
        # Everything that can be pressed is pressed; pictures are not saved here.
        chromium.run(
            "for (const each of document.querySelectorAll('button')) if (!each.id.startsWith('save')) each.click()"
        )
        chromium.run("for (const each of document.querySelectorAll('input')) each.dispatchEvent(new Event('input'))")
        shown = chromium.run("[...document.querySelectorAll('.name')].map((each) => each.textContent).join(' ')")
        assert "window.hacked" in shown
        assert chromium.run("window.hacked") is None
        assert chromium.run("document.querySelectorAll('script').length") == 2
        assert chromium.run("document.querySelectorAll('img, iframe, object, embed, base, form').length") == 0
        assert chromium.complaints == []
        assert len(chromium.requests) == 1


def test_the_policy_stops_what_would_be_injected(chromium, tmp_path):
    """What the escaping of text keeps out, the policy would stop as well."""
    text = next(reports(tmp_path)).read_text(encoding="utf-8")
    path = tmp_path / "injected.html"
    more = "<script>window.hacked = 1</script><img src='data:,' onerror='window.hacked = 2'>"
    path.write_text(text.replace("</main>", more + "</main>"), encoding="utf-8")
    chromium.open(path)
    assert chromium.run("window.hacked") is None
    assert any("Content Security Policy" in str(each) for each in chromium.complaints)
