"""Numbers that were chosen for variables of several columns: eliminations, candidates, the prior of BDeu.

As in `rfdag.orders.tuning`, each is beside what it was chosen on; `benchmarks/mixed.py` reports on other draws.
"""

from __future__ import annotations

from rfdag.eliminate.beams.blocks import BlockSetting

BLOCK_SETTINGS = (BlockSetting(2.0, 6.0, 0.7), BlockSetting(2.0, 6.0, 0.4), BlockSetting(1.0, 4.0, 0.5))
"""Eliminations of variables of several columns that a search starts from."""

BLOCK_BEAM = 2
"""States that each of them follows at once."""

BLOCK_RIDGE = 1e-4
"""Share of the identity in the covariance of many columns that is inverted to choose candidates."""

CANDIDATES_BY_EVIDENCE = 16
"""Candidates that a variable has by its correlations, and by those given all others, where variables are many."""

SAMPLE_SIZE = 3.0
"""Rows that the prior of BDeu counts for."""

BDEU_GAMMA = 1.0
"""γ of the prior on edges beside BDeu: an edge costs 2 γ ln p."""
