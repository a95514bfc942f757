"""Groups, wildcards and comments in Tetrad's knowledge files."""

from __future__ import annotations

from pathlib import Path

import pytest

import rfdag
from rfdag import Knowledge
from rfdag.errors import FileError, GraphError, OptionError

GROUPS = """/knowledge
// measured in 2024
AddTemporal

1 age sex
2 lab* bmi

forbiddengroup

age sex
bmi lab1
lab* bmi
lab*
requiredgroup
age sex
lab2
"""


def read(tmp_path: Path, text: str) -> Knowledge:
    (tmp_path / "known.txt").write_text(text)
    return Knowledge.read(tmp_path / "known.txt")


def test_a_group_is_every_edge_from_its_first_line_to_its_second(tmp_path: Path) -> None:
    known = read(tmp_path, GROUPS)
    assert known.tiers == (("age", "sex"), ("lab*", "bmi"))
    pairs = [("age", "bmi"), ("age", "lab1"), ("sex", "bmi"), ("sex", "lab1"), ("bmi", "lab*"), ("lab*", "lab*")]
    assert set(known.forbidden) == set(pairs)
    assert known.required == (("age", "lab2"), ("sex", "lab2"))


def test_written_groups_mean_the_same_when_read_again(tmp_path: Path) -> None:
    known = read(tmp_path, "/knowledge\nforbiddengroup\na b\nc d\nrequiredgroup\na\nx\n")
    assert read(tmp_path, known.to_tetrad()) == known


def test_a_name_on_both_sides_of_a_group_has_no_edge_to_itself(tmp_path: Path) -> None:
    known = read(tmp_path, "/knowledge\nforbiddengroup\na b\na b\n")
    assert known.forbidden == (("a", "b"), ("b", "a"))
    with pytest.raises(GraphError, match="from 'a' to itself"):
        read(tmp_path, "/knowledge\nforbiddirect\na a\n")


def test_edges_with_an_arrow_between_several_causes_and_effects(tmp_path: Path) -> None:
    known = read(tmp_path, "/knowledge\nforbiddirect\na b ==> c\nd ==> a\n\nrequiredirect\na e\n")
    assert known.forbidden == (("a", "c"), ("b", "c"), ("d", "a"))
    assert known.required == (("a", "e"),)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("/knowledge\nforbiddengroup\na b\n", "line 3: a group is two lines.*effects of 'a b'"),
        ("/knowledge\nforbiddengroup\na\nb\n\nc\nforbiddirect\na b\n", "line 6: a group is two lines"),
        ("/knowledge\nrequiredgroup\na\n", "line 3: a group is two lines"),
        ("/knowledge\nforbiddirect\na ==>\n", "line 3: an edge is two names.*not 'a ==>'"),
        ("/knowledge\nforbiddirect\na ==> b ==> c\n", "line 3: an edge is two names"),
        ("/knowledge\n// only this\na b\n", "line 3: 'a b' stands before any of addtemporal, .*requiredgroup"),
    ],
)
def test_files_are_refused_with_the_line(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(FileError, match=words):
        read(tmp_path, text)


def test_a_wildcard_stands_for_all_columns_that_match() -> None:
    names = ["age", "lab1", "lab2", "x.lab", "b*"]
    known = Knowledge(tiers=[["age"], ["lab*", "lab1"]], forbidden=[("lab*", "lab*"), ("*lab", "b*")], leaves=["*2"])
    spelt = known.spelt_as(names)
    assert spelt.tiers == (("age",), ("lab1", "lab2"))
    assert set(spelt.forbidden) == {("lab1", "lab2"), ("lab2", "lab1"), ("x.lab", "b*")}
    assert spelt.leaves == ("lab2",)
    # Letters that mean something in a regular expression do not.
    assert Knowledge(roots=["x.*"]).spelt_as(["x1", "x.lab"]).roots == ("x.lab",)


def test_wildcards_that_match_nothing_or_contradict_are_refused() -> None:
    with pytest.raises(OptionError, match=r"names 'blood\*', which the data do not have.*A \* stands for any letters"):
        Knowledge(roots=["blood*"]).spelt_as(["a", "c"])
    with pytest.raises(OptionError, match="'lab1' is in tiers 1 and 2"):
        Knowledge(tiers=[["lab1"], ["lab*"]]).spelt_as(["lab1", "lab2"])
    with pytest.raises(GraphError, match="contradicts itself"):
        Knowledge(required=[("lab*", "lab*")])


def test_a_run_obeys_groups_and_wildcards(tmp_path: Path) -> None:
    chain = [[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]]
    (tmp_path / "known.txt").write_text("/knowledge\nforbiddengroup\nlab*\nage\n")
    result = rfdag.learn(chain, input="dag", names=["age", "lab1", "lab2", "x"], knowledge=tmp_path / "known.txt")
    assert result.knowledge is not None
    assert result.knowledge.forbidden == (("lab1", "age"), ("lab2", "age"))
    assert [record.holds for record in result.compliance] == [True, True]
    assert not result.dag[1:3, 0].any()
    assert rfdag.learn(chain, input="dag").dag[1, 0]
