"""The program `rfdag`: the table of contents of its commands, which work over the same functions as the library."""

from __future__ import annotations

from typing import Annotated

import typer

import rfdag
from rfdag.commands import bootstrap, compare, doctor, effect, learn, simulate
from rfdag.commands.speech import reported
from rfdag.studies.bench import command as bench
from rfdag.studies.paper import command as reproduce

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Causal order, DAG and Markov equivalence class from data, by the Removal-Fill-Degree algorithm.",
    epilog="Exit status: 0 done, 1 a problem with the data or a file, 2 a problem with the options.",
)
for command in (learn, simulate, compare, effect, bootstrap, bench, reproduce, doctor):
    command.register(app, reported)


def main() -> None:
    """Run the program."""
    app()


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"rfdag {rfdag.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    pass
