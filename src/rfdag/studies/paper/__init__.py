"""The study of the paper, figure by figure: what `rfdag reproduce` runs, draws and writes.

In: names of figures, a seed and a number of graphs. Out: a CSV, pictures and a page of claims for each figure.
"""
