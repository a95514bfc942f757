"""Text of dagitty, the program and the R package."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

from rfdag.errors import FileError, GraphError
from rfdag.exchange.named_graph import NamedGraph, named
from rfdag.values import text_of

UNWRITABLE = r"[\x00-\x1f\x7f]|\\$|^(graph|node)$"
WHY = "its names have no control characters and no backslash at their end, and graph and node are reserved words"

TOKEN = re.compile(
    r"""(?P<space>[\s;]+)
      | (?P<comment>/\*.*?\*/|//[^\n]*)
      | (?P<edge><->|@->|<-@|@-@|@--|--@|->|<-|--)
      | (?P<mark>[{}\[\]=,+])
      | (?P<word>-?[0-9A-Za-z_.]+)
      | "(?P<text>(?:\\"|[^"])*)"
    """,
    re.VERBOSE | re.DOTALL,
)
Token = tuple[str, str]
LATENT = ("latent", "l", "unobserved", "u")
FLAG = ""
"""The value of an attribute that has none."""
END: Token = ("end", "")


def to_dagitty(graph: NamedGraph) -> str:
    """Return the graph in dagitty's language: "a" -> "b" for a → b, "a" -- "b" for a – b; every name in quotes.

    A DAG becomes a ``dag``, a graph with undirected edges a ``pdag``. Names become text. Names with control characters
    or a backslash at the end, and the names graph and node, raise an error, as the language cannot express them.

    >>> print(to_dagitty(NamedGraph.of_edges("ab", [("a", "b")])), end="")
    dag {
    "a"
    "b"
    "a" -> "b"
    }
    """
    texts = named(graph).texts("dagitty's text", UNWRITABLE, WHY)
    quoted = {name: '"' + text.replace('"', '\\"') + '"' for name, text in texts.items()}
    lines = [
        ("dag" if graph.is_dag else "pdag") + " {",
        *quoted.values(),
        *(f"{quoted[i]} -> {quoted[j]}" for i, j in graph.directed),
        *(f"{quoted[i]} -- {quoted[j]}" for i, j in graph.undirected),
        "}",
    ]
    return "\n".join(lines) + "\n"


def from_dagitty(text: str) -> NamedGraph:
    """Return the graph of dagitty's text: a ``dag`` or a ``pdag``, with or without these words.

    Chains (a -> b <- c) and groups ({a b} -> c) are understood; attributes in square brackets, such as positions, are
    ignored. An edge <->, which stands for an unmeasured common cause, has no place in a DAG or CPDAG and raises an
    error, as do variables marked latent and the circle marks of a PAG.

    >>> from_dagitty('dag { "blood pressure" [outcome] ; age -> "blood pressure" <- salt }').directed
    [('age', 'blood pressure'), ('salt', 'blood pressure')]
    """
    try:
        return _Reader(text_of(text)).read()
    except RecursionError:
        raise FileError("dagitty's text has groups within groups, too deep to be read. Remove some braces.") from None


class _Reader:
    """One pass over the text's tokens; nodes are kept in the order in which they appear."""

    def __init__(self, text: str) -> None:
        self._tokens = list(_tokens(text))
        self._at = 0
        self._nodes: dict[str, None] = {}
        self._directed: dict[tuple[str, str], None] = {}
        self._undirected: dict[tuple[str, str], None] = {}

    def read(self) -> NamedGraph:
        opening = [value.lower() for _, value in self._tokens[:3]]
        if opening and opening[0] in ("mag", "pag") and "{" in opening:
            raise GraphError(f"Found a {opening[0]} of dagitty; DAGs and CPDAGs are its dag and pdag.")
        if opening and opening[0] in ("dag", "pdag", "digraph", "graph") and "{" in opening:
            self._at = opening.index("{") + 1
            self._statements()
            self._expect("}")
        else:
            self._statements()
        if self._next() is not END:
            raise FileError(f"dagitty's text continues after its end, with {self._next()[1]!r}.")
        return NamedGraph.of_edges(self._nodes, self._directed, self._undirected)

    def _next(self) -> Token:
        return self._tokens[self._at] if self._at < len(self._tokens) else END

    def _take(self) -> Token:
        token = self._next()
        self._at += 1
        return token

    def _expect(self, mark: str) -> None:
        kind, value = self._take()
        if (kind, value) != ("mark", mark):
            raise FileError(f"dagitty's text has {value!r} where {mark!r} belongs; it may be cut short.")

    def _statements(self) -> list[str]:
        """Read statements up to a closing brace or the end; return the nodes they name."""
        met: list[str] = []
        while self._next() is not END and self._next() != ("mark", "}"):
            met += self._statement()
        return met

    def _statement(self) -> list[str]:
        if self._next()[0] == "word" and self._tokens[self._at + 1 : self._at + 2] == [("mark", "=")]:
            self._setting()
            return []
        groups = [self._group()]
        marks = []
        while self._next()[0] == "edge":
            marks.append(self._take()[1])
            groups.append(self._group())
        attributes = self._attributes()
        names = [name for group in groups for name in group]
        if not marks and names in (["graph"], ["node"], ["edge"]) and attributes:
            self._nodes.pop(names[0])
            return []
        if not marks and names and any(attributes.get(word) == FLAG for word in LATENT):
            raise GraphError(f"{names[0]!r} is latent; a DAG or CPDAG here holds measured variables only. Remove it.")
        for (first, second), mark in zip(pairwise(groups), marks, strict=True):
            self._connect(first, mark, second)
        return names

    def _group(self) -> list[str]:
        kind, value = self._take()
        if (kind, value) == ("mark", "{"):
            met = self._statements()
            self._expect("}")
            return met
        if kind not in ("word", "text"):
            raise FileError(f"dagitty's text has {value!r} where a variable's name belongs; it may be cut short.")
        while self._next() == ("mark", "+"):
            self._at += 1
            value += self._take()[1]
        self._nodes.setdefault(value)
        return [value]

    def _setting(self) -> None:
        """Skip a setting of the whole graph."""
        name = self._take()[1]
        self._expect("=")
        kind, value = self._take()
        if kind not in ("word", "text"):
            raise FileError(f"dagitty's text has {value!r} where the value of {name!r} belongs; it may be cut short.")

    def _attributes(self) -> dict[str, str]:
        """Return the attributes in square brackets, each with its value or as a flag."""
        found: dict[str, str] = {}
        if self._next() != ("mark", "["):
            return found
        self._expect("[")
        while (token := self._take()) != ("mark", "]"):
            if token is END:
                raise FileError("dagitty's text ends within square brackets; it may be cut short.")
            found[token[1]] = FLAG
            if self._next() == ("mark", "="):
                self._expect("=")
                found[token[1]] = f"= {self._take()[1]}"
        return found

    def _connect(self, first: list[str], mark: str, second: list[str]) -> None:
        store: dict[str, Callable[[str, str], None]] = {
            "->": lambda i, j: self._directed.setdefault((i, j)),
            "<-": lambda i, j: self._directed.setdefault((j, i)),
            "--": lambda i, j: self._undirected.setdefault((i, j)),
        }
        for i in first:
            for j in second:
                if mark not in store:
                    raise GraphError(
                        f"{i!r} {mark} {j!r} stands for an unmeasured common cause or has a circle mark; a DAG or "
                        "CPDAG has edges ->, <- and -- only."
                    )
                store[mark](i, j)


def _tokens(text: str) -> Iterator[Token]:
    at = 0
    while at < len(text):
        found = TOKEN.match(text, at)
        if found is None:
            raise FileError(f"dagitty's text cannot be read from {text[at : at + 20]!r} on; put such names in quotes.")
        at = found.end()
        kind = str(found.lastgroup)
        value = found[kind]
        if kind not in ("space", "comment"):
            yield kind, value.replace('\\"', '"') if kind == "text" else value
