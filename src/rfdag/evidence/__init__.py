"""What a search may ask of the input.

In: a table, a stream of rows, a matrix or a DAG. Out: moments, partial correlations, local moments, graphs.
"""
