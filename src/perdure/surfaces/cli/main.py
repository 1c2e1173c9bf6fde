"""The command `perdure`: its commands are imported when they are called, so that `--help` shows them without loading them."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from perdure import __version__
from perdure.errors import InvalidInput, PerdureError
from perdure.surfaces.cli import exits
from perdure.surfaces.process import private_files

START, MEMORY, THINK, INSIDE, SERVE, CARE = (
    "Start here", "Memory", "Think", "Look inside", "Serve", "Take care",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Entry:
    """A command: its section in the help, its name, what it does and where it is written."""

    section: str
    name: str
    target: str
    """module:attribute in the package; a function, or a Typer app with subcommands. Empty for a resource or a verb."""
    summary: str
    package: str = "perdure.surfaces.cli"

    def load(self) -> Any:
        """Import the command."""
        if self.target:
            module, attribute = self.target.split(":")
            command = getattr(import_module(f"{self.package}.{module}"), attribute)
        else:
            command = import_module(f"{self.package}.resources").derived(self.name, self.summary)
        if isinstance(command, typer.Typer):
            return get_command(command)
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        single.command(name=self.name)(command)
        return get_command(single)

    def stub(self) -> TyperCommand:
        """Return the name and summary only, for listings and completion."""
        return TyperCommand(name=self.name, help=self.summary)


ENTRIES = (
    Entry(START, "demo", "demo:demo", "See memory at work on a short conversation"),
    Entry(MEMORY, "retain", "retain:retain", "Remember text, files, folders or chat exports"),
    Entry(MEMORY, "recall", "recall:recall", "What memory holds on a question, best first"),
    Entry(MEMORY, "context", "recall:context", "A recall as text with citations, for a prompt"),
    Entry(MEMORY, "reflect", "recall:reflect", "An answer that cites the facts it rests on"),
    Entry(MEMORY, "forget", "recall:forget", "Erase a fact, document, entity or bank for good"),
    Entry(THINK, "consolidate", "", "Form observations, questions and notes of what is new"),
    Entry(THINK, "observations", "", "Profiles of people, things and topics"),
    Entry(THINK, "opinions", "", "What the bank believes, surest first"),
    Entry(THINK, "questions", "", "Conflicts that only you can decide"),
    Entry(THINK, "models", "", "Standing questions and the documents that answer them"),
    Entry(THINK, "knowledge", "", "Folders and pages over mental models"),
    Entry(THINK, "directives", "", "Rules of a bank for every reflect"),
    Entry(THINK, "notes", "", "Daily, weekly and quarterly notes"),
    Entry(INSIDE, "banks", "", "Banks: list, configure, count, clone, re-embed"),
    Entry(INSIDE, "facts", "", "Facts: list, show, history of a value, correct"),
    Entry(INSIDE, "documents", "", "Documents: list, show, read anew, tag"),
    Entry(INSIDE, "entities", "", "People, places and things: list, merge, split"),
    Entry(INSIDE, "operations", "", "Background work: list, show, cancel, retry"),
    Entry(INSIDE, "webhooks", "", "Addresses that receive events of a bank"),
    Entry(INSIDE, "audit", "", "What was done with a bank over the servers"),
    Entry(INSIDE, "llm", "", "Calls of language models, their cost and health"),
    Entry(SERVE, "serve", "serve:serve", "Serve REST and MCP over HTTP"),
    Entry(SERVE, "mcp", "serve:mcp", "Serve MCP to one client over stdio"),
    Entry(SERVE, "keys", "keys:app", "Create, list and revoke API keys"),
    Entry(CARE, "export", "care:export", "Write a bank as JSON lines, a vault, a graph or an archive"),
    Entry(CARE, "import", "imports:import_", "Import chats, notes, transcripts, mails or another memory"),
    Entry(CARE, "database", "database:app", "Copy banks to another database"),
    Entry(CARE, "reprocess", "care:reprocess", "Read the documents of an earlier extractor anew"),
    Entry(CARE, "verify", "care:verify", "Check everything stored for damage, and mend it"),
    Entry(CARE, "backup", "care:backup", "Write a checked copy of the database while it is in use"),
    Entry(CARE, "restore", "care:restore", "Put a backup in the place of the database"),
    Entry(CARE, "doctor", "doctor:doctor", "Check database, models, extras and speed"),
    Entry(CARE, "config", "config:config", "Effective settings and where each came from"),
    Entry(CARE, "eval", "evaluate:evaluate", "Recall quality and latency on a labelled data file"),
)
"""The commands; those of resources and verbs are derived from the declarations of their verbs."""


PLUGINS = "perdure.commands"
"""Entry points that name tuples of further commands."""


@cache
def every_entry() -> Sequence[Entry]:
    """Return the commands, those of the installed plugins at the end."""
    from importlib.metadata import entry_points

    return (*ENTRIES, *(entry for plugin in entry_points(group=PLUGINS) for entry in plugin.load()))


def find_entry(name: str) -> Entry | None:
    """Return a command by its name; plugins are looked at only for names that are not in the table."""
    own = (entry for entry in ENTRIES if entry.name == name)
    return next(own, None) or next((entry for entry in every_entry() if entry.name == name), None)


class _Root(TyperGroup):
    """A group whose commands come from the table."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands."""
        return [entry.name for entry in every_entry()]

    def get_command(self, ctx: Any, cmd_name: str) -> TyperCommand | None:
        """Return a command without its options."""
        entry = find_entry(cmd_name)
        return None if entry is None else entry.stub()

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the real command, loaded now; for an unknown name, all are there to suggest one."""
        if find_entry(args[0]) is None:
            for known in every_entry():
                self.add_command(known.stub())
        name, _, rest = super().resolve_command(ctx, args)
        entry = find_entry(str(name))
        assert entry is not None
        command = entry.load()
        command.name = name
        return name, command, rest

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Usage, then the commands by section, then the options."""
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        widest = max(len(entry.name) for entry in every_entry())
        for section in dict.fromkeys(entry.section for entry in every_entry()):
            rows = [
                (typer.style(f"{entry.name:<{widest}}", bold=True), entry.summary)
                for entry in every_entry()
                if entry.section == section
            ]
            self._write(formatter, section, rows)
        records = [param.get_help_record(ctx) for param in self.get_params(ctx)]
        self._write(formatter, "Options", [record for record in records if record])

    @staticmethod
    def _write(formatter: Any, heading: str, rows: list[tuple[str, str]]) -> None:
        formatter.write_paragraph()
        formatter.write(f"{heading}:\n")
        formatter.indent()
        formatter.write_dl(rows)
        formatter.dedent()


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
    private_files()
    sys.exit(main(sys.argv[1:]))


if __name__ == "__main__":
    run()
