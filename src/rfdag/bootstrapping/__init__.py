"""How certain the edges are: the same search on resampled rows.

In: data and the options of `rfdag.learn`. Out: `Bootstrap`, with frequencies of edges, directions and ancestors.
"""
