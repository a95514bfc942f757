"""Compiled local scores of variables that interventions target in some environments and not in others.

A variable y is scored in the rows of the environments that do not target it, about their common mean. In each
environment e that does it has a mechanism of its own, the one that costs least of

    cut      n_e ln var_e(y)                2 numbers: y does not depend on its parents there
    shift    n_e ln var_e(y − b'x_P)        2 numbers: another mean and noise, and the slopes b of all other rows
    own      n_e ln var_e(y | P)            2 + |P| numbers: other slopes as well

What is known of a child is its *pack*: scatter matrices of its list, which are the child itself, at place 0, and all
that may be its parents. The first matrix is that of the rows that may count for it, each other one that of an
environment that targets it, or that might. If targets are ``unknown``, the rows of those are part of the first matrix
and are taken out of it, and which environments these are is chosen for every set of parents.

One file: all of it works on the same pack, and numba compiles the parts into `scan_environments`.
"""

import math

import numpy as np

from rfdag.evidence.rounding import FLOOR
from rfdag.runtime.compilation import kernel, part

ALIASED = 1e-8
"""Share of a parent's variance that others leave of it below which it counts as explained by them."""

TINY = 1e-12
"""Least variance, where that of a variable in all rows is 1."""

LEAST_FALL = 1e-7
"""Fall of the score for which an environment enters or leaves the targets."""

SPARE_ROWS = 4
"""Rows beside two for each parent that slopes of their own need, and that must remain without an environment."""

SCREENED = 1.0
"""Prices of a number by which a first look at an environment may be wrong."""

TRIED_IN_ALL_WAYS = 6
"""Environments that may be targets up to which all sets of them are tried."""

UNEVEN = 2.0
"""How much more a parent and the right targets may gain together than a first look at uneven slopes says."""


@part()
def _gather(scatter, means, places, m, scatters, centres):
    """Copy what concerns some members of a list, of every group."""
    for e in range(scatter.shape[0]):
        for i in range(m):
            centres[e, i] = means[e, places[i]]
            for j in range(m):
                scatters[e, i, j] = scatter[e, places[i], places[j]]


@part()
def _common(scatters, centres, rows, targeted, unknown, m, covariance, offset):
    """Write the covariance (lower triangle) and means of m variables in the rows that count; return how many count.

    Means are differences from those of the first group.
    """
    left = rows[0]
    for i in range(m):
        offset[i] = 0.0
        for j in range(i + 1):
            covariance[i, j] = scatters[0, i, j]
    if unknown:
        for e in range(1, len(rows)):
            if targeted[e]:
                n = rows[e]
                left -= n
                for i in range(m):
                    offset[i] -= n * centres[e, i]
                    for j in range(i + 1):
                        covariance[i, j] -= scatters[e, i, j] + n * centres[e, i] * centres[e, j]
    if left <= 0.0:
        return left
    for i in range(m):
        offset[i] /= left
        for j in range(i + 1):
            covariance[i, j] = covariance[i, j] / left - offset[i] * offset[j]
    return left


@part()
def _regress(covariance, m, lower, slopes):
    """Return the variance of a child, the last of m + 1 variables, given the others, whose slopes are written."""
    for a in range(m):
        for c in range(a + 1):
            value = covariance[a, c]
            for t in range(c):
                value -= lower[a, t] * lower[c, t]
            if c < a:
                lower[a, c] = value / lower[c, c] if lower[c, c] > 0.0 else 0.0
            else:
                lower[a, a] = math.sqrt(value) if value > ALIASED * covariance[a, a] else 0.0
    left = covariance[m, m]
    for c in range(m):
        value = covariance[m, c]
        for t in range(c):
            value -= lower[m, t] * lower[c, t]
        lower[m, c] = value / lower[c, c] if lower[c, c] > 0.0 else 0.0
        left -= lower[m, c] * lower[m, c]
    _solve(lower, m, lower[m], slopes)
    return max(left, FLOOR * covariance[m, m], TINY)


@part()
def _solve(lower, m, right, out):
    """Solve the transposed factor of m parents for a row."""
    for c in range(m - 1, -1, -1):
        value = right[c]
        for t in range(c + 1, m):
            value -= lower[t, c] * out[t]
        out[c] = value / lower[c, c] if lower[c, c] > 0.0 else 0.0


@part()
def _left_by_slopes(scatter, m, slopes):
    """Return the scatter in an environment of a child less its parents times their slopes; the child is last."""
    left = scatter[m, m]
    for a in range(m):
        value = 0.5 * slopes[a] * scatter[a, a] - scatter[m, a]
        for c in range(a):
            value += slopes[c] * scatter[a, c]
        left += 2.0 * slopes[a] * value
    return left


@part()
def _apart(scatter, n, m, kind, price, covariance, lower, slopes):
    """Return the cost of a child's mechanism in an environment where that does not depend on other rows."""
    cost = np.inf
    if kind != 1:
        cost = n * math.log(max(scatter[m, m] / n, TINY))
    if kind != 0 and m > 0 and n > 2 * m + SPARE_ROWS:
        for i in range(m + 1):
            for j in range(i + 1):
                covariance[i, j] = scatter[i, j] / n
        cost = min(cost, n * math.log(_regress(covariance, m, lower, slopes)) + price * m)
    return cost


@part()
def _cost_of_target(left, own, n, kind, price, apart):
    """Return the cost of a targeted child, whose scatter is ``own``, and ``left`` less its parents times slopes."""
    if kind != 0:
        apart = min(apart, n * math.log(max(left / n, FLOOR * own / n, TINY)))
    return apart + 2.0 * price


@part()
def _total(scatters, centres, rows, targeted, unknown, m, kind, price, apart, covariance, lower, slopes, offset):
    """Return the score of a child, the last of m + 1 variables, given the others, without the price of parents.

    ``apart`` are the costs of `_apart`. Also return what is left of its variance in the rows that count, and how many
    these are.
    """
    left = _common(scatters, centres, rows, targeted, unknown, m + 1, covariance, offset)
    if left <= m + 2 or (unknown and left <= 2 * m + SPARE_ROWS):
        return np.inf, 0.0, left
    variance = _regress(covariance, m, lower, slopes)
    total = left * math.log(variance)
    for e in range(1, len(rows)):
        if targeted[e]:
            shifted = _left_by_slopes(scatters[e], m, slopes)
            total += _cost_of_target(shifted, scatters[e, m, m], rows[e], kind, price, apart[e])
    return total, variance, left


@part()
def _try_all_targets(
    scatters, centres, rows, targeted, m, kind, price, apart, covariance, lower, slopes, offset
):  # fmt: skip
    """Find the set of targets that scores least, of all sets. Return as `_total`."""
    best, least = 0, np.inf
    for number in range(2 ** (len(rows) - 1) + 1):
        # The last is the best once more, to leave what belongs to it.
        last = number == 2 ** (len(rows) - 1)
        for e in range(1, len(rows)):
            targeted[e] = ((best if last else number) >> (e - 1)) & 1
        score, variance, left = _total(
            scatters, centres, rows, targeted, True, m, kind, price, apart, covariance, lower, slopes, offset
        )
        # Sets may score the same: the first is taken, whatever rounding says.
        if not last and score < least - LEAST_FALL:
            best, least = number, score
    return score, variance, left


@part()
def _choose_targets(
    scatters, centres, rows, targeted, m, kind, price, apart, covariance, lower, slopes, offset, looks,
    trial_covariance, trial_lower, trial_slopes, trial_offset,
):  # fmt: skip
    """Choose the environments that target a child: of few, the best set of all, otherwise by single changes.

    Environments become targets, or cease to be, the most promising first, as long as the score falls.
    Return as `_total`. What a change promises is found by a look at the environment alone, and tried in full.
    """
    if len(rows) <= TRIED_IN_ALL_WAYS + 1:
        return _try_all_targets(
            scatters, centres, rows, targeted, m, kind, price, apart, covariance, lower, slopes, offset
        )
    targeted[:] = False
    score, variance, left = _total(
        scatters, centres, rows, targeted, True, m, kind, price, apart, covariance, lower, slopes, offset
    )
    for _ in range(2 * len(rows)):
        for e in range(1, len(rows)):
            after = left + rows[e] if targeted[e] else left - rows[e]
            looks[e] = np.inf
            if after > 2 * m + SPARE_ROWS:
                looks[e] = _look(
                    scatters[e], centres[e], rows[e], targeted[e], m, kind, price, apart[e], covariance, lower, slopes,
                    offset, variance, left, after, trial_slopes,
                )  # fmt: skip
        fell = False
        while not fell:
            found, best = -1, SCREENED * price
            for e in range(1, len(rows)):
                # Of two environments either may be the one that was changed: the first is, whatever rounding says.
                if looks[e] < best - LEAST_FALL:
                    found, best = e, looks[e]
            if found < 0:
                return score, variance, left
            looks[found] = np.inf
            targeted[found] = not targeted[found]
            trial, of_trial, left_by_trial = _total(
                scatters, centres, rows, targeted, True, m, kind, price, apart, trial_covariance, trial_lower,
                trial_slopes, trial_offset,
            )  # fmt: skip
            fell = trial < score - LEAST_FALL
            if not fell:
                targeted[found] = not targeted[found]
        score, variance, left = trial, of_trial, left_by_trial
        for a in range(m + 1):
            slopes[a], offset[a] = trial_slopes[a], trial_offset[a]
            for c in range(a + 1):
                covariance[a, c], lower[a, c] = trial_covariance[a, c], trial_lower[a, c]
    return score, variance, left


@part()
def _look(
    scatter, centre, n, target, m, kind, price, apart, covariance, lower, slopes, offset, variance, left, after, scratch
):
    """Return about how much the score rises if an environment becomes a target of a child, or ceases to be one.

    The slopes of the rows that count change with it by a step of Newton's, in which the parents' covariance is as now.
    """
    distance = centre[m] - offset[m]
    for a in range(m):
        distance -= slopes[a] * (centre[a] - offset[a])
    moved, shifted = n * n * distance * distance, scatter[m, m]
    for a in range(m):
        value = scatter[m, a]
        for c in range(m):
            value -= slopes[c] * scatter[a, c]
        shifted -= slopes[a] * (scatter[m, a] + value)
        value += n * distance * (centre[a] - offset[a])
        for t in range(a):
            value -= lower[a, t] * scratch[t]
        scratch[a] = value / lower[a, a] if lower[a, a] > 0.0 else 0.0
        moved += scratch[a] * scratch[a]
    cost = _cost_of_target(shifted, scatter[m, m], n, kind, price, apart)
    share = shifted + n * distance * distance
    rest = left * variance + (share if target else -share)
    rest = max(rest - moved / after, FLOOR * after * covariance[m, m], TINY)
    return after * math.log(rest / after) - left * math.log(variance) + (-cost if target else cost)


@kernel(allocates=True)
def scan_environments(
    scatters, scatter_starts, means, mean_starts, rows, row_starts, members, member_starts, suspects,
    unknown, kind, price, price_of_parent, children, parents, sizes, candidates, own, out, chosen,
):  # fmt: skip
    """Score children given parents, each alone and with each of its candidates added; infinite where one adds nothing.

    Parameters
    ----------
    scatters, means, rows
        The packs of all variables, one after the other: of each, a matrix, a row of means and a number of rows for
        every group; scatters are about the group's mean, means are differences from that of the first group.
    members
        The lists of all variables, each with itself first.
    scatter_starts, mean_starts, row_starts, member_starts
        Where what belongs to a variable begins, and the end.
    suspects
        For each member of each list, in as many places, the groups in which it may be to the list's variable what it is
        not elsewhere; 0 where there are fewer. Empty where targets are known.
    unknown
        Whether targets are chosen; otherwise all groups but the first target the child.
    kind
        0 for mechanisms that cut, 1 for those that do not, 2 for either.
    price, price_of_parent
        Of a number that describes a mechanism, and of a parent.
    children, parents, sizes
        The variables to score, and their parents: the first ``sizes[r]`` of each row.
    candidates
        For each variable what may be added, −1 where its list has ended.
    own, out
        The scores; those with candidates stand in the order of their lists. Unknown targets of these are the ones
        chosen without the candidate, or chosen anew where it gains nothing with these and looks promising with others.
    chosen
        For each child whether each of its groups targets it, if there is room for that.
    """
    most, groups = 0, 1
    for r in range(len(children)):
        most = max(most, sizes[r])
        groups = max(groups, row_starts[children[r] + 1] - row_starts[children[r]])
    covariance, lower = np.empty((most + 2, most + 2)), np.empty((most + 2, most + 2))
    scratch, factors = np.empty((most + 2, most + 2)), np.empty((groups, most + 2, most + 2))
    scratch_lower, looks = np.empty((most + 2, most + 2)), np.empty(groups)
    slopes, offset, across = np.empty(most + 2), np.empty(most + 2), np.empty(most + 2)
    parts, centres = np.empty((groups, most + 2, most + 2)), np.empty((groups, most + 2))
    spare, spare_offset = np.empty(most + 2), np.empty(most + 2)
    rest, against, apart, own_left = np.empty((groups, most + 1)), np.empty(groups), np.empty(groups), np.empty(groups)
    row, slopes_of_x, row_own = np.empty(most + 1), np.empty(most + 1), np.empty(most + 1)
    places, targeted = np.empty(most + 2, np.int64), np.zeros(groups, np.bool_)
    # The same once more for a parent that is tried together with other targets.
    room, per_member = most + 3 if unknown else 0, len(suspects) // max(len(members), 1)
    with_parts, with_centres = np.empty((groups, room, room)), np.empty((groups, room))
    with_covariance, with_lower = np.empty((room, room)), np.empty((room, room))
    trial_covariance, trial_lower = np.empty((room, room)), np.empty((room, room))
    with_slopes, with_offset, trial_slopes, trial_offset = (
        np.empty(room),
        np.empty(room),
        np.empty(room),
        np.empty(room),
    )
    with_places, with_targets, with_apart = np.empty(room, np.int64), np.zeros(groups, np.bool_), np.empty(groups)
    far, costs, rises = np.empty(groups), np.empty(groups), np.empty(groups)
    for r in range(len(children)):
        y, m = children[r], sizes[r]
        count = row_starts[y + 1] - row_starts[y]
        width = member_starts[y + 1] - member_starts[y]
        scatter = scatters[scatter_starts[y] : scatter_starts[y + 1]].reshape((count, width, width))
        mean = means[mean_starts[y] : mean_starts[y + 1]].reshape((count, width))
        n = rows[row_starts[y] : row_starts[y + 1]]
        listed = members[member_starts[y] : member_starts[y + 1]]
        for s in range(m):
            places[s] = _place(listed, parents[r, s])
        places[m] = 0
        _gather(scatter, mean, places, m + 1, parts, centres)
        part_of, centre_of = parts[:count], centres[:count]
        for e in range(1, count):
            apart[e] = _apart(part_of[e], n[e], m, kind, price, scratch, factors[e], spare)
        here = targeted[:count]
        if unknown:
            score, variance, left = _choose_targets(
                part_of, centre_of, n, here, m, kind, price, apart, covariance, lower, slopes, offset, looks, scratch,
                scratch_lower, spare, spare_offset,
            )  # fmt: skip
        else:
            here[:] = True
            score, variance, left = _total(
                part_of, centre_of, n, here, False, m, kind, price, apart, covariance, lower, slopes, offset
            )
        own[r] = score + price_of_parent * m
        if chosen.shape[1] >= count:
            for e in range(count):
                chosen[r, e] = e > 0 and here[e]
        if candidates[y, 0] < 0:
            out[r] = np.inf
            continue
        # What does not depend on the candidate: in each environment of interest, what its parents leave of the child.
        for e in range(1, count):
            if not unknown and kind == 0:
                continue
            against[e] = _left_by_slopes(part_of[e], m, slopes)
            for a in range(m):
                rest[e, a] = part_of[e, m, a]
                for c in range(m):
                    rest[e, a] -= slopes[c] * part_of[e, a, c]
            if unknown:
                far[e] = centre_of[e, m] - offset[m]
                for a in range(m):
                    far[e] -= slopes[a] * (centre_of[e, a] - offset[a])
                costs[e] = _cost_of_target(against[e], part_of[e, m, m], n[e], kind, price, apart[e])
                rises[e] = np.inf
                if not here[e] and left - n[e] > 2 * m + SPARE_ROWS:
                    rise = _look(
                        part_of[e], centre_of[e], n[e], False, m, kind, price, apart[e], covariance, lower, slopes,
                        offset, variance, left, left - n[e], spare,
                    )  # fmt: skip
                    rises[e] = max(rise, 0.0)
            if here[e] and kind != 0 and n[e] > 2 * (m + 1) + SPARE_ROWS:
                for i in range(m + 1):
                    for j in range(i + 1):
                        scratch[i, j] = part_of[e, i, j] / n[e]
                own_left[e] = _regress(scratch, m, factors[e], spare)
        for q in range(candidates.shape[1]):
            x = candidates[y, q]
            if x < 0:
                out[r, q:] = np.inf
                break
            at = _place(listed, x)
            out[r, q] = np.inf
            taken = False
            for s in range(m):
                taken = taken or places[s] == at
            if taken or score == np.inf or left <= m + 3:
                continue
            centre = 0.0
            total_x = scatter[0, at, at]
            for a in range(m + 1):
                across[a] = scatter[0, at, places[a]]
            if unknown:
                for e in range(1, count):
                    if here[e]:
                        moved = n[e] * mean[e, at]
                        centre -= moved
                        total_x -= scatter[e, at, at] + moved * mean[e, at]
                        for a in range(m + 1):
                            across[a] -= scatter[e, at, places[a]] + moved * centre_of[e, a]
                centre /= left
            total_x = total_x / left - centre * centre
            of_x, of_both = total_x, across[m] / left - centre * offset[m]
            for a in range(m):
                value = across[a] / left - centre * offset[a]
                for t in range(a):
                    value -= row[t] * lower[a, t]
                row[a] = value / lower[a, a] if lower[a, a] > 0.0 else 0.0
                of_x -= row[a] * row[a]
                of_both -= row[a] * lower[m, a]
            if of_x <= ALIASED * total_x:
                continue
            slope = of_both / of_x
            now = max(variance - of_both * slope, FLOOR * covariance[m, m], TINY)
            total = left * math.log(now) + price_of_parent * (m + 1)
            if unknown or kind != 0:
                _solve(lower, m, row, slopes_of_x)
            for e in range(1, count):
                if not here[e]:
                    continue
                cut = scatter[e, 0, 0] / n[e]
                cost = np.inf
                if kind != 1:
                    cost = n[e] * math.log(max(cut, TINY))
                if kind != 0:
                    crossing, of_rest = scatter[e, at, 0], scatter[e, at, at]
                    for a in range(m):
                        crossing -= slopes[a] * scatter[e, at, places[a]] + slopes_of_x[a] * rest[e, a]
                        of_rest -= 2.0 * slopes_of_x[a] * scatter[e, at, places[a]]
                        for c in range(m):
                            of_rest += slopes_of_x[a] * slopes_of_x[c] * part_of[e, a, c]
                    shift = (against[e] - 2.0 * slope * crossing + slope * slope * of_rest) / n[e]
                    cost = min(cost, n[e] * math.log(max(shift, FLOOR * cut, TINY)))
                    if n[e] > 2 * (m + 1) + SPARE_ROWS:
                        of_own, both_own = scatter[e, at, at] / n[e], scatter[e, at, 0] / n[e]
                        least = ALIASED * of_own
                        for a in range(m):
                            value = scatter[e, at, places[a]] / n[e]
                            for t in range(a):
                                value -= row_own[t] * factors[e, a, t]
                            row_own[a] = value / factors[e, a, a] if factors[e, a, a] > 0.0 else 0.0
                            of_own -= row_own[a] * row_own[a]
                            both_own -= row_own[a] * factors[e, m, a]
                        gained = both_own * both_own / of_own if of_own > least else 0.0
                        with_own = max(own_left[e] - gained, FLOOR * cut, TINY)
                        cost = min(cost, n[e] * math.log(with_own) + price * (m + 1))
                total += cost + 2.0 * price
            out[r, q] = total
            first = (member_starts[y] + at) * per_member
            if unknown and total > own[r] - LEAST_FALL and _promising(
                scatter, mean, n, here, at, places, m, part_of, centre_of, rest, against, far, slopes, slopes_of_x,
                offset, centre, slope, now, variance, left, of_x, of_both, costs, rises,
                suspects[first : first + per_member], price, price_of_parent, total - own[r],
            ):  # fmt: skip
                for s in range(m):
                    with_places[s] = places[s]
                with_places[m], with_places[m + 1] = at, 0
                _gather(scatter, mean, with_places, m + 2, with_parts, with_centres)
                for e in range(1, count):
                    with_apart[e] = _apart(
                        with_parts[e], n[e], m + 1, kind, price, trial_covariance, trial_lower, trial_slopes
                    )
                together, _, _ = _choose_targets(
                    with_parts[:count], with_centres[:count], n, with_targets[:count], m + 1, kind, price, with_apart,
                    with_covariance, with_lower, with_slopes, with_offset, looks, trial_covariance, trial_lower,
                    trial_slopes, trial_offset,
                )  # fmt: skip
                out[r, q] = min(total, together + price_of_parent * (m + 1))


@part()
def _promising(
    scatter, mean, n, here, at, places, m, parts, centres, rest, against, far, slopes, slopes_of_x, offset, centre,
    slope, now, variance, left, of_x, of_both, costs, rises, suspects, price, price_of_parent, short,
):  # fmt: skip
    """Return whether a candidate that gains nothing by itself might gain something together with other targets.

    By itself it falls ``short`` by so much. It is promising if its slope differs so much in some of the suspects that
    they may become targets beside it; or if less falls short once one of them is a target, or ceases to be, or all
    targets cease to be. ``costs`` are those of mechanisms of targets, ``rises`` how much the score rises, without the
    candidate, for another target.
    """
    gain, least = 0.0, np.inf
    rows, crossing_left, left_of_x = left, left * of_both, left * of_x
    all_rows, all_crossing, all_of_x, all_of_y, all_costs = left, left * of_both, left * of_x, left * variance, 0.0
    before = left * math.log(variance) - price_of_parent + SCREENED * price
    for look in range(len(suspects) + len(n) - 1):
        e = suspects[look] if look < len(suspects) else look - len(suspects) + 1
        # First the suspects that are no targets, then all targets.
        if e < 1 or here[e] == (look < len(suspects)):
            continue
        crossing, own_of_x = scatter[e, at, 0], scatter[e, at, at]
        distance = mean[e, at] - centre
        for a in range(m):
            crossing -= slopes[a] * scatter[e, at, places[a]] + slopes_of_x[a] * rest[e, a]
            distance -= slopes_of_x[a] * (centres[e, a] - offset[a])
            value = 0.5 * slopes_of_x[a] * parts[e, a, a] - scatter[e, at, places[a]]
            for c in range(a):
                value += slopes_of_x[c] * parts[e, a, c]
            own_of_x += 2.0 * slopes_of_x[a] * value
        # With its rows the mean of those that count moves.
        sign = 1.0 if here[e] else -1.0
        weight = n[e] * left / (left + sign * n[e]) if left + sign * n[e] > 0.0 else n[e]
        moved, spread = weight * far[e] * distance, weight * distance * distance
        share = against[e] + weight * far[e] * far[e]
        after = _rejoined(
            left + sign * n[e], left * variance + sign * share, left * of_both + sign * (crossing + moved),
            left * of_x + sign * (own_of_x + spread),
        )  # fmt: skip
        if after - sign * costs[e] < before:
            return True
        if here[e]:
            all_rows += n[e]
            all_of_y += share
            all_crossing += crossing + moved
            all_of_x += own_of_x + spread
            all_costs += costs[e]
            rise = price
        else:
            rise = rises[e]
            least = min(least, rise)
            rows -= n[e]
            crossing_left -= crossing + moved
            left_of_x -= own_of_x + spread
        if own_of_x > 0.0:
            excess = crossing - slope * own_of_x
            explained = excess * excess / (own_of_x * (max(against[e], TINY) / n[e] if here[e] else now))
            gain += max(0.0, UNEVEN * explained - rise)
    if rows > 0.0 and left_of_x > ALIASED * of_x * left:
        excess = crossing_left - slope * left_of_x
        gain += max(0.0, UNEVEN * excess * excess / (left_of_x * now) - least)
    if gain > short:
        return True
    return all_costs > 0.0 and _rejoined(all_rows, all_of_y, all_crossing, all_of_x) < before + all_costs


@part()
def _rejoined(rows, of_y, crossing, of_x):
    """Return the score of some rows whose residuals have these sums of squares and products, without prices."""
    if rows <= SPARE_ROWS:
        return np.inf
    left = of_y - (crossing * crossing / of_x if of_x > 0.0 else 0.0)
    return rows * math.log(max(left, FLOOR * of_y, TINY) / rows)


@part()
def _place(listed, variable):
    """Return where a variable stands in a list."""
    for at in range(len(listed)):
        if listed[at] == variable:
            return at
    return -1
