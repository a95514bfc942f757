"""The state of an elimination: the moral subgraph over the variables that remain.

In: arrays of partial correlations or a DAG. Out: scores of the candidates, one removal at a time.
"""
