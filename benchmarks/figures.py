"""The pictures of docs/method.md, from real calls.

python benchmarks/figures.py
"""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray

from look import DARK, GREY, PALE, WARM, begin, save
from rfdag.evidence.local import SharedMoments
from rfdag.evidence.moments import Moments
from rfdag.graphs import topological_order
from rfdag.orders.scores import ScoredOrder, price_of_edge
from rfdag.simulate import linear_sem, random_dag, sample


def weight_of_an_edge(ax: Any) -> None:
    """Draw what a pair counts for, hard and soft."""
    z = np.linspace(0, 5, 500)
    c = 6.0
    ax.plot(z, (z > 3.29).astype(float), color=PALE, lw=2, ls="--")
    ax.plot(z, np.minimum(z**2 / c, 1), color=DARK, lw=2.5)
    ax.text(3.35, 0.42, "counted:\n0 or 1, at\nα = .001", color=GREY)
    ax.text(0.05, 0.72, "weighed:\nmin(z²/c, 1)\nc = 6", color=DARK)
    ax.set(xlabel="|z|, the evidence for an edge", ylabel="what the edge counts for", ylim=(-0.03, 1.08), xlim=(0, 5))
    ax.set_title("An edge's weight")


def guide(ax: Any) -> None:
    """Draw the BIC of many orders against their soft cost."""
    generator = np.random.default_rng(3)
    dag = random_dag(15, degree=4, rng=generator)
    rows = sample(linear_sem(dag, generator), 1000, generator)
    moments = Moments.from_data(rows)
    price = price_of_edge(1000, 15, 2.0)
    true = topological_order(dag)
    orders = [true]
    for share in np.repeat(np.linspace(0.05, 1, 20), 15):
        # The truth with some of its variables displaced, up to an order at random.
        keys = np.argsort(true) + 15 * share * generator.normal(size=15)
        orders.append(np.argsort(keys))
    costs, scores = [], []
    for order in orders:
        paid = 0.0
        for size in range(len(order), 1, -1):
            partial = moments.partial_correlations(order[:size])
            paid += float(np.minimum((1000 - size + 1) * partial[-1, :-1] ** 2 / price, 1).sum())
        costs.append(paid)
        scores.append(ScoredOrder(SharedMoments(moments.correlation, 1000), order).total / price)
    ax.scatter(costs[1:], scores[1:], s=14, color=DARK, alpha=0.6, lw=0)
    ax.scatter(costs[:1], scores[:1], s=70, color=WARM, marker="D", zorder=3)
    ax.annotate("true order", (costs[0], scores[0]), xytext=(12, 2), textcoords="offset points", color=WARM)
    ax.set(xlabel="G, the soft cost of the order (c = price of an edge)", ylabel="BIC, in prices of an edge")
    ax.set_title(f"A guide to the score (r = {np.corrcoef(costs, scores)[0, 1]:.3f})")


def soft_edges(moments: Moments, variables: tuple[int, ...], c: float = 6.0) -> NDArray[np.float64]:
    """Return the weights of all edges over some variables."""
    assert moments.n_samples is not None
    partial = moments.partial_correlations(variables)
    weights: NDArray[np.float64] = np.minimum((moments.n_samples - len(variables) + 1) * partial**2 / c, 1.0)
    np.fill_diagonal(weights, 0.0)
    return weights


def beam(ax: Any, width: int = 2, mu: float = 0.5) -> None:
    """Draw a beam of width 2 on the graph a → c ← b, c → d."""
    names = "abcd"
    dag = np.array([[0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]])
    rows = sample(linear_sem(dag, rng=1), 400, rng=1)
    moments = Moments.from_data(rows)
    # Per state: the variables removed, in order, and what that has cost.
    states: dict[str, float] = {"": 0.0}
    places = {"": (0.0, 0.0)}
    ax.text(0, 0, "{a, b, c, d}", ha="center", va="center", bbox={"boxstyle": "round", "fc": "white", "ec": DARK})
    for depth in range(1, 4):
        ways: dict[str, dict[str, tuple[float, float]]] = {}
        for removed, spent in states.items():
            left = tuple(at for at, name in enumerate(names) if name not in removed)
            paid = soft_edges(moments, left).sum(axis=0)
            for at, variable in enumerate(left):
                rest = tuple(other for other in left if other != variable)
                ahead = soft_edges(moments, rest).sum() / 2
                key = "".join(sorted(removed + names[variable]))
                ways.setdefault(key, {})[removed] = spent + paid[at], spent + paid[at] + mu * ahead
        value = {key: min(worth for _, worth in those.values()) for key, those in ways.items()}
        kept = sorted(value, key=value.__getitem__)[:width]
        for column, key in enumerate(sorted(ways, key=value.__getitem__)):
            x, y = 2.1 * (column - (len(ways) - 1) / 2), -1.25 * depth
            chosen = key in kept
            for removed in ways[key]:
                start = places[removed]
                ax.plot(
                    [start[0], x], [start[1] - 0.2, y + 0.2], color=DARK if chosen else PALE, lw=1.8 if chosen else 0.8
                )
            remaining = ", ".join(name for name in names if name not in key)
            ax.text(
                x, y, f"{{{remaining}}}\n{value[key]:.2f}", ha="center", va="center", color="black" if chosen else GREY,
                bbox={"boxstyle": "round", "fc": "#e8f0f8" if chosen else "white", "ec": DARK if chosen else PALE},
            )  # fmt: skip
            places[key] = (x, y)
        states = {key: min(spent for spent, _ in ways[key].values()) for key in kept}
    ax.set(xlim=(-5.2, 5.2), ylim=(-4.3, 0.5))
    ax.axis("off")
    ax.set_title("A beam of width 2 on a → c ← b, c → d:\nwhat remains, and paid + μ · ahead", fontsize=11)


def main() -> None:
    """Draw."""
    begin()
    figure, axes = plt.subplots(1, 3, figsize=(15, 4.6), width_ratios=(0.9, 1, 1.25), layout="constrained")
    weight_of_an_edge(axes[0])
    guide(axes[1])
    beam(axes[2])
    save(figure, "soft")


if __name__ == "__main__":
    main()
