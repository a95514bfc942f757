"""Every number that was chosen rather than derived: what it does, how it was chosen, and how to choose it again.

Tolerances of kernels and sizes of tiles are not here; they stay beside the code whose rounding or memory they follow.

**Seeds.** Defaults were chosen on Erdős–Rényi graphs of seeds 20 to 34 and on seeds 77 to 79 of the benchmark
workloads. Benchmarks that report use seeds from 1000 on. The search itself draws from seed 0 unless ``random_state``
says otherwise, so no simulation may use that seed: graph and search would draw the same numbers.

**Choosing again.** ``python benchmarks/tuning.py NAME`` tries other values of the constant NAME on the tuning seeds,
``--list`` shows which constants it knows. The scripts of the first choices are lost; this one repeats them on the same
seeds, over smaller graphs. "Not recorded" means that neither the code nor its history tells how a value was chosen.

Read these as ``tuning.NAME``, so that a script or a test can replace a number in one place.
"""

from __future__ import annotations

from typing import NamedTuple


class Setting(NamedTuple):
    """One way to weigh edges: their weight rises from 0 at z² = noise to 1 at noise + c; μ is that of the future."""

    c: float
    mu: float
    noise: float = 0.0


# --- Beams: how edges weigh -------------------------------------------------------------------------------------------

DENSE_SETTINGS = (Setting(4.0, 0.4), Setting(3.0, 0.3), Setting(6.0, 0.25))
"""Settings of the soft cost for dense graphs, where most weak edges are real and a removal is judged by its cost now.

They serve lazy beams and many variables; others have `STEPWISE_SETTINGS`. Chosen at p = 20 … 200, seeds 20 to 27.
(3, 0.3) took the place of (4, 0.2) later, on seeds not recorded.
"""

STEPWISE_SETTINGS = (Setting(6.0, 0.4), Setting(5.0, 0.3), Setting(4.0, 0.25))
"""Settings of the stepwise cost, which dense graphs have up to `LARGEST_P_FOR_STEPWISE` variables. Chosen on seeds 20
to 34, density ½, p = 50, n = 500. Of 15 graphs, so many come within 60 of the BIC of the true order at width 64, 256,
1024 and 4096: (6, 0.4): 9, 14, 15, 15; (5, 0.3): 10, 13, 14, 15; (4, 0.3): 9, 13, 14, 15; (3, 0.4): 9, 12, 13, 14. c =
12, near the price of an edge: at most 2 at width 512. The soft cost, (3, 0.3): 7 at width 1024, 13 at 32 768. (4, 0.25)
took the place of (4, 0.3) on the ten hardest graphs of seeds 5000 to 5045: with slack 7 and width 1024 it finds as many
orders as (4, 0.3) with slack 8, four, in less time; (3, 0.3) and (3, 0.25) three, (4, 0.35) two."""

LARGEST_P_FOR_STEPWISE = 150
"""Number of variables up to which dense graphs have the stepwise cost; beyond, it takes minutes. Chosen by run time."""

STEPWISE_SHORTLIST = 4
"""Continuations for each state of a beam whose stepwise cost is computed, those of least soft cost. Chosen on seeds 20
to 34, p = 50, n = 500, width 256, c = 5: of 15 graphs 12 come within 60 of the BIC of the true order with 4, 8 and all,
11 with 2."""

SPARSE_SETTINGS = (Setting(6.0, 0.5), Setting(9.0, 0.45), Setting(9.0, 0.7))
"""Settings for sparse graphs, where most weak edges are noise and the removals that follow say more. Chosen at p = 20 …
200, seeds 20 to 27."""

LARGE_SETTINGS = (Setting(6.0, 0.5, 3.0), Setting(8.0, 0.45, 2.0), Setting(6.0, 0.6, 2.0))
"""Settings for sparse graphs of many variables, where the sum of all noise outweighs the edges unless it is left out.

Chosen at p = 200, 500 and 1000, seeds 20 to 22 and 30 to 34, where they halve the errors of the order.
"""

LARGE_P = 150
"""Number of variables from which a sparse graph has `LARGE_SETTINGS`. Not recorded."""

HUGE_P = 3000
"""Number of variables from which the first setting is the only one: each takes minutes, and refinement levels them.

Chosen by run time; not recorded on which graphs.
"""

DENSE_SHARE_OF_PAIRS = 0.3
"""Share of pairs with a clear partial correlation from which a graph counts as dense. Not recorded."""

CLEAR_Z = 2.5
"""z from which a partial correlation is clear, for that share. Not recorded."""

NEIGHBOUR_Z = 2.5
"""z from which two variables are neighbours in a beam. Not recorded; z from 1.8 to 3 changed little at p = 50."""

VERY_LARGE_P = 500
"""Number of variables from which neighbours need `NEIGHBOUR_Z_FOR_VERY_LARGE_P`. Not recorded."""

NEIGHBOUR_Z_FOR_VERY_LARGE_P = 2.8
"""z from which two of so many variables are neighbours: at 2.5 chance makes too many. Not recorded."""

ORDERS_SCORED_PER_BEAM = 2
"""Orders of each beam whose BIC is computed, those of least soft cost. Not recorded."""

# --- Beams: how wide --------------------------------------------------------------------------------------------------

NARROWEST_BEAM = 8
"""States of the first beams of "auto". Not recorded."""

BEAM_GROWTH = 4
"""How many times wider the next beams of "auto" are. Not recorded."""

WIDEST_BEAM = 128
"""States of the widest beams of "auto". Not recorded."""

SMALL_P = 50
"""Number of variables up to which wide beams and refinement cost little.

"auto" then goes on with all settings, and refines the order of each on dense graphs too. Not recorded.
"""

WIDEST_BEAM_FOR_SMALL_P = 512
"""States of the widest beams of "auto" over so few variables. Not recorded."""

MOST_FIRST_BEAM_ENTRIES = 4e6
"""Width · p² up to which the first beams of "auto" are as wide as `NARROWEST_BEAM`. Chosen on seeds 77 and 78, p =
2000, n = 4000: united, three settings of width 1 end 70 (degree 8) and 2400 (scale-free) below the BIC of the search
before, one of width 8 330 and 2000 above it, in more time."""

MOST_BEAM_ENTRIES = 6e6
"""Width · p² up to which "auto" widens a beam. Not recorded."""

FIRST_STEPWISE_BEAM = 64
"""States of the first beams of "auto" under the stepwise cost: settings that agree are right then. Chosen on seeds 20
to 34: at width 8 all settings agree on a poor order of one graph of 5 with p = 40, n = 800; at 64 on none of 45 with p
= 30, n = 300, p = 40, n = 800 and p = 50, n = 500."""

FIRST_STEPWISE_WORK = 1.6e9
"""Width · p⁴ up to which the first beams are so wide. Chosen by run time: half a second for each setting."""

STEPWISE_SLACK = 6.0
"""How far, in edges, states of the second beams of "auto" may rank behind the best one; the first have no bound.

Chosen on seeds 5000 to 5045, density ½, p = 50, n = 500, with `STEPWISE_SLACK_GROWTH`. The order of the truth falls
behind by 2 to 9 for a few removals, among hundreds or thousands of others, and is soon among the first again: a bound
on the cost leaves room there and saves time elsewhere. (5, 0.3) comes within 60 of the truth's BIC in 9 of 16 graphs
(seeds 5030 to 5045) with slack 5 and width 1024, in 12 with slack 7, in 0.13 and 0.27 s of one core; 0.7 s without."""

STEPWISE_SLACK_GROWTH = 1.5
"""What the slack grows by as beams become `BEAM_GROWTH` times wider. Chosen with `STEPWISE_SLACK`."""

STEPWISE_MARGIN = 1.5
"""How many times the slack a continuation may be behind in soft cost and yet be on the shortlist. Chosen with
`STEPWISE_SLACK`: 3 finds the same orders of 8 graphs in a sixth more time; 1 misses two of the four that 1.5 finds."""

SETTINGS_AROUND = ((1.0, 0.3), (1.0, 0.2), (1.6, 0.3))
"""c, in prices of an edge, and μ of the beams that stay close to the best order. So close, the BIC itself is the best
guide. Chosen on p = 50, n = 500, seeds 5001 to 5003, 7000, 7030 and 7032: of three orders 6 to 11 above the true one,
which 100 restarts (1 to 1.5 s) do not improve, each improves one or two, in 0.1 s."""

REACH = 15
"""Places by which two variables must differ in the best order to keep their sequence in these beams. Chosen with
`SETTINGS_AROUND`: 8 finds less, and from 25 on beams may lose their way as others do."""

WIDTH_AROUND = 256
"""States of these beams. Chosen by time, a tenth of a second for each; few have so many."""

WIDEST_STEPWISE_BEAM = 16384
"""States of the widest beams of "auto" under the stepwise cost. Chosen by time, with `MOST_STEPWISE_WORK`."""

MOST_STEPWISE_WORK = 1.1e11
"""Width · p⁴ up to which "auto" widens a beam under the stepwise cost. Chosen by time: 8 s of one core at p = 50."""

LEAST_WORK_FOR_BEAM_THREADS = 1e6
"""Width · p³ from which threads for a beam pay. By run time; not recorded on which machine."""

COUNTS_MU = 0.5
"""μ of a beam over hard counts, on exact input. Not recorded."""

# --- Lazy scores ------------------------------------------------------------------------------------------------------

EXACT_P_IF_REFINED = 30
"""Number of variables up to which a search that is refined scores exactly.

Seeds not recorded. What it must hold, "auto" at most .005 of F1 below exact scores, is measured on seed 1000
(docs/scaling.md), so the rows with p = 20 there may not be untouched.
"""

EXACT_P_IF_UNREFINED = 400
"""Number of variables up to which a search without refinement scores exactly, unless there are `EXACT_P_IF_REFINED`.

Seeds not recorded, as for `EXACT_P_IF_REFINED`. With so few an unrefined answer is wanted at once, by lazy scores.
"""

LAZY_STEPS = ((800, 32), (EXACT_P_IF_UNREFINED, 16), (EXACT_P_IF_REFINED, 5), (0, 2))
"""Pairs (p, steps): over more than p variables, a lazy beam scores everything again after so many steps.

Chosen on seed 77 of the workloads, where these came within .003 of the exact rule's F1; 5 instead of 2 lost .012 at
p = 20, n = 40.
"""

# --- Refinement -------------------------------------------------------------------------------------------------------

NOTICEABLE_Z2 = 2.0
"""z² from which a variable may matter to one whose parents have changed, and is tried again. Not recorded."""

PLAUSIBLE_Z2 = 4.0
"""z² in the regression on all predecessors from which one may be a parent: of 100, chance makes five. Not recorded."""

PLAUSIBLE_Z2_PER_EFOLD = 1.7
"""What `PLAUSIBLE_Z2` rises by per e-fold more than 100 predecessors, so that chance makes no more. Derived from χ²."""

LEAST_P_FOR_FEWER_CANDIDATES = 1000
"""Variables of a sparse graph from which only some are candidates for parents, and restarts are recombined. Chosen on
seeds 77 and 78 by time; with p = 500 answers would change where all candidates are affordable."""

CANDIDATES_BY_PARTIAL_CORRELATION = 32
"""Candidates for each variable by partial correlations. Chosen on seeds 77 and 78, p = 500 and 2000: 16 and 64 differ
by less than other restarts do."""

CANDIDATES_BY_CORRELATION = 16
"""The same by correlations. Chosen with `CANDIDATES_BY_PARTIAL_CORRELATION`."""

LEAST_P_FOR_FEWEST_CANDIDATES = 50_000
"""Variables from which there are half as many of both. Chosen by memory: a third of it is saved or more. Seed 77, p =
5000, n = 500, F1 is .989 instead of .991; on a scale-free graph with p = 2000, n = 4000 (78) .933 instead of .941."""

CANDIDATES_OVERLOOKED = 12
"""Candidates that a variable gets at a time when its residual is compared with all predecessors. Chosen on seeds 77 and
78, p = 1000, n = 2000: 8, 12 and 20 differ by less than other restarts do."""

REINSERTIONS_BETWEEN_LOOKS = 16
"""Variables reinserted between two looks at the deadline; changes no answer without one. Not recorded."""

PATH_GAMMA = 0.5
"""γ of the extended BIC that compares the points of a path of penalties: the choice of Chen and Chen, 2008."""

# --- Restarts ---------------------------------------------------------------------------------------------------------

RESTARTS_FROM_ONE_ORDER = 4
"""Restarts that begin from the same order, so that threads have work and the answer does not depend on their number.

Not recorded.
"""

MOST_EDGES_REVERSED = 32
"""How many edges a restart reverses at most. Chosen on seeds 77 and 78: with p = 500, degree 6, n = 1000, in less time
than with at most 16, the BIC is 3 above the best found on average instead of 11; with p = 200 there is no
difference."""

VARIABLES_PER_EDGE_REVERSED = 4
"""Number of variables for each edge that a restart may reverse. Chosen with `MOST_EDGES_REVERSED`."""

LEAST_P_FOR_REVERSALS = 8
"""Number of variables below which a restart begins from a random order instead. So few leave room for one reversal,
which leads back. Chosen on 750 data sets with p = 3 … 7, n = 20, 50 and 200, drawn from seed 20260: "auto" misses the
best DAG in 24 of them from random orders, in 47 after one reversal, in 38, 28 and 25 after up to two, four and eight
(which take longer). On 450 others with p = 5 … 7 (seed 20261) it misses 19 and 42."""

VARIABLES_PER_EDGE_DISTURBED = (10, 40)
"""Variables for each edge that a restart reverses where parts of orders are recombined; drawn for each restart.
Chosen on seeds 77 and 78, p = 1000, n = 2000: (5, 20, 80) and (3, 10, 30) take longer to the same BIC."""

ROUNDS_BETWEEN_SCREENINGS = 4
"""Rounds of restarts that are recombined between two comparisons of every variable with all others,
unless the last one has found something. Chosen on seeds 77 and 78, p = 1000, n = 2000."""

MOST_RECOMBINED = 48
"""Restarts in all that are recombined. Chosen by time, on seeds 77 and 78: most of the gain comes in the first 30."""

MOST_FRUITLESS_RECOMBINED = 8
"""`MOST_FRUITLESS_RESTARTS` of restarts that are recombined: each of them disturbs all of the graph.
Chosen by time, on seeds 77 and 78."""

EDGES_PER_VARIABLE_TO_GO_ON = 5e-4
"""Prices of an edge, for each variable, by which the score must fall in a round of restarts that are recombined.
Chosen by time on seed 77, p = 2000, n = 300, degree 4."""

MOST_FRUITLESS_RESTARTS = 50
"""Restarts in a row without success after which "auto" stops in any case. Chosen with `RESTART_SHARE`."""

RESTART_SHARE = 3.0
"""Operations that restarts may take in vain, for each that scoring and refining the orders of the beams took.

With this they take about as long as the beams. Chosen on seeds 77 and 78 of the workloads, 10 graphs each: the BIC of
0, 1, 3, 6 and 12 falls by 0, 0, 0, 0, 0 for degree8-p100-n1000, 0, .7, 6, 10, 10 for degree8-p60-n300, 0, 7, 9, 9, 9
for scale-free4, 0, 17, 28, 28, 28 for weak; the time of the whole grows to 1.2, 1.6, 2.2 and 2.9 times that of 0.
"""

RESTARTS_IN_ALL = 2.0
"""Operations that all restarts may take, those that find something included, for each that they may take in vain.
Chosen with `LARGEST_P_FOR_FULL_SHARE`."""

LARGEST_P_FOR_FULL_SHARE = 400
"""Number of variables above which the share falls as 1 / p: there each restart takes long, and gains little. Chosen
between two values tried on four graphs of seeds 77 and 78 with p = 1000, n = 2000. With 200, learning takes 10 s, and
the BIC is 120 (degree 8) and 760 (scale-free) above that of a search with all candidates, which takes 11 and 29 s; with
1000 it takes 20 s, and is 400 below and 80 above."""

LEAST_RESTART_OPERATIONS = 6e7
"""Operations that restarts may take in vain in any case: less than a tenth of a second. Chosen by time."""

MOST_RIVALS = 32
"""DAGs nearly as good as the best that a search remembers. Chosen by memory: 32 p² bytes."""

LARGEST_P_FOR_ALL_RIVALS = 5
"""Variables up to which every DAG is looked at for those nearly as good as the best; beyond, those that a search came
across are kept. Chosen by time: 5 have 29 281 DAGs, which take a millisecond; 6 have 3.8 million."""

# --- The weakest edges ------------------------------------------------------------------------------------------------

MARGIN_GAMMA = 0.25
"""γ of the extended BIC that removes noise; the margin is what it adds to a price. Chosen on seeds 77 and 78."""

MARGINS_COMPARED = 5
"""Margins above the first that it is compared with. Chosen on seeds 77 and 78 of the sparse workloads."""

MARGIN_CROWDING = 2.0
"""How many times denser than further up edges must lie in the margin to be noise. Chosen on seeds 77 and 78."""

MARGIN_SELECTION = 3.0
"""How many times more edges than tests of all pairs give by chance can be noise: the search looks for them.

Chosen on seeds 77 and 78 of the sparse workloads.
"""

# --- Few rows ---------------------------------------------------------------------------------------------------------

AVERAGED_MODELS = 8
"""Models that are averaged. Chosen on graphs that no benchmark reports, where 4 did less and 16 little more."""

FEW_ROWS_PER_COLUMN = 1.25
"""Rows per column below which models are averaged: the sample's own partial correlations are noise. Not recorded."""

FEW_ROWS_GAMMA = 0.25
"""γ of the extended BIC where rows are few: the plain one takes in too many of so many candidates. Not recorded."""

FEW_ROWS_GAMMA_FOR_MANY_COLUMNS = 0.5
"""The same from `LEAST_P_FOR_HIGHER_GAMMA` columns on: at ¼ an edge costs no more than the best of so many columns
gains by chance, 2 ln p. Chosen on seeds 77 and 78, degree 4, SHD at ¼ and ½: p = 500, n = 250 86 and 65; p = 1000, n
= 300 157 and 76; p = 2000, n = 300 557 and 216; at p = 200, n = 100 and 200 ½ is worse by 1 and 2."""

LEAST_P_FOR_HIGHER_GAMMA = 500
"""Columns from which few rows ask for the higher γ. Chosen with it."""

STRENGTHS = (1.6, 1.3, 1.05, 0.85, 0.7, 0.55)
"""Strengths λ of a sparse estimate that the extended BIC chooses from, in units of √(ln p / n), descending.

Below the last one neighbourhoods hold mostly noise. Chosen on 2 graphs of seed 21, p = 200, degree 4, n = 50 to 200.
"""

COLUMNS_PER_REMOVAL = 20
"""Columns that an elimination solves for every removal, to score all candidates. Counted: 18 at p = 100."""

MOST_SECONDS_OF_ESTIMATE = 4 * 3600.0
"""Expected time from which an estimator is refused before it starts. Chosen as what people wait for, not measured."""

LEAST_ROWS = 3
"""Rows below which not even one parent can be judged by the BIC. Derived, not chosen."""

# --- Clusters of columns ----------------------------------------------------------------------------------------------

LEAST_P_FOR_CLUSTERS = 1000
"""Columns from which data with few rows are searched in clusters. Chosen by time."""

NEAREST = 20
"""Columns with the largest correlations, of which clusters are made, for each column. Not varied; not recorded."""

CORE_OF_CLUSTER = 200
"""Columns in the core of a cluster, at least; up to twice as many. Chosen by time: a second or two for each cluster."""

HALO_OF_CLUSTER = 150
"""Columns in the halo of a cluster, at most. Chosen with `CORE_OF_CLUSTER`."""

BEAM_OF_CLUSTER = 8
"""States of the beams that search a cluster. Chosen as `NARROWEST_BEAM`."""

# --- Covered edges and exact searches ---------------------------------------------------------------------------------

GSP_DEPTH = 4
"""Reversals in a row that may leave the number of edges as it is: the choice of GSP's authors."""

MOST_VISITS_IN_VAIN = 20_000
"""Families or DAGs that a covered-edge search visits in vain before it gives up. Not recorded."""

LARGEST_P_FOR_ALL_SETS = 20
"""Variables up to which the default looks at every set of them. Chosen by time: half a second on two cores."""

LARGEST_P_FOR_EXACT_RUNS = 16
"""Variables up to which the runs of a bootstrap look at every set of them. Chosen by time: as long as narrow beams."""

LARGEST_P_ON_REQUEST = 25
"""Variables up to which every set is looked at where the user asks for the best DAG. Chosen by memory: 3.7 GB."""

LARGEST_P_FOR_ALL_FAMILIES = 8
"""Variables up to which the default scores every family where some are several columns, or rows are from several
environments. Chosen by time."""

LARGEST_P_FOR_FAMILIES_ON_REQUEST = 16
"""The same where the user asks for the best DAG. Chosen by time: 520 000 families; 115 000 at p = 14 take 5 s."""

LARGEST_P_FOR_SPARSEST_ORDER = 16
"""Variables up to which rule "sp" looks at every set of them by counts of edges. Chosen by time and memory."""

LARGEST_P_TO_PROVE = 30
"""Variables up to which the default tries to prove its answer by branch and bound. Chosen by time."""

LEAST_P_FOR_EXACT_THREADS = 14
"""Variables from which threads share the families of an exact search. Chosen by run time."""

STEPS_TO_PROVE = 5e8
"""Steps of branch and bound in which the default lists families, and as many to look through them. Chosen by time."""

SETS_TO_PROVE = 1 << 21
"""Sets of branch and bound that the default holds: about two seconds, and 100 MB. Chosen by time."""

SECONDS_TO_PROVE = 3.0
"""Seconds that a proof by default takes at most, about. Measured."""

STEPS_ON_REQUEST = 5e10
"""The same where the user asks for the best DAG: minutes. Chosen by time."""

SETS_ON_REQUEST = 1 << 25
"""The same where the user asks for the best DAG: 2 GB. Chosen by memory."""

BYTES_PER_SET = 64
"""Memory that branch and bound takes for a set: four numbers, and two to four places in a table. Counted."""

MOST_FAMILIES = 1 << 16
"""Families of one variable that branch and bound holds; with more, a bound takes too long. Chosen by time."""

LARGEST_GROUP = 13
"""Variables of a group whose orders a bound goes through. Chosen by time: each more doubles it."""

PARTITIONS = 6
"""Ways to form groups, of whose bounds the largest counts. Chosen by time."""

LARGEST_CONDITION_TO_BOUND = 1e10
"""Condition of correlations up to which their inverse is accurate enough for bounds. Chosen, not measured."""
