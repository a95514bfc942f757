"""`rfdag doctor`: what this installation has, what it lacks, and whether it works."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from rich.table import Table

import rfdag
from rfdag.commands.speech import JsonFlag, escape, print_json
from rfdag.runtime.terminal import Console
from rfdag.wording import counted

if TYPE_CHECKING:
    from rfdag.commands.checkup import Checkup
    from rfdag.commands.probes import Answer

GOOD, ABSENT, WARNING, BAD = "[green]✓[/green]", "[dim]–[/dim]", "[yellow]![/yellow]", "[red]✗[/red]"
Line = tuple[str, str, str]
"""A mark, a label and a description."""


class PeerEnvironments(NamedTuple):
    """The environments of the packages that `rfdag bench` compares with."""

    folder: Path
    """Where they are unless another folder is given."""
    names: Callable[[], Sequence[str]]
    is_ready: Callable[[str, Path], bool]
    """Whether the environment of that name, in that folder, holds what `rfdag bench` asks for."""


def register(app: typer.Typer, reported: Callable[[Any], Any], environments: PeerEnvironments) -> None:
    """Add the command to a program whose errors ``reported`` turns into messages."""

    def doctor(
        peers: Annotated[
            Path, typer.Option(help="Folder of the peers' environments (rfdag bench --setup).")
        ] = environments.folder,
        compile_kernels: Annotated[
            bool,
            typer.Option("--compile", help="First compile all kernels, of every method: for images, and for clusters."),
        ] = False,
        as_json: JsonFlag = False,
    ) -> None:
        """Show versions, threads, memory, GPU and extras, and test whether rfdag works."""
        compiled = compile_everything() if compile_kernels else None
        examine(environments, peers.expanduser(), as_json, compiled)

    app.command()(reported(doctor))


def compile_everything() -> Answer:
    """Compile all kernels; return how many functions that were, the seconds, and the kernels that were left out."""
    from rfdag.commands.compiling import compile_all
    from rfdag.runtime.compilation import COMPILED

    if not COMPILED:
        return {"functions": 0, "seconds": 0.0, "left_out": []}
    console = Console(stderr=True)
    with console.status("Compiling all kernels…") as line:
        found = compile_all(lambda name, share: line.update(f"Compiling all kernels, {share:.0%}: {escape(name)}…"))
    seconds = f"{found['seconds']:.0f} s"
    console.print(f"Compiled {counted(found['functions'], 'function')} in {seconds}.", highlight=False)
    return found


def examine(environments: PeerEnvironments, folder: Path, as_json: bool, compiled: Answer | None) -> None:
    """Check the installation and print what was found; exit with status 1 if rfdag does not work.

    ``compiled`` describes what was compiled before, if that was asked for.
    """
    from rfdag.commands.checkup import Checkup

    with Console(stderr=True).status("Checking the installation; kernels are compiled on first use…"):
        found = Checkup.make(environments, folder)
    if as_json:
        print_json(found.to_dict() | ({} if compiled is None else {"compiled": compiled}))
    else:
        print_checkup(found)
    if found.errors:
        raise typer.Exit(1)


def print_checkup(found: Checkup) -> None:
    """Print what was found, one line for each part of the installation."""
    console = Console()
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column()
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    for line in (*_program(found), *_machine(found), *_extras(found), *_rest(found)):
        grid.add_row(*line)
    console.print(grid, highlight=False)
    for warning in found.warnings:
        console.print(f"[yellow]Warning:[/yellow] {escape(warning)}", highlight=False, soft_wrap=True)
    for error in found.errors:
        console.print(f"[bold red]Error:[/bold red] {escape(error)}", highlight=False, soft_wrap=True)
    if not found.errors:
        console.print("[bold]rfdag works here.[/bold]")


def _program(found: Checkup) -> Iterator[Line]:
    from rfdag.commands.checkup import NEEDED

    python = f"Python {platform.python_version()} ({sys.executable})"
    yield GOOD, "Program", escape(f"rfdag {rfdag.__version__}, {python}, {platform.platform()}")
    packages = {name: found.packages[name] for name in NEEDED}
    good = [f"{name} {answer['version']}" for name, answer in packages.items() if "version" in answer]
    yield GOOD if len(good) == len(NEEDED) else BAD, "Packages", escape(", ".join(good) or "none")


def _machine(found: Checkup) -> Iterator[Line]:
    threads, memory, device = (found.answers[name] for name in ("threads", "memory", "device"))
    if threads["problem"]:
        yield BAD, "Threads", escape(threads["problem"])
    else:
        yield GOOD, "Threads", escape(_threads(threads))
    free = memory.get("free")
    yield GOOD, "Memory", escape(memory["problem"]) or ("unknown" if free is None else f"{free / 1e9:.1f} GB free")
    if device["problem"]:
        yield ABSENT, "GPU", escape(f"none in use: {device['problem']}")
    else:
        yield GOOD, "GPU", escape(_gpu(device))


def _threads(found: Answer) -> str:
    limit = found["container"]
    container = "" if limit is None else f", a container allows the time of {limit:g}"
    # Some libraries do not report their version.
    pools = [(pool["name"], pool["version"] or "", str(pool["threads"])) for pool in found["libraries"]]
    libraries = ", ".join(" ".join(filter(None, pool)) for pool in (*pools, ("numba", str(found["numba"]))))
    settings = "".join(f"; {name}={value}" for name, value in found["variables"].items())
    cores = f"{counted(found['cores'], 'core')}{container}; rfdag uses {found['used']}"
    return f"{cores}; threads of libraries: {libraries}{settings}"


def _gpu(found: Answer) -> str:
    more = f", the first of {found['devices']}" if found["devices"] > 1 else ""
    memory = f"{found['free'] / 1e9:.1f} of {found['total'] / 1e9:.1f} GB free"
    return f"{found['name']}{more}, {memory}, driver for CUDA {found['driver']}, runtime {found['runtime']}"


def _extras(found: Checkup) -> Iterator[Line]:
    from rfdag.commands.checkup import EXTRAS, install_line

    for name, extra in EXTRAS.items():
        state = found.state(name)
        parts = {package: found.packages[package] for package in extra.packages}
        if state == "ready":
            text = ", ".join(f"{package} {answer['version']}" for package, answer in parts.items())
        elif state == "missing":
            text = f"missing: {install_line(name)}"
        else:
            problems = (f"{package}: {answer['problem']}" for package, answer in parts.items() if answer["problem"])
            text = f"broken: {'; '.join(problems)}"
        mark = {"ready": GOOD, "missing": ABSENT, "broken": WARNING}[state]
        yield mark, escape(f"[{name}]"), f"{escape(text)}  [dim]{escape(extra.purpose)}[/dim]"


def _rest(found: Checkup) -> Iterator[Line]:
    kernels, test = found.answers["kernels"], found.answers["self_test"]
    if kernels["problem"]:
        yield BAD, "Kernels", escape(kernels["problem"])
    elif not kernels["compiled"]:
        why = "NUMBA_DISABLE_JIT is set" if kernels["installed"] else "numba is not installed"
        yield WARNING, "Kernels", f"not compiled: {why}"
    else:
        place = f"under {os.path.commonpath(kernels['folders'])}" if kernels["folders"] else "nowhere"
        cached = f"{kernels['kept']} of {kernels['count']} compiled and cached"
        yield GOOD if kernels["writable"] else WARNING, "Kernels", escape(f"{cached} {place}")
    ready = sum(found.peers.values())
    text = f"{ready} of {len(found.peers)} environments in {found.folder}"
    cure = "" if ready == len(found.peers) else "; rfdag bench --setup makes them"
    yield GOOD if ready else ABSENT, "Peers", escape(text + cure)
    if test["problem"]:
        yield BAD, "Self-test", escape(test["problem"])
    else:
        yield GOOD, "Self-test", f"a graph of five variables was found in {test['seconds']:.2f} s"
