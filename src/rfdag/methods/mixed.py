"""Searches where a variable may be several columns: categories, and numbers whose powers count."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rfdag.eliminate.beams.blocks import LARGEST_EXACT, block_orders
from rfdag.eliminate.kernels.blocks import weigh_edges
from rfdag.eliminate.trace import Trace
from rfdag.errors import keyword
from rfdag.evidence.mixed import MixedMoments
from rfdag.methods.found import INTERRUPTED, Found
from rfdag.methods.proving import best_by_families, proof_by_families
from rfdag.orders import block_tuning, tuning
from rfdag.orders.family_fits import gains_of
from rfdag.orders.family_scores import CountScore, FamilyScore, family_score
from rfdag.orders.interactions import acting_together
from rfdag.orders.portfolio import Attempt
from rfdag.orders.reinsertion import descend
from rfdag.orders.restarts import iterate
from rfdag.orders.rivals import Rivals
from rfdag.orders.tree_order import TreeOrder
from rfdag.orders.trees import Trees
from rfdag.runtime.deadline import OutOfTime
from rfdag.runtime.threads import one_blas_thread

if TYPE_CHECKING:
    from rfdag.methods.run import Run
    from rfdag.methods.soft import Soft

Integers = NDArray[np.int64]

OF_COLUMNS = {
    "rescoring": "beams over several columns a variable have one way to rescore",
    "clusters": "clusters are made of single columns",
    "parents": "parents are chosen by a score",
    "alpha": "parents are chosen by a score, not by tests",
    "precision": "an estimate of partial correlations needs variables of one column each",
    "regularisation": "an estimate of partial correlations needs variables of one column each",
    "blocks": "blocks of columns are learnt from numbers",
}
"""Options that mean nothing where a variable is several columns, with the reason."""


def found_in_mixed(method: Soft, evidence: MixedMoments, run: Run) -> Found:
    """Return the best order that eliminations of whole variables, descents and restarts find, and its DAG.

    The variables are arranged by the data first, so that their arrangement in the input decides no tie.
    """
    refuse_unserved(method, evidence, run)
    if evidence.linear is not None:
        plain = found_in_mixed(method, evidence.linear, replace(run, deadline=run.deadline.share(0.5)))
        plain = replace(plain, evidence=evidence.linear)
        if INTERRUPTED in plain.warnings:
            return plain
        cut_short = replace(plain, warnings=(*plain.warnings, INTERRUPTED), interrupted=True)
        try:
            curved = found_in_mixed(method, replace(evidence, linear=None), run)
        except KeyboardInterrupt:
            return cut_short
        assert plain.score is not None
        assert curved.score is not None
        if curved.score < plain.score:
            return replace(curved, evidence=replace(evidence, linear=None))
        return cut_short if INTERRUPTED in curved.warnings else plain
    places = evidence.places_by_data()
    constraints = None if run.constraints is None else run.constraints.arranged(places)
    found = _searched(method, evidence.arranged(places), replace(run, constraints=constraints))
    found = found.arranged(places)
    score = family_score(evidence, **method.family_options(evidence))
    gains = gains_of(score, found.dag)
    warnings = (*evidence.notes, *evidence.warnings(scored=True), *found.warnings)
    return method.concluded(replace(found, gains=gains, warnings=warnings), evidence, run)


def refuse_unserved(method: Soft, evidence: MixedMoments, run: Run) -> None:
    """Raise for options that cannot do with variables of several columns."""
    for given in (method, run.estimation):
        for name in given.given():
            if name in OF_COLUMNS and not (name in ("clusters", "blocks") and not getattr(given, name)):
                evidence.refuse(f"{keyword(name)}: {OF_COLUMNS[name]}")
    if method.exact is True and not method.scores_all_families(len(evidence.names)):
        most = tuning.LARGEST_P_FOR_FAMILIES_ON_REQUEST
        evidence.refuse(f"{keyword('exact')} takes up to {most} variables unless each is one column")
    if isinstance(getattr(method, "penalty", None), tuple):
        evidence.refuse(f"Several values of {keyword('penalty')} are compared by a score of single columns")


def _searched(method: Soft, evidence: MixedMoments, run: Run) -> Found:
    """Return what eliminations, descents and restarts find."""
    options = method.family_options(evidence)
    score = family_score(evidence, **options)
    price = method.price * float(np.log(float(evidence.n_samples)))
    with one_blas_thread():
        rivals, interrupted = Rivals(), False
        attempts: list[Attempt] = []
        of_all = best_by_families(method, score, run, price)
        starts_at = [] if of_all is None else [of_all]
        if of_all is None:
            starts_at, attempts, interrupted = _started(method, evidence, score, price, run)
        run.clock.lap("elimination")
        best = min(starts_at, key=_total)
        if method.refining and not interrupted:
            generator = run.generator()
            try:
                for scored in sorted(starts_at, key=_total):
                    with suppress(OutOfTime):
                        descend(scored, generator, run.deadline, run.bar.stage("Refining"))
                best = min(starts_at, key=_total)
                restarts = method.restarts
                with suppress(OutOfTime):
                    best, interrupted = iterate(
                        best,
                        generator,
                        restarts,
                        run.deadline,
                        run.bar.stage("Restarting"),
                        until=run.until if of_all is None else None,
                        threads=run.threads,
                        rivals=rivals,
                    )
            except KeyboardInterrupt:
                interrupted = True
                best = min(starts_at, key=_total)
        run.clock.lap("refinement")
    return Found(
        best.order,
        best.dag,
        Trace.empty(),
        total=best.total,
        extension=options["gamma"],
        attempts=tuple(attempts),
        operations=best.trees.operations,
        proof=None if of_all is None else proof_by_families(of_all.total, len(evidence.names)),
        rivals=rivals.beside(best),
        warnings=(INTERRUPTED,) if interrupted else (),
        interrupted=interrupted,
    )


def _started(
    method: Soft, evidence: MixedMoments, score: FamilyScore, price: float, run: Run
) -> tuple[list[TreeOrder], list[Attempt], bool]:
    """Return the orders of eliminations, how these were tried, and whether the user interrupted."""
    white, _, starts = evidence.white
    rows = float(evidence.n_samples)
    constraints = run.constraints
    settings = block_tuning.BLOCK_SETTINGS[: 1 if len(starts) > LARGEST_EXACT else None]
    usual = 1 if len(starts) > LARGEST_EXACT else block_tuning.BLOCK_BEAM
    width = usual if method.beam == "auto" else method.beam
    limit = run.limit.require
    pairs = acting_together(score, run.threads, limit) if isinstance(score, CountScore) else None
    trees = Trees(score, _candidates(evidence), constraints, run.threads, limit, pairs)
    attempts: list[Attempt] = []
    found: list[TreeOrder] = []
    eliminating = run.bar.stage("Eliminating", run.limit)
    interrupted = False
    for number, setting in enumerate(settings):

        def within(share: float, number: int = number) -> None:
            eliminating((number + share) / len(settings))

        try:
            order = block_orders(white, starts, rows, setting, width, constraints, within)[0]
            scored = TreeOrder(trees, order, constraints, price=price)
        except KeyboardInterrupt:
            if not found:
                raise
            interrupted = True
            break
        attempts.append(Attempt(setting.cap, setting.mu, width, scored.total, setting.noise))
        found.append(scored)
        if run.deadline.passed():
            break
    # From here on there is something to return.
    trees.check = run.deadline.require
    return found, attempts, interrupted


def _total(scored: TreeOrder) -> float:
    # Orders of one equivalence class differ by rounding alone, which must not decide.
    return round(scored.total, 6)


def _candidates(evidence: MixedMoments) -> Integers:
    """Return for each variable what may be its parents: all others, or of many those with the clearest evidence."""
    p = len(evidence.names)
    everything = np.array([np.delete(np.arange(p), y) for y in range(p)])
    if p - 1 <= 2 * block_tuning.CANDIDATES_BY_EVIDENCE:
        return everything
    white, _, starts = evidence.white
    squares = np.add.reduceat(np.add.reduceat(white**2, starts[:-1], axis=0), starts[:-1], axis=1)
    widths = np.diff(starts)
    alone = evidence.n_samples * squares - np.outer(widths, widths)
    paid, given_others = np.zeros((p, p)), np.zeros((p, p))
    columns = len(white)
    precision = np.linalg.inv((1 - block_tuning.BLOCK_RIDGE) * white + block_tuning.BLOCK_RIDGE * np.eye(columns))
    behind = max(float(evidence.n_samples - columns), 1.0)
    weigh_edges(precision, starts, np.ones(p, bool), behind, 0.0, np.inf, paid, given_others)
    lists = np.full((p, 2 * block_tuning.CANDIDATES_BY_EVIDENCE), -1)
    for y in range(p):
        chosen: list[int] = []
        for weights in (alone[y], paid[y]):
            others = np.argsort(-weights, kind="stable")
            chosen += [int(x) for x in others if x != y and x not in chosen][: block_tuning.CANDIDATES_BY_EVIDENCE]
        lists[y, : len(chosen)] = np.sort(chosen)
    return lists
