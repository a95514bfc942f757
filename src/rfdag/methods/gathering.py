"""From the input to evidence, as settings ask for it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import partial
from typing import Any

from rfdag.errors import OptionError, keyword
from rfdag.evidence.evidence import Evidence
from rfdag.evidence.gpu import DeviceMoments
from rfdag.evidence.moments import Moments
from rfdag.evidence.reading import Gathered, read_evidence
from rfdag.independence.reading import read_tests
from rfdag.input.checks import checked_names
from rfdag.methods.blocks import Blocks
from rfdag.methods.preflight import Preflight
from rfdag.methods.settings import Settings
from rfdag.runtime.progress import Progress


def gather(data: Any, names: Sequence[Hashable] | None, settings: Settings, threads: int, bar: Progress) -> Gathered:
    """Return the evidence in the input: read, checked, and no larger than what fits; and what was left out of it."""
    preflight = Preflight(settings, threads, bar.say)
    description = settings.description
    if isinstance(data, Evidence):
        return Gathered(_as_given(data, names, settings, preflight))
    if settings.estimation.test is not None:
        return read_tests(
            data,
            settings.estimation.test,
            conditioning=settings.estimation.conditioning,
            input=description.input,
            names=names,
            form=description,
            seed=settings.running.random_state or 0,
        )
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
        correlation=settings.estimation.correlation,
        basis=settings.estimation.basis,
    )


def _as_given(
    evidence: Evidence, names: Sequence[Hashable] | None, settings: Settings, preflight: Preflight
) -> Evidence:
    """Return evidence that the user made, under other names if some are given; it needs no description."""
    stated = {
        name: value for name, value in settings.description.given().items() if (name, value) != ("input", evidence.kind)
    }
    stated |= {"blocks": True} if settings.estimation.blocks is True else {}
    stated |= {} if settings.estimation.test is None else {"test": settings.estimation.test}
    if stated:
        raise OptionError(
            f"Found {', '.join(keyword(name, value) for name, value in stated.items())} beside "
            f"{type(evidence).__name__}, which knows what it is. Leave it out, or pass it where that object is made."
        )
    correlation = settings.estimation.correlation
    if correlation not in ("pearson", evidence.correlated):
        raise OptionError(
            f"Found {keyword('correlation', correlation)} beside {type(evidence).__name__}, which has no rows to rank. "
            "Pass the data themselves."
        )
    if names is not None:
        evidence = evidence.renamed(checked_names(evidence.names, names))
    if evidence.n_samples is not None and not evidence.sparse and not evidence.tested:
        preflight.check(evidence.n_samples, len(evidence.names))
    return evidence
