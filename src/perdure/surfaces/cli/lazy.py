"""Commands that are imported when they are called: `--help` shows them without loading them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command


@dataclass(frozen=True, slots=True)
class Entry:
    """A command: its section in the help, its name, where it is written and what it does."""

    section: str
    name: str
    target: str
    """module:attribute; a function, or a Typer app with subcommands."""
    summary: str

    def load(self) -> Any:
        """The command itself, parameters and all."""
        module, attribute = self.target.split(":")
        found = getattr(import_module(module), attribute)
        if isinstance(found, typer.Typer):
            return get_command(found)
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        single.command(name=self.name)(found)
        return get_command(single)

    def stub(self) -> TyperCommand:
        """Name and summary only, for listings and completion."""
        return TyperCommand(name=self.name, help=self.summary)


class LazyGroup(TyperGroup):
    """A group whose commands come from a table."""

    entries: Sequence[Entry] = ()

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for entry in self.entries:
            self.add_command(entry.stub())

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The real command, loaded now."""
        name, _, rest = super().resolve_command(ctx, args)
        entry = next(entry for entry in self.entries if entry.name == name)
        command = entry.load()
        command.name = name
        return name, command, rest

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Usage, then the commands by section, then the options."""
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        widest = max(len(entry.name) for entry in self.entries)
        for section in dict.fromkeys(entry.section for entry in self.entries):
            rows = [
                (typer.style(f"{entry.name:<{widest}}", bold=True), entry.summary)
                for entry in self.entries
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
