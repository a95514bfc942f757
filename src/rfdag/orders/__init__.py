"""Orders judged, changed and compared: scores, reinsertion, restarts, covered edges, the best of all.

In: correlations or tests, and an order. Out: a better order with the parents of every variable.
"""
