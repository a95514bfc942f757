"""All contenders and workloads by name: for columns of numbers, for columns of other kinds, and for experiments."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, MutableMapping
from typing import cast

from rfdag.errors import OptionError
from rfdag.studies.bench import contenders, interventional, interventional_workloads, typed, typed_workloads, workloads
from rfdag.studies.bench.contenders import Contender
from rfdag.studies.bench.interventional import InterventionalContender
from rfdag.studies.bench.interventional_workloads import InterventionalDrawn, InterventionalWorkload
from rfdag.studies.bench.typed import TypedContender
from rfdag.studies.bench.typed_workloads import TypedDrawn, TypedWorkload
from rfdag.studies.bench.workloads import Drawn, Workload

AnyContender = Contender | TypedContender | InterventionalContender
AnyWorkload = Workload | TypedWorkload | InterventionalWorkload
AnyDrawn = Drawn | TypedDrawn | InterventionalDrawn

# Views, so that what is put into one of the tables is found here. The first of them is listed last.
CONTENDERS: MutableMapping[str, AnyContender] = ChainMap(
    cast("dict[str, AnyContender]", interventional.CONTENDERS),
    cast("dict[str, AnyContender]", typed.TYPED),
    cast("dict[str, AnyContender]", contenders.CONTENDERS),
)
WORKLOADS: MutableMapping[str, AnyWorkload] = ChainMap(
    cast("dict[str, AnyWorkload]", interventional_workloads.WORKLOADS),
    cast("dict[str, AnyWorkload]", typed_workloads.WORKLOADS),
    cast("dict[str, AnyWorkload]", workloads.WORKLOADS),
)


def serves(contender: AnyContender, group: str) -> bool:
    """Return whether a contender runs on a group of workloads without being named.

    >>> [serves(CONTENDERS[name], "mixed") for name in ("rfdag", "mixpc")]
    [False, True]
    """
    if isinstance(contender, InterventionalContender):
        return group == interventional.INTERVENTIONAL
    if isinstance(contender, TypedContender):
        return group in contender.groups
    own = (*typed.GROUPS, interventional.INTERVENTIONAL)
    return contender.group == group or (not contender.group and group not in own)


def homes_of(names: Iterable[str] | None) -> list[str] | None:
    """Return the environments of contenders, which may be named by their environment; None stands for all.

    >>> homes_of(["mixpc", "flop-0", "flopsearch"])
    ['mixpc', 'flopsearch']
    """
    if names is None:
        return None
    homes = {each.home for each in CONTENDERS.values()}
    for name in names:
        if name not in CONTENDERS and name not in homes:
            raise OptionError(f"There is no contender {name!r}. Known are {', '.join(CONTENDERS)}.")
    return list(dict.fromkeys(CONTENDERS[name].home if name in CONTENDERS else name for name in names))
