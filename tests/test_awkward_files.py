"""A folder of awkward files: each is read right, or refused with an error whose advice works."""

import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

import rfdag
from awkward_columns import OF_COLUMNS
from awkward_files import OF_FORMATS, REFUSED, ROWS
from rfdag.cli import app
from rfdag.errors import RfdagError
from rfdag.input.description import Description
from rfdag.input.reading import read

FILES = [*OF_FORMATS, *OF_COLUMNS]

pytestmark = pytest.mark.filterwarnings("ignore::rfdag.errors.DataWarning")


def written(case, tmp_path):
    path = tmp_path / case.name
    path.write_bytes(case.content)
    return path


def words_of(options):
    """Return options as one types them."""
    return [word for name, value in options.items() for word in Description.declared()[name].arguments(_kept(value))]


def _kept(value):
    return tuple(value) if isinstance(value, list) else value


def as_python(options):
    return [f"{name}={value!r}" for name, value in options.items()]


@pytest.mark.parametrize("case", FILES, ids=lambda case: case.name)
def test_a_file_is_read_or_its_error_helps(case, tmp_path):
    path = written(case, tmp_path)
    if not case.advice:
        check(rfdag.learn(path, **case.options), path, case, case.options)
        return
    with pytest.raises(RfdagError, match=re.escape(case.words)) as refused:
        rfdag.learn(path, **case.options)
    for advice in case.advice:
        for option in as_python(advice):
            assert option in str(refused.value), refused.value
        found = rfdag.learn(path, **{**case.options, **advice})
    # Of several pieces of advice the last is the one that is described.
    check(found, path, case, {**case.options, **case.advice[-1]})


def check(found, path, case, options):
    assert found.names == case.names
    assert found.n_samples == case.rows
    assert tuple(column.name for column in found.columns if column.done != "used") == case.left_out
    assert case.reading in "; ".join(found.reading)
    if not case.reading:
        assert not found.reading
    levels = {column.name: column.remarks[0] for column in found.columns if "categories" in column.taken_for}
    assert levels == case.levels
    if case.same:
        numbers = [at for at, name in enumerate(case.names) if name not in levels]
        np.testing.assert_allclose(correlations(found)[np.ix_(numbers, numbers)], np.corrcoef(ROWS.T), atol=1e-9)
        np.testing.assert_allclose(found.means[numbers], ROWS.mean(axis=0), rtol=1e-9)


def correlations(found):
    """Return correlations of variables; those of categories of several levels are not told."""
    if found.mixed is None:
        return found.moments.correlation
    simple = found.mixed.simple
    scales = np.sqrt(np.diag(found.mixed.covariance))
    return (found.mixed.covariance / scales / scales[:, None])[np.ix_(simple, simple)]


@pytest.mark.parametrize("case", FILES, ids=lambda case: case.name)
def test_the_terminal_reads_it_too_and_names_its_own_options(case, tmp_path):
    path = written(case, tmp_path)
    for advice in case.advice:
        refused = CliRunner().invoke(app, ["learn", str(path), *words_of(case.options)])
        assert refused.exit_code in (1, 2)
        typed = words_of(advice)
        said = " ".join(refused.output.split())
        for flag in typed[::2]:
            assert flag in said, said
        assert not re.search(r"\b(drop|missing|awkward|decimal|encoding|sheet|header)=", said)
    options = {**case.options, **(case.advice[-1] if case.advice else {})}
    done = CliRunner().invoke(app, ["learn", str(path), "--json", *words_of(options)])
    assert done.exit_code == 0, done.output
    content = json.loads(done.output)
    assert sorted(content["order"]) == sorted(map(str, case.names)) or content["order"]
    assert content["n_samples"] == case.rows


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.name)
def test_what_is_no_table_is_refused_until_it_is_mended(case, tmp_path):
    path = written(case, tmp_path)
    with pytest.raises(RfdagError, match=re.escape(case.words)):
        rfdag.learn(path)
    path.write_bytes(case.mended)
    assert rfdag.learn(path).n_samples == len(ROWS)
    assert list(tmp_path.iterdir()) == [path]


def test_numbers_with_thousands_are_what_they_say(tmp_path):
    thousandfold = ROWS * 1000
    for case in FILES:
        if case.name in ("american.csv", "german.csv", "swiss.csv", "french.csv"):
            np.testing.assert_allclose(read(written(case, tmp_path)).values, thousandfold, rtol=1e-12)
        if case.name == "ambiguous.csv":
            path = written(case, tmp_path)
            small = read(path, Description(decimal=",")).values
            np.testing.assert_allclose(small, (ROWS / 10).round(3), atol=1e-9)
            np.testing.assert_allclose(read(path, Description(thousands=",")).values, 1000 * small, rtol=1e-12)


def test_there_are_forty_of_them():
    assert len({case.name for case in FILES}) + len({case.name for case in REFUSED}) >= 40
