"""What does not go together with a test of conditional independence, in words."""

from __future__ import annotations

from rfdag.errors import OptionError, keyword
from rfdag.independence.catalogue import D_SEPARATION
from rfdag.input.description import Description
from rfdag.methods.method import Method
from rfdag.precision.estimation import Estimation
from rfdag.values import is_object

OF_MOMENTS = ("parents", "penalty", "gamma", "refine", "restarts", "pairs")
"""Options of a method that speak of partial correlations or of the BIC, and mean nothing where a test decides."""


def refuse_beside_test(method: Method, description: Description, estimation: Estimation, device: str) -> None:
    """Raise for what a test cannot serve, where one is given.

    >>> from rfdag.methods import Soft
    >>> refuse_beside_test(Soft(), Description(), Estimation(test="kci"), "cpu")
    Traceback (most recent call last):
    rfdag.errors.OptionError: Method 'soft' weighs partial correlations; with test='kci' use method='rfd', ...
    """
    if estimation.test is None:
        return
    test = estimation.test
    shown = keyword("test", ...) if is_object(test) else keyword("test", test)
    if not method.by_tests:
        raise OptionError(
            f"Method {method.name!r} weighs partial correlations; with {shown} use {keyword('method', 'rfd')}, "
            f"{keyword('method', 'gsp')} or a baseline, which ask for independence alone."
        )
    harmless = {"parents": "threshold", "refine": False}
    idle = [name for name, value in method.given().items() if name in OF_MOMENTS and value != harmless.get(name)]
    idle += [name for name in ("correlation", "precision", "regularisation") if name in estimation.given()]
    idle += ["blocks"] if estimation.blocks is True else []
    idle += ["device"] if device != "cpu" else []
    if idle:
        raise OptionError(
            f"{', '.join(map(keyword, idle))}: with {shown} there are p-values only, no partial correlations and no "
            "BIC, and tests run on the CPU. Leave it out."
        )
    if test == D_SEPARATION and description.input != "dag":
        raise OptionError(
            f"{shown} is asked of a DAG; pass one with {keyword('input', 'dag')}, or choose another test for data."
        )
    if test != D_SEPARATION and description.input != "data":
        raise OptionError(
            f"{shown} is a test on rows, and {keyword('input', description.input)} has none. Pass data, one row per "
            "sample."
        )
