"""What `perdure retain` reads: texts, standard input, files, folders and chat exports."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from perdure.domain.item import check_text
from perdure.errors import InvalidInput, NotFound
from perdure.surfaces.cli.chats import Reading, read_chats

CHAT_SUFFIXES = frozenset({".json", ".jsonl", ".ndjson"})
MAX_FILE_BYTES = 20_000_000
_SUFFIX = re.compile(r"\w\.[A-Za-z][A-Za-z0-9]{0,7}$")


@dataclass(frozen=True, slots=True)
class Sources:
    """The documents that the sources hold, and the files of folders that were passed over, with the reason."""

    readings: list[Reading]
    skipped: list[tuple[str, str]]
    paths: set[Path] = field(default_factory=set)

    def is_new(self, path: Path) -> bool:
        """Whether the file was not read before: a folder may be given beside files that lie in it."""
        before = len(self.paths)
        self.paths.add(path.resolve())
        return len(self.paths) > before


def read_sources(sources: Sequence[str], stdin: str | None, form: str, as_text: bool) -> Sources:
    """Each source is a file, a folder, `-` for `stdin`, or else a text of its own."""
    collected = Sources([], [])
    for source in sources:
        if source == "-":
            collected.readings.extend(_read_text(stdin or "", "standard input", form))
        elif as_text or not _is_path(source):
            collected.readings.extend(_read_text(source, "text", "chat" if form == "chat" else "text"))
        elif Path(source).is_dir():
            _read_folder(Path(source), form, collected)
        elif collected.is_new(Path(source)):
            collected.readings.extend(_read_file(Path(source), form))
    return collected


def _is_path(source: str) -> bool:
    """Whether a source names a file; what looks like a path but is none must not be retained as a text."""
    if not source.strip():
        return False
    try:
        if Path(source).exists():
            return True
    except (OSError, ValueError):
        return False
    single_word = not any(character.isspace() for character in source)
    rooted = source.startswith(("./", "../", "/", "~"))
    if single_word and (rooted or _SUFFIX.search(source)):
        raise NotFound("file", source)
    return False


def _read_text(text: str, name: str, form: str) -> list[Reading]:
    if not text.strip():
        raise InvalidInput(name, "non-empty text")
    if form == "chat" or (form == "auto" and text.lstrip()[:1] in "[{" and _is_chat(text)):
        return read_chats(text, name)
    return [Reading(name=name, items=({"content": text},))]


def _is_chat(text: str) -> bool:
    try:
        read_chats(text, "")
    except InvalidInput:
        return False
    return True


def _read_folder(folder: Path, form: str, collected: Sources) -> None:
    for path in filter(collected.is_new, _files(folder)):
        try:
            collected.readings.extend(_read_file(path, form))
        except InvalidInput as error:
            shown = str(path).encode("utf-8", "backslashreplace").decode()
            collected.skipped.append((shown, f"not {error.expected}"))


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if path.is_file() and not hidden:
            yield path


def _read_file(path: Path, form: str) -> list[Reading]:
    check_text("name of the file", path.as_posix())
    text = _text(path)
    written: dict[str, Any] = {"timestamp": datetime.fromtimestamp(path.stat().st_mtime, UTC)}
    name = path.as_posix()
    if form == "chat" or (form == "auto" and path.suffix.lower() in CHAT_SUFFIXES):
        return [reading.filled(written) for reading in read_chats(text, name, name)]
    item = {"content": text, "document_id": name, "title": path.name, **written}
    return [Reading(name=name, items=(item,))]


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise InvalidInput(path.as_posix(), f"at most {MAX_FILE_BYTES:,} bytes", path.stat().st_size)
        content = path.read_bytes()
    except OSError as error:
        raise InvalidInput(path.as_posix(), f"a file that can be read ({error.strerror})") from error
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(path.as_posix(), "UTF-8 text") from error
    if "\0" in text:
        raise InvalidInput(path.as_posix(), "text without NUL characters")
    if not text.strip():
        raise InvalidInput(path.as_posix(), "non-empty text")
    return text
