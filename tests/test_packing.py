"""Parts of an unconnected graph: close together, none over another, each as it would be alone."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from rfdag.plots.layout import laid_out
from rfdag.plots.packing import packed

BOX = 17.0


def in_parts(sizes, alone, seed):
    """Return the edges of random connected parts of these sizes, their nodes mixed, and the part of each node."""
    rng = np.random.default_rng(seed)
    part = rng.permutation(np.repeat([*range(len(sizes)), -1], [*sizes, alone]))
    edges = []
    for at, size in enumerate(sizes):
        nodes = np.flatnonzero(part == at)
        edges += [(int(nodes[rng.integers(later)]), int(nodes[later])) for later in range(1, size)]
        edges += [tuple(sorted(rng.choice(nodes, 2, replace=False).tolist())) for _ in range(size // 3)]
    return np.array(sorted(set(edges)), np.int64), part


def frames(layout, edges, part):
    """Return left, right, top and bottom of every part, its edges included."""
    found = []
    for at in range(part.max() + 1):
        own = part == at
        half = np.stack([layout.width[own] / 2, np.full(own.sum(), BOX / 2)], axis=1)
        centres = layout.centre[own]
        routes = [route for route, (source, _) in zip(layout.routes, edges, strict=True) if part[source] == at]
        points = np.concatenate([centres - half, centres + half, *routes])
        found.append((*np.sort(points[:, 0])[[0, -1]], *np.sort(points[:, 1])[[0, -1]]))
    return np.array(found)


def apart(one, other):
    """Return how far two frames are apart, to the side and downwards; negative where they overlap."""
    return max(one[0], other[0]) - min(one[1], other[1]), max(one[2], other[2]) - min(one[3], other[3])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("count", [1, 2, 3, 10, 60, 300])
def test_rectangles_do_not_overlap_and_fill_a_frame_of_the_wanted_shape(seed, count):
    sizes = np.random.default_rng(seed).uniform((2, 1), (12, 6), (count, 2))
    corners = packed(sizes, (0.5, 0.25))
    assert (corners >= 0).all()
    for i, j in combinations(range(count), 2):
        wide, tall = (corners[[i, j]] - (corners + sizes)[[j, i]]).max(axis=0)
        assert wide >= 0.5 - 1e-9 or tall >= 0.25 - 1e-9
    wide, tall = (corners + sizes).max(axis=0)
    if count >= 10:
        assert sizes.prod(axis=1).sum() / (wide * tall) > 0.55
        assert 1 < wide / tall < 3


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("sizes", "alone"), [([40, 12, 8], 0), ([30, 20], 10), ([12, 10, 8, 7, 6, 5, 4, 3, 3, 2], 0)])
def test_parts_at_sixty_nodes_leave_no_large_gap(seed, sizes, alone):
    edges, part = in_parts(sizes, alone, seed)
    layout = laid_out([60.0] * 60, edges, BOX)
    found = frames(layout, edges, part)
    for one, other in combinations(found, 2):
        beside, below = apart(one, other)
        assert beside > BOX or below > 0.8 * BOX
    # From the top down, no strip of more than about a row is without any part.
    reached = found[:, 2].min()
    for top, bottom in sorted(found[:, 2:].tolist()):
        assert top - reached < 1.2 * BOX
        reached = max(reached, bottom)
    left, right, top, bottom = found[:, 0].min(), found[:, 1].max(), found[:, 2].min(), found[:, 3].max()
    filled = ((found[:, 1] - found[:, 0]) * (found[:, 3] - found[:, 2])).sum()
    assert filled / ((right - left) * (bottom - top)) > 0.5


def test_a_part_looks_as_it_would_alone():
    edges, part = in_parts([9, 6, 4], 3, 1)
    widths = np.linspace(20, 60, 22)
    whole = laid_out(widths, edges, BOX)
    for at in range(3):
        nodes = np.flatnonzero(part == at)
        own = np.isin(edges[:, 0], nodes)
        alone = laid_out(widths[nodes], np.searchsorted(nodes, edges[own]), BOX)
        shift = whole.centre[nodes] - alone.centre
        assert shift == pytest.approx(np.broadcast_to(shift[0], shift.shape))
        assert (whole.layer[nodes] == alone.layer).all()
        for route, moved in zip(alone.routes, np.array(whole.routes, dtype=object)[own], strict=True):
            assert np.asarray(moved, float) - route == pytest.approx(np.broadcast_to(shift[0], route.shape))
    assert (whole.layer[part < 0] == -1).all()


def test_every_cause_is_left_of_its_effects_in_every_part():
    edges, _ = in_parts([9, 6, 4], 3, 2)
    layout = laid_out([30.0] * 22, edges, BOX)
    assert (layout.centre[edges[:, 0], 0] < layout.centre[edges[:, 1], 0]).all()
