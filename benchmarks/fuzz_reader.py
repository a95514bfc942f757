"""Feed one reader with inputs that coverage guides, until the time is up: the child process of soak_readers.py.

    python benchmarks/fuzz_reader.py "CSV" FOLDER --minutes 10

FOLDER holds the corpus, which grows, and what is found: `counts.json`, an input for each kind of ending in `endings/`,
and in `crashes/` those that raise something else than an error of rfdag, with their tracebacks. Needs the extra `fuzz`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import resource
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

SECONDS = 10
"""What reading one input may take."""
MEMORY = 2 << 30
"""Bytes of address space that inputs may add to what the process has."""
LONGEST = 16_384
"""Bytes of an input."""
WITHIN = 0.4
"""Share of mutations by tokens and within compressed content, beside those of libFuzzer."""
BEGINNING = 500
"""Letters of an error by which endings are told apart."""
EXHAUSTED = "needs more memory than is free"
"""What an error says when memory ran out, which no input as short as these may lead to."""


class Watched:
    """A reader, and what became of its inputs."""

    def __init__(self, name: str, folder: Path) -> None:
        from readers import FORMATS

        self.format = FORMATS[name]
        self.folder = folder
        self.place = Path(tempfile.mkdtemp(prefix="fuzz-"))
        self.counts: Counter[str] = Counter()
        self.shortest: dict[str, int] = {}
        self.written = 0.0
        sys.unraisablehook = lambda what: self._keep_crash(what.exc_value, b"")

    def one(self, content: bytes) -> None:
        """Read an input; keep it if it ends in a way that was not seen, or in an exception that is not rfdag's."""
        from rfdag.errors import RfdagError

        self.counts["inputs"] += 1
        try:
            self.format.attempt(content, self.place)
            self.counts["read"] += 1
            ending = "read"
        except RfdagError as error:
            self.counts["refused"] += 1
            ending = ending_of(error)
            if len(str(error)) < 20 or EXHAUSTED in str(error):
                self._keep_crash(error, content)
        except Exception as error:
            self.counts["crashes"] += 1
            ending = ""
            self._keep_crash(error, content)
        if ending and len(content) < self.shortest.get(ending, 1 << 60):
            self.shortest[ending] = len(content)
            (self.folder / "endings" / digest(ending.encode())).write_bytes(content)
        if time.monotonic() > self.written + 1:
            self.write()

    def write(self) -> None:
        """Write the counts."""
        self.written = time.monotonic()
        (self.folder / "counts.json").write_text(json.dumps(self.counts), encoding="utf-8")

    def _keep_crash(self, error: BaseException | None, content: bytes) -> None:
        lines = traceback.format_exception(error)
        frames = re.findall(r'File "[^"]*rfdag/([^"]*)", line (\d+)', "".join(lines))
        kind = digest(f"{type(error).__name__} {frames[-1:]}".encode())
        path = self.folder / "crashes" / kind
        if not path.exists() or len(content) < path.stat().st_size:
            path.write_bytes(content)
            path.with_suffix(".txt").write_text("".join(lines), encoding="utf-8", errors="replace")


def ending_of(error: Exception) -> str:
    """Return how an error begins, without the names and numbers of the input."""
    words = re.sub(r"[(].*?[)]|.[^ ]*[0-9].*? ", "", str(error)[:BEGINNING])
    return f"{type(error).__name__}: {re.sub(r'[^ a-zA-Z]+', '', words)}"


def digest(content: bytes) -> str:
    """Return a short name for some content."""
    return hashlib.sha256(content).hexdigest()[:12]


def _modules() -> list[str]:
    """Return the names of the modules of rfdag, without importing them."""
    home = ROOT / "src"
    return [".".join(path.relative_to(home).with_suffix("").parts) for path in (home / "rfdag").rglob("*.py")]


def main() -> None:
    """Fuzz until the time is up."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    try:
        import atheris
    except ImportError:
        raise SystemExit("Coverage-guided fuzzing needs atheris: pip install 'rfdag[fuzz]'.") from None
    # Numba compiles functions of these from their bytecode, which therefore must not be changed.
    compiled = [each for each in _modules() if "kernels" in each.split(".")]
    for part in ("corpus", "crashes", "endings"):
        (options.folder / part).mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("error")
    # What is imported when first used must be imported here, where it is made to report its coverage.
    with atheris.instrument_imports(include=["rfdag"], exclude=compiled), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        watched = Watched(options.name, options.folder)
        for content in watched.format.examples():
            watched.format.attempt(content, watched.place)
            (options.folder / "corpus" / digest(content)).write_bytes(content)
    used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))

    def changed(content: bytes, most: int, seed: int) -> bytes:
        from mutating import mutated_within

        generator = np.random.default_rng(seed)
        if generator.random() < WITHIN:
            return mutated_within(content, generator)[:most]
        return bytes(atheris.Mutate(content, most))

    words: list[Any] = [
        sys.argv[0],
        str(options.folder / "corpus"),
        f"-max_total_time={round(options.minutes * 60)}",
        f"-seed={options.seed}",
        f"-timeout={SECONDS}",
        f"-max_len={LONGEST}",
        f"-artifact_prefix={options.folder / 'crashes'}/",
        "-rss_limit_mb=0",
        "-detect_leaks=0",
        "-print_final_stats=1",
    ]
    atheris.Setup(words, watched.one, custom_mutator=changed)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
