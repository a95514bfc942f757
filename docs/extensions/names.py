"""Links to the names of the reference: from pages, from docstrings, and from the types in signatures."""

from __future__ import annotations

from typing import Any


def add_anchors(app: Any, env: Any) -> None:
    """Let pages link to a name as to a heading: `effects.md#rfdag.result.model.LinearModel`."""
    for name, entry in env.domains.python_domain.objects.items():
        env.metadata[entry.docname].setdefault("myst_slugs", {})[name] = (0, entry.node_id, name)


def resolve_short_name(app: Any, env: Any, node: Any, shown: Any) -> Any:
    """Link `Result.effect` and `LinearModel` to the one documented name that ends so, `Result.path` to its class."""
    # Here and not above: doctests import this file where Sphinx may not be installed.
    from sphinx.util.nodes import make_refnode

    target = node["reftarget"]
    if node.get("refdomain") != "py" or not target[:1].isupper():
        return None
    documented = env.domains.python_domain.objects
    for wanted in (target, target.partition(".")[0]):
        found = [entry for name, entry in documented.items() if name.endswith(f".{wanted}") and not entry.aliased]
        if len(found) == 1:
            return make_refnode(app.builder, node["refdoc"], found[0].docname, found[0].node_id, shown, target)
    return None


def setup(app: Any) -> dict[str, bool]:
    """Add anchors when all pages were read, and resolve what Sphinx cannot."""
    app.connect("env-updated", add_anchors)
    app.connect("missing-reference", resolve_short_name)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
