"""Options of commands, made of those that the library declares.

Declarations are read when a command is run, completed or asked for its help, and not before: reading them loads the
library, which `rfdag --help` has no need of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from functools import cached_property
from inspect import Parameter, Signature
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

import typer
from rich.markup import escape
from typer.core import TyperCommand

from rfdag.wording import alternatives

if TYPE_CHECKING:
    from rfdag.methods.method import Method
    from rfdag.options import Declared, Options

OF_METHODS = "Options of methods"
OF_INPUT = "Description of the input"
OF_SELECTION = "Columns and rows"
OF_ESTIMATION = "Estimation"
OF_SAMPLING = "Sampling"
RUNNING = "Running"

LONGEST_HELP = 140
"""Letters of a first sentence up to which all of it is shown."""
LONGEST_CHOICE = 18
"""Letters up to which all choices stand beside the name of an option; more of them are listed in its help."""

NEVER = ("rule",)
"""Options that the command line has another way for: the name of a rule serves as that of a method."""

_GIVEN = "rfdag.given"


class Offered(NamedTuple):
    """One option of a command: the declarations behind it, which differ where methods mean different things by it."""

    panel: str
    declared: Mapping[tuple[str, ...], Declared]
    """By the names of the methods that share a declaration; by no name outside methods."""
    lacking: tuple[str, ...] = ()
    """The methods that do not have it."""

    @property
    def any(self) -> Declared:
        """One of the declarations, for what they have in common."""
        return next(iter(self.declared.values()))

    def value(self, text: str) -> Any:
        """Return the value that a text stands for; raise ValueError, with what is needed, if it is none."""
        for declared in self.declared.values():
            value = declared.parse(text)
            if declared.admits(value):
                return value
        needed = dict.fromkeys(declared.describe(without=(NoneType,)) for declared in self.declared.values())
        raise ValueError(f"{text!r} is not {alternatives(list(needed))}.")

    def help(self) -> str:
        """Return what it means, in a sentence or two, and which methods have it."""
        if len(self.declared) > 1:
            return " ".join(self._by_method())
        sentences = [shortened(self.any.meaning, listing=bool(self.any.words))]
        if self.any.several or self.any.listing:
            sentences.append("Separate several by commas.")
        if self.any.typed:
            sentences.append(f"In words: {', '.join(word for word in self.any.typed if word.isalpha())}.")
        if self.is_choice and len(_between_brackets(self.any.words)) > LONGEST_CHOICE:
            sentences.append(f"One of {', '.join(self.any.words)}.")
        if self.lacking:
            (names,) = self.declared
            few = len(names) < len(self.lacking)
            sentences.append(f"Only for {', '.join(names)}." if few else f"Not for {', '.join(self.lacking)}.")
        return " ".join(sentences)

    def _by_method(self) -> Iterator[str]:
        for names, declared in self.declared.items():
            meaning = re.split(r"[.:;](?:\s|$)", shortened(declared.meaning), maxsplit=1)[0]
            usual = "" if declared.default is None else f" (default {declared.text(declared.default)})"
            yield f"{', '.join(names)}: {meaning[0].lower()}{meaning[1:]}{usual}."

    @property
    def is_choice(self) -> bool:
        """Whether it takes some words and nothing else."""
        return bool(self.any.words) and not self.any.several and set(self.any.kinds) <= {NoneType}


class DeclaredCommand(TyperCommand):
    """A command that has, beside its own parameters, the options that the library declares."""

    sampled: ClassVar[bool] = False
    """Whether it has the options of a sampling too."""
    without: ClassVar[tuple[str, ...]] = ()
    """Options that mean nothing here."""

    @cached_property
    def offered(self) -> dict[str, Offered]:
        """The declared options, by the name that the library knows them by."""
        every = {**(_of(OF_SAMPLING, _sampling()) if self.sampled else {}), **of_methods(), **_of_the_rest()}
        return {name: each for name, each in every.items() if name not in (*NEVER, *self.without)}

    @cached_property
    def _declared(self) -> list[Any]:
        def holder(**options: Any) -> None:
            pass

        parameters = [_method(), *(_option(name, each) for name, each in self.offered.items())]
        holder.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        app = typer.Typer(add_completion=False)
        app.command()(holder)
        made: Any = typer.main.get_command(app)
        return list(made.params)

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the command's own parameters and the declared options."""
        own = super().get_params(ctx)
        method, *declared = self._declared
        # Help shows panels in the order in which their first options come.
        first = [param for param in own if getattr(param, "rich_help_panel", None) is None]
        return [method, *first, *declared, *(param for param in own if param not in first)]

    def invoke(self, ctx: Any) -> Any:
        """Run the command; what was given of the declared options is left to `given_options`."""
        ctx.meta[_GIVEN] = dict(self._given(ctx))
        for param in self._declared:
            ctx.params.pop(param.name, None)
        return super().invoke(ctx)

    def _given(self, ctx: Any) -> Iterator[tuple[str, Any]]:
        for param in self._declared:
            source = ctx.get_parameter_source(param.name)
            if source is None or source.name != "COMMANDLINE":
                continue
            value = ctx.params[param.name]
            if isinstance(value, Enum):
                value = value.value
            elif isinstance(value, list):
                value = tuple(entry for text in value for entry in self.offered[param.name].value(text))
            elif isinstance(value, str) and param.name in self.offered:
                try:
                    value = self.offered[param.name].value(value)
                except ValueError as problem:
                    raise typer.BadParameter(str(problem), ctx=ctx, param=param) from None
            yield param.name, value


def given_options(ctx: typer.Context) -> dict[str, Any]:
    """Return the declared options that were given on the command line, as `rfdag.learn` takes them."""
    given: dict[str, Any] = ctx.meta[_GIVEN]
    return given


def of_methods() -> dict[str, Offered]:
    """Return the options of all methods, each with the methods that have it."""
    from rfdag.methods.catalogue import class_of, method_names

    kinds: dict[str, type[Method]] = {name: class_of(name) for name in method_names()}
    found: dict[str, Offered] = {}
    for option in dict.fromkeys(option for kind in kinds.values() for option in kind.declared()):
        declared: dict[tuple[str, ...], Declared] = {}
        for name, kind in kinds.items():
            if option in kind.declared():
                own = kind.declared()[option]
                shared = next((names for names, other in declared.items() if other == own), ())
                declared.pop(shared, None)
                declared[(*shared, name)] = own
        lacking = tuple(name for name, kind in kinds.items() if option not in kind.declared())
        found[option] = Offered(OF_METHODS, declared, lacking)
    return found


def shortened(meaning: str, *, listing: bool = False) -> str:
    """Return the first sentence of a meaning, without markup; of a long one, what comes before its details.

    ``listing`` tells that a list after a colon is shown in another way.

    >>> shortened('How wide ``it`` is, such as 1.5. "auto" is 2.')
    'How wide it is, such as 1.5.'
    """
    sentence = re.split(r"(?<=\.)\s", meaning.replace("`", ""), maxsplit=1)[0]
    if len(sentence) <= LONGEST_HELP:
        return sentence
    return f"{re.split('[:;] ' if listing else '; ', sentence, maxsplit=1)[0].removesuffix('.')}."


def _sampling() -> type[Options]:
    from rfdag.bootstrapping.resampling import Sampling

    return Sampling


def _of_the_rest() -> dict[str, Offered]:
    from rfdag.input.description import SELECTING, Description
    from rfdag.methods.settings import Running
    from rfdag.precision.estimation import Estimation

    described = {
        name: each._replace(panel=OF_SELECTION) if name in SELECTING else each
        for name, each in _of(OF_INPUT, Description).items()
    }
    return {**described, **_of(OF_ESTIMATION, Estimation), **_of(RUNNING, Running)}


def _of(panel: str, kind: type[Options]) -> dict[str, Offered]:
    return {name: Offered(panel, {(): declared}) for name, declared in kind.declared().items()}


def _method() -> Parameter:
    from rfdag.methods.catalogue import method_names
    from rfdag.methods.soft import Soft

    names = method_names()
    kind = _choice("method", names)
    option = typer.Option("--method", help=f"How an order is found: {alternatives(names)}.", metavar="<name>")
    return _made("method", kind, kind(Soft.name), option)


def _option(name: str, offered: Offered) -> Parameter:
    """Return an option as a parameter that Typer reads."""
    declared = offered.any
    flag = f"--{declared.flag}"
    shared = {"help": escape(offered.help()), "rich_help_panel": offered.panel}
    usual = {each.default for each in offered.declared.values()}
    if declared.is_switch:
        show = "auto" if declared.default == "auto" else declared.default is not None
        option = typer.Option(f"{flag}/--no-{declared.flag}", show_default=show, **shared)  # type: ignore[arg-type]
        default = declared.default if isinstance(declared.default, bool) else None
        return _made(name, bool | None, default, option)
    if offered.is_choice:
        kind = _choice(name, declared.words)
        option = typer.Option(flag, metavar=_metavar(declared), **shared)  # type: ignore[arg-type]
        return _made(name, kind | None, None if declared.default is None else kind(declared.default), option)
    if declared.listing:
        option = typer.Option(flag, metavar="<name,…>", show_default=False, **shared)  # type: ignore[arg-type]
        return _made(name, list[str] | None, None, option)
    shown = None if usual != {declared.default} or declared.default is None else declared.text(declared.default)
    words = declared.words

    def offer(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    option = typer.Option(flag, metavar=_metavar(declared), autocompletion=offer, **shared)  # type: ignore[arg-type]
    return _made(name, str | None, shown, option)


def _made(name: str, kind: Any, default: Any, option: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, option])


def _choice(name: str, words: Sequence[str]) -> Any:
    return Enum(name, {word: word for word in words}, type=str)


def _metavar(declared: Declared) -> str:
    """Return what to type for a value: its kind, or the words for it."""
    names = {str: "str", int: "int", float: "float"}
    kinds = [f"{name},…" if declared.several else name for kind, name in names.items() if kind in declared.kinds]
    every = _between_brackets([*kinds, *declared.words])
    return every if len(every) <= LONGEST_CHOICE else "<word>"


def _between_brackets(words: Sequence[str]) -> str:
    return f"<{'|'.join(words)}>"
