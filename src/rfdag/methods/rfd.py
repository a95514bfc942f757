"""Method "rfd": the paper's Removal-Fill-Degree algorithm with its hard counts."""

from __future__ import annotations

from typing import ClassVar, Literal

from rfdag.eliminate import Engine
from rfdag.errors import OptionError, keyword
from rfdag.evidence.evidence import Evidence, Pairs
from rfdag.methods.by_rule import found_by_rule
from rfdag.methods.found import Found
from rfdag.methods.judged import Refinable
from rfdag.methods.run import Run
from rfdag.options import option, options


@options
class Counting(Refinable):
    """A method that counts the edges which a removal takes away and brings."""

    by_tests: ClassVar[bool] = True
    by_columns: ClassVar[bool] = True

    pairs: Literal["all", "neighbours"] = option(
        # type: ignore[misc]
        default="all",
        meaning=(
            'Which pairs count as removed or filled on data: "all", the paper\'s definition, or "neighbours" of '
            "the candidate only, which is the same in the population and less noisy. Exact and sparse input "
            "always use the latter."
        ),
        needs=("rows", "matrices"),
    )

    @property
    def scope(self) -> Pairs:
        """Which pairs count as removed or filled."""
        return self.pairs


@options
class Rfd(Counting):
    """The paper's Removal-Fill-Degree algorithm: RFDStep with its hard counts, to any depth.

    C. Squires, J. Amaniampong, C. Uhler: Efficient Permutation Discovery in Causal DAGs, 2020.
    """

    name: ClassVar[str] = "rfd"

    depth: int = option(
        default=1, meaning="How many removals to look ahead while no candidate is certified, the paper's w.", least=1
    )
    max_paths: int = option(
        default=1000,
        meaning="How many paths a search of depth > 1 follows at once; ``result.trace.capped`` counts where it cut.",
        least=1,
    )

    def check(self) -> None:
        """Raise where the options do not go together."""
        super().check()
        if self.depth == 1 and "max_paths" in self.given():
            raise OptionError(f"{keyword('max_paths')} bounds a search of {keyword('depth')} 2 or more; leave it out.")

    @property
    def looks_ahead(self) -> bool:
        """Whether it keeps a second state of the elimination to look ahead with."""
        return self.depth > 1

    def find(self, evidence: Evidence, engine: Engine, run: Run) -> Found:
        """Return the order of the elimination."""
        return found_by_rule(
            evidence,
            engine,
            run,
            alpha=self.alpha,
            refine=self.refining,
            rule="rfd",
            depth=self.depth,
            max_paths=self.max_paths,
        )
