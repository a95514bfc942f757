"""What a study writes: a table as CSV, pictures, and a page with a verdict on every claim."""

from __future__ import annotations

import io
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rfdag.studies.bench import environments, tables
from rfdag.studies.paper.study import Claim, Row, Scope, Study
from rfdag.version import own_version

TOO_SMALL = (
    "From a quick run, which may be too small to decide: with so few graphs and sizes, a claim can hold or fail by "
    "chance. Run it without --quick before you conclude anything."
)
VERDICTS = {True: "held", False: "**did not hold**", None: "cannot tell"}
RESOLUTION = 150
"""Dots an inch of the PNG files."""


@dataclass(frozen=True)
class Outcome:
    """A study that was run: its numbers, its pictures by name, and what it says of the paper's statements."""

    study: Study
    scope: Scope
    rows: list[Row]
    pictures: Mapping[str, Any]
    claims: list[Claim]

    @classmethod
    def of(cls, study: Study, scope: Scope, rows: list[Row]) -> Outcome:
        """Draw and judge."""
        return cls(study, scope, rows, study.draw(rows), study.claims(rows))

    @property
    def left_out(self) -> list[str]:
        """Peers that take part in the study and are not installed."""
        return [home for home in self.study.homes if not _versions(home, self.scope.peers)]

    def files(self) -> dict[str, str | bytes]:
        """Return the contents of all files by name."""
        contents: dict[str, str | bytes] = {f"{self.study.name}.csv": tables.csv_text(self.rows)}
        for name, picture in self.pictures.items():
            contents[f"{name}.svg"] = _image(picture, "svg")
            contents[f"{name}.png"] = _image(picture, "png")
        contents[f"{self.study.name}.md"] = self.page()
        return contents

    def page(self) -> str:
        """Return the page of this figure alone."""
        return f"# {self.study.title}\n\n{self.body('', 2)}\n{tables.provenance()}"

    def body(self, folder: str, level: int) -> str:
        """Return the page without its title; ``folder`` leads from it to the pictures, headings start at a level."""
        study, mark = self.study, "#" * level
        parts = [f"*{study.source}.*", study.about.strip()]
        parts += [f"![{study.title}: {name}]({folder}{name}.svg)" for name in self.pictures]
        parts.append(self._caption())
        if self.claims:
            parts += [f"{mark} What the paper says, and what was seen", claims_table(self.claims)]
        failures = _failures(self.rows)
        if failures:
            parts.append(f"Calls that failed, and are not in the figure: {failures}.")
        shown = _without_empty_columns(study.highlights(self.rows))
        if shown:
            parts += [f"{mark} Numbers", tables.markdown(shown).strip()]
        parts.append(f"All numbers: [{study.name}.csv]({folder}{study.name}.csv). Again: `{self.command()}`.")
        return "\n\n".join(parts) + "\n"

    @property
    def verdicts(self) -> str:
        """How many claims held, in words.

        >>> from rfdag.studies.paper.catalogue import chosen
        >>> Outcome(chosen(["examples"])[0], Scope(), [], {}, [Claim("", True, ""), Claim("", None, "")]).verdicts
        '1 held, 1 cannot tell'
        """
        counts = {words: sum(claim.held is held for claim in self.claims) for held, words in VERDICTS.items()}
        return ", ".join(f"{count} {words.strip('*')}" for words, count in counts.items() if count)

    def command(self) -> str:
        """Return the command that makes these files.

        >>> from rfdag.studies.paper.catalogue import chosen
        >>> Outcome(chosen(["examples"])[0], Scope(quick=True, seed=1), [], {}, []).command()
        'rfdag reproduce examples --quick --seed 1'
        """
        scope, usual = self.scope, Scope()
        words = ["rfdag", "reproduce", self.study.name]
        words += ["--quick"] if scope.quick else []
        for option in ("graphs", "seed", "limit"):
            value = getattr(scope, option)
            if value != getattr(usual, option):
                words += [f"--{option}", f"{value:g}" if isinstance(value, float) else str(value)]
        return shlex.join(words)

    def _caption(self) -> str:
        peers = [home for home in self.study.homes if home != environments.OWN]
        versions = [f"rfdag {own_version()}"]
        versions += [version for home in peers for version in _versions(home, self.scope.peers)]
        words = [f"Seed {self.scope.seed}; {', '.join(versions)}."]
        counts = [row["graphs"] for row in self.rows if row.get("graphs")]
        if counts:
            words.append(f"Graphs a point: {max(counts)}.")
        if self.scope.limit is not None:
            words.append(f"Time limit, instead of the one above: {self.scope.limit:g} s.")
        if self.left_out:
            words.append(
                f"Left out, because not installed: {', '.join(self.left_out)} (`rfdag bench --setup` installs them)."
            )
        if self.scope.quick:
            words.append(TOO_SMALL)
        return f"*{' '.join(words)}*"


def claims_table(claims: Sequence[Claim]) -> str:
    """Return claims as a Markdown table.

    >>> print(claims_table([Claim("RFD is ahead", True, "1.00 against 1.02")]))
    | statement | what was seen | numbers |
    | --- | --- | --- |
    | RFD is ahead | held | 1.00 against 1.02 |
    """
    rows = [
        {
            "statement": _in_a_cell(claim.statement),
            "what was seen": VERDICTS[claim.held],
            "numbers": _in_a_cell(claim.numbers),
        }
        for claim in claims
    ]
    return tables.markdown(rows).strip()


def collected(outcomes: Sequence[Outcome], folder: str) -> str:
    """Return one page of several figures, claims first; ``folder`` leads from it to their files."""
    text = [
        "# The paper's study, reproduced",
        "Every experiment of *Efficient Permutation Discovery in Causal DAGs* (Squires, Amaniampong, Uhler), rerun "
        "by `rfdag reproduce all`: what the paper says, whether it held here, and by how much. Figures that go beyond "
        "the paper are marked as such.",
        *([TOO_SMALL] if any(outcome.scope.quick for outcome in outcomes) else []),
        "## Claim by claim",
        _overview(outcomes),
    ]
    for outcome in outcomes:
        text += [f"## {outcome.study.title}", outcome.body(folder, 3).strip()]
    return "\n\n".join(text) + f"\n\n{tables.provenance()}"


def _overview(outcomes: Sequence[Outcome]) -> str:
    lines = ["| figure | statement | what was seen |", "| --- | --- | --- |"]
    for outcome in outcomes:
        link = f"[{outcome.study.name}](#{_anchor(outcome.study.title)})"
        lines += [
            f"| {link} | {_in_a_cell(claim.statement)} | {VERDICTS[claim.held]} |" for claim in outcome.claims
        ]  # fmt: skip
    return "\n".join(lines)


def _without_empty_columns(rows: Sequence[Row]) -> list[Row]:
    """Return rows without the columns in which none of them has an entry.

    >>> _without_empty_columns([{"p": 1, "n": None}, {"p": 2, "n": None}])
    [{'p': 1}, {'p': 2}]
    """
    filled = {name for row in rows for name, entry in row.items() if entry not in (None, "")}
    return [{name: entry for name, entry in row.items() if name in filled} for row in rows]


def _failures(rows: Sequence[Row]) -> str:
    """Return, method by method, how many calls failed, and the message of the last that did."""
    counts: dict[str, int] = {}
    words: dict[str, str] = {}
    for row in rows:
        if row.get("failed"):
            counts[row["method"]] = counts.get(row["method"], 0) + row["failed"]
            words[row["method"]] = _in_a_cell(str(row["failure"]))
    return "; ".join(f"{method}, {count} ({words[method]})" for method, count in counts.items())


def _anchor(title: str) -> str:
    """Return the anchor that Markdown makes of a heading.

    >>> _anchor("Time, against the density estimated")
    'time-against-the-density-estimated'
    """
    return "".join(sign for sign in title.lower().replace(" ", "-") if sign.isalnum() or sign in "-_")


def _in_a_cell(words: str) -> str:
    return words.replace("|", "\\|").replace("\n", " ")


def _image(picture: Any, kind: str) -> bytes:
    buffer = io.BytesIO()
    # No date inside: the same picture is the same file.
    picture.savefig(buffer, format=kind, dpi=RESOLUTION, metadata={"Date": None} if kind == "svg" else None)
    return buffer.getvalue()


def _versions(home: str, peers: Path) -> list[str]:
    """Return the main package of an environment with its version, or nothing where it is not there."""
    version = environments.version_of(home, home, peers)
    return [] if version is None else [f"{home} {version}"]
