"""What was found of several environments, in words."""

from __future__ import annotations

from rfdag.evidence.interventions import Environment, Interventions
from rfdag.wording import counted

SHOWN = 6
"""Environments that a summary shows."""

TARGETS_SHOWN = 4
"""Targets of one environment that a summary shows."""


def environments_in_words(interventions: Interventions | None) -> list[str]:
    """Return the lines of a summary on environments; none where there is one."""
    if interventions is None:
        return []
    every = interventions.environments
    more = f"; {len(every) - SHOWN} more" if len(every) > SHOWN else ""
    lines = [f"targets {'found' if interventions.found else 'given'}: {'; '.join(map(_told, every[:SHOWN]))}{more}"]
    return [*lines, f"intercepts: {intercepts_in_words(interventions)}"]


def intercepts_in_words(interventions: Interventions) -> str:
    """Return which intercepts were chosen, and by how much.

    >>> intercepts_in_words(Interventions((), False, "common", {"common": 10.0, "environment": 14.5}, True))
    'common to all environments (BIC lower by 4.5 than with one for each)'
    """
    chosen = "common to all environments" if interventions.intercepts == "common" else "one for each environment"
    if len(interventions.compared) < 2:
        return f"{chosen}, as asked for"
    other = {"common": "environment", "environment": "common"}[interventions.intercepts]
    apart = interventions.compared[other] - interventions.compared[interventions.intercepts]
    than = "with one for each" if interventions.intercepts == "common" else "with common ones"
    return f"{chosen} (BIC lower by {apart:.1f} than {than})"


def _told(environment: Environment) -> str:
    if not environment.targets:
        return f"{environment.label} ({counted(environment.rows, 'row')}): none"
    names = [f"{target.variable}" for target in environment.targets[:TARGETS_SHOWN]]
    more = f" and {len(environment.targets) - TARGETS_SHOWN} more" if len(environment.targets) > TARGETS_SHOWN else ""
    return f"{environment.label} ({counted(environment.rows, 'row')}): {', '.join(names)}{more}"
