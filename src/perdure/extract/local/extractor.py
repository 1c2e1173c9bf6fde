"""The local extractor: rules over a tagger's sentences, no LLM."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from perdure.extract.local.answers import is_reply, last_question, needs_question
from perdure.extract.local.causes import find_causes
from perdure.extract.local.emotion import read_emotion
from perdure.extract.local.facts import Group, Shape, group_units
from perdure.extract.local.instructions import INSTRUCTION, reads_like_instructions
from perdure.extract.local.kinds import kind_of
from perdure.extract.local.mentions import find_aliases, find_mentions
from perdure.extract.local.pronouns import people_in, put_name
from perdure.extract.local.reading import Reading, needed_turns, read_in_steps
from perdure.extract.local.render import Scene, write_fact
from perdure.extract.local.times import valid_while, when, with_absolute_dates
from perdure.extract.local.topic import topic_of
from perdure.extract.local.units import Unit
from perdure.ports.extractor import Cause, ExtractedFact, Triple, Turn
from perdure.ports.tagger import Mention, Tagger

_CONTEXT_UNITS = 3


class LocalExtractor:
    """Draws narrative facts from turns with rules and a tagger.

    A `light` tagger, when given, reads the agent's own turns instead: often long, and seldom telling about anybody.
    """

    def __init__(self, tagger: Tagger, shape: Shape | None = None, light: Tagger | None = None) -> None:
        self._tagger = tagger
        self._light = light
        self._shape = shape or Shape()

    @property
    def name(self) -> str:
        """Name of the extractor."""
        return "local"

    def extract(self, turns: Sequence[Turn]) -> list[ExtractedFact]:
        """Facts in the order of their turns; small talk gives none."""
        return self.extract_many([turns])[0]

    def extract_many(self, documents: Sequence[Sequence[Turn]]) -> list[list[ExtractedFact]]:
        """`extract` for several documents, their turns tagged together."""
        facts: list[list[ExtractedFact]] = [[] for _ in documents]
        for step in self.extract_in_steps(documents):
            for number, fact in step:
                facts[number].append(fact)
        return facts

    def extract_in_steps(
        self, documents: Sequence[Sequence[Turn]]
    ) -> Iterator[list[tuple[int, ExtractedFact]]]:
        """The same facts in the same order with their document's number, as soon as some turns are read."""
        names = [
            frozenset(w for index in needed_turns(turns) for w in turns[index].speaker.casefold().split())
            for turns in documents
        ]
        count = [0] * len(documents)
        before: tuple[int, Reading] | None = None
        for readings in read_in_steps(self._tagger, documents, self._light):
            step: list[tuple[int, ExtractedFact]] = []
            for number, reading in readings:
                if reading.turn.fresh:
                    last = before[1] if before is not None and before[0] == number else None
                    facts = self._turn(reading, last, names[number], first=count[number])
                    count[number] += len(facts)
                    step += [(number, fact) for fact in facts]
                before = (number, reading)
            yield step

    def _turn(
        self, reading: Reading, before: Reading | None, names: frozenset[str], first: int
    ) -> list[ExtractedFact]:
        asker = _asker(reading, before)
        question = last_question(asker.units, names) if asker is not None else ""
        replies = bool(question and reading.units) and is_reply(reading.units[0])
        groups = group_units(reading.units, names, self._shape, reading.stands_alone, keep_first=replies)
        told: list[Unit] = list(before.units) if before is not None else []
        facts = []
        for position, group in enumerate(groups):
            joined = question if position == 0 and question and needs_question(group.units[0]) else ""
            scene = Scene(
                speaker=reading.speaker,
                other=reading.other,
                is_agent=reading.turn.is_agent,
                question=joined,
                asker=asker.speaker if asker is not None else None,
                title=reading.turn.title,
                english=reading.language == "en",
                tell=reading.tell,
            )
            facts.append(_fact(reading, group, scene, told[-_CONTEXT_UNITS:]))
            told.extend(group.units)
        return _with_causes(facts, groups, first)


def _fact(reading: Reading, group: Group, scene: Scene, context: Sequence[Unit]) -> ExtractedFact:
    turn = reading.turn
    people = people_in(context, reading.speaker)
    source = turn.text[group.start : group.end]
    written = write_fact(group, scene, lambda unit, text: put_name(text, people))
    text = with_absolute_dates(written, turn.said_at) or source
    asked = all(unit.is_question for unit in group.units)
    kind = kind_of(source, is_agent=turn.is_agent, is_question=asked)
    emotion, emotion_tags = read_emotion(source)
    occurred = when(source, turn.said_at)
    triple, stated_in = _triple(reading, group)
    known = [
        (voice.name, "person") for voice in (reading.speaker, reading.other) if voice and not voice.is_role
    ]
    if turn.title:
        known.append((turn.title, "concept"))
    return ExtractedFact(
        text=text,
        turn=reading.index,
        source_text=source,
        start=group.start,
        type=kind.type,
        mentions=find_mentions(text, _tagged(reading, group), known),
        aliases=find_aliases(source),
        triple=triple,
        occurred=occurred,
        valid=valid_while(triple, when(stated_in, turn.said_at) if triple else None, turn.said_at),
        confidence=kind.confidence,
        emotion=emotion,
        emotion_tags=emotion_tags,
        topic=topic_of(source),
        language=reading.language,
        flags=(INSTRUCTION,) if reads_like_instructions(source) else (),
    )


def _tagged(reading: Reading, group: Group) -> list[Mention]:
    """The tagger's mentions; of other languages, whose nouns an English model takes for names, only the firm ones."""
    found = [mention for unit in group.units for mention in unit.mentions]
    if reading.language == "en":
        return found
    return [mention for mention in found if mention.type != "concept"]


def _asker(reading: Reading, before: Reading | None) -> Reading | None:
    """The reading of the turn before, when another speaker may have asked this one something."""
    if before is None or reading.speaker is None or before.index + 1 != reading.index:
        return None
    return before if before.turn.speaker != reading.turn.speaker else None


def _triple(reading: Reading, group: Group) -> tuple[Triple | None, str]:
    """The surest relation among the group's sentences, and the sentence that states it.

    A single-valued one must not close more than itself says.
    """
    found = [(triple, unit.text) for unit in group.units for triple in reading.triples(unit)]
    if not found:
        return None, ""
    return next((pair for pair in found if pair[0].single_valued), found[0])


def _with_causes(facts: Sequence[ExtractedFact], groups: Sequence[Group], first: int) -> list[ExtractedFact]:
    """The facts of a turn with what brought them about; `first` is the first one's index in the document."""
    caused = list(facts)
    for link in find_causes([group.units for group in groups]):
        cause = Cause(cause=first + link.cause, confidence=link.confidence)
        effect = caused[link.effect]
        caused[link.effect] = replace(effect, causes=(*effect.causes, cause))
    return caused
