"""From the input to evidence, as settings ask for it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import partial
from typing import Any

from rfdag.evidence.evidence import Evidence
from rfdag.evidence.gpu import DeviceMoments
from rfdag.evidence.moments import Moments
from rfdag.evidence.reading import read_evidence
from rfdag.methods.blocks import Blocks
from rfdag.methods.preflight import Preflight
from rfdag.methods.settings import Settings
from rfdag.runtime.progress import Progress


def gather(data: Any, names: Sequence[Hashable] | None, settings: Settings, threads: int, bar: Progress) -> Evidence:
    """Return the evidence in the input: read, checked, and no larger than what fits."""
    preflight = Preflight(settings, threads, bar.say)
    description = settings.description
    return read_evidence(
        data,
        input=description.input,
        n_samples=description.n_samples,
        names=names,
        form=description,
        check_size=preflight.check,
        threads=threads,
        report=bar.stage("Reading"),
        in_blocks=preflight.in_blocks,
        blocks=partial(Blocks, asked=settings.estimation.blocks is True),
        moments=DeviceMoments if settings.running.device == "cuda" else Moments,
        tolerance=description.tolerance,
    )
