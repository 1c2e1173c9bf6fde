"""Finding the importer of a source among the installed packages that provide some."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from perdure.errors import InvalidInput, Unavailable
from perdure.ports.import_source import ChatReading, ImportSource

GROUP = "perdure.importers"
"""Entry points that name modules with importers."""
AUTO = "auto"
"""The kind of source that is detected."""


class Importers(Protocol):
    """A module with importers."""

    NAMES: Sequence[str]
    """The kinds of sources that it reads."""

    def detect(self, path: str | Path) -> str | None:
        """Return the kind of the source at a path, or None if it is none of these."""

    def open_source(self, path: str | Path, name: str, *, key: str) -> ImportSource:
        """Open the source of a kind, or of any kind by `auto`."""

    def read_chats(self, text: str, name: str, document_id: str | None = None) -> list[ChatReading]:
        """Read the conversations of a chat export in JSON; raise `InvalidInput` if it is none."""


def open_source(path: str | Path, name: str = AUTO, *, key: str = "") -> ImportSource:
    """Open the source at a path; `key` is for a server's address.

    Raise `InvalidInput` if there is no such kind, or if nothing tells which kind it is.
    """
    modules = _importers()
    names = [kind for module in modules for kind in module.NAMES]
    if name != AUTO and name not in names:
        raise InvalidInput("source", f"{AUTO} or one of " + ", ".join(names), name)
    for module in modules:
        if name in module.NAMES or (name == AUTO and (len(modules) == 1 or module.detect(path))):
            return module.open_source(path, name, key=key)
    raise InvalidInput(
        "path", "a source that can be told by its files; or name it: " + ", ".join(names), str(path)
    )


def read_chats(text: str, name: str, document_id: str | None = None) -> list[ChatReading]:
    """Read the conversations of a chat export in JSON by the first importers that can.

    `document_id` names a single conversation that has no id of its own.
    """
    refusal: InvalidInput | None = None
    for module in _importers():
        try:
            return module.read_chats(text, name, document_id)
        except InvalidInput as error:
            refusal = refusal or error
    raise refusal or Unavailable("no installed package reads chat exports")


def _importers() -> list[Importers]:
    from importlib.metadata import entry_points

    return [entry.load() for entry in entry_points(group=GROUP)]
