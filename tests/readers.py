"""Everything of rfdag that reads a file or a text: what it reads, whole examples of it, and the call.

Fuzzing starts from the examples; see test_hostile_files.py and benchmarks/soak_readers.py.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas

import rfdag
from rfdag import datasets, exchange
from rfdag.bootstrapping.frequencies import Bootstrap
from rfdag.errors import RfdagError
from rfdag.evidence.reading import read_evidence
from rfdag.input.environments import read_targets
from rfdag.input.graphs import read_edges
from rfdag.knowledge import Knowledge

NAMES = ("a", "b", "c d", "é")
SHORTEST = 20
"""Letters of an error that says something."""
LETTERS = ("a", "b", "c", "é")
"""Names without blanks, which Tetrad's formats cannot hold."""


@dataclass(frozen=True)
class Format:
    """A kind of content that is read.

    Attributes
    ----------
    ending
        That of the file's name.
    examples
        Returns contents that are read without an error.
    read
        Reads a path, or text if ``of_text``.
    """

    ending: str
    examples: Callable[[], Iterable[bytes]]
    read: Callable[[Any], Any]
    of_text: bool = False

    def attempt(self, content: bytes, folder: Path) -> Any:
        """Read some content."""
        if self.of_text:
            return self.read(content.decode("utf-8", errors="replace"))
        path = folder / f"it{self.ending}"
        path.write_bytes(content)
        return self.read(path)

    def refusal(self, content: bytes, folder: Path) -> str | None:
        """Return what rfdag says against some content; None if it is read."""
        try:
            self.attempt(content, folder)
        except RfdagError as error:
            return str(error)
        return None


def slug(name: str) -> str:
    """Return the name of a format as that of a folder: tests/corpus/ holds kept inputs in one for each."""
    return "-".join(re.findall("[a-z]+", name.lower()))


def rows() -> np.ndarray:
    """Return twelve rows of four columns."""
    return np.random.default_rng(3).normal(size=(12, 4)).round(3)


def _csv() -> list[bytes]:
    lines = [",".join(map(str, row)) for row in rows().tolist()]
    plain = "\n".join(["a,b,c d,é", *lines]) + "\n"
    german = plain.replace(",", ";").replace(".", ",")
    cells = "".join(f"1e{at % 4},{at},{' yes ' if at % 3 else 'no'},{at * at}\n" for at in range(12))
    odd = f'"x ""1""",y,kind,when\n{cells}#n/a,2,no,5\n3,4,yes,NA\n'
    titled = "A title\n\nid\tvalue\tgroup\n" + "".join(f"{at}\t{at * at} 000,5\tgroup {at % 2}\n" for at in range(12))
    return [plain.encode(), german.encode("cp1252"), odd.encode("utf-16"), titled.encode("utf-8-sig")]


def _zipped() -> list[bytes]:
    return [gzip.compress(each) for each in _csv()[:2]]


def _npy() -> list[bytes]:
    found = []
    for array in (rows(), np.asfortranarray(rows().astype(np.float32)), (rows() * 100).astype(np.int16)):
        handle = io.BytesIO()
        np.save(handle, array)
        found.append(handle.getvalue())
    return found


def _npz() -> list[bytes]:
    found = []
    for save in (np.savez, np.savez_compressed):
        handle = io.BytesIO()
        save(handle, data=rows(), names=np.array(NAMES))
        found.append(handle.getvalue())
    return found


def _sparse() -> list[bytes]:
    from scipy.sparse import csr_array, save_npz

    handle = io.BytesIO()
    save_npz(handle, csr_array(np.triu(np.ones((4, 4), np.int8), 1)))
    return [handle.getvalue()]


def _arrow(name: str) -> list[bytes]:
    handle = io.BytesIO()
    table = pandas.DataFrame(rows(), columns=list(NAMES)).assign(kind=["x", "y", "z"] * 4)
    if name == "parquet":
        table.to_parquet(handle)
    else:
        table.to_feather(handle)
    return [handle.getvalue()]


def _excel() -> list[bytes]:
    import openpyxl

    book, handle = openpyxl.Workbook(), io.BytesIO()
    for row in [list(NAMES), *rows().tolist()]:
        book.active.append(row)
    book.save(handle)
    return [handle.getvalue()]


@cache
def _result() -> rfdag.Result:
    return rfdag.learn(rows(), names=NAMES)


def _saved(save: Callable[[Path], Any]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "it"
        save(path)
        return path.read_bytes()


def _results() -> list[bytes]:
    values = rows()
    mixed = rfdag.learn(pandas.DataFrame({"x": values[:, 0], "kind": ["u", "v", "w"] * 4, "z": values[:, 2]}))
    lab = rfdag.learn([rows(), rows() + 1.0], targets=[[], [1]])
    return [_saved(lambda path, each=each: each.save(path)) for each in (_result(), mixed, lab)]


def _bootstraps() -> list[bytes]:
    found = rfdag.bootstrap(rows(), runs=3, n_jobs=1, progress=False)
    return [_saved(found.save)]


def _knowledge() -> list[bytes]:
    known = Knowledge.of({"tiers": [["a"], ["b", "c"]], "forbidden": [["b", "c"]], "required": [["a", "b"]]})
    text = known.to_tetrad()
    return [text.encode(), datasets.auto_mpg_knowledge().to_tetrad().encode()]


def _knowledge_json() -> list[bytes]:
    known = {"tiers": [["a"], ["b", "c*"]], "forbidden": [["b", "c d"]], "roots": ["a"], "leaves": ["é"]}
    return [json.dumps(known).encode()]


def _exported(name: str) -> Callable[[], list[bytes]]:
    def made() -> list[bytes]:
        graph = exchange.NamedGraph(LETTERS, _result().cpdag)
        return [getattr(exchange, f"to_{name}")(graph).encode()]

    return made


def _dagitty() -> list[bytes]:
    return [
        *_exported("dagitty")(),
        b'pdag { bb="0,0,1,1" x [exposure,pos="0,1"] y [outcome] "a b" -> {x y} ; x -> z ; z -- w /* c */ }',
    ]


def _targets() -> list[bytes]:
    return [b"condition,target,note\ncontrol,,\ndrug,mek,x\ndrug,akt;pka,\n"]


FORMATS = {
    "CSV": Format(".csv", _csv, read_evidence),
    "text with tabs": Format(".tsv", _csv, read_evidence),
    "CSV, gzip": Format(".csv.gz", _zipped, read_evidence),
    "NPY": Format(".npy", _npy, read_evidence),
    "NPZ": Format(".npz", _npz, read_evidence),
    "sparse NPZ": Format(".npz", _sparse, lambda path: read_evidence(path, input="dag")),
    "Parquet": Format(".parquet", lambda: _arrow("parquet"), read_evidence),
    "Feather": Format(".feather", lambda: _arrow("feather"), read_evidence),
    "Excel": Format(".xlsx", _excel, read_evidence),
    "result": Format(".json", _results, rfdag.load),
    "bootstrap": Format(".json", _bootstraps, Bootstrap.load),
    "knowledge, Tetrad": Format(".txt", _knowledge, Knowledge.read),
    "knowledge, JSON": Format(".json", _knowledge_json, Knowledge.read),
    "targets, CSV": Format(".csv", _targets, read_targets),
    "targets, JSON": Format(".json", lambda: [b'{"control": [], "drug": ["mek", 3]}'], read_targets),
    "edges": Format(".csv", lambda: [b"source,target\na,b\nb,c d\n", b"from,to,w\na,b,1\n"], read_edges),
    "dagitty": Format("", _dagitty, exchange.from_dagitty, of_text=True),
    "Tetrad graph": Format("", _exported("tetrad"), exchange.from_tetrad, of_text=True),
    "edges as text": Format("", _exported("csv"), exchange.from_csv, of_text=True),
    "matrix of pcalg": Format("", _exported("pcalg_csv"), exchange.from_pcalg_csv, of_text=True),
}
"""All of them by name."""
