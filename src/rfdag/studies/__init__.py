"""Comparisons with other packages (`bench/`) and the study of the paper (`paper/`).

In: a command line. Out: tables, figures and pages. Only `rfdag.cli` imports this folder; `paper` imports `bench`.
"""
