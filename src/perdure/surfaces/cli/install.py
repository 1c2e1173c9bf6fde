"""`perdure install`."""

from __future__ import annotations

import os
import shutil
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from perdure.contrib.assistants.install.changes import Change, install_into, remove_from
from perdure.contrib.assistants.install.hosts import ASSISTANTS, ConfigFile, Launch
from perdure.contrib.assistants.settings import DEFAULT_FOLDER, assistant_folder
from perdure.errors import InvalidInput
from perdure.surfaces.cli.output import emit
from perdure.surfaces.cli.session import AsJson


class AssistantName(StrEnum):
    """The assistants of the table."""

    CLAUDE_CODE = "claude-code"
    CODEX = "codex"
    CURSOR = "cursor"
    VSCODE = "vscode"
    COPILOT = "copilot"
    GEMINI = "gemini"
    OPENCODE = "opencode"
    ZED = "zed"


PLUGIN = "perdure@perdure"


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
        print(chosen.note)


def _show(change: Change, dry_run: bool, backup: str | None) -> None:
    if change.is_none:
        print(f"{change.path}: nothing to change")
    elif dry_run:
        print(change.diff)
    else:
        done = "removed" if change.after is None else "made" if change.before is None else "changed"
        print(f"{change.path}: {done}{f', before: {backup}' if backup else ''}")


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
