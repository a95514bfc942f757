"""A process that is killed while it writes leaves whole files: those from before, or the new ones."""

from __future__ import annotations

import subprocess
import sys

import pytest

KILLED = 9
CUT_OFF = """
import os, sys
from rfdag.runtime import writing

left = int(sys.argv[1])


def count(event, arguments):
    global left
    if event in ("open", "os.rename", "os.link", "os.remove", "os.mkdir", "os.chmod", "os.rmdir", "tempfile.mkstemp"):
        left -= 1
        if left < 0:
            os._exit(9)


sys.addaudithook(count)
"""
WRITE = {
    "folder": 'writing.write_folder("out", {"a.txt": "new a", "b.txt": "new b"})',
    "file": 'writing.write_text("out/a.txt", "new a")',
}


@pytest.mark.parametrize("kind", WRITE)
@pytest.mark.parametrize("before", [True, False])
def test_what_is_there_under_its_name_is_whole(kind, before, tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    names = ("a.txt", "b.txt") if kind == "folder" else ("a.txt",)
    steps, codes, seen = 0, [], set()
    while 0 not in codes:
        for name in ("a", "b") if before else ():
            (folder / f"{name}.txt").write_text(f"old {name}")
        words = [sys.executable, "-c", CUT_OFF + WRITE[kind], str(steps)]
        codes.append(subprocess.run(words, cwd=tmp_path, check=False).returncode)
        found = {path.name: path.read_text() for path in folder.glob("*.txt")}
        if before:
            assert set(found) == {"a.txt", "b.txt"}
        for name, text in found.items():
            assert text in {f"old {name[0]}", f"new {name[0]}"}
        seen |= {text for name, text in found.items() if name in names}
        steps += 1
        assert steps < 60
    assert set(codes) == {0, KILLED}
    assert all(found[name] == f"new {name[0]}" for name in names)
    assert not before or any(text.startswith("old") for text in seen)
