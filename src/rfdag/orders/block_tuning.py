"""Numbers that were chosen for variables of several columns: eliminations, candidates, the prior of BDeu.

Mixed data for the choices: `rfdag.simulate.mixed` on Erdős–Rényi graphs of degree 4 with seeds [s, 77, …], s below 42;
networks: win95pts, hepar2, water, barley and mildew with 2000 and 10 000 rows, two draws each. `benchmarks/mixed.py`
reports on other draws, and on other networks. ``python benchmarks/mixed_tuning.py`` repeats the choices.
"""

from __future__ import annotations

from rfdag.eliminate.beams.blocks import BlockSetting

BLOCK_SETTINGS = (BlockSetting(2.0, 6.0, 0.7), BlockSetting(2.0, 6.0, 0.4), BlockSetting(1.0, 4.0, 0.5))
"""Eliminations of variables of several columns that a search starts from."""

BLOCK_BEAM = 1
"""States that each of them follows at once, unless `beam` says otherwise: two found nothing better after refinement."""

BLOCK_RIDGE = 1e-4
"""Share of the identity in the covariance of many columns that is inverted to choose candidates."""

CANDIDATES_BY_EVIDENCE = 16
"""Candidates that a variable has by its correlations, and by those given all others, where variables are many.

On pigs (441 variables) 50, 25 and 12 ended at SHD 67, 57 and 48, in 31, 24 and 16 s.
"""

MOST_WORK_ON_TRIPLES = 1e9
"""Words of 64 rows that are compared, about, to find pairs of categories that act together. Chosen by time:
about 0.15 s of one core."""

MOST_PAIRS_TOGETHER = 8
"""Pairs that a variable may try as parents together. Chosen, not varied."""

SAMPLE_SIZE = 3.0
"""Rows that the prior of BDeu counts for.

SHD summed over the five networks at 2000 and 10 000 rows, at γ = 1: 248 and 169 with 1 row, 230 and 153 with 3, 275 and
193 with 10; the multinomial BIC has 295 and 212.
"""

BDEU_GAMMA = 1.0
"""γ of the prior on edges beside BDeu: an edge costs 2 γ ln p.

With a prior of 1 row: 302 and 212 at γ = 0, 240 and 169 at ½, 248 and 169 at 1, 248 and 153 at 2.
"""
