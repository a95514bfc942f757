"""What every elimination engine must do, as checks against the literal reference.

A new engine is a new entry in `tests/test_engines.py`; these checks stay as they are.
"""

from __future__ import annotations

import numpy as np

import reference


def check_state(engine, world, pairs="neighbours"):
    """The moral subgraph over what remains, and all scores, are the reference's."""
    remaining = engine.remaining.tolist()
    edges = reference.moral_subgraph(world, remaining)
    assert named(engine.adjacency(), remaining) == edges
    removed = reference.removed_edges if pairs == "all" else reference.removed_among_neighbours
    filled = reference.fill_edges if pairs == "all" else reference.missing_among_neighbours
    assert engine.degrees().tolist() == [reference.degree(world, remaining, k) for k in remaining]
    assert engine.removals().tolist() == [len(removed(world, remaining, k)) for k in remaining]
    assert engine.fills().tolist() == [len(filled(world, remaining, k)) for k in remaining]


def check_removal(engine, world, position):
    """One removal tells the truth about parents and changed edges, and leaves the state of the rest."""
    remaining = engine.remaining.tolist()
    variable = remaining[position]
    expected = {
        "removed": reference.removed_edges(world, remaining, variable),
        "filled": reference.fill_edges(world, remaining, variable),
    }
    scores = engine.removals()[position], engine.fills()[position]
    happened = engine.remove(position, with_edges=True)
    assert happened.variable == variable
    assert set(happened.parents.tolist()) == reference.neighbours(world, remaining, variable)
    assert (happened.removal, happened.fill) == scores
    for name, edges in expected.items():
        listed = [frozenset(edge) for edge in getattr(happened, name).tolist()]
        assert len(listed) == len(set(listed))
        assert set(listed) == edges
    assert sorted(engine.remaining.tolist()) == sorted(set(remaining) - {variable})


def check_whole_elimination(engine, world, generator, pairs="neighbours"):
    """State and removals agree with the reference from the first variable to the last."""
    while len(engine.remaining):
        check_state(engine, world, pairs)
        check_removal(engine, world, int(generator.integers(len(engine.remaining))))


def check_copy(engine):
    """A copy starts equal and then goes its own way."""
    before = engine.remaining.tolist(), engine.adjacency(), engine.removals().tolist()
    twin = engine.copy()
    assert twin.remaining.tolist() == before[0]
    while len(twin.remaining):
        twin.remove(0)
    assert engine.remaining.tolist() == before[0]
    np.testing.assert_array_equal(engine.adjacency(), before[1])
    again = engine.copy()
    assert again.removals().tolist() == before[2]


def named(adjacency, remaining):
    assert (adjacency == adjacency.T).all()
    assert not adjacency.diagonal().any()
    return {frozenset((remaining[i], remaining[j])) for i, j in np.argwhere(np.triu(adjacency))}
