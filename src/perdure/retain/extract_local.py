"""The local extractor: rules over a tagger's sentences, no LLM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from perdure.ports.extractor import ExtractedFact, Turn
from perdure.ports.tagger import Sentence, Tagger
from perdure.retain.local.answers import last_question, needs_question
from perdure.retain.local.emotion import read_emotion
from perdure.retain.local.facts import Group, Shape, group_units
from perdure.retain.local.instructions import INSTRUCTION, reads_like_instructions
from perdure.retain.local.kinds import kind_of
from perdure.retain.local.language import language_of
from perdure.retain.local.mentions import find_mentions
from perdure.retain.local.pronouns import people_in, put_name
from perdure.retain.local.render import Scene, write_fact
from perdure.retain.local.times import when, with_absolute_dates
from perdure.retain.local.topic import topic_of
from perdure.retain.local.units import Unit, lay_out, read_units
from perdure.retain.local.voice import Voice, addressees, voice_of


@dataclass(frozen=True, slots=True)
class _Reading:
    """A turn as it was read."""

    index: int
    turn: Turn
    units: list[Unit]
    speaker: Voice | None
    other: Voice | None
    language: str


class LocalExtractor:
    """Draws narrative facts from turns with rules and a tagger."""

    def __init__(self, tagger: Tagger, shape: Shape | None = None) -> None:
        self._tagger = tagger
        self._shape = shape or Shape()

    @property
    def name(self) -> str:
        """Name of the extractor."""
        return "local"

    def extract(self, turns: Sequence[Turn]) -> list[ExtractedFact]:
        """Facts in the order of their turns; small talk gives none."""
        names = sorted({turn.speaker for turn in turns if turn.speaker.strip()})
        small_names = frozenset(word for name in names for word in name.casefold().split())
        facts: list[ExtractedFact] = []
        before: _Reading | None = None
        for reading in self._read(turns, names):
            if reading.turn.fresh:
                facts.extend(self._facts(reading, before, small_names))
            before = reading
        return facts

    def _read(self, turns: Sequence[Turn], names: Sequence[str]) -> list[_Reading]:
        wanted = _needed(turns)
        layouts = [lay_out(turns[index].text) for index in wanted]
        texts = [layout.texts() for layout in layouts]
        tagged: list[list[Sentence]] = self._tagger.tag([text for part in texts for text in part], names)
        ends = list(accumulate(len(part) for part in texts))
        others = addressees(turns)
        return [
            _Reading(
                index,
                turns[index],
                read_units(layout, tagged[end - len(part) : end]),
                voice_of(turns[index].speaker),
                others[index],
                language_of(turns[index].text),
            )
            for index, layout, part, end in zip(wanted, layouts, texts, ends, strict=True)
        ]

    def _facts(
        self, reading: _Reading, before: _Reading | None, names: frozenset[str]
    ) -> list[ExtractedFact]:
        question, asker = _asked(reading, before, names)
        units = reading.units
        groups = group_units(units, () if question else names, self._shape)
        facts: list[ExtractedFact] = []
        told: list[Unit] = []
        for position, group in enumerate(groups):
            joined = question if position == 0 and question and needs_question(group.units[0]) else ""
            facts.append(self._fact(reading, before, group, told, joined, asker))
            told.extend(group.units)
        return facts

    def _fact(
        self,
        reading: _Reading,
        before: _Reading | None,
        group: Group,
        told: Sequence[Unit],
        question: str,
        asker: Voice | None,
    ) -> ExtractedFact:
        turn = reading.turn
        scene = Scene(
            speaker=reading.speaker,
            other=reading.other,
            is_agent=turn.is_agent,
            question=question,
            asker=asker,
            title=turn.title,
            english=reading.language == "en",
        )
        context = told[-3:] or (before.units[-3:] if before is not None else [])
        people = people_in(context, reading.speaker)
        source = turn.text[group.start : group.end]
        text = with_absolute_dates(
            write_fact(group, scene, lambda unit, text: put_name(text, people)), turn.said_at
        )
        kind = kind_of(
            source, is_agent=turn.is_agent, is_question=all(unit.is_question for unit in group.units)
        )
        emotion, emotion_tags = read_emotion(source)
        known = [
            (voice.name, "person")
            for voice in (reading.speaker, reading.other)
            if voice and not voice.is_role
        ]
        return ExtractedFact(
            text=text,
            turn=reading.index,
            source_text=source,
            start=group.start,
            type=kind.type,
            mentions=find_mentions(
                text, [mention for unit in group.units for mention in unit.mentions], known
            ),
            occurred=when(source, turn.said_at),
            confidence=kind.confidence,
            emotion=emotion,
            emotion_tags=emotion_tags,
            topic=topic_of(source),
            language=reading.language,
            flags=(INSTRUCTION,) if reads_like_instructions(source) else (),
        )


def _needed(turns: Sequence[Turn]) -> list[int]:
    """Indices of the turns to read: the fresh ones and the one before each."""
    return [
        index
        for index, turn in enumerate(turns)
        if turn.fresh or (index + 1 < len(turns) and turns[index + 1].fresh)
    ]


def _asked(reading: _Reading, before: _Reading | None, names: frozenset[str]) -> tuple[str, Voice | None]:
    """The question that the turn before put to this speaker."""
    if before is None or before.index + 1 != reading.index or before.turn.speaker == reading.turn.speaker:
        return "", None
    if reading.speaker is None:
        return "", None
    return last_question(before.units, names), before.speaker
