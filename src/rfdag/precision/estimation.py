"""How the partial correlations that an elimination starts from are estimated."""

from __future__ import annotations

from typing import Literal

from rfdag.errors import OptionError, keyword, listed
from rfdag.independence.catalogue import names_of_tests
from rfdag.options import Options, option, options
from rfdag.orders import tuning
from rfdag.precision.averaged import averaged
from rfdag.precision.estimator import Estimator
from rfdag.precision.sample import sample
from rfdag.wording import nearest

ESTIMATORS: dict[str, Estimator] = {"sample": sample, "averaged": averaged}
"""The estimators by name. Add one to use it by its name."""


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
    precision: str = option(
        default="auto",
        meaning=(
            'Estimator of the partial correlations that the elimination starts from: "sample" inverts the '
            'sample\'s correlation matrix, "averaged" averages sparse models, for few rows. "auto" is "averaged" '
            'below 1.25 rows per column where orders are judged by BIC, else "sample".'
        ),
        needs=("rows", "matrices"),
        objects="an estimator of your own",
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
    blocks: bool | Literal["auto"] = option(
        default="auto",
        meaning=(
            "Whether data are learnt in blocks of columns that hardly correlate with each other, without any p "
            '× p array: for 10⁵ columns and more. The result then holds sparse arrays. "auto" does so where '
            "such arrays do not fit into memory."
        ),
    )

    def check(self) -> None:
        """Raise for an estimator or a test that does not exist, and for what only a test uses."""
        if isinstance(self.precision, str) and self.precision != "auto" and self.precision not in ESTIMATORS:
            raise OptionError(
                f"{keyword('precision')} is 'auto' or one of {listed(ESTIMATORS)}, not {self.precision!r}. (Blocks of "
                f"columns are asked for by {keyword('blocks', True)}.)"
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
    def by_ranks(self) -> bool:
        """Whether columns are correlated by ranks: numbers are then those of the Gaussian variables behind them."""
        return self.correlation != "pearson"

    def chosen(self, rows: int, columns: int, *, any_rows: bool) -> str:
        """Return the estimator for data of this size; ``any_rows`` tells that the method gets by with few of them."""
        if self.precision != "auto":
            return self.precision
        few = rows < tuning.FEW_ROWS_PER_COLUMN * columns or rows <= columns + 1
        return "averaged" if any_rows and few else "sample"
