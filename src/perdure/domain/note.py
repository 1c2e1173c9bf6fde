"""Notes: what happened in a day, a week or a quarter, as Markdown whose every line names its facts.

    # 2026-11-16

    <!-- perdure note 1: made from memory, changes to this file are lost -->

    ## What happened

    - Ann moved to Lisbon. <!-- 019a8f6e-0000-7000-8000-000000000001 -->

    ## What changed

    - Ann lives in Berlin. Until 2026-11-16, then: Lisbon <!-- 019a8f6e-... 019a8f6f-... -->

Sections without lines are left out. A file that does not begin so is never written over.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from perdure.domain.inert import NOTHING_VISIBLE, inert
from perdure.domain.time import Window
from perdure.errors import InvalidInput

MARK = "<!-- perdure note 1: made from memory, changes to this file are lost -->"
PERIODS = ("daily", "weekly", "quarterly")
HAPPENED, CHANGED, PLANNED, OPEN = "What happened", "What changed", "What is planned", "Open questions"
SECTIONS = (HAPPENED, CHANGED, PLANNED, OPEN)
_NAME = re.compile(r"(daily)/(\d{4})-(\d{2})-(\d{2})|(weekly)/(\d{4})-W(\d{2})|(quarterly)/(\d{4})-Q([1-4])")
_LINE = re.compile(r"- (.*?)\s*<!-- ([^<>]*) -->\s*$")


@dataclass(frozen=True, slots=True)
class NoteLine:
    """One line of a note and the facts that it cites."""

    text: str
    fact_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A note; its name is `daily/2026-11-16`, `weekly/2026-W47` or `quarterly/2026-Q4`."""

    bank: str
    name: str
    sections: tuple[tuple[str, tuple[NoteLine, ...]], ...] = ()

    @property
    def lines(self) -> tuple[NoteLine, ...]:
        return tuple(line for _, lines in self.sections for line in lines)

    @property
    def fact_ids(self) -> tuple[str, ...]:
        """Return the facts that the note cites, each once."""
        return tuple(dict.fromkeys(fact_id for line in self.lines for fact_id in line.fact_ids))

    @property
    def text(self) -> str:
        """Return the note as Markdown."""
        return str(self)

    def __str__(self) -> str:
        parts = [f"# {self.name.partition('/')[2]}", MARK]
        for heading, lines in self.sections:
            if lines:
                told = [f"- {_harmless(line.text)} <!-- {' '.join(line.fact_ids)} -->" for line in lines]
                parts += [f"## {heading}", "\n".join(told)]
        return "\n\n".join(parts) + "\n"


def _harmless(text: str) -> str:
    """Return the text on one line, unable to open a comment or to steer a model that reads it."""
    return inert(text) or NOTHING_VISIBLE


def is_made_note(text: str) -> bool:
    """Return whether a file was generated from memory."""
    return MARK in text[:400]


def read_note_lines(text: str) -> Iterator[NoteLine]:
    """Yield the lines of a generated note."""
    for line in text.splitlines():
        match = _LINE.match(line)
        if match and match[1]:
            yield NoteLine(match[1], tuple(match[2].split()))


def read_note(bank: str, name: str, text: str) -> Note:
    """Parse a note file."""
    sections: list[tuple[str, tuple[NoteLine, ...]]] = []
    for part in text.split("\n## ")[1:]:
        heading, _, lines = part.partition("\n")
        sections.append((heading.strip(), tuple(read_note_lines(lines))))
    return Note(bank=bank, name=name, sections=tuple(sections))


def check_note_name(name: object) -> str:
    """Return the name; raise `InvalidInput` if it names no note."""
    if not isinstance(name, str) or note_window(name) is None:
        raise InvalidInput("note", "a name like daily/2026-11-16, weekly/2026-W47 or quarterly/2026-Q4", name)
    return name


def note_window(name: str) -> Window | None:
    """Return the period of a note, or None if the name is not one of a note."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    try:
        if match[1]:
            start = datetime(int(match[2]), int(match[3]), int(match[4]), tzinfo=UTC)
            return Window(start, start + timedelta(days=1))
        if match[5]:
            start = datetime.fromisocalendar(int(match[6]), int(match[7]), 1).replace(tzinfo=UTC)
            return Window(start, start + timedelta(days=7))
        year, quarter = int(match[9]), int(match[10])
        start = datetime(year, 3 * quarter - 2, 1, tzinfo=UTC)
        following = (year, 3 * quarter + 1) if quarter < 4 else (year + 1, 1)
        return Window(start, datetime(*following, 1, tzinfo=UTC))
    except (ValueError, OverflowError):
        return None


def note_names(moment: datetime) -> tuple[str, str, str]:
    """Return the notes of a moment's day, week and quarter."""
    day = moment.astimezone(UTC)
    year, week, _ = day.isocalendar()
    return (
        f"daily/{day:%Y-%m-%d}",
        f"weekly/{year:04d}-W{week:02d}",
        f"quarterly/{day.year:04d}-Q{(day.month + 2) // 3}",
    )


def sections(lines: Iterable[tuple[str, NoteLine]]) -> tuple[tuple[str, tuple[NoteLine, ...]], ...]:
    """Group lines by section, in the order of SECTIONS, without empty ones."""
    told: dict[str, list[NoteLine]] = {}
    for heading, line in lines:
        told.setdefault(heading, []).append(line)
    return tuple((heading, tuple(told[heading])) for heading in SECTIONS if heading in told)


def newest_first(names: Sequence[str]) -> list[str]:
    """Sort names of notes by period, the latest of each first."""
    return sorted(sorted(names, reverse=True), key=lambda name: PERIODS.index(name.partition("/")[0]))
