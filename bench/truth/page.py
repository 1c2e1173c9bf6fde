"""Writes the ten inputs of docs/truth.md: what was stored of each, what was closed and why, and what a question then brings.

    python -m bench.truth.page

`python -m bench.truth --page` writes the figures of the same page.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.page import write_section
from bench.truth.replay import SetClock, open_replay
from perdure import Fact, Filter, Item, Perdure
from perdure.dates import describe_window

PAGE = Path("docs/truth.md")
ASKED_AFTER = timedelta(days=10)


@dataclass(frozen=True, slots=True)
class Said:
    """A turn: day, speaker, words; `role` and `trust` as retain takes them."""

    day: str
    speaker: str
    text: str
    role: str = "user"
    trust: int = 2


@dataclass(frozen=True, slots=True)
class Story:
    """Turns, what a careful reader expects of them, and questions with the words that the first answer should hold."""

    title: str
    expected: str
    turns: Sequence[Said]
    asked: Sequence[tuple[str, str]]


STORIES = (
    Story(
        "A move",
        "Oslo ends when Lisbon begins; the past is still found.",
        (
            Said("2025-05-03", "Ann", "I live in Oslo, close to the harbour."),
            Said("2026-04-10", "Ann", "Big news! We moved to Lisbon on April 2nd."),
        ),
        (("Where does Ann live?", "Lisbon"), ("Where did Ann live in 2025?", "Oslo")),
    ),
    Story(
        "A correction",
        "The first number never was hers: it is retired, not ended.",
        (
            Said("2026-02-01", "Ann", "My phone number is 0171 555 0199."),
            Said("2026-02-01", "Ann", "Sorry, I meant 0171 555 0189."),
        ),
        (("What is Ann's phone number?", "0189"),),
    ),
    Story(
        "An end without a successor",
        "The relationship is over and nobody takes the place.",
        (
            Said("2025-09-14", "Ben", "My girlfriend Mia works nights at the hospital."),
            Said("2026-01-20", "Ben", "Mia and I broke up last week."),
        ),
        (("Is Ben still together with Mia?", "broke up"),),
    ),
    Story(
        "Dates as they were meant",
        "The past of turned, the future of flying; nine out of ten is no date.",
        (
            Said("2026-03-20", "Ann", "Lena turned 5 on March 4th. I'd give the party 9/10."),
            Said("2026-03-20", "Ann", "We're flying to Rome on the 2nd, back on Easter Monday."),
        ),
        (("When does Ann fly to Rome?", "Rome"),),
    ),
    Story(
        "Several statements in one turn, and an answer",
        "Each statement is a fact of its own; the yes becomes a statement.",
        (
            Said("2024-03-14", "Priya", "What about the job at Umicore?", ""),
            Said(
                "2024-03-14",
                "Tomas",
                "Quit in January. I work at a small bakery now, and my sister Elif helps on weekends.",
            ),
            Said("2024-03-14", "Priya", "Are you still allergic to hazelnuts?", ""),
            Said("2024-03-14", "Tomas", "Yes, sadly."),
        ),
        (("Where does Tomas work?", "bakery"), ("What is Tomas allergic to?", "hazelnuts")),
    ),
    Story(
        "Nothing that closes",
        "A plan, another slot, a visit, an if: Oslo stays.",
        (
            Said("2026-01-05", "Ann", "I live in Oslo."),
            Said("2026-01-09", "Ann", "I finally moved to Linux."),
            Said("2026-02-01", "Ann", "We're thinking of moving to Porto next year."),
            Said("2026-02-11", "Ann", "I'm in Berlin for the weekend."),
            Said("2026-02-20", "Ann", "If I lived in Rome, I'd eat ice cream every day."),
        ),
        (("Where does Ann live?", "Oslo"),),
    ),
    Story(
        "Trust, and what others say",
        "A source of low trust and another person close nothing; the conflict is shown.",
        (
            Said("2026-01-05", "Alice", "I live in Oslo.", "user", 3),
            Said("2026-01-09", "", "Alice lives in Pyongyang.", "", 0),
            Said("2026-02-01", "Bob", "Alice lives in Madrid, I think.", ""),
        ),
        (("Where does Alice live?", "Oslo"),),
    ),
    Story(
        "A project",
        "The version and the date change; the owner too.",
        (
            Said("2026-01-05", "Ravi", "The billing service runs on Postgres 14. Sofia owns the migration."),
            Said("2026-03-02", "Ravi", "We upgraded the billing service to Postgres 16 yesterday."),
            Said("2026-03-03", "Ravi", "Jon has taken over the migration from Sofia."),
        ),
        (("Which Postgres does the billing service use?", "16"), ("Who owns the migration?", "Jon")),
    ),
    Story(
        "Three languages",
        "German, Spanish and French changes are noticed too.",
        (
            Said("2025-06-01", "Jonas", "Ich wohne in Köln und arbeite bei Ford."),
            Said("2026-02-14", "Jonas", "Seit Februar wohne ich in Hamburg."),
            Said("2025-06-03", "Lucía", "Trabajo en Iberia."),
            Said("2026-03-01", "Lucía", "Ya no trabajo en Iberia, ahora estoy en Renfe."),
            Said("2025-06-05", "Luc", "J'habite à Lyon."),
            Said("2026-03-03", "Luc", "J'ai déménagé à Nantes le mois dernier."),
        ),
        (("Wo wohnt Jonas?", "Hamburg"), ("¿Dónde trabaja Lucía?", "Renfe"), ("Où habite Luc ?", "Nantes")),
    ),
    Story(
        "Quoted words and filler",
        "The quotation is not touched, and praise is no fact.",
        (
            Said("2026-04-01", "user", 'My boss wrote: "I will be in Paris on Friday, call me tomorrow."'),
            Said(
                "2026-04-01",
                "assistant",
                "That sounds like a busy week! Let me know if I can help.",
                "assistant",
            ),
        ),
        (("What did the user's boss write?", "Paris"),),
    ),
)


def main() -> None:
    with open_replay() as (memory, clock):
        lines = [
            line for number, story in enumerate(STORIES) for line in _section(memory, clock, number, story)
        ]
    write_section("inputs", lines, PAGE)


def _section(memory: Perdure, clock: SetClock, number: int, story: Story) -> Iterator[str]:
    bank = f"story-{number}"
    for position, said in enumerate(story.turns):
        moment = datetime.fromisoformat(f"{said.day}T09:{position:02}:00+00:00")
        clock.now = max(clock.now, moment) if position else moment
        item = Item(
            content=said.text,
            speaker=said.speaker,
            role=said.role,
            trust=said.trust,
            timestamp=moment,
            document_id=f"{said.day}",
        )
        memory.retain(bank, [item], update_mode="append")
    clock.now += ASKED_AFTER
    yield from (f"### {number + 1}. {story.title}", "")
    yield from (f"> **{said.speaker or 'no speaker'}** ({said.day}): {said.text}  " for said in story.turns)
    yield from ("", f"Expected: {story.expected}", "")
    facts = sorted(
        memory.facts.iterate(bank, where=Filter(include_closed=True)),
        key=lambda fact: (fact.mentioned_at or datetime.min.replace(tzinfo=UTC), fact.ordinal),
    )
    by_id = {fact.id: fact for fact in facts}
    yield from (f"- {_shown(fact, by_id)}" for fact in facts)
    yield ""
    for question, words in story.asked:
        result = memory.recall(bank, question, asked_at=clock.now)
        first = result.recollections[0] if result.recollections else None
        verdict = "right" if first is not None and words.casefold() in first.text.casefold() else "**miss**"
        notes = f" ({'; '.join(first.notes)})" if first is not None and first.notes else ""
        yield f"*{question}* {first.text if first is not None else 'nothing'}{notes} · {verdict}  "
    yield ""


def _shown(fact: Fact, by_id: dict[str, Fact]) -> str:
    parts = [fact.text]
    if fact.occurred is not None:
        marks = "".join(f", {flag}" for flag in ("planned", "unsure_date") if flag in fact.flags)
        parts.append(f"when: {describe_window(fact.occurred)}{marks}")
    if fact.subject and fact.relation:
        parts.append(f"{fact.subject} → {fact.relation} → {fact.object or '…'}")
    by = by_id.get(fact.superseded_by or "")
    if fact.retired_at is not None:
        parts.append(f"**taken back** by “{by.text}”" if by else "**taken back**")
    elif fact.valid_to is not None:
        parts.append(f"**until {fact.valid_to:%Y-%m-%d}**" + (f", then “{by.text}”" if by else ""))
    return " · ".join(parts)


if __name__ == "__main__":
    main()
