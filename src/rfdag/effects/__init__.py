"""Total effects by adjustment: in a DAG, and over its equivalence class.

In: a result, a cause and an outcome. Out: the effect with its error, or the range that the class leaves possible.
"""

from rfdag.effects.adjustment import adjustment_set, is_identified
from rfdag.effects.estimates import Effect, EffectRange, PossibleEffect, effect, effect_range
from rfdag.effects.parent_sets import possible_parents

__all__ = [
    "Effect",
    "EffectRange",
    "PossibleEffect",
    "adjustment_set",
    "effect",
    "effect_range",
    "is_identified",
    "possible_parents",
]
