"""The commands of the program, one file each; `rfdag.cli` puts them together.

In: words of a command line. Out: text or JSON on the terminal, files, and an exit status.
"""
