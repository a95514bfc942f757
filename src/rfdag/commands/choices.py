"""What options of the commands can be."""

from __future__ import annotations

DELIMITERS = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";"}
"""Words for the characters between cells that a shell makes hard to type."""
