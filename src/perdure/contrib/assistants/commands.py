"""The commands of coding assistants: `perdure install`, `perdure assistant` and `perdure hook`."""

from __future__ import annotations

import os
import shutil
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from perdure.contrib.assistants import place
from perdure.contrib.assistants.install.changes import Change, install_into, remove_from
from perdure.contrib.assistants.install.hosts import ASSISTANTS, ConfigFile, Launch
from perdure.contrib.assistants.settings import (
    DEFAULT_FOLDER,
    assistant_bank,
    assistant_folder,
    project_folder,
)
from perdure.errors import InvalidInput
from perdure.surfaces.plugins.cli import AsJson, emit, load_settings, mcp
from perdure.surfaces.plugins.process import bank_of

PLUGIN = "perdure@perdure"


class Event(StrEnum):
    """An event that an assistant reports to its hooks."""

    SESSION_START = "session-start"
    PROMPT = "prompt"
    STOP = "stop"
    PRE_COMPACT = "pre-compact"
    SESSION_END = "session-end"


class AssistantName(StrEnum):
    """The assistants of the table."""

    CLAUDE_CODE = "claude-code"
    CODEX = "codex"
    CURSOR = "cursor"
    VSCODE = "vscode"
    GEMINI = "gemini"


def hook(
    event: Annotated[Event, typer.Argument(help="What happened")],
    host: Annotated[
        str, typer.Option("--host", metavar="HOST", help="The assistant that calls [told by its input]")
    ] = "auto",
    folder: Annotated[
        str, typer.Option("--folder", metavar="FOLDER", help="Folder of the assistants' memory [~/.perdure]")
    ] = "",
) -> None:
    """Read an event of a coding assistant on standard input and print what it is to be told, or nothing. Always exits 0.

    It asks a process that it starts in the background; that one ends when idle.
    """
    from perdure.contrib.assistants.client import main

    main([event.value, "--host", host, "--folder", folder])


def assistant(
    bank: Annotated[
        str | None,
        typer.Option("--bank", "-b", metavar="BANK", help="Serve this bank only [that of the project]"),
    ] = None,
) -> None:
    """Serve MCP over standard input and output, with the memory that hooks of coding assistants use in this project."""
    mcp(bank=enter_assistant_memory(bank))


def enter_assistant_memory(bank: str | None) -> str:
    """Enter the assistants' folder, whose settings and database apply from then on, and return the project's bank."""
    project, named = project_folder(), bank or assistant_bank()
    folder = assistant_folder()
    place.make_folder(folder)
    os.chdir(folder)
    return named or load_settings().assistant_bank or bank_of(project)


def install(
    assistant: Annotated[AssistantName, typer.Argument(help="Where to")],
    project: Annotated[
        bool, typer.Option("--project", help="For the project in the current folder instead of the user")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would change, as a diff")] = False,
    uninstall: Annotated[bool, typer.Option("--uninstall", help="Take Perdure's entries out again")] = False,
    as_json: AsJson = False,
) -> None:
    """Merge Perdure's MCP server and hooks into an assistant's files, or take them out. What else they hold stays as it is.

    Of each file that changes a copy is kept beside it. Doing it again changes nothing.
    """
    chosen = ASSISTANTS[assistant.value]
    files = chosen.project_files if project else chosen.user_files
    if files is None:
        raise InvalidInput(
            "--project", f"an assistant that reads files of a project; {chosen.title} does not"
        )
    targets = files(_launch(project))
    if not uninstall:
        for target in targets:
            _refuse_plugin(target)
    changes = [remove_from(target) if uninstall else install_into(target) for target in targets]
    backups = {} if dry_run else {one.path: one.write() for one in changes if not one.is_none}
    if as_json:
        emit(
            {
                "assistant": chosen.name,
                "changed": [one.path for one in changes if not one.is_none],
                "unchanged": [one.path for one in changes if one.is_none],
                "backups": {path: backup for path, backup in backups.items() if backup},
                "dry_run": dry_run,
            }
        )
        return
    for one in changes:
        _show(one, dry_run, backups.get(one.path))
    if chosen.note and not uninstall:
        typer.echo(chosen.note)


def _show(change: Change, dry_run: bool, backup: str | None) -> None:
    if change.is_none:
        typer.echo(f"{change.path}: nothing to change")
    elif dry_run:
        typer.echo(change.diff)
    else:
        done = "removed" if change.after is None else "made" if change.before is None else "changed"
        typer.echo(f"{change.path}: {done}{f', before: {backup}' if backup else ''}")


def _launch(project: bool) -> Launch:
    """By full path in files of the user, since not every assistant has the shell's PATH; by name in files that are shared."""
    folder = assistant_folder()
    usual = folder == assistant_folder(DEFAULT_FOLDER)
    program = "perdure"
    if not project:
        own = Path(sys.argv[0])
        named = own if own.stem == "perdure" and own.is_file() else shutil.which("perdure")
        program = os.path.abspath(named) if named else "perdure"
    return Launch(program=program, folder="" if usual else folder)


def _refuse_plugin(file: ConfigFile) -> None:
    """Raise where Claude Code has the plugin already: its hooks would run twice."""
    if os.path.basename(file.path) != "settings.json" or not os.path.exists(file.path):
        return
    from perdure.contrib.assistants.install.json_text import JsonText

    text = JsonText(
        Path(file.path).read_text(encoding="utf-8-sig") or "{}", file.path, comments=file.format == "jsonc"
    )
    if text.get(("enabledPlugins", PLUGIN)) is True:
        raise InvalidInput(file.path, f"the plugin {PLUGIN} to be off: it has the same hooks")
