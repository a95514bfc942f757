"""Compiled loops that gather the entries of a matrix along many lists."""

from rfdag.runtime.compilation import kernel


@kernel()
def gather(matrix, starts, members, variables, places, entries):
    """Store the entries of a symmetric matrix along the list of each variable, row after row, from its place on.

    The list of y reaches from ``starts[y]`` to ``starts[y + 1]`` in ``members``. Entries lie far apart in a large
    matrix, so each is read once and stored twice.
    """
    for number in range(len(variables)):
        y = variables[number]
        first, at = starts[y], places[number]
        k = starts[y + 1] - first
        for s in range(k):
            row = matrix[members[first + s]]
            for t in range(s, k):
                entry = row[members[first + t]]
                entries[at + s * k + t] = entry
                entries[at + t * k + s] = entry
