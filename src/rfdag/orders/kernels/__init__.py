"""Compiled loops of scores and tests.

In: plain arrays and workspaces, changed in place. Out: nothing else.
"""
