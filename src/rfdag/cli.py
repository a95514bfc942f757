"""The program `rfdag`: the table of contents of its commands, which work over the same functions as the library.

This is the only module that imports `rfdag.studies`; commands that need to know of the studies are told here.
"""

from __future__ import annotations

from typing import Annotated

import typer

import rfdag
from rfdag.commands import bootstrap, compare, doctor, effect, learn, simulate
from rfdag.commands.doctor import PeerEnvironments
from rfdag.commands.speech import reported
from rfdag.studies.bench import command as bench
from rfdag.studies.bench import environments
from rfdag.studies.paper import command as reproduce

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Causal order, DAG and Markov equivalence class from data, by the Removal-Fill-Degree algorithm.",
    epilog="Exit status: 0 done, 1 a problem with the data or a file, 2 a problem with the options.",
)
for command in (learn, simulate, compare, effect, bootstrap, bench, reproduce):
    command.register(app, reported)
doctor.register(app, reported, PeerEnvironments(environments.FOLDER, environments.homes, environments.is_ready))


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
