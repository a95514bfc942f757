"""What the user says about the input: what it is, how its text is written, the rows behind a matrix."""

from __future__ import annotations

from typing import Literal

from rfdag.errors import OptionError, keyword
from rfdag.options import Options, option, options

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "space"}
"""Characters between cells, with their names."""

WRITING = f"{keyword('delimiter')}, {keyword('decimal')} and {keyword('header')}"
"""How a text file is written, for messages."""

MATRICES = ("correlation", "covariance", "precision")


@options
class Description(Options):
    """What the input is, and how it is written. `rfdag.learn` takes each option as a keyword of its own, too."""

    input: Literal["data", "correlation", "covariance", "precision", "dag"] = option(
        default="data",
        meaning=(
            'What the input is: "data", rows × columns; a "correlation", "covariance" or "precision" matrix; or '
            'a "dag", which answers every question of conditional independence.'
        ),
    )
    n_samples: int | None = option(
        default=None,
        meaning="Number of rows behind a matrix. A precision matrix without it is taken as exact.",
        least=2,
    )
    tolerance: float = option(
        default=1e-8,
        meaning="Size of a partial correlation that counts as zero in an exact precision matrix.",
        above=0,
        below=1,
    )
    delimiter: str | None = option(
        default=None,
        meaning="Character between the cells of a text file; a comma for CSV and a tab for TSV unless given.",
        typed={**{name: sign for sign, name in DELIMITERS.items()}, "\\t": "\t"},
    )
    decimal: str = option(default=".", meaning="Decimal sign of a text file.")
    header: bool | None = option(
        default=None,
        meaning="Whether the first line of a text file names the columns; must be given if it holds only numbers.",
    )

    def check(self) -> None:
        """Raise where the options do not go together."""
        if self.n_samples is not None and self.input not in MATRICES:
            raise OptionError(
                f"{keyword('n_samples')} goes with a matrix of moments; with {keyword('input', self.input)} leave it "
                "out."
            )
        if self.tolerance != type(self).tolerance and self.input != "precision":
            raise OptionError(
                f"{keyword('tolerance')} is for an exact precision matrix; with {keyword('input', self.input)} leave "
                "it out."
            )

    @property
    def is_plain_text(self) -> bool:
        """Whether nothing is said about how text is written."""
        return (self.delimiter, self.decimal, self.header) == (None, ".", None)
