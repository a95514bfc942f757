"""Beam search: several partial eliminations followed at once.

In: partial correlations, or the states of any engine. Out: the best orders found, with their costs.
"""
