"""Which environment each row comes from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import DataError
from rfdag.wording import counted

Integers = NDArray[np.int64]


class Origins(NamedTuple):
    """The environment of each row, as a number, and the labels of these numbers."""

    codes: Integers
    labels: tuple[str, ...]

    @classmethod
    def of(cls, texts: Sequence[str], called: str) -> Origins:
        """Return the environments of labelled rows; raise for rows without a label, and for labels that look alike.

        >>> Origins.of(["b", "a", "b"], "condition").labels
        ('a', 'b')
        """
        missing = [at for at, text in enumerate(texts) if not text.strip()]
        if missing:
            raise DataError(
                f"{counted(len(missing), 'row')} {'has' if len(missing) == 1 else 'have'} no label in {called}, the "
                f"first of them row {missing[0] + 1}. Fill the labels in, or leave these rows out."
            )
        labels = sorted(set(texts), key=_in_order)
        refuse_alike(labels, called)
        number = {label: at for at, label in enumerate(labels)}
        return cls(np.array([number[text] for text in texts], np.int64), tuple(labels))

    def of_rows(self, kept: NDArray[np.bool_] | Integers) -> Origins:
        """Return those of some of the rows; environments without any are left out."""
        codes = self.codes[kept]
        present = np.unique(codes)
        return Origins(np.searchsorted(present, codes), tuple(self.labels[at] for at in present.tolist()))


def _in_order(label: str) -> tuple[int, float, str]:
    """Return what labels are sorted by: numbers by size, before words."""
    try:
        return 0, float(label), label
    except ValueError:
        return 1, 0.0, label


def refuse_alike(labels: Sequence[str], called: str) -> None:
    """Raise for labels that differ by case or spaces alone: they are nearly always one environment."""
    plain: dict[str, str] = {}
    for label in labels:
        other = plain.setdefault(" ".join(label.casefold().split()), label)
        if other != label:
            raise DataError(
                f"The labels {other!r} and {label!r} in {called} differ by case or spaces alone. Spell them alike if "
                "they are one environment, and otherwise rename one of them."
            )
