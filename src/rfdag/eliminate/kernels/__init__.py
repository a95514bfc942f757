"""Compiled loops of the engines and beams, and their CUDA sources.

In: plain arrays and workspaces, changed in place. Out: nothing else.
"""
