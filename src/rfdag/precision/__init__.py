"""Estimators of the partial correlations that an elimination starts from.

In: evidence. Out: a matrix of partial correlations, and the number of rows it is worth.
"""
