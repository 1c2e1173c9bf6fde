"""What `perdure retain` reads: texts, standard input, files, folders and chat exports."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fnmatch import fnmatch
from pathlib import Path, PurePath
from typing import Any

from perdure.documents.document import LEADS_OUT, decode, leads_out
from perdure.documents.reader import read_file
from perdure.domain.item import check_text
from perdure.errors import InvalidInput, NotFound, Unavailable
from perdure.manage.importers import read_chats
from perdure.ports.import_source import ChatReading
from perdure.text.transcript import read_transcript

CHAT_SUFFIXES = frozenset({".json", ".jsonl", ".ndjson"})
MAX_FILE_BYTES = 20_000_000
NOT_WRITTEN_HERE = frozenset({
    "node_modules", "bower_components", "jspm_packages", "site-packages", "__pycache__", "venv", "virtualenv",
})  # fmt: skip
"""Folders inside a given folder that hold what others wrote or machines made; hidden ones are left out too."""
GENERATED = (
    "*.min.js", "*.min.css", "*.map", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "poetry.lock",
    "uv.lock", "Pipfile.lock", "Cargo.lock", "composer.lock", "Gemfile.lock", "go.sum",
)  # fmt: skip
"""Files of a folder that machines write."""
_SUFFIX = re.compile(r"\w\.[A-Za-z][A-Za-z0-9]{0,7}$")


@dataclass(frozen=True, slots=True)
class Sources:
    """The documents that the sources hold, and the files of folders that were passed over, with the reason."""

    readings: list[ChatReading]
    skipped: list[tuple[str, str]]
    paths: set[Path] = field(default_factory=set)

    def is_new(self, path: Path) -> bool:
        """Whether the file was not read before: a folder may be given beside files that lie in it."""
        before = len(self.paths)
        self.paths.add(path.resolve())
        return len(self.paths) > before


def read_sources(
    sources: Sequence[str], stdin: str | None, form: str, as_text: bool, exclude: Sequence[str] = ()
) -> Sources:
    """Each source is a file, a folder, `-` for `stdin`, or else a text of its own; files that a glob excludes are not read."""
    collected = Sources([], [])
    for source in sources:
        if source == "-":
            collected.readings.extend(_read_text(stdin or "", "standard input", form))
        elif as_text or not _is_path(source):
            collected.readings.extend(_read_text(source, "text", "chat" if form == "chat" else "text"))
        elif Path(source).is_dir():
            _read_folder(Path(source), form, exclude, collected)
        elif not is_excluded(PurePath(source), exclude) and collected.is_new(Path(source)):
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


def _read_text(text: str, name: str, form: str) -> list[ChatReading]:
    if not text.strip():
        raise InvalidInput(name, "non-empty text")
    if form == "chat" or (form == "auto" and text.lstrip()[:1] in "[{" and _is_chat(text)):
        return read_chats(text, name)
    return [ChatReading(name=name, items=({"content": text},))]


def _is_chat(text: str) -> bool:
    try:
        read_chats(text, "")
    except InvalidInput:
        return False
    return True


def _read_folder(folder: Path, form: str, exclude: Sequence[str], collected: Sources) -> None:
    for path in filter(collected.is_new, _files(folder, exclude, collected.skipped)):
        try:
            collected.readings.extend(_read_file(path, form))
        except InvalidInput as error:
            collected.skipped.append((_shown(path), f"not {error.expected}"))
        except Unavailable as error:
            collected.skipped.append((_shown(path), str(error)))


def _shown(path: Path) -> str:
    return str(path).encode("utf-8", "backslashreplace").decode()


def _files(folder: Path, exclude: Sequence[str], skipped: list[tuple[str, str]]) -> Iterator[Path]:
    """Yield the files below a folder in order, without hidden, excluded and generated ones and links that leave it.

    The last two are named in `skipped`.
    """
    for root, folders, names in os.walk(folder):
        here = Path(root)
        below = here.relative_to(folder)
        for name in sorted(folders):
            if name.startswith(".") or is_excluded(below / name, exclude):
                continue
            if name in NOT_WRITTEN_HERE:
                skipped.append((_shown(here / name), "a folder of installed or generated files"))
            elif leads_out(here / name, folder):
                skipped.append((_shown(here / name), LEADS_OUT))
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".")
            and name not in NOT_WRITTEN_HERE
            and not is_excluded(below / name, exclude)
        )
        for name in sorted(names):
            if name.startswith(".") or is_excluded(below / name, exclude) or not (here / name).is_file():
                continue
            if leads_out(here / name, folder):
                skipped.append((_shown(here / name), LEADS_OUT))
            elif any(fnmatch(name, glob) for glob in GENERATED):
                skipped.append((_shown(here / name), "a generated file"))
            else:
                yield here / name


def is_excluded(path: PurePath, globs: Sequence[str]) -> bool:
    """Whether a glob matches the path, its end, or a folder on the way: `drafts`, `*.log`, `notes/*.txt`."""
    ways = [path, *path.parents]
    return any(
        fnmatch(way.as_posix(), glob) or fnmatch(way.as_posix(), f"*/{glob}")
        for glob in (glob.removeprefix("./").rstrip("/") for glob in globs)
        for way in ways
    )


def _read_file(path: Path, form: str) -> list[ChatReading]:
    check_text("name of the file", path.as_posix())
    name = path.as_posix()
    data = _bytes(path)
    written: dict[str, Any] = {"timestamp": datetime.fromtimestamp(path.stat().st_mtime, UTC)}
    if form == "chat" or (form == "auto" and path.suffix.lower() in CHAT_SUFFIXES):
        return [reading.filled(written) for reading in read_chats(decode(data, name), name, name)]
    read = read_file(data, name)
    item: dict[str, Any] = {
        "content": read.text,
        "document_id": name,
        "title": read.title or path.name,
        **written,
    }
    if read.written_at is not None:
        item["timestamp"] = read.written_at
    elif _is_one_dated_turn(read.text):
        del item["timestamp"]
    if read.speaker:
        item["speaker"] = read.speaker
    return [ChatReading(name=name, items=(item,))]


def _is_one_dated_turn(text: str) -> bool:
    """Whether the text says itself when it was said, which the time of the file would hide."""
    transcript = read_transcript(text)
    return transcript is not None and [turn.said_at is not None for turn in transcript.turns] == [True]


def _bytes(path: Path) -> bytes:
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise InvalidInput(path.as_posix(), f"at most {MAX_FILE_BYTES:,} bytes", path.stat().st_size)
        return path.read_bytes()
    except OSError as error:
        raise InvalidInput(path.as_posix(), f"a file that can be read ({error.strerror})") from error
