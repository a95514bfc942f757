"""Compiled loops of the tests of conditional independence.

In: plain arrays and workspaces, changed in place. Out: nothing else.
"""
