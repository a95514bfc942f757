"""Prior knowledge about the variables, by name, and what it means for orders, parents and equivalence classes.

In: tiers, required and forbidden edges, roots and leaves. Out: `Knowledge`, its `Constraints` as arrays, compliance.
"""

from rfdag.knowledge.knowledge import Knowledge

__all__ = ["Knowledge"]
