"""What all beams of a search have in common: where they start, how they weigh, and how their orders are scored."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rfdag.eliminate.beams.gpu import GpuBeam, bytes_of_states
from rfdag.eliminate.beams.soft import SoftBeam
from rfdag.eliminate.beams.stepwise import StepwiseBeam
from rfdag.evidence.local import GroupedMoments
from rfdag.knowledge.constraints import Constraints
from rfdag.orders import tuning
from rfdag.orders.beam_settings import neighbour_z
from rfdag.orders.candidates import Candidates
from rfdag.orders.grams import Grams
from rfdag.orders.scores import ScoredOrder
from rfdag.orders.tuning import Setting
from rfdag.runtime.device import free_memory
from rfdag.runtime.memory import beam_fits

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class BeamTask:
    """What every beam of a search has in common."""

    partial: Floats
    moments: GroupedMoments
    worth: int
    penalty: float
    gamma: float
    steps_between_scores: int
    stepwise: bool
    refine_each: bool
    on_gpu: bool
    constraints: Constraints | None
    grams: Grams | None

    @property
    def candidates(self) -> Candidates | None:
        """Which variables can be parents of which at first; None where all can."""
        return None if self.grams is None else self.grams.candidates

    @property
    def p(self) -> int:
        """The number of variables."""
        return len(self.partial)

    def fits(self, width: int) -> bool:
        """Return whether so many states fit into memory."""
        return _fits_on_gpu(self.p, width) if self.on_gpu else beam_fits(self.p, width)

    def beam(
        self, setting: Setting, width: int, threads: int, slack: float = math.inf, around: Integers | None = None
    ) -> SoftBeam | StepwiseBeam | GpuBeam:
        """Return a beam that has not started yet; under the soft cost it has no slack and stays close to no order."""
        if self.stepwise:
            return StepwiseBeam(
                self.partial,
                self.worth,
                width,
                setting.mu,
                c=setting.c,
                shortlist=tuning.STEPWISE_SHORTLIST,
                slack=slack,
                margin=tuning.STEPWISE_MARGIN,
                around=around,
                reach=tuning.REACH,
                threads=threads,
                constraints=self.constraints,
            )
        kind = GpuBeam if self.on_gpu else functools.partial(SoftBeam, threads=threads)
        return kind(
            self.partial,
            self.worth,
            width,
            setting.mu,
            c=setting.c,
            noise=setting.noise,
            z_near=neighbour_z(self.p),
            rescore_every=self.steps_between_scores,
            constraints=self.constraints,
        )

    def scored(self, order: Integers, check: Callable[[], None]) -> ScoredOrder:
        """Return an order with its parents and its BIC."""
        return ScoredOrder(
            self.moments,
            order,
            self.penalty,
            self.gamma,
            constraints=self.constraints,
            check=check,
            candidates=self.candidates,
            grams=self.grams,
            renewing=self.grams is None,
        )


def _fits_on_gpu(p: int, width: int) -> bool:
    return bytes_of_states(p, width) < free_memory() / 2
