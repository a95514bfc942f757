"""How sure the edges are: the same search on rows drawn anew.

In: data and the options of `rfdag.learn`. Out: `Bootstrap`, with frequencies of edges, directions and ancestors.
"""
