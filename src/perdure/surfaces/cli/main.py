"""The command `perdure`."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.main import get_command

from perdure import __version__
from perdure.errors import InvalidInput, PerdureError
from perdure.surfaces.cli import exits
from perdure.surfaces.cli.lazy import Entry, LazyGroup

_HERE = "perdure.surfaces.cli"

START, MEMORY, INSIDE, SERVE, CARE = "Start here", "Memory", "Look inside", "Serve", "Take care"
ENTRIES = (
    Entry(START, "demo", f"{_HERE}.demo:demo", "See retain and recall at work on a short conversation"),
    Entry(MEMORY, "retain", f"{_HERE}.retain:retain", "Remember text, files, folders or chat exports"),
    Entry(MEMORY, "recall", f"{_HERE}.recall:recall", "What memory holds on a question, best first"),
    Entry(MEMORY, "context", f"{_HERE}.recall:context", "A recall as text with citations, for a prompt"),
    Entry(MEMORY, "reflect", f"{_HERE}.recall:reflect", "An answer that cites the facts it rests on"),
    Entry(MEMORY, "forget", f"{_HERE}.forget:forget", "Erase a fact, document, entity or bank for good"),
    Entry(INSIDE, "banks", f"{_HERE}.banks:banks", "List banks, show one, or set its name and mission"),
    Entry(INSIDE, "facts", f"{_HERE}.facts:facts", "List facts, or show one in full"),
    Entry(INSIDE, "entities", f"{_HERE}.facts:entities", "People, places and things, most mentioned first"),
    Entry(INSIDE, "timeline", f"{_HERE}.facts:timeline", "Facts in the order in which they happened"),
    Entry(INSIDE, "history", f"{_HERE}.facts:history", "Every value that a subject's relation ever had"),
    Entry(INSIDE, "stats", f"{_HERE}.banks:stats", "Counts of what a bank holds"),
    Entry(
        INSIDE, "operations", f"{_HERE}.operations:operations", "Background work: list, wait, cancel, retry"
    ),
    Entry(SERVE, "serve", f"{_HERE}.serve:serve", "Serve REST and MCP over HTTP"),
    Entry(SERVE, "mcp", f"{_HERE}.serve:mcp", "Serve MCP, over stdio unless --http is given"),
    Entry(SERVE, "keys", f"{_HERE}.keys:app", "Create, list and revoke API keys"),
    Entry(CARE, "export", f"{_HERE}.transfer:export", "Write a bank as JSON lines"),
    Entry(CARE, "import", f"{_HERE}.transfer:import_", "Read an exported bank under a new id"),
    Entry(CARE, "reembed", f"{_HERE}.transfer:reembed", "Change a bank over to the configured embedder"),
    Entry(CARE, "doctor", f"{_HERE}.doctor:doctor", "Check database, models, extras and speed"),
    Entry(CARE, "models", f"{_HERE}.models:models", "The models Perdure knows and where each was found"),
    Entry(CARE, "config", f"{_HERE}.config:config", "Effective settings and where each came from"),
    Entry(CARE, "eval", f"{_HERE}.evaluate:evaluate", "Recall quality and latency on a labelled data file"),
)


class _Root(LazyGroup):
    entries = ENTRIES


app = typer.Typer(cls=_Root, rich_markup_mode=None, context_settings={"help_option_names": ["--help", "-h"]})


def _version(asked: bool) -> None:
    if asked:
        print(f"perdure {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Perdure: long-term memory for AI agents."""


def main(args: Sequence[str]) -> int:
    """Run one command line; returns the exit code."""
    as_json = "--json" in args
    try:
        _check_text(args)
        done: Any = get_command(app).main(
            args=list(args) or ["--help"], prog_name="perdure", standalone_mode=False
        )
        return done if isinstance(done, int) else exits.OK
    except typer.TyperException as error:
        return exits.report_usage(error.format_message(), as_json)
    except PerdureError as error:
        return exits.report(error, as_json)
    except typer.Abort:
        return exits.INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the edge: whatever happens, a script sees one line and a code
        return exits.report_surprise(error, as_json, trace=_debugging())


def _check_text(args: Sequence[str]) -> None:
    """Raise unless all arguments are UTF-8; other bytes arrive as lone surrogates, which no store takes."""
    for arg in args:
        try:
            arg.encode()
        except UnicodeEncodeError as error:
            raise InvalidInput("command line", "arguments in UTF-8", arg) from error


def _debugging() -> bool:
    from perdure.surfaces.cli.session import load_settings

    try:
        return load_settings().log_level == "debug"
    except PerdureError:
        return False


def run() -> None:
    """Entry point of the installed command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    sys.exit(main(sys.argv[1:]))


if __name__ == "__main__":
    run()
