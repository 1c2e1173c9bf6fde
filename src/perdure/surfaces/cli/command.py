"""A row of the table of commands: what the help says of a command, and where it is written."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand
from typer.main import get_command

START, MEMORY, THINK, INSIDE, SERVE, CARE = (
    "Start here", "Memory", "Think", "Look inside", "Serve", "Take care",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Entry:
    """A command: its section in the help, its name, where it is written and what it does."""

    section: str
    name: str
    target: str
    """module:attribute in the package; a function, or a Typer app with subcommands."""
    summary: str
    package: str = "perdure.surfaces.cli"

    def load(self) -> Any:
        """Import the command."""
        module, attribute = self.target.split(":")
        command = getattr(import_module(f"{self.package}.{module}"), attribute)
        if isinstance(command, typer.Typer):
            return get_command(command)
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        single.command(name=self.name)(command)
        return get_command(single)

    def stub(self) -> TyperCommand:
        """Return the name and summary only, for listings and completion."""
        return TyperCommand(name=self.name, help=self.summary)
