"""Numbers that were chosen for rows from several environments."""

TARGET_PRICE = 1.0
"""Price of a number that describes a mechanism of a target, in units of ln n: the textbook's."""

LEAST_ROWS_PER_VARIABLE = 1.5
"""Rows without intervention, for each variable, from which a search starts from these alone as well."""

RESTARTS_OF_STARTS = 3
"""Restarts of the searches that give start orders."""

SHARE_OF_STARTS = 0.3
"""Share of the time left, where that is limited, that these searches may take, each of what the last one left."""

MOST_CANDIDATES = 64
"""Candidates of a variable; up to so many others, all of them are."""

SHARE_OF_LARGE = 0.05
"""Share of all rows from which an environment's own correlations suggest candidates."""

SUSPECTS = 4
"""Environments that are looked at, of a variable and one that may be its parent, for a target beside the parent."""

RIDGE = 1e-4
"""Share of the identity in the correlations that are inverted to choose candidates."""

PARENTS_TO_CATCH_UP = 1.0
"""A model of intercepts that is behind at the start orders by more than the price of so many parents for each variable
is given up there."""

P_TO_REFINE_BOTH = 50
"""Variables up to which both models of intercepts are refined in any case, where targets are known."""
