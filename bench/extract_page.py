"""Print what the local extractor makes of four conversations into docs/extraction.md: twenty statements with their fields."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from perdure.extract.local import LocalExtractor
from perdure.models.rule_tagger import RuleTagger
from perdure.models.spacy_tagger import choose_tagger
from perdure.ports.extractor import ExtractedFact, Turn

PAGE = Path("docs/extraction.md")
_BLOCK = re.compile(r"(<!-- bench.extract_page -->\n).*(<!-- end -->)", re.DOTALL)
SHOWN = 5
"""Statements of each conversation."""
CHATS: tuple[tuple[str, datetime, tuple[tuple[str, str], ...]], ...] = (
    ("With an assistant", datetime(2026, 5, 4, 19, tzinfo=UTC), (
        ("user", "hey, long day. jonas and i broke up on sunday, so im staying at mums till the 20th"),
        ("assistant", "I'm sorry to hear that. I moved Thursday's call with the landlord to next week."),
        ("user", "thx!! what was the number of the plumber again? also im vegan now so no more cheese recipes pls"),
        ("assistant", "The plumber is Aalto Pipes, 0171 555 0199."),
    )),
    ("Between people", datetime(2026, 2, 12, 9, tzinfo=UTC), (
        ("Moira", "did the boxes from Brackley arrive?"),
        ("Wes", "Nope. Driver says Friday. Typical."),
        ("Moira", "ok then we ship the Leeds order from the old stock. Tobias signs it off, not me, I'm in Kassel until Tuesday"),
        ("Wes", "haha good luck with that"),
        ("Wes", "fwiw Tobias left the approvals to Dan last week"),
    )),
    ("Auf Deutsch", datetime(2026, 3, 2, 18, tzinfo=UTC), (
        ("user", "Der Zahnarzt ist jetzt am 14. April um 9, nicht mehr am Montag"),
        ("assistant", "Notiert, ich habe den Termin am Montag gelöscht."),
        ("user", "wann läuft eigentlich mein Mietvertrag aus? Lena zieht ja schon im Juni aus"),
        ("user", "Und bitte keine Nüsse mehr vorschlagen, Haselnussallergie bestätigt."),
    )),
    ("En español", datetime(2026, 1, 15, 21, tzinfo=UTC), (
        ("Inés", "¿Te acuerdas de cuándo es la boda?"),
        ("Raúl", "El 9 de mayo, en Girona."),
        ("Inés", "Vale. Yo dejo el trabajo en marzo y después nos vamos a Lugo con los niños"),
        ("Raúl", "jajaja por fin"),
        ("Raúl", "Mi hermano vendió el coche ayer, así que vamos en tren"),
    )),
)  # fmt: skip


def main() -> None:
    """Extract from the conversations and write the block of the page."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    extractor = LocalExtractor(choose_tagger(), light=RuleTagger())
    block = "".join(line + "\n" for chat in CHATS for line in _section(extractor, *chat))
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(_BLOCK.sub(lambda match: f"{match[1]}{block}{match[2]}", text), encoding="utf-8")


def _section(
    extractor: LocalExtractor, title: str, said_at: datetime, lines: Sequence[tuple[str, str]]
) -> Iterator[str]:
    turns = [
        Turn(
            text=text, speaker=who, role=who if who in ("user", "assistant") else "",
            is_agent=who == "assistant", said_at=said_at,
        )
        for who, text in lines
    ]  # fmt: skip
    yield f"**{title}**, {said_at:%Y-%m-%d}\n"
    for fact in extractor.extract(turns)[:SHOWN]:
        yield f"- {turns[fact.turn].speaker}: “{fact.text}”{_details(fact)}"
    yield ""


def _details(fact: ExtractedFact) -> str:
    parts = [f"{words} = {date}" for words, date in fact.dates]
    parts += [f"{mention.text} ({mention.type})" for mention in fact.mentions]
    parts += [f"asked “{fact.asked}”"] if fact.asked else []
    parts += [fact.type.value] if fact.type.value != "world" else []
    parts += fact.flags
    return f" · {' · '.join(parts)}" if parts else ""


if __name__ == "__main__":
    main()
