"""Mutants of functions: small changes of their code, each of which a test should notice.

A mutant differs from the source by one operator, comparison, constant, condition, index, argument, sign, returned value
or statement. Only code within functions is changed; docstrings, annotations, defaults, decorators and what an error
says are left alone. So is what cannot change an answer: how large a workspace is that is not filled, the counts of
operations, and whether two lists of equal length must be equally long.
"""

from __future__ import annotations

import ast
import copy
import functools
import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

OPERATORS: dict[type, type] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
}
BOUNDARIES: dict[type, type] = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
NEGATIONS: dict[type, type] = {
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
TWINS = {"min": "max", "max": "min", "any": "all", "all": "any"}
"""Functions that are exchanged for each other."""

COUNTS = ("operations", "counters[WORK]", "counters[LOOKS]")
"""Endings of what only counts how much was done."""

Change = Callable[[], None]


@dataclass(frozen=True)
class Mutant:
    """A function with one change.

    Attributes
    ----------
    module
        The module's name.
    function
        The qualified name of the outermost function that the change is in.
    kind
        What is changed.
    before, after
        The statement, of compound ones the first line, as it is and as it would be.
    lines
        The lines of the statement.
    number
        Which of all changes in the module it is.
    name
        Twelve letters that stay the same until the statement changes.
    """

    module: str
    function: str
    kind: str
    before: str
    after: str
    lines: range
    number: int
    name: str


def mutants_of(module: str, path: Path) -> list[Mutant]:
    """Return all mutants of a module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found: list[Mutant] = []
    seen: Counter[tuple[str, ...]] = Counter()
    for number, (function, kind, statement, change) in enumerate(_changes_in(tree)):
        before = _text_of(statement)
        lines = range(statement.lineno, _last_line(statement) + 1)
        # The change is made to a copy, in which it is found by its number.
        after = _text_after(tree, statement, change)
        if after != before:
            key = (module, function, before, after)
            seen[key] += 1
            name = hashlib.sha256("|".join((*key, str(seen[key]))).encode()).hexdigest()[:12]
            found.append(Mutant(module, function, kind, before, after, lines, number, name))
    return found


def mutate(mutant: Mutant, module: ModuleType) -> None:
    """Change a function of a module that is loaded already, wherever it was imported to."""
    path = Path(str(module.__file__))
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for number, (_, _, _, change) in enumerate(_changes_in(tree)):
        if number == mutant.number:
            change()
            break
    whole = compile(ast.fix_missing_locations(tree), str(path), "exec")
    function_of(module, mutant.function).__code__ = _code_within(whole, mutant.function)


def function_of(module: ModuleType, name: str) -> FunctionType:
    """Return a plain function of a module, or of a class in it, whatever it is wrapped in."""
    found: Any = module
    for part in name.split("."):
        found = found.__dict__[part]
    while not isinstance(found, FunctionType) or hasattr(found, "__wrapped__"):
        for inner in ("__wrapped__", "fget", "__func__", "func"):
            if getattr(found, inner, None) is not None:
                found = getattr(found, inner)
                break
        else:
            raise LookupError(f"{module.__name__}.{name} is no function.")
    return found


def _code_within(code: CodeType, name: str) -> CodeType:
    """Return the code of a function."""
    inner = [each for each in code.co_consts if isinstance(each, CodeType)]
    for each in inner:
        if each.co_qualname == name:
            return each
    return next(_code_within(each, name) for each in inner if name.startswith(each.co_qualname + "."))


def _changes_in(tree: ast.Module) -> Iterator[tuple[str, str, ast.stmt, Change]]:
    """Yield (function, kind, statement, change) for all functions; a change changes the tree."""
    waiting: list[tuple[str, ast.stmt]] = [("", each) for each in tree.body]
    while waiting:
        within, node = waiting.pop(0)
        if isinstance(node, ast.ClassDef):
            waiting += [(f"{within}{node.name}.", each) for each in node.body]
        elif isinstance(node, ast.FunctionDef):
            for kind, statement, change in _in_statements(node.body, _names_in(node)):
                yield within + node.name, kind, statement, change


def _names_in(function: ast.FunctionDef) -> list[str]:
    """Return the names that a function sets, its arguments first."""
    names = [each.arg for each in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
    names += [each.id for each in ast.walk(function) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]
    return [name for name in dict.fromkeys(names) if name not in ("self", "cls")]


def _in_statements(body: list[ast.stmt], names: list[str]) -> Iterator[tuple[str, ast.stmt, Change]]:
    for at, statement in enumerate(body):
        if isinstance(statement, (ast.Raise, ast.Assert, ast.Import, ast.ImportFrom, ast.ClassDef)):
            continue
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            continue
        if isinstance(statement, ast.AugAssign) and ast.unparse(statement.target).removesuffix("[0]").endswith(COUNTS):
            continue
        if _may_go(statement):
            yield "statement removed", statement, functools.partial(body.__setitem__, at, ast.Pass())
        for kind, change in _in_node(statement, names):
            yield kind, statement, change
        for field in ("body", "orelse", "finalbody"):
            yield from _in_statements(getattr(statement, field, []), names)
        for handler in getattr(statement, "handlers", []):
            yield from _in_statements(handler.body, names)


def _may_go(statement: ast.stmt) -> bool:
    """Return whether a statement can be left out so that the names it would set are there all the same."""
    if isinstance(statement, ast.Assign):
        return all(isinstance(each, (ast.Subscript, ast.Attribute)) for each in statement.targets)
    return isinstance(statement, (ast.AugAssign, ast.Expr, ast.Continue, ast.Break))


def _in_node(node: ast.AST, names: list[str]) -> Iterator[tuple[str, Change]]:
    """Yield the changes of a node and of the expressions in it, but not of statements in it."""
    if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.keyword) and node.arg == "strict"):
        return
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "empty":
        return
    yield from _of_node(node, names)
    skipped = {"annotation", "decorator_list", "returns", "args"} if isinstance(node, ast.stmt) else {"annotation"}
    for field, value in ast.iter_fields(node):
        if field in skipped:
            continue
        several = value if isinstance(value, list) else [value]
        for at, child in enumerate(several):
            if isinstance(child, ast.AST) and not isinstance(child, (ast.stmt, ast.arguments, ast.excepthandler)):
                put = functools.partial(_put, node, field, at if isinstance(value, list) else None)
                yield from ((kind, functools.partial(put, new)) for kind, new in _instead_of(child))
                yield from _in_node(child, names)


def _put(node: ast.AST, field: str, at: int | None, new: ast.AST) -> None:
    if at is None:
        setattr(node, field, new)
    else:
        getattr(node, field)[at] = new


def _instead_of(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield what may stand in place of an expression."""
    if isinstance(node, ast.Constant):
        value = node.value
        if isinstance(value, bool):
            yield "constant", ast.Constant(not value)
        elif isinstance(value, int):
            yield "constant", ast.Constant(value + 1)
        elif isinstance(value, float):
            yield "constant", ast.Constant(2.0 * value if value else 1.0)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Not, ast.Invert)):
        yield "sign" if isinstance(node.op, ast.USub) else "condition", node.operand


def _of_node(node: ast.AST, names: list[str]) -> Iterator[tuple[str, Change]]:
    """Yield the changes within a node that leave the expressions in it as they are."""
    if isinstance(node, (ast.BinOp, ast.AugAssign)) and type(node.op) in OPERATORS:
        yield "operator", functools.partial(setattr, node, "op", OPERATORS[type(node.op)]())
    elif isinstance(node, ast.Compare):
        for at, operator in enumerate(node.ops):
            for kind, table in (("boundary", BOUNDARIES), ("comparison", NEGATIONS)):
                if type(operator) in table:
                    yield kind, functools.partial(node.ops.__setitem__, at, table[type(operator)]())
    elif isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield "condition", functools.partial(setattr, node, "op", other)
    elif isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id in TWINS and node.args:
            yield "function", functools.partial(setattr, node.func, "id", TWINS[node.func.id])
        elif isinstance(node.func, ast.Attribute) and node.func.attr in TWINS:
            yield "function", functools.partial(setattr, node.func, "attr", TWINS[node.func.attr])
        if not (isinstance(node.func, ast.Name) and node.func.id in TWINS):
            yield from (("arguments", change) for change in _swaps(node.args))
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
        yield from (("indices", change) for change in _swaps(node.slice.elts))
    elif isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
        yield from (("returned value", change) for change in _swaps(node.value.elts))
    elif isinstance(node, ast.Return) and isinstance(node.value, ast.Name):
        others = [name for name in names if name != node.value.id]
        if others:
            wrong = ast.Name(others[-1], ast.Load())
            yield "returned value", functools.partial(setattr, node, "value", wrong)


def _swaps(nodes: list[ast.expr]) -> Iterator[Change]:
    """Yield exchanges of neighbours."""
    for at, (one, other) in enumerate(pairwise(nodes)):
        if not any(isinstance(each, ast.Starred) for each in (one, other)):
            yield functools.partial(nodes.__setitem__, slice(at, at + 2), [other, one])


def _is_compound(statement: ast.stmt) -> bool:
    return bool(getattr(statement, "body", None))


def _last_line(statement: ast.stmt) -> int:
    """Return the last line of a statement, of a compound one that before its body."""
    body: list[ast.stmt] = getattr(statement, "body", [])
    last = body[0].lineno - 1 if body else statement.end_lineno or 0
    return max(last, statement.lineno)


def _text_of(statement: ast.stmt) -> str:
    """Return the code of a statement, of a compound one the first line."""
    if not _is_compound(statement):
        return ast.unparse(statement)
    head = copy.copy(statement)
    head.body, head.orelse = [ast.Pass()], []  # type: ignore[attr-defined]
    return ast.unparse(head).split("\n    pass")[0]


def _text_after(tree: ast.Module, statement: ast.stmt, change: Change) -> str:
    """Return the code of a statement as a change would leave it; the change is undone."""
    removed = isinstance(change, functools.partial) and change.args and isinstance(change.args[-1], ast.Pass)
    if removed:
        return "pass"
    kept = {id(node): (node, copy.copy(node.__dict__)) for node in ast.walk(statement)}
    lists = {id(node): [(value, list(value)) for value in fields.values() if isinstance(value, list)]
             for node, fields in kept.values()}  # fmt: skip
    change()
    after = _text_of(statement)
    for node, fields in kept.values():
        node.__dict__.clear()
        node.__dict__.update(fields)
        for value, content in lists[id(node)]:
            value[:] = content
    return after


def modules_in(source: Path, patterns: Sequence[str], without: Sequence[str]) -> dict[str, Path]:
    """Return the modules, by name, whose paths match a pattern."""
    paths = sorted({path for pattern in patterns for path in source.glob(pattern)})
    chosen = [path for path in paths if path.stem != "__init__" and not any(word in path.stem for word in without)]
    return {".".join(path.relative_to(source.parent).with_suffix("").parts): path for path in chosen}
