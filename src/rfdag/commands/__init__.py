"""The commands of the program, one file each; `rfdag.cli` puts them together."""
