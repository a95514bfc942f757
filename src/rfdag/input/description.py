"""What the user says about the input: what it is, how it is written, and which of it is used."""

from __future__ import annotations

import codecs
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any, Literal

from rfdag.errors import OptionError, keyword
from rfdag.options import Options, option, options
from rfdag.values import Labels, Numbers, entries, label_text

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "space"}
"""Characters between cells, with their names."""

TEXTUAL = ("delimiter", "decimal", "thousands", "header", "encoding")
"""Options that say how a text file is written."""

SELECTING = (
    "columns",
    "drop",
    "id",
    "categorical",
    "ordinal",
    "missing",
    "na_values",
    "awkward",
    "transpose",
    "weights",
    "environments",
    "targets",
    "observational",
)
"""Options that say which part of the data is used, and how."""

MATRICES = ("correlation", "covariance", "precision")


UNKNOWN = ("unknown",)
"""Targets that are to be found."""


def paired(targets: Any) -> tuple[Hashable, ...]:
    """Return targets as an option keeps them: pairs of a label and its targets, or what is looked up later.

    >>> paired({"drug": ["mek"], "none": []}), paired([[], [1]]), paired("targets.csv")
    ((('drug', ('mek',)), ('none', ())), (('1', ()), ('2', (1,))), ('targets.csv',))
    """
    if isinstance(targets, str | Path):
        return (str(targets),)
    if isinstance(targets, Mapping):
        return tuple((label_text(label), _several("targets", each)) for label, each in targets.items())
    if not isinstance(targets, list | tuple):
        raise OptionError(
            f"{keyword('targets')} is a mapping from labels to lists of columns, the path of a file, a list of lists "
            f"beside a list of tables, or 'unknown', not {targets!r}."
        )
    if all(isinstance(each, str) for each in targets):
        return tuple(targets)
    if all(isinstance(each, list | tuple) and len(each) == 2 and isinstance(each[1], list | tuple) for each in targets):
        return tuple((label_text(label), _several("targets", each)) for label, each in targets)
    return tuple((str(at + 1), _several("targets", each)) for at, each in enumerate(targets))


def _several(option: str, names: Any) -> tuple[Hashable, ...]:
    return (names,) if isinstance(names, str | int) else entries(option, names)


@options
class Description(Options):
    """What the input is, how it is written, and which of it is used.

    `rfdag.learn` takes each option as a keyword of its own, too.
    """

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
    columns: tuple[Hashable, ...] | None = option(
        default=None,
        meaning=(
            "Columns to use; all unless given. A name with * or ?, such as gene_*, stands for all columns that it fits."
        ),
    )
    drop: tuple[Hashable, ...] | None = option(
        default=None,
        meaning="Columns to leave out. A name with * or ? stands for all columns that it fits.",
    )
    id: str | int | None = option(
        default=None,
        meaning=(
            "Column that identifies rows, such as the number of a patient: it is left out. With `transpose` it holds "
            "the names of the variables."
        ),
    )
    categorical: tuple[Hashable, ...] | None = option(
        default=None,
        meaning=(
            "Columns of numbers that stand for categories, such as codes of regions. Columns of text, of true and "
            "false and of category types are categories anyway. A name with * or ? stands for all columns that it fits."
        ),
    )
    ordinal: tuple[Hashable, ...] | None = option(
        default=None,
        meaning=(
            "Columns of ordered levels, which are taken as the numbers 1, 2, …: an ordered category, text that begins "
            'with numbers, or any text with its levels in order, as in "size: S < M < L".'
        ),
    )
    missing: Literal["em", "drop", "pairwise", "error"] = option(
        default="em",
        meaning=(
            'What happens to missing values in columns that are used: "em" estimates the moments by maximum likelihood '
            'from all that is there, as if values were missing at random, and warns; "pairwise" correlates each pair '
            'of columns in the rows that have both; "drop" leaves out rows with missing or infinite values and '
            'reports how many; "error" refuses them.'
        ),
    )
    na_values: tuple[Hashable, ...] | None = option(
        default=None,
        meaning="Numbers or words that stand for a missing value, such as -999, beside empty cells, NA, NaN and null.",
    )
    awkward: Literal["error", "drop", "keep-one"] = option(
        default="error",
        meaning=(
            "What happens to columns that are constant, copies of each other, or linear combinations of others: "
            '"error" refuses them by name; "drop" leaves all columns of such a group out; "keep-one" keeps one of '
            "several copies, and leaves out columns that those before them determine."
        ),
    )
    transpose: bool = option(
        default=False,
        meaning="Whether variables are in rows and samples in columns, as in tables of gene expression.",
    )
    weights: str | int | Numbers | None = option(
        default=None,
        meaning=(
            "How often each row counts: the name of a column, or an array with one number per row. Whole numbers give "
            "the result of repeating rows; the number of rows is the sum of the weights."
        ),
        objects="an array of numbers, one per row",
    )
    environments: str | int | Labels | None = option(
        default=None,
        meaning=(
            "Which environment (experimental condition, batch, site) each row comes from: the name of a column with "
            "labels, or an array with one label per row. Or pass a list of tables, one for each environment, and "
            "`targets`."
        ),
        objects="an array of labels, one per row",
    )
    targets: tuple[Hashable, ...] | None = option(
        default=None,
        meaning=(
            "Which variables were intervened on in which environment: a mapping from labels to lists of columns, empty "
            "for an environment that was only observed; the path of a CSV file with two columns, label and target, or "
            'of a JSON file; with a list of tables, a list of lists; or "unknown" if that is to be found.'
        ),
    )
    observational: tuple[Hashable, ...] | None = option(
        default=None,
        meaning='Environments that are known to have no targets, by label, beside `targets="unknown"`.',
    )
    delimiter: str | None = option(
        default=None,
        meaning="Character between the cells of a text file; found from its first lines unless given.",
        typed={**{name: sign for sign, name in DELIMITERS.items()}, "\\t": "\t"},
    )
    decimal: str | None = option(
        default=None, meaning="Decimal sign of a text file; found from its first lines unless given."
    )
    thousands: str | None = option(
        default=None, meaning="Sign between groups of three digits in a text file, as in 1,234,567."
    )
    header: bool | None = option(
        default=None,
        meaning="Whether the first line of a text file names the columns; must be given if it holds only numbers.",
    )
    encoding: str | None = option(
        default=None,
        meaning=(
            "Encoding of a text file, such as cp1252 or utf-16; unless given it is UTF-8, and cp1252 where that does "
            "not fit."
        ),
    )
    sheet: str | None = option(
        default=None, meaning="Sheet of an Excel file; needed if several of its sheets hold something."
    )

    def __post_init__(self) -> None:
        if self.targets is not None:
            object.__setattr__(self, "targets", paired(self.targets))
        if self.observational is not None:
            given = _several("observational", self.observational)
            object.__setattr__(self, "observational", tuple(map(label_text, given)))
        super().__post_init__()

    @property
    def by_environment(self) -> bool:
        """Whether rows come from several environments."""
        return self.environments is not None or self.targets is not None

    @property
    def bridges_gaps(self) -> bool:
        """Whether rows with missing values are used."""
        return self.missing in ("em", "pairwise")

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
        given = self.given()
        for name in SELECTING if self.input != "data" else ():
            if name in given:
                raise OptionError(
                    f"{keyword(name)} is about the rows and columns of data; with {keyword('input', self.input)} leave "
                    "it out."
                )
        if self.environments is not None and self.targets is None:
            raise OptionError(
                f"{keyword('environments')} go with what was done in each: pass {keyword('targets', ...)}, a list of "
                f"columns for each label, or {keyword('targets', 'unknown')} to find them."
            )
        if self.observational is not None and self.targets != UNKNOWN:
            raise OptionError(
                f"{keyword('observational')} goes with {keyword('targets', 'unknown')}: with targets given, an "
                "environment is observational where its list is empty. Leave it out."
            )
        self._check_signs()
        if self.encoding is not None:
            try:
                codecs.lookup(self.encoding)
            except LookupError:
                raise OptionError(
                    f"There is no encoding {self.encoding!r}; usual ones are 'utf-8', 'cp1252', 'latin-1' and 'utf-16'."
                ) from None

    def _check_signs(self) -> None:
        signs = {name: getattr(self, name) for name in ("delimiter", "decimal", "thousands")}
        signs = {name: sign for name, sign in signs.items() if sign is not None}
        for name, sign in signs.items():
            if len(sign) != 1 or sign.isalnum():
                raise OptionError(f"{keyword(name)} is one character that is no letter or digit, not {sign!r}.")
        if self.thousands is not None and self.thousands in (self.decimal, self.delimiter):
            other = "decimal" if self.thousands == self.decimal else "delimiter"
            raise OptionError(
                f"Found {keyword('thousands', self.thousands)} and {keyword(other, self.thousands)}: one sign cannot "
                "be both. Leave one of them out to have it found."
            )

    def once_read(self) -> Description:
        """Return what is still to be said of rows that were read as described, and their columns chosen."""
        return Description(
            awkward=self.awkward, missing=self.missing, targets=self.targets, observational=self.observational
        )

    def of_cells(self) -> dict[str, object]:
        """Return what is said about how the cells of a file, text or Excel, are written."""
        return {name: value for name, value in self.given().items() if name in (*TEXTUAL, "sheet")}
