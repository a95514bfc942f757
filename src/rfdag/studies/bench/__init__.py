"""rfdag beside its peers: workloads, contenders, and the harness that runs them all on the same data.

In: names of workloads and contenders, or your own data. Out: cells, one for each call, and tables of them.
"""
