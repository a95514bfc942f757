"""How the partial correlations that an elimination starts from are estimated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from rfdag.errors import OptionError, keyword, listed
from rfdag.independence.catalogue import names_of_tests
from rfdag.options import Options, option, options
from rfdag.orders import tuning
from rfdag.precision.averaged import Averaged
from rfdag.precision.clime import Clime
from rfdag.precision.estimator import Estimator
from rfdag.precision.graphical_lasso import GraphicalLasso
from rfdag.precision.nodewise import Nodewise
from rfdag.precision.own import Own
from rfdag.precision.sample import Sample
from rfdag.precision.shrinkage import Shrinkage
from rfdag.wording import nearest

ESTIMATORS: dict[str, Estimator | Callable[..., Any]] = {
    each.name: each for each in (Sample(), Averaged(), Shrinkage(), GraphicalLasso(), Nodewise(), Clime())
}
"""The estimators by name. Add one, or a function as `rfdag.precision.own.Own` takes it, to use it by its name."""


@options
class Estimation(Options):
    """What is estimated from the rows, and how. `rfdag.learn` takes each option as a keyword of its own, too."""

    correlation: Literal["pearson", "normal-scores", "spearman", "kendall"] = option(
        default="pearson",
        meaning=(
            'How columns are correlated. Ranks see through any monotone transformation of a column: "normal-scores" '
            'replaces values by normal quantiles of their ranks, "spearman" and "kendall" turn rank correlations '
            "into those of the Gaussian variables behind them. Coefficients are then in standard units of these "
            "variables."
        ),
        needs=("rows",),
    )
    basis: int | Literal["auto"] = option(
        default=1,
        meaning=(
            "Powers of a number up to which it explains others: 3 lets effects be curves, by x, x² and x³ of every "
            'parent. "auto" learns with 1 and with 3, and takes the better one by BIC.'
        ),
        least=1,
        most=5,
        needs=("rows", "matrices"),
    )
    precision: str = option(
        default="auto",
        meaning=(
            'Estimator of the partial correlations that the elimination starts from: "sample" inverts the '
            'sample\'s correlation matrix; for few rows, "averaged" averages sparse models, "shrinkage" shrinks '
            'correlations (Ledoit and Wolf), and "graphical-lasso", "nodewise" and "clime" are sparse. "auto" is '
            '"averaged" below 1.25 rows per column where orders are judged by BIC, else "sample".'
        ),
        needs=("rows", "matrices"),
        objects="a function (moments, request) -> precision matrix",
    )
    regularisation: float | None = option(
        default=None,
        meaning=(
            "Strength λ of a sparse estimate, on the scale of correlations, or share of the identity in "
            '"shrinkage". None chooses λ by the extended BIC, and the share by Ledoit and Wolf\'s formula.'
        ),
        above=0,
        needs=("rows", "matrices"),
    )
    test: str | None = option(
        default=None,
        meaning=(
            'A test of conditional independence that decides about edges in place of partial correlations: "fisher-z", '
            '"kci" and "rcit" (kernel tests of causal-learn, an extra), "hsic" (on residuals of smooth regressions), '
            '"g2" (categories as whole numbers), "d-separation" (of a DAG), or your own function (i, j, given) -> '
            "p-value, called with column numbers i < j and a sorted tuple of others; with several threads at the same "
            "time, unless n_jobs=1."
        ),
        objects="a function (i, j, given) -> p-value",
    )
    conditioning: Literal["auto", "blanket", "all"] = option(
        default="auto",
        meaning=(
            'What a test conditions on: "all" other variables that remain, the paper\'s definition, or the Markov '
            '"blanket" of one of the two, which is smaller. "auto" is "blanket", but "all" for "d-separation".'
        ),
    )
    interventions: Literal["auto", "hard", "soft"] = option(
        default="auto",
        meaning=(
            'What interventions do to their targets: "hard" ones cut them off their parents, "soft" ones change their '
            'mean, noise or slopes. "auto" takes for each target in each environment what explains it at least cost.'
        ),
    )
    intercepts: Literal["auto", "common", "environment"] = option(
        default="auto",
        meaning=(
            "Whether variables that are no targets keep their mean in every environment, given their parents: "
            '"common" intercepts tell more, intercepts by "environment" allow for batches that differ in their means. '
            '"auto" takes the model of lower BIC.'
        ),
    )
    blocks: bool | Literal["auto"] = option(
        default="auto",
        meaning=(
            "Whether data are learnt in blocks of columns that hardly correlate with each other, without any p "
            '× p array: for 10⁵ columns and more. The result then holds sparse arrays. "auto" does so where '
            "such arrays do not fit into memory."
        ),
    )

    def check(self) -> None:
        """Raise for an estimator or a test that does not exist, and for what does not belong to them."""
        named = isinstance(self.precision, str)
        if named and self.precision != "auto" and self.precision not in ESTIMATORS:
            raise OptionError(
                f"{keyword('precision')} is 'auto' or one of {listed(ESTIMATORS, limit=20)}, not {self.precision!r}. "
                f"(Blocks of columns are asked for by {keyword('blocks', True)}.)"
            )
        if self.regularisation is not None and not self._estimator().regularised:
            sparse = [name for name in ESTIMATORS if as_estimator(ESTIMATORS[name]).regularised]
            raise OptionError(
                f"{keyword('regularisation')} is the strength of {listed(sparse)}, and {keyword('precision')} is "
                f"{self.precision!r}. Name one of these, or leave it out."
            )
        if isinstance(self.test, str) and self.test not in names_of_tests():
            close = nearest(self.test, names_of_tests())
            raise OptionError(
                f"{keyword('test')} is one of {listed(names_of_tests(), limit=20)}, or a function (i, j, given) -> "
                f"p-value, not {self.test!r}.{'' if close is None else f' Did you mean {close!r}?'}"
            )
        if self.test is None and self.conditioning != "auto":
            raise OptionError(
                f"{keyword('conditioning', self.conditioning)} says what a test conditions on; pass "
                f"{keyword('test', ...)} with it, or leave it out."
            )

    @property
    def by_columns(self) -> bool:
        """Whether the estimator named makes columns again after a removal."""
        return self._estimator().by_columns

    @property
    def own(self) -> bool:
        """Whether the estimator is the user's own."""
        return not isinstance(self.precision, str)

    def _estimator(self) -> Estimator:
        """Return the estimator named, or the sample's where none is."""
        if isinstance(self.precision, str):
            return as_estimator(ESTIMATORS.get(self.precision, ESTIMATORS["sample"]))
        return as_estimator(self.precision)

    @property
    def by_ranks(self) -> bool:
        """Whether columns are correlated by ranks: numbers are then those of the Gaussian variables behind them."""
        return self.correlation != "pearson"

    @staticmethod
    def few(rows: int, columns: int) -> bool:
        """Return whether there are few rows for so many columns."""
        return rows < tuning.FEW_ROWS_PER_COLUMN * columns or rows <= columns + 1

    def chosen(self, rows: int, columns: int, *, any_rows: bool) -> Estimator:
        """Return the estimator for data of this size; ``any_rows`` tells that the method gets by with few of them."""
        if self.precision != "auto":
            return as_estimator(ESTIMATORS[self.precision] if isinstance(self.precision, str) else self.precision)
        return as_estimator(ESTIMATORS["averaged" if any_rows and self.few(rows, columns) else "sample"])

    def reason(self, rows: int, columns: int, *, any_rows: bool) -> str:
        """Return why this estimator is chosen, in words."""
        if self.precision != "auto":
            return "as asked for"
        if not any_rows:
            return "the method tests partial correlations of the sample"
        size = f"{rows} rows for {columns} columns"
        least = f"{tuning.FEW_ROWS_PER_COLUMN:g} per column"
        return f"{size}, fewer than {least}" if self.few(rows, columns) else f"{size}, at least {least}"


def as_estimator(entry: Any) -> Estimator:
    """Return an estimator as it is, and a function of the user's own as one."""
    return entry if isinstance(entry, Estimator) else Own(entry)
