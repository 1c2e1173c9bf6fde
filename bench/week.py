"""A week of simulated days: each evening the day's turns are retained and consolidated, and a page shows what memory thinks.

    python -m bench.week DATA.json [--bank NAME] [--write]

Seven sessions of a conversation become the days of one week, Monday to Sunday; the clock stands at each day's evening. Our own
conversation (bench/week_conversation.json) is shown in full, the one of DATA.json by figures, the wording of opinions and short
excerpts. What should have been believed by the end of the week is a list made by hand (bench/week_expected.json): what it has
and memory has not is shown as missed.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.page import table
from bench.truth.replay import SetClock
from perdure import Filter, Observation, OperationStatus, Opinion, Perdure, Question
from perdure.recall.doubt import doubts
from perdure.text.terms import index_terms

PAGE = Path("docs/week.md")
OWN = Path(__file__).parent / "week_conversation.json"
EXPECTED = Path(__file__).parent / "week_expected.json"
MONDAY = datetime(2026, 11, 16, tzinfo=UTC)
MORNING, EVENING = timedelta(hours=9), timedelta(hours=20)
DAYS = 7
BAR = 20
MARKS = {"supporting": "+", "weak": "~", "contradicting": "−"}
EXCERPT = 8
"""Words that are quoted of data that is not ours."""
MOST_SHOWN = 6
_IDS = re.compile(r" <!-- [^<>]* -->")


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """Who says what on which day of the week."""

    day: int
    speaker: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectations:
    """What a reader of the week would believe, and clauses that no profile should have."""

    opinions: Sequence[tuple[str, str, str]] = ()
    """(subject, word of the topic, why)"""
    questions: Sequence[tuple[str, str]] = ()
    """(subject that should have been asked about, why)"""
    needless: Sequence[tuple[str, str]] = ()
    """(beginning of a clause, what is wrong with it)"""


@dataclass(slots=True, kw_only=True)
class Week:
    """What memory held at the end, and what each evening added."""

    evenings: list[list[str]] = field(default_factory=list)
    notes: dict[str, str] = field(default_factory=dict)
    opinions: list[Opinion] = field(default_factory=list)
    told: dict[str, str] = field(default_factory=dict)
    """Fact id -> its text."""
    observations: list[Observation] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    doubts: dict[str, str] = field(default_factory=dict)
    """Fact id -> why it is doubtful."""


def read_week(path: Path, bank: str | None) -> tuple[str, list[Turn]]:
    """The first seven sessions of a bank of a file, the first one unless named."""
    banks: list[Mapping[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    chosen = next(one for one in banks if bank is None or one["bank"] == bank)
    sessions = [list(group) for _, group in groupby(chosen["items"], key=lambda item: item["session"])]
    return chosen["bank"], [
        Turn(day=day, speaker=item["speaker"], text=item["text"])
        for day, session in enumerate(sessions[:DAYS])
        for item in session
    ]


def read_expected(bank: str) -> Expectations:
    """What the hand-made list says of a bank."""
    body = json.loads(EXPECTED.read_text(encoding="utf-8")).get(bank, {})
    return Expectations(
        opinions=[(one["subject"], one["topic"], one["why"]) for one in body.get("opinions", ())],
        questions=[(one["subject"], one["why"]) for one in body.get("questions", ())],
        needless=[(one["words"], one["why"]) for one in body.get("needless", ())],
    )


@contextmanager
def opened() -> Iterator[tuple[Perdure, SetClock, Path]]:
    clock = SetClock()
    with TemporaryDirectory(prefix="perdure-week-") as folder:
        notes = Path(folder) / "notes"
        with Perdure.open(
            Path(folder) / "week.db", clock=clock, notes_folder=notes, reranker="none"
        ) as memory:
            yield memory, clock, notes


def live(bank: str, turns: Sequence[Turn]) -> Week:
    """Live through the week."""
    week = Week()
    with opened() as (memory, clock, folder):
        for number, day in groupby(turns, key=lambda turn: turn.day):
            said = list(day)
            morning = MONDAY + timedelta(days=number) + MORNING
            clock.now = MONDAY + timedelta(days=number) + EVENING
            for minute, turn in enumerate(said):
                memory.retain(
                    bank, turn.text, speaker=turn.speaker, timestamp=morning + timedelta(minutes=minute),
                    document_id=f"day-{number + 1}-{minute}",
                )  # fmt: skip
            operation = memory.operations.get(bank, memory.consolidate(bank).id, wait=600)
            if operation.status is not OperationStatus.COMPLETED:
                raise RuntimeError(operation.error)
            week.evenings.append(_evening(memory, bank, clock.now, len(said)))
        week.notes = {
            path.relative_to(folder).as_posix().partition("/")[2]: path.read_text(encoding="utf-8")
            for path in sorted(folder.rglob("*.md"))
        }
        _look(memory, bank, week)
    return week


def _evening(memory: Perdure, bank: str, now: datetime, turns: int) -> list[str]:
    facts = [fact for fact in memory.facts.iterate(bank) if fact.type.value not in ("opinion", "observation")]
    counted = (
        turns,
        len(facts),
        len(memory.opinions.list(bank)),
        len(memory.observations.list(bank)),
        len(memory.questions.list(bank)),
    )
    return [f"{now:%A}", *map(str, counted)]


def _look(memory: Perdure, bank: str, week: Week) -> None:
    everything = Filter(include_closed=True)
    week.told = {fact.id: fact.text for fact in memory.facts.iterate(bank, where=everything)}
    week.opinions = memory.opinions.list(bank)
    week.observations = memory.observations.list(bank)
    week.questions = memory.questions.list(bank)
    where = Filter().at(memory.clock())
    with memory._store.reading(bank) as reading:
        week.doubts = doubts(reading, list(memory.facts.iterate(bank)), where)


def curve_of(opinion: Opinion, told: Mapping[str, str], quote: bool) -> Iterator[str]:
    """A bar per piece of evidence: the confidence after it."""
    curve = dict(
        zip((row.fact_id for row in opinion.evidence[-len(opinion.curve()) :]), opinion.curve(), strict=True)
    )
    yield f"{opinion}"
    for row in opinion.evidence:
        after = curve.get(row.fact_id)
        bar = " " * (BAR + 5)
        if after is not None:
            cells = round(after[1] * BAR)
            bar = "█" * cells + "·" * (BAR - cells) + f" {after[1]:.2f}"
        said = f" {told[row.fact_id]}" if quote else ""
        yield f"  {row.at:%a} {MARKS[row.label.value]} {bar}{said}".rstrip()


def missed(week: Week, expected: Expectations) -> list[tuple[str, str, str]]:
    """Expected beliefs that no opinion holds."""
    return [one for one in expected.opinions if not any(_is_of(opinion, one) for opinion in week.opinions)]


def unasked(week: Week, expected: Expectations) -> list[tuple[str, str]]:
    """Conflicts that memory should have asked about."""
    asked = {question.subject for question in week.questions}
    return [one for one in expected.questions if one[0] not in asked]


def beyond(week: Week, expected: Expectations) -> list[Opinion]:
    """Opinions that nobody expected."""
    return [
        opinion for opinion in week.opinions if not any(_is_of(opinion, one) for one in expected.opinions)
    ]


def _is_of(opinion: Opinion, expected: tuple[str, str, str]) -> bool:
    subject, topic, _ = expected
    return opinion.subject == subject and set(index_terms(topic)) <= set(index_terms(opinion.statement))


def needless(week: Week, expected: Expectations) -> list[tuple[str, str]]:
    """(clause, what is wrong with it) of those judged so by hand that are in a profile now."""
    clauses = [clause.text for one in week.observations for clause in one.clauses]
    judged = [
        (clause, why) for words, why in expected.needless for clause in clauses if clause.startswith(words)
    ]
    return list(dict.fromkeys(judged))


def bare(note: str) -> list[str]:
    """The lines of a note without the ids of its facts and without its mark."""
    return [_IDS.sub("", line) for line in note.splitlines() if line.strip() and not line.startswith("<!--")]


def excerpt(text: str) -> str:
    words = text.split()
    return text if len(words) <= EXCERPT else " ".join(words[:EXCERPT]) + " …"


def days_table(week: Week) -> list[str]:
    head = ("evening of", "turns", "facts so far", "opinions", "observations", "open questions")
    return table(head, week.evenings)


def own_part(bank: str, turns: Sequence[Turn]) -> list[str]:
    """The whole week of our own conversation."""
    week, expected = live(bank, turns), read_expected(bank)
    daily = sorted(name for name in week.notes if name.startswith("daily/"))
    lines = [
        f"## Our own week: {len(turns)} turns of two friends",
        "",
        *days_table(week),
        "",
        f"Notes written: {', '.join(f'`{name}`' for name in sorted(week.notes))}. Behind every line of a file stand the ids of"
        " its facts in a comment, left out here.",
        "",
    ]
    saturday = next((name for name in daily if "-21" in name), daily[-1])
    weekly = next(name for name in week.notes if name.startswith("weekly/"))
    for name, note in ((saturday, bare(week.notes[saturday])), (weekly, bare(week.notes[weekly]))):
        lines += [f"`{name}`:", "", "```markdown", *note, "```", ""]
    lines += ["### Opinions and their curves", "", "```text"]
    for opinion in week.opinions:
        lines += curve_of(opinion, week.told, quote=True)
    lines += ["```", "", "### Observations and their proofs", ""]
    for one in week.observations:
        lines += [f"**{one.name}**, {one.proof_count} proofs:", ""]
        lines += [
            f"- {clause.text} ({clause.proofs}×: {'; '.join(week.told[fact] for fact in clause.fact_ids)})"
            for clause in one.clauses
        ]
        lines.append("")
    lines += ["### Questions and doubts", ""]
    lines += [f"- Question: {one.text}" for one in week.questions] or ["- No question is open."]
    lines += [f"- Doubtful: {week.told[fact]} ({why})" for fact, why in week.doubts.items()] or [
        "- Nothing is doubtful."
    ]
    return [*lines, "", *miss_part(week, expected, quote=True)]


def miss_part(week: Week, expected: Expectations, *, quote: bool) -> list[str]:
    """What should have been believed and is not, and what should not have been."""
    gone = missed(week, expected)
    formed = len(expected.opinions) - len(gone)
    lines = [
        "### The misses",
        "",
        f"Of {len(expected.opinions)} beliefs that a reader of the week would hold (a list made by hand), {formed} were formed.",
        "",
        *(f"- Missed: {subject}, {topic}: {why}." for subject, topic, why in gone),
        *(f"- Not asked: {subject}: {why}." for subject, why in unasked(week, expected)),
        *(f"- Formed, and on nobody's list: {opinion}." for opinion in beyond(week, expected)),
    ]
    lines += [
        f"- Needless in a profile: “{clause if quote else excerpt(clause)}”: {why}."
        for clause, why in needless(week, expected)
    ]
    return [*lines, ""]


def real_part(bank: str, turns: Sequence[Turn], source: str) -> list[str]:
    """Figures, the wording of opinions and a few excerpts of somebody else's conversation."""
    week, expected = live(bank, turns), read_expected(bank)
    clauses = [clause for one in week.observations for clause in one.clauses]
    notes = {
        period: [n for n in week.notes if n.startswith(period)] for period in ("daily", "weekly", "quarterly")
    }
    lines = [
        f"## A real conversation: {source}, {bank}",
        "",
        f"Its first {DAYS} sessions, {len(turns)} turns, as the days of one week. The text is not ours (LoCoMo, CC BY-NC 4.0), so"
        " nothing longer than a clause of it is quoted.",
        "",
        *days_table(week),
        "",
        "Notes: " + ", ".join(f"{len(names)} {period}" for period, names in notes.items())
        + f" with {sum(len(bare(week.notes[name])) for name in notes['daily'])} lines in the daily ones."
        + f" Observations: {len(week.observations)} with {len(clauses)} clauses, {sum(c.proofs > 1 for c in clauses)} of them"
        f" proven more than once. Questions: {len(week.questions)}. Doubtful facts: {len(week.doubts)}.",
        "",
        "### Opinions and their curves",
        "",
        "```text",
    ]  # fmt: skip
    for opinion in week.opinions:
        lines += curve_of(opinion, week.told, quote=False)
    lines += ["```", "", "### Observations, in excerpts", ""]
    for one in week.observations[:MOST_SHOWN]:
        shown = [f"“{excerpt(clause.text)}” ({clause.proofs}×)" for clause in one.clauses[:2]]
        lines.append(f"- {one.name}, {one.proof_count} proofs: {'; '.join(shown)}")
    lines += [f"- Question: {excerpt(one.text)}" for one in week.questions[:MOST_SHOWN]]
    return [*lines, "", *miss_part(week, expected, quote=False)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="a file of conversations, such as locomo.json")
    parser.add_argument("--bank", help="which of them [the first]")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE}")
    chosen = parser.parse_args()
    name = chosen.data.stem
    lines = [
        "# A week of memory",
        "",
        f"Made by `python -m bench.week {chosen.data.name} --write`. Each evening at eight, by a clock that is set, the day's turns"
        " are retained and consolidated into a temporary folder; nothing asks a language model. What"
        " [opinions](opinions.md) and [consolidation](consolidation.md) promise can be seen here at work, and where it fails."
        " Nothing here is held out: the rules of opinions were mended with both conversations in sight, and one belief came onto the list of the real one after a run had formed it.",
        "",
        *own_part(*read_week(OWN, None)),
        *real_part(*read_week(chosen.data, chosen.bank), source=name),
    ]
    text = "\n".join(lines).rstrip() + "\n"
    if chosen.write:
        PAGE.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
