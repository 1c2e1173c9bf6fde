"""Consolidation notes in a folder: BANK/{daily,weekly,quarterly}/DATE.md, one observation per paragraph.

Of notes that were made from memory (`perdure.domain.note`) each line is an observation, with the facts that it names.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from pathlib import Path
from urllib.parse import quote

from perdure.domain.bank import check_bank_id
from perdure.domain.fact import Fact, FactType
from perdure.domain.note import check_note_name, is_made_note, read_note_lines
from perdure.domain.time import Window
from perdure.ports.notes import NOTE_PREFIX

PERIODS = {"daily": 1, "weekly": 7, "quarterly": 92}
_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})|(\d{4})-W(\d{2})|(\d{4})-Q([1-4])", re.IGNORECASE)
_PARAGRAPHS = re.compile(r"\n\s*\n")
_HEADING = re.compile(r"^#{1,6}\s")
_WORD = re.compile(r"\w+")


class NotesFolder:
    """Reads the files at each call, so that notes written by hand count at once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find(self, bank: str, words: Sequence[str], window: Window | None) -> list[Fact]:
        """Return paragraphs that hold a word, those with most words first."""
        asked = {word.casefold() for word in words}
        matches: dict[str, tuple[int, Fact]] = {}
        for paragraph in self._paragraphs(bank):
            if window is not None and not window.overlaps(paragraph.occurred_start, paragraph.occurred_end):
                continue
            count = len(asked.intersection(_WORD.findall(paragraph.text.casefold())))
            if count:
                matches.setdefault(paragraph.text[:80], (count, paragraph))
        ordered = sorted(matches.values(), key=lambda match: (-match[0], match[1].id))
        return [paragraph for _, paragraph in ordered]

    def read(self, bank: str, ids: Sequence[str]) -> list[Fact]:
        """Return the paragraphs of `ids` in that order."""
        by_id = {paragraph.id: paragraph for paragraph in self._paragraphs(bank)}
        return [by_id[fact_id] for fact_id in ids if fact_id in by_id]

    def note_text(self, bank: str, name: str) -> str | None:
        """Return the text of a note, None when there is none of that name."""
        return _read(self._path(bank, name))

    def write_note(self, bank: str, name: str, text: str) -> bool:
        """Write a note beside its place and move it there, so that no reader sees half of it."""
        path = self._path(bank, name)
        before = _read(path)
        if before is not None and not is_made_note(before):
            return False
        if before != text:
            for folder in (self._folder, path.parent.parent, path.parent):
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            part = path.with_suffix(f".{os.getpid()}.part")
            with open(part, "w", encoding="utf-8", opener=_for_owner) as file:
                file.write(text)
            os.replace(part, path)
        return True

    def delete_note(self, bank: str, name: str) -> None:
        """Delete a note that was made from memory; its text is overwritten first."""
        path = self._path(bank, name)
        before = _read(path)
        if before is not None and is_made_note(before):
            with suppress(FileNotFoundError):
                path.write_text(" " * len(before.encode()), encoding="utf-8")
                path.unlink()

    def made_notes(self, bank: str) -> list[str]:
        """Return names of the notes that were made from memory."""
        return [
            f"{period}/{path.stem}" for period, path in self._files(bank) if is_made_note(_read(path) or "")
        ]

    def _path(self, bank: str, name: str) -> Path:
        return self._home(bank) / f"{check_note_name(name)}.md"

    def _home(self, bank: str) -> Path:
        folder = quote(check_bank_id(bank), safe="")
        return self._folder / (folder if folder.strip(".") else folder.replace(".", "%2E"))

    def _files(self, bank: str) -> Iterator[tuple[str, Path]]:
        for period in PERIODS:
            for path in sorted((self._home(bank) / period).glob("*.md")):
                yield period, path

    def _paragraphs(self, bank: str) -> Iterator[Fact]:
        for period, path in self._files(bank):
            text, source = _read(path) or "", f"{period}/{path.name}"
            start, days = _start_of(path.stem), PERIODS[period]
            if is_made_note(text):
                for line in read_note_lines(text):
                    yield _observation(bank, source, line.text, start, days, line.fact_ids)
                continue
            for part in _PARAGRAPHS.split(text):
                body = part.strip()
                if body and not (_HEADING.match(body) and "\n" not in body):
                    yield _observation(bank, source, body, start, days)


def _for_owner(path: str, flags: int) -> int:
    """Open a file that nobody else may read when it is new."""
    return os.open(path, flags, 0o600)


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return None


def _observation(
    bank: str, source: str, text: str, start: datetime | None, days: int, facts: Sequence[str] = ()
) -> Fact:
    digest = blake2b(f"{bank}\x1f{source}\x1f{text}".encode(), digest_size=12).hexdigest()
    end = start + timedelta(days=days) if start is not None else None
    return Fact(
        id=NOTE_PREFIX + digest,
        bank=bank,
        text=text.replace("\x00", ""),
        type=FactType.OBSERVATION,
        context=source,
        occurred_start=start,
        occurred_end=end,
        source_fact_ids=tuple(facts),
    )


def _start_of(name: str) -> datetime | None:
    """Return the first day of the period that a file's name gives."""
    match = _DATE.search(name)
    if match is None:
        return None
    year, month, day, week_year, week, quarter_year, quarter = match.groups()
    try:
        if year:
            return datetime(int(year), int(month), int(day), tzinfo=UTC)
        if week_year:
            return datetime.fromisocalendar(int(week_year), int(week), 1).replace(tzinfo=UTC)
        return datetime(int(quarter_year), 3 * int(quarter) - 2, 1, tzinfo=UTC)
    except ValueError:
        return None
