"""From a source to the evidence in it: moments of rows or of a matrix, the oracle of a DAG, sparse arrays."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rfdag.errors import AwkwardError, DataError, FileError, GraphError, OptionError, as_columns, keyword, listed
from rfdag.evidence.awkward import awkward_error, equal_columns, left_out
from rfdag.evidence.by_environment import environment_moments, environments_of_stream, refuse_beside_environments
from rfdag.evidence.correlations import CORRELATIONS, Correlation
from rfdag.evidence.evidence import Evidence
from rfdag.evidence.gaps import moments_with_gaps
from rfdag.evidence.mixing import is_mixed, mixed_moments
from rfdag.evidence.moments import Moments
from rfdag.evidence.oracle import Oracle
from rfdag.evidence.profile import profile_of
from rfdag.evidence.sparse import as_sparse, read_sparse
from rfdag.evidence.streamed import mixed_of_stream, moments_of_stream
from rfdag.evidence.summary import Summary
from rfdag.input.checks import (
    check_columns,
    check_complete,
    check_no_moments,
    check_not_empty,
    check_rows,
    check_usable,
    checked_names,
)
from rfdag.input.columns import Account, Column
from rfdag.input.description import Description
from rfdag.input.environments import design_of
from rfdag.input.filtered import Filtered
from rfdag.input.frames import with_rows_like_columns
from rfdag.input.gathering import gathered
from rfdag.input.graphs import from_networkx, is_networkx
from rfdag.input.reading import as_table, read
from rfdag.input.sources import is_path
from rfdag.input.table import Floats, Stream, Table
from rfdag.input.weights import check_weights, repeated, whole_rows
from rfdag.wording import counted


class Gathered(NamedTuple):
    """Evidence, and what was done to the input on the way to it."""

    evidence: Evidence
    account: Account = Account()


def read_evidence(
    source: Any,
    *,
    input: str = "data",
    n_samples: int | None = None,
    names: Sequence[Hashable] | None = None,
    form: Description | None = None,
    check_size: Callable[[int, int], None] = lambda rows, columns: None,
    threads: int = 1,
    report: Callable[[float], None] = lambda share: None,
    in_blocks: Callable[[int | None, int], bool] = lambda rows, columns: False,
    blocks: Callable[[NDArray[Any], tuple[Hashable, ...]], Evidence] = Moments.from_data,
    moments: type[Moments] = Moments,
    tolerance: float = 1e-8,
    correlation: str = "pearson",
    basis: int | Literal["auto"] = 1,
) -> Gathered:
    """Return the evidence in a source, and what was done to the source on the way.

    Parameters
    ----------
    source
        Rows, a matrix or a DAG, in any form that `rfdag.learn` takes.
    input, n_samples, tolerance, names
        As in `rfdag.learn`.
    form
        How the source is written, and which of it is used.
    check_size
        Called with the number of rows and columns before any costly work, and may raise; after reading where the
        number of rows is not known before.
    threads, report
        How many threads read what comes in pieces, and what is called with the share done.
    in_blocks
        Whether data of so many rows, None where that is not known, and columns are to be learnt in blocks.
    blocks
        What makes evidence of numbers and names that are.
    moments
        The class that makes moments: `rfdag.evidence.gpu.DeviceMoments` for those on a GPU.
    correlation
        How columns are correlated: a name in `rfdag.evidence.correlations.CORRELATIONS`.
    basis
        Powers of numbers up to which these explain others, or "auto".

    Returns
    -------
    Gathered
        Moments of data or of a matrix, the oracle of a DAG, sparse evidence, or the evidence to find blocks in; and
        the account of columns and rows that were left out.

    Examples
    --------
    >>> read_evidence([[0.0, 1.0], [1.0, 3.0], [2.0, 2.0]], names=["a", "b"]).evidence.correlation
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    form = form or Description()
    if input == "data":
        making = _Making(
            check_size,
            threads,
            report,
            in_blocks,
            blocks,
            moments,
            CORRELATIONS[correlation],
            form,
            basis,
        )
        return _of_data(lambda: read(source, form, names, threads), form.awkward, making)
    sparse = as_sparse(source)
    if sparse is not None:
        return Gathered(read_sparse(sparse, input, n_samples, names, tolerance))
    if input == "dag" and is_networkx(source):
        source = from_networkx(source, names)
    table = as_table(with_rows_like_columns(source), form)
    if is_path(source):
        table = _with_labels_like_names(table)
    table = table.renamed(checked_names(table.names, names))
    check_usable(table)
    if input == "dag":
        return Gathered(Oracle(table.values, table.names))
    return Gathered(_of_matrix(table, input, n_samples, tolerance, check_size))


@dataclass(frozen=True)
class _Making:
    """How rows become evidence; see `read_evidence`."""

    check_size: Callable[[int, int], None]
    threads: int
    report: Callable[[float], None]
    in_blocks: Callable[[int | None, int], bool]
    blocks: Callable[[NDArray[Any], tuple[Hashable, ...]], Evidence]
    moments: type[Moments]
    correlated: Correlation
    form: Description
    """What the user says about the input."""
    basis: int | Literal["auto"] = 1
    """Powers of numbers up to which these explain others."""

    def of(self, rows: Table | Stream, again: Callable[[], Table | Stream]) -> tuple[Evidence, Table | Stream]:
        """Return the evidence of rows, which ``again`` opens anew, and the rows themselves once they are read."""
        make = self.blocks if self.in_blocks(rows.rows, len(rows.names)) else None
        if make is not None and not rows.in_memory:
            raise OptionError(
                f"Found {len(rows.names)} columns that are read in pieces; blocks of columns are found in a table in "
                f"memory. Pass an array or a frame, or {keyword('blocks', False)} if a matrix of all columns fits into "
                "memory."
            )
        # A square table is no larger than what is computed from it, and may turn out to be a matrix of moments.
        if make is not None or rows.rows == len(rows.names):
            rows = _gathered(rows)
        else:
            readings, asked = self.correlated.passes, keyword("correlation", self.correlated.name)
            if readings == 1 and self.basis != 1:
                # Powers are of numbers less their mean, which takes a reading to find.
                readings, asked = 2, keyword("basis", self.basis)
            if readings == 0 or (readings > 1 and not getattr(rows, "repeatable", False)):
                rows = _gathered_for(rows, readings, asked)
        if isinstance(rows, Table):
            return self._of_table(rows, make), rows
        return self._of_stream(rows, again), rows

    def _of_table(
        self, table: Table, blocks: Callable[[NDArray[Any], tuple[Hashable, ...]], Evidence] | None
    ) -> Evidence:
        """Return the moments of rows in memory, or the evidence of blocks if they are learnt in blocks."""
        check_columns(table.names)
        check_rows(table.rows)
        check_no_moments(table.values)
        if table.origins is not None:
            return self._of_environments(repeated(table))
        if is_mixed(table, self.basis):
            self.check_size(table.rows, len(table.names))
            way = self.correlated.name
            return mixed_moments(
                table, basis=self.basis, missing=self.form.missing, correlation=way, report=self.report
            )
        found = self._of_single_columns(table, blocks)
        return found.with_categories(table.levels) if table.levels else found

    def _of_environments(self, table: Table) -> Evidence:
        """Return the moments of rows in memory by the environment that they come from."""
        assert table.origins is not None
        refuse_beside_environments(table)
        self.check_size(table.rows, len(table.names))
        design = design_of(self.form, table.origins.labels, table.names)
        plain = self._of_single_columns(table, None)
        assert isinstance(plain, Moments)
        return environment_moments(table.values, table.origins.codes, plain, design)

    def _of_single_columns(
        self, table: Table, blocks: Callable[[NDArray[Any], tuple[Hashable, ...]], Evidence] | None
    ) -> Evidence:
        """Return the evidence of rows in memory of which every variable is one column."""
        with np.errstate(invalid="ignore"):
            gaps = np.isnan(table.values.sum(dtype=np.float64))
        if gaps:
            return self._of_gaps(table, blocks)
        if blocks is not None:
            values = repeated(table).values
            # Blocks would find copies only later.
            if self.form.awkward != "error":
                copies = equal_columns(values, table.names)
                if copies:
                    raise awkward_error(copies, len(table.names))
            found = blocks(self.correlated.for_blocks(values), table.names)
            return found.with_profile(profile_of(values, table.names, self.correlated.kinds))
        if table.weights is None or not self.correlated.weighs:
            table = repeated(table)
            self.check_size(table.rows, len(table.names))
            return self.correlated.of_table(table.values, table.names, self.moments, self.threads, self.report)
        assert table.weights is not None
        # What rows count for is no work; nor are more rows known of than there are.
        self.check_size(min(whole_rows(float(table.weights.sum())), table.rows), len(table.names))
        summary = Summary.of(np.array(table.values, np.float64, order="F"), table.weights)
        return self.moments.from_summary(summary, table.names)

    def _of_gaps(
        self, table: Table, blocks: Callable[[NDArray[Any], tuple[Hashable, ...]], Evidence] | None
    ) -> Evidence:
        """Return the moments of rows with gaps."""
        if blocks is not None:
            raise OptionError(
                f"Values are missing, and blocks of columns are learnt from complete rows. Pass "
                f"{keyword('missing', 'drop')}, or {keyword('blocks', False)} if a matrix of all columns fits into "
                "memory."
            )
        self.check_size(table.rows, len(table.names))
        way: Literal["em", "pairwise"] = "pairwise" if self.form.missing == "pairwise" else "em"
        kinds = self.correlated.kinds
        return moments_with_gaps(
            table.values, table.names, way, self.correlated.name, kinds, table.weights, report=self.report
        )

    def _of_stream(self, stream: Stream, again: Callable[[], Table | Stream]) -> Evidence:
        """Return the evidence of rows that are read in pieces; they are summed up on the CPU, whatever the device."""
        columns = len(stream.names)
        check_columns(stream.names)
        if stream.rows is not None:
            check_not_empty(stream.rows, columns)
            check_rows(stream.rows)
            self.check_size(stream.rows, columns)
        opened = chain([stream], iter(again, None))

        def fold(of: Any, join: Any, report: Callable[[float], None]) -> Any:
            rows: Any = next(opened)
            if rows.weighted:
                of = Summary.of_weighted if self.correlated.weighs else partial(_repeating, of)
            return rows.fold(of, join, self.threads, report)

        def check(summary: Any) -> None:
            check_not_empty(summary.count, columns)
            check_complete(stream.names, summary.missing.tolist(), summary.infinite.tolist(), summary.incomplete)
            check_rows(summary.count)
            if stream.rows is None:
                self.check_size(whole_rows(summary.count), columns)

        def read(of: Any, join: Any) -> Any:
            rows: Any = next(opened)
            return rows.fold(of, join, self.threads, self.report)

        if isinstance(stream, Filtered) and stream.labels:
            return environments_of_stream(read, stream, design_of(self.form, stream.labels, stream.names), check)
        mixed = is_mixed(stream, self.basis)
        by_values = self.correlated.name == "pearson"
        if not mixed and not (by_values and self.form.missing in ("em", "pairwise")):
            return self.correlated.of_stream(fold, stream.names, self.moments, check, self.report)
        if not by_values:
            raise OptionError(
                f"{keyword('correlation', self.correlated.name)} ranks rows, and categories and powers are read in "
                "pieces without ranks. Pass a table in memory, or leave it out."
            )

        way: Literal["em", "pairwise"] = "pairwise" if self.form.missing == "pairwise" else "em"
        if mixed:
            return mixed_of_stream(read, stream, way, basis=self.basis, report=self.report)
        return moments_of_stream(read, stream, way, self.correlated.kinds, check, self.report, self.moments)


def _repeating(of: Callable[[Floats], Any], block: Floats) -> Any:
    """Return what is made of rows that are repeated as often as their last column says."""
    check_weights(block[:, -1])
    names = tuple(range(block.shape[1] - 1))
    return of(np.asfortranarray(repeated(Table(block[:, :-1], names, weights=block[:, -1])).values))


def _of_data(open_rows: Callable[[], Table | Stream], policy: str, making: _Making) -> Gathered:
    """Return the evidence of rows, without the columns that a policy leaves out because they depend on others."""
    out: dict[Hashable, Column] = {}

    def opened() -> Table | Stream:
        return _without(open_rows(), out, policy)

    rows = opened()
    while True:
        try:
            evidence, read_rows = making.of(rows, opened)
            groups = evidence.awkward() if policy != "error" else ()
        except AwkwardError as error:
            if policy == "error":
                raise
            groups = error.groups
        if not groups:
            return Gathered(evidence, read_rows.account.plus(out.values()))
        out |= left_out(groups, policy)
        if isinstance(rows, Table):
            rows = _without(rows, out, policy)
        elif rows.repeatable:
            rows = opened()
        else:
            raise DataError(
                f"Without {as_columns(out, 100)} the rows would have to be read again, and this input can be read "
                f"once. Pass {keyword('drop', list(out))}."
            )


def _without(rows: Table | Stream, out: dict[Hashable, Column], policy: str) -> Table | Stream:
    if not out:
        return rows
    places = [at for at, name in enumerate(rows.names) if name not in out]
    if len(places) < 2:
        kept = f"{keyword('awkward', 'keep-one')}, which leaves out fewer, or " if policy == "drop" else ""
        raise DataError(
            f"Leaving out {counted(len(out), 'column')} ({as_columns(out, 100)}) would leave {len(places)} of "
            f"{len(rows.names)}; an order needs two. Pass {kept}data with columns that vary on their own."
        )
    return rows.only(places)


def _with_labels_like_names(table: Table) -> Table:
    """Return a square matrix from a file whose rows are labelled, with its rows in the order of its columns."""
    if table.labels is None or table.rows != len(table.names) or not isinstance(table.names[0], str):
        return table
    place = {label: at for at, label in enumerate(table.labels)}
    if set(place) != set(table.names):
        stray = [label for label in table.labels if label not in set(table.names)]
        raise GraphError(
            f"The rows of {table.origin} are labelled {listed(stray or table.labels)}, the columns "
            f"{listed(table.names)}. A graph or matrix needs the same labels on both."
        )
    return table._replace(values=table.values[[place[str(name)] for name in table.names]])


def _gathered(rows: Table | Stream) -> Table:
    """Return all rows in memory, checked."""
    table = gathered(rows)
    if table is not rows:
        check_usable(table)
    return table


def _gathered_for(rows: Table | Stream, readings: int, asked: str) -> Table:
    """Return all rows in memory, for an option that cannot do with reading them once, in pieces."""
    try:
        return _gathered(rows)
    except FileError as problem:
        if readings > 1:
            sentence = f"{asked} reads rows twice, and this input can be read once."
            cure = "Or pass the files themselves, their folder or a dataset, which can be read again."
        else:
            sentence = f"{asked} compares all rows with each other."
            cure = f"Or pass {keyword('correlation', 'normal-scores')}, which reads rows in pieces."
        raise FileError(f"{sentence} {problem.message.template} {cure}") from None


def _of_matrix(
    table: Table, input: str, n_samples: int | None, tolerance: float, check_size: Callable[[int, int], None]
) -> Moments:
    """Return the moments that a matrix of them holds."""
    check_columns(table.names)
    if n_samples is not None:
        check_size(n_samples, len(table.names))
    elif input != "precision":
        raise OptionError(
            f"A {input} matrix does not say how many rows it comes from; pass {keyword('n_samples')}. (Only a "
            "precision matrix may be exact.)"
        )
    if input == "precision":
        return Moments.from_precision(table.values, n_samples, table.names, tolerance)
    build = {"correlation": Moments.from_correlation, "covariance": Moments.from_covariance}[input]
    return build(table.values, n_samples, table.names)
