"""Compiled traversals of sparse DAGs, given by lists of children or of parents."""

from rfdag.runtime.compilation import kernel


@kernel()
def peel(children, child_start, waiting, order):
    """Write each node into ``order`` after its parents; return how many were written: all, unless there is a cycle.

    ``waiting`` holds the number of parents of each node and is overwritten.
    """
    count = 0
    for node in range(len(waiting)):
        if waiting[node] == 0:
            order[count] = node
            count += 1
    done = 0
    while done < count:
        node = order[done]
        done += 1
        for e in range(child_start[node], child_start[node + 1]):
            waiting[children[e]] -= 1
            if waiting[children[e]] == 0:
                order[count] = children[e]
                count += 1
    return count


@kernel()
def compel(parents, parent_start, order, rank, mark, compelled):
    """Find the edges, in the order of ``parents``, that point the same way in the whole equivalence class.

    The rule is that of `rfdag.graphs.cpdag`, looked up in lists: a child's latest parent decides for all.
    """
    for child in order:
        first, last = parent_start[child], parent_start[child + 1]
        if first == last:
            continue
        latest = parents[first]
        for e in range(first, last):
            mark[parents[e]] = 1
            if rank[parents[e]] > rank[latest]:
                latest = parents[e]
        whole = False
        shared = 0
        for e in range(parent_start[latest], parent_start[latest + 1]):
            if mark[parents[e]] == 1:
                shared += 1
                if compelled[e]:
                    mark[parents[e]] = 2
            elif compelled[e]:
                whole = True
        whole = whole or shared < last - first - 1
        for e in range(first, last):
            compelled[e] = whole or mark[parents[e]] == 2
        for e in range(first, last):
            mark[parents[e]] = 0


@kernel()
def keep_acyclic(sources, targets, first, following, seen, waiting, kept):
    """Mark the edges that close no cycle with those marked before them.

    The children of a node so far are the targets of the edges ``first`` of the node, ``following`` of that edge and so
    on, −1 at the end. ``seen`` holds the last edge for which a node was reached, ``waiting`` nodes still to look at.
    """
    for e in range(len(sources)):
        source = sources[e]
        closes = source == targets[e]
        waiting[0] = targets[e]
        seen[targets[e]] = e
        count = 1
        while count > 0 and not closes:
            count -= 1
            edge = first[waiting[count]]
            while edge >= 0:
                node = targets[edge]
                if node == source:
                    closes = True
                    break
                if seen[node] != e:
                    seen[node] = e
                    waiting[count] = node
                    count += 1
                edge = following[edge]
        kept[e] = not closes
        if not closes:
            following[e] = first[source]
            first[source] = e
