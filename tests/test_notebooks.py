"""What a notebook shows: the right content, as text that is never run, in little room."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from scipy.sparse import csr_array

import rfdag
from fitted import fitted
from rfdag import Knowledge, datasets, simulate
from rfdag.effects.estimates import Effect, EffectRange
from rfdag.eliminate.trace import Trace
from rfdag.evidence.moments import Moments
from rfdag.knowledge.compliance import summed_up
from rfdag.notebooks import view
from rfdag.result.model import LinearModel
from rfdag.result.ordering import order_in_words

HOSTILE = [
    "<script>window.hacked = 1</script>", "<img src=x onerror=alert(1)>", "\"'><b>", "$x_1$", "&amp;", "",
    "two\nlines", "\ud800", "\u202eturned", "x" * 300, "\N{GRINNING FACE}", 3, ("a", 1), None,
]  # fmt: skip
VOID = {"br", "rect"}
ALLOWED = {
    "div", "strong", "bdi", "table", "thead", "tbody", "tr", "th", "td", "code", "br", "svg", "path", "rect", "text",
    "title",
}  # fmt: skip


class Page(HTMLParser):
    """Reads HTML, checks that it is whole and harmless, and keeps its text and tags."""

    def __init__(self, html):
        super().__init__()
        self.open, self.tags, self.texts = [], [], []
        html.encode()
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        assert tag in ALLOWED
        for name, value in attributes:
            assert name not in ("id", "href", "src")
            assert not name.startswith("on")
            assert "url(" not in value
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        # A title shows only when the pointer rests on its line.
        if "title" not in self.open:
            self.texts.append(data)

    @property
    def text(self):
        return " ".join("".join(self.texts).split())

    def count(self, tag):
        return sum(found == tag for found, _ in self.tags)


def shown(thing):
    return Page(thing._repr_html_())


@pytest.fixture(scope="module")
def cars():
    return rfdag.learn(datasets.auto_mpg_path(), knowledge=datasets.auto_mpg_knowledge())


@pytest.fixture(scope="module")
def hostile():
    dag = np.triu(np.ones((len(HOSTILE), len(HOSTILE)), int), 1)
    return rfdag.learn(dag, input="dag", names=HOSTILE, method="rfd")


def test_a_result_has_order_graph_strongest_edges_and_knowledge(cars):
    page = shown(cars)
    assert order_in_words(cars, 100) in page.text
    assert "392 rows, method soft" in page.text
    assert f"{len(cars.edges)} edges, {sum(not edge.directed for edge in cars.edges)} of which" in page.text
    assert f"Prior knowledge: {summed_up(cars.compliance)}." in page.text
    strongest = max(cars.edges, key=lambda edge: abs(edge.partial_correlation))
    first_row = page.text[page.text.index("BIC gain") :]
    assert first_row.startswith(f"BIC gain{strongest.source}")
    assert f"{abs(strongest.partial_correlation):.3g}" in first_row
    heads = [attributes for tag, attributes in page.tags if tag == "path" and attributes["fill"] != "none"]
    assert len(heads) == sum(edge.directed for edge in cars.edges)
    titles = re.findall(r"<title>(.*?)</title>", cars._repr_html_())
    close = {call[:2] for call in cars.close_calls}
    assert 0 < len(close) < len(cars.edges)
    assert sorted(titles) == sorted(
        f"{edge.source} {'→' if edge.directed else '–'} {edge.target}{' (close call)' * (edge[:2] in close)}"
        for edge in cars.edges
    )


def test_arrows_end_at_the_left_side_of_their_targets(cars):
    html = cars._repr_html_()
    lefts = {
        (float(x), float(y) + float(tall) / 2)
        for x, y, tall in re.findall(r'<rect x="([-\d.]+)" y="([-\d.]+)" width="[\d.]+" height="([\d.]+)" rx', html)
    }
    tips = [(float(x), float(y)) for x, y in re.findall(r'd="M([-\d.]+) ([-\d.]+)l', html)]
    assert tips
    assert all(any(abs(x - left) < 0.2 and abs(y - middle) <= 12 for left, middle in lefts) for x, y in tips)


def test_warnings_are_shown(cars):
    doubtful = replace(cars, warnings=("columns 'a' & 'b' are nearly dependent",), regressions=None)
    assert "Warning: columns 'a' & 'b' are nearly dependent" in shown(doubtful).text
    assert "Warning" not in shown(cars).text


def test_no_edges_and_one_variable():
    empty = rfdag.learn(np.zeros((3, 3)), input="dag", method="rfd")
    page = shown(empty)
    assert "No edges." in page.text
    assert page.count("svg") == page.count("table") == 0
    assert "of 1 variable" in shown(rfdag.learn(np.zeros((1, 1)), input="dag", method="rfd")).text


@pytest.mark.parametrize("sparse", [False, True])
def test_a_thousand_variables_take_little_room(sparse):
    dag = simulate.random_dag(1000, degree=3, rng=0)
    found = rfdag.learn(csr_array(dag) if sparse else dag, input="dag", method="rfd")
    html = found._repr_html_()
    assert len(html) < 200_000
    page = Page(html)
    assert "… and 960 more" in page.text
    assert page.count("svg") == 0
    assert f"{len(found.edges) - 12} more are in" in page.text


def test_very_large_results_are_not_looked_at_edge_by_edge(monkeypatch):
    found = rfdag.learn(csr_array(simulate.random_dag(50, degree=3, rng=0)), input="dag", method="rfd")
    monkeypatch.setattr("rfdag.notebooks.views.DETAILED_UP_TO", 20)
    page = shown(found)
    assert f"{int(found.dag.sum())} edges; .edges and" in page.text
    assert page.count("table") == 0
    assert not {"cpdag", "edges"} & vars(found).keys()


def test_a_bootstrap_has_frequencies_and_places():
    rows = simulate.sample(simulate.linear_sem([[0, 0, 1], [0, 0, 1], [0, 0, 0]], rng=1), 200, rng=1)
    found = rfdag.bootstrap(rows, 8, names=["rain", "sprinkler", "wet"], random_state=0, progress=False)
    page = shown(found)
    assert "8 runs on 3 variables" in page.text
    for pair in found.pairs:
        arrow = "→" if pair.forward >= pair.frequency / 2 else "–"
        shares = (pair.frequency, pair.forward, pair.backward, pair.undirected)
        assert f"{pair.source}{arrow}{pair.target}" + "".join(f"{share:.2f}" for share in shares) in page.text
    assert page.count("svg") == len(found.pairs) + 3
    for rank in found.ranks:
        assert f"{rank.variable}{rank.median:g}" in page.text


def test_knowledge_is_listed_part_by_part():
    known = Knowledge(
        tiers=[["a", "b"], ["c"]], forbidden_within=[1], required=[("a", "c")], forbidden=[("b", "c")], roots=["a"]
    )
    text = shown(known).text
    for words in ("tier 1 (no edges inside)a, b", "tier 2c", "requireda → c", "forbiddenb → c", "rootsa"):
        assert words in text
    assert "leaves" not in text
    assert "Nothing is known." in shown(Knowledge()).text
    many = Knowledge(tiers=[[f"x{at}" for at in range(500)]], forbidden=[("a", at) for at in range(50)])
    assert "… and 460 more" in shown(many).text
    assert "… and 38 more" in shown(many).text


def test_a_model_has_its_equations(cars):
    model = cars.model()
    at = model.names.index("cylinders")
    weight = model.sem.weights[model.names.index("weight"), at]
    assert f"cylinders={model.intercepts[at]:.3g} + {weight:.3g} · weight" in shown(model).text
    fixed = shown(model.do({"weight": 3000}))
    assert "weight=30000" in fixed.text
    assert "· weight" in fixed.text


@pytest.mark.filterwarnings("ignore::rfdag.errors.EquivalenceWarning")
def test_effects_are_told_with_their_accuracy(cars):
    effect = cars.effect("weight", "mpg")
    text = shown(effect).text
    assert f"Total effect of weight on mpg: −{abs(effect.estimate):.3g}" in text
    assert f"standard error {effect.standard_error:.3g}" in text
    assert "adjusted for " + ", ".join(effect.adjustment) in text
    assert "no directed path" in shown(cars.effect("mpg", "origin")).text
    assert "adjusted for nothing" in shown(cars.effect("weight", "cylinders")).text
    found = cars.effect_range("weight", "acceleration")
    page = shown(found)
    assert page.count("tr") == 1 + len(found.possible)
    assert "if the parents of weight are" in page.text
    assert "All intervals together: " in page.text
    exact = fitted([[0, 1], [0, 0]], Moments.from_covariance([[1, 0.5], [0.5, 1]], None, ["a", "b"]), "covariance")
    assert "standard error" not in shown(exact.effect("a", "b")._replace(possible=None)).text
    assert "All intervals" not in shown(exact.effect_range("a", "b")).text


def test_a_trace_has_its_first_steps_by_name(cars):
    step = next(iter(cars.trace))
    scores = f"{step.removal}{step.fill}{step.degree}{step.ties}"
    page = shown(cars.trace)
    assert "Elimination in 8 steps" in page.text
    assert f"ties1{cars.names[step.node]}{scores}" in page.text
    assert f"ties1{step.node}{scores}" in shown(replace(cars.trace, names=None)).text


def test_a_saved_trace_has_names_again(cars, tmp_path):
    path = cars.save(tmp_path / "cars.json")
    assert rfdag.load(path).trace.names == cars.names
    assert "names" not in json.loads(path.read_text())["trace"]
    renamed = replace(cars, names=tuple("abcdefgh"), order=tuple("abcdefgh"), knowledge=None, regressions=None)
    assert shown(renamed.trace).text.count("displacement") == 0


def test_the_bic_says_that_its_price_is_not_the_textbooks(cars):
    assert "This BIC charges 2 ln n per edge; the textbook BIC (penalty=1) charges ln n." in shown(cars).text
    plain = rfdag.learn(datasets.auto_mpg_path(), penalty=1.0, beam=1, refine=False)
    assert "This BIC charges ln n per edge, as the textbook BIC does." in shown(plain).text
    exact = rfdag.learn([[0, 1], [0, 0]], input="dag")
    assert "BIC" not in shown(exact).text


def test_long_names_that_begin_and_end_alike_are_told_apart():
    names = [f"the amount of substance number {at} in the blood of the patients" for at in range(12)]
    found = rfdag.learn(simulate.random_dag(12, degree=3, rng=0), input="dag", names=names, method="rfd")
    for thing in (found, found.trace, Knowledge(tiers=[names])):
        assert all(f" {at} in" in shown(thing).text for at in range(12))


def test_every_object_has_its_view_and_others_have_none(cars):
    classes = (rfdag.Result, rfdag.Bootstrap, Knowledge, Trace, LinearModel, Effect, EffectRange)
    assert all(cls in view.registry and hasattr(cls, "_repr_html_") for cls in classes)
    assert view(cars) == cars._repr_html_()
    with pytest.raises(TypeError, match="no view of an object of type int"):
        view(3)


def test_hostile_names_are_text_everywhere(hostile):
    rows = simulate.sample(simulate.linear_sem(hostile.dag, rng=4), 400, rng=5)
    learnt = rfdag.learn(rows, names=HOSTILE)
    known = Knowledge(tiers=[HOSTILE[:7], HOSTILE[7:]], required=[(HOSTILE[0], HOSTILE[-1])], roots=HOSTILE[:1])
    found = rfdag.bootstrap(rows, 2, names=HOSTILE, random_state=0, progress=False)
    things = [hostile, learnt, learnt.model(), learnt.effect(*HOSTILE[:2]), learnt.effect_range(*HOSTILE[:2])]
    for thing in (*things, known, found):
        page = shown(thing)
        assert "<script>window.hacked = 1</script>" in page.text
        assert "x" * 100 not in page.text
        assert not {"\u202e", "\n", "\x00"} & set("".join(page.texts))


def test_dollars_are_no_formulas(hostile):
    first = shown(hostile).tags[0]
    assert first[0] == "div"
    assert {"tex2jax_ignore", "mathjax_ignore"} <= set(first[1]["class"].split())


def test_nothing_leaks_and_no_ground_is_painted(cars):
    html = cars._repr_html_()
    assert "<style" not in html
    backgrounds = re.findall(r"background[^;\"]*", html)
    assert set(backgrounds) <= {"background:none"}
    colors = set(re.findall(r'(?:fill|stroke)="([^"]+)"', html))
    assert colors == {"none", "currentColor", "#3f8fce", "#d9702b"}
