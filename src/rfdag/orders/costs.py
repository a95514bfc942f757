"""Numbers by which time and memory of a run are estimated before it starts, and how they were measured."""

from __future__ import annotations

# Seconds are of one thread's processor time, over graphs of degree 8 with n = 2p; `python benchmarks/estimates.py`
# prints them anew. Another machine is compared with the one they come from by a product of two matrices.

SECONDS_WORTH_ANNOUNCING = 10.0
"""Expected seconds from which a run announces how long it will take. Not recorded."""

SECONDS_WORTH_WARNING = 3600.0
"""Expected seconds from which a run is warned of: an hour. Chosen as what people wait for, not measured."""

ORDER_OF_PRODUCT = 384
"""Order of the two matrices whose product compares machines. Chosen to take milliseconds."""

SECONDS_PER_PRODUCT = 2.8e-3
"""Seconds of that product. Measured."""

SECONDS_PER_ROW_AND_PAIR = 9.6e-11
"""Moments: seconds per row and p². Measured."""

SECONDS_PER_PRECISION = 6.5e-11
"""Partial correlations: seconds per p³. Measured."""

SECONDS_PER_ELIMINATION = 1.4e-9
"""An elimination by hard counts: seconds per p³. Measured."""

SECONDS_PER_REPLAY = 8e-10
"""Going through an elimination again, for its trace: seconds per p³. Measured."""

SECONDS_PER_SCORED_ORDER = 3e-7
"""Choosing the parents of all variables in a given order: seconds per p². Measured."""

SECONDS_PER_BEAM_STATE = 4.5e-8
"""One state of a beam, followed to the end: seconds per p to the power `POWER_OF_BEAM_STATE`. Measured."""

POWER_OF_BEAM_STATE = 2.2
"""Power of p with which the time of a state grows: less than 3, since scores are lazy. Measured."""

SECONDS_PER_FAMILY = 4.5e-8
"""Looking at all sets: seconds per variable and set of the others. Measured."""

SECONDS_PER_REFINED_ORDER = 1.1e-6
"""Refining one order: seconds per p². Measured."""

SECONDS_PER_AVERAGED_MODEL = 1.1e-6
"""Refining one random order, for a model that is averaged: seconds per p². Measured."""

ORDERS_REFINED = 5
"""Orders whose refinement takes as long as all of it: those of the beams, and restarts. Measured."""

ORDERS_SCORED = 0.1
"""The same where orders are scored and not refined. Not recorded."""

TIME_TO_SPARE = 2.0
"""How many times longer than expected a limit is that an error names. Chosen as how far off expectations may be."""

TIMES_LONGER_IF_DENSE = 20.0
"""How many times longer a search takes on dense graphs than on those that are expected.

Measured, up to: about 15 for method "rfd" on shrunk correlations of 2000 columns, 20 for a beam over 500 of degree 50.
"""

MOST_BEHIND_SCHEDULE = 10.0
"""How many times longer than expected later stages are taken to be, if earlier ones were. Chosen, not measured."""

LEAST_SECONDS_TO_GO_BY = 1.0
"""Seconds after reading below which a run has not shown how fast it is. Chosen, not measured."""

POWER_OF_THREADS = 0.8
"""Power of the number of threads with which the time of beams and matrices falls. Not recorded."""

MATRICES_OF_ELIMINATION = 6
"""p × p doubles beside a beam: factor, partial correlations, the engine's copy and room to work in. Counted."""

MATRICES_OF_SCORED_ORDER = 14
"""p × p doubles of an order with its parents and scores (seven), of the lists of all candidates (two), of regressions
along the order (four), and of the correlation behind it. Counted."""

SECONDS_PER_CLUSTERED_COLUMN = 8e-3
"""Searching all clusters of columns: seconds for each column. Measured, p = 5000, n = 500, degree 4."""

SECONDS_PER_ROW_AND_COMPARED_PAIR = 3e-10
"""Finding clusters, and columns that were overlooked in them: seconds per row and p². Measured, p = 20 000, n = 500."""

SECONDS_PER_NARROW_COLUMN = 1.4e-3
"""Refinement with a few candidates for each variable: seconds for each variable. Measured, p = 5000 and 20 000."""

SECONDS_PER_SCREENED_PAIR = 2e-7
"""The same, its screenings of all pairs by a matrix of correlations: seconds per p². Measured, p = 10 000, degree 8."""

SECONDS_PER_ROW_AND_SCREENED_PAIR = 3.7e-10
"""The same without such a matrix, by the rows: seconds per row and p². Measured, p = 20 000, n = 500."""

NUMBERS_PER_NARROW_COLUMN = 40_000
"""Doubles for each variable of a search with few candidates: correlations of about a hundred, room for more, and lists.

Measured, as the peak of the process beyond the data and the libraries, seed 1, degree 4:

| p | n | threads | kind | taken (GB) | estimated (GB) |
| --- | --- | --- | --- | --- | --- |
| 1000 | 300 | 1, 8 | random | 0.31, 0.49 | 0.38, 0.58 |
| 2000 | 300 | 1, 2, 8 | random | 0.78, 0.83, 1.13 | 0.70, 0.75, 1.05 |
| 2000 | 300 | 2 | scale-free | 0.91 | 0.75 |
| 2000 | 300 | 2 | of degree 8 | 0.77 | 0.75 |
| 10 000 | 500 | 2 | random | 2.97 | 3.42 |
"""

BYTES_PER_CLUSTER_SEARCHED = 5e7
"""Bytes of one search of a cluster, which a thread does at a time: beams and matrices. Measured in the same runs."""

NUMBERS_PER_NARROWEST_COLUMN = 18_000
"""The same where there are half as many. Measured, p = 5000, n = 500."""
