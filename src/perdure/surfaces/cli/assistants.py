"""`perdure hook`, and the memory that `perdure mcp --assistant` serves."""

from __future__ import annotations

import os
from enum import StrEnum
from typing import Annotated

import typer

from perdure.contrib.assistants import place
from perdure.contrib.assistants.project import bank_of
from perdure.contrib.assistants.settings import assistant_bank, assistant_folder, project_folder
from perdure.surfaces.cli.session import load_settings


class Event(StrEnum):
    """What an assistant tells its hooks."""

    SESSION_START = "session-start"
    PROMPT = "prompt"
    STOP = "stop"
    PRE_COMPACT = "pre-compact"
    SESSION_END = "session-end"


Folder = Annotated[
    str, typer.Option("--folder", metavar="FOLDER", help="Folder of the assistants' memory [~/.perdure]")
]


def hook(
    event: Annotated[Event, typer.Argument(help="What happened")],
    host: Annotated[
        str, typer.Option("--host", metavar="HOST", help="The assistant that calls [told by its input]")
    ] = "auto",
    folder: Folder = "",
) -> None:
    """Read an event of a coding assistant on standard input and print what it is to be told, or nothing. Always exits 0.

    It asks a process that it starts in the background; that one ends when idle.
    """
    from perdure.contrib.assistants.client import main

    main([event.value, "--host", host, "--folder", folder])


def enter_assistant_memory(bank: str | None) -> str:
    """Go to the assistants' folder, whose settings and database hold from here on; returns the bank of the project."""
    project, named = project_folder(), bank or assistant_bank()
    folder = assistant_folder()
    place.make_folder(folder)
    os.chdir(folder)
    return named or load_settings().assistant_bank or bank_of(project)
