"""The local extractor: rules over a tagger's sentences, without a language model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from perdure.extract.local.causes import find_causes
from perdure.extract.local.emotion import read_emotion
from perdure.extract.local.grouping import Group, Shape, group_units
from perdure.extract.local.kinds import INSTRUCTION, kind_of, reads_like_instructions
from perdure.extract.local.language import language_of
from perdure.extract.local.mentions import find_aliases, find_mentions
from perdure.extract.local.persons import Rewritten, in_third_person, people_in, put_name
from perdure.extract.local.relations import find_triples
from perdure.extract.local.render import Scene, write_fact
from perdure.extract.local.smalltalk import is_reply, last_question, needs_question
from perdure.extract.local.times import valid_while, when, with_absolute_dates
from perdure.extract.local.topic import topic_of
from perdure.extract.local.units import Layout, Unit, lay_out, read_units
from perdure.ports.extractor import Cause, ExtractedFact, Triple, Turn
from perdure.ports.tagger import Mention, Sentence, Tagger
from perdure.text.voice import Voice, addressees, voice_of

_CONTEXT_UNITS = 3
"""Sentences before a fact in which the person that "he" or "she" stands for is looked for."""
_FIRST_STEP, _LARGEST_STEP = 500, 16_000
"""Characters that are tagged together."""

Place = tuple[int, int]
"""Number of a document and index of a turn in it."""


class LocalExtractor:
    """Extracts narrative facts from turns with rules and a tagger.

    With a `light` tagger, that one reads the agent's own turns, which are often long and seldom tell about anybody.
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
        """The facts of `extract_many` with their document's number, as soon as some turns are read."""
        names = [
            frozenset(w for index in _needed_turns(turns) for w in turns[index].speaker.casefold().split())
            for turns in documents
        ]
        counts = [0] * len(documents)
        before: tuple[int, Reading] | None = None
        for readings in _read_in_steps(self._tagger, documents, self._light):
            step: list[tuple[int, ExtractedFact]] = []
            for number, reading in readings:
                if reading.turn.fresh:
                    previous = before[1] if before is not None and before[0] == number else None
                    facts = self._turn(reading, previous, names[number], counts[number])
                    counts[number] += len(facts)
                    step += [(number, fact) for fact in facts]
                before = (number, reading)
            yield step

    def _turn(
        self, reading: Reading, previous: Reading | None, names: frozenset[str], first: int
    ) -> list[ExtractedFact]:
        """The facts of a turn; `first` is the first one's index in the document."""
        asker = _asker(reading, previous)
        question = last_question(asker.units, names) if asker is not None else ""
        replies = bool(question and reading.units) and is_reply(reading.units[0])
        groups = group_units(reading.units, names, self._shape, reading.stands_alone, keep_first=replies)
        units_so_far: list[Unit] = list(previous.units) if previous is not None else []
        facts = []
        for position, group in enumerate(groups):
            answers = position == 0 and question and needs_question(group.units[0])
            scene = Scene(
                speaker=reading.speaker,
                other=reading.other,
                is_agent=reading.turn.is_agent,
                question=question if answers else "",
                asker=asker.speaker if asker is not None else None,
                title=reading.turn.title,
                english=reading.language == "en",
                in_third_person=reading.in_third_person,
            )
            facts.append(_fact(reading, group, scene, units_so_far[-_CONTEXT_UNITS:]))
            units_so_far.extend(group.units)
        return _with_causes(facts, groups, first)


def _fact(reading: Reading, group: Group, scene: Scene, context: Sequence[Unit]) -> ExtractedFact:
    turn = reading.turn
    people = people_in(context, reading.speaker)
    source = turn.text[group.start : group.end]
    written = write_fact(group, scene, lambda text: put_name(text, people))
    text = with_absolute_dates(written, turn.said_at) or source
    is_question = all(unit.is_question for unit in group.units)
    kind = kind_of(source, is_agent=turn.is_agent, is_question=is_question)
    emotion, emotion_tags = read_emotion(source)
    triple, stated_in = _triple(reading, group)
    names = [
        (voice.name, "person") for voice in (reading.speaker, reading.other) if voice and not voice.is_role
    ]
    if turn.title:
        names.append((turn.title, "concept"))
    return ExtractedFact(
        text=text,
        turn=reading.index,
        source_text=source,
        start=group.start,
        type=kind.type,
        mentions=find_mentions(text, _tagged_mentions(reading, group), names),
        aliases=find_aliases(source),
        triple=triple,
        occurred=when(source, turn.said_at),
        valid=valid_while(triple, when(stated_in, turn.said_at) if triple else None, turn.said_at),
        confidence=kind.confidence,
        emotion=emotion,
        emotion_tags=emotion_tags,
        topic=topic_of(source),
        language=reading.language,
        flags=(INSTRUCTION,) if reads_like_instructions(source) else (),
    )


def _tagged_mentions(reading: Reading, group: Group) -> list[Mention]:
    """The tagger's mentions; of other languages, whose nouns an English model takes for names, only the firm ones."""
    mentions = [mention for unit in group.units for mention in unit.mentions]
    if reading.language == "en":
        return mentions
    return [mention for mention in mentions if mention.type != "concept"]


def _asker(reading: Reading, previous: Reading | None) -> Reading | None:
    """The turn before, when another speaker may have asked this one something in it."""
    if previous is None or reading.speaker is None or previous.index + 1 != reading.index:
        return None
    return previous if previous.turn.speaker != reading.turn.speaker else None


def _triple(reading: Reading, group: Group) -> tuple[Triple | None, str]:
    """The surest relation among the group's sentences, and the sentence that states it.

    The sentence tells since when a single-valued relation holds, which closes older facts.
    """
    stated = [(triple, unit.text) for unit in group.units for triple in reading.triples(unit)]
    if not stated:
        return None, ""
    return next((pair for pair in stated if pair[0].single_valued), stated[0])


def _with_causes(facts: Sequence[ExtractedFact], groups: Sequence[Group], first: int) -> list[ExtractedFact]:
    """The facts of a turn with links to what caused them."""
    caused = list(facts)
    for link in find_causes([group.units for group in groups]):
        cause = Cause(cause=first + link.cause, confidence=link.confidence)
        effect = caused[link.effect]
        caused[link.effect] = replace(effect, causes=(*effect.causes, cause))
    return caused


class Reading:
    """One turn with its units; how each reads in the third person and what it states is found once."""

    def __init__(self, index: int, turn: Turn, units: list[Unit], other: Voice | None) -> None:
        self.index = index
        self.turn = turn
        self.units = units
        self.speaker = voice_of(turn.speaker)
        self.other = other
        self.language = language_of(turn.text)
        self._rewritten: dict[tuple[int, int], Rewritten] = {}
        self._triples: dict[tuple[int, int], list[Triple]] = {}

    def in_third_person(self, unit: Unit) -> Rewritten:
        """The unit with names for persons; the agent's own words and plain text stay as they are."""
        span = (unit.start, unit.end)
        if span not in self._rewritten:
            if self.speaker is None or self.turn.is_agent:
                self._rewritten[span] = Rewritten(unit.text)
            else:
                self._rewritten[span] = in_third_person(
                    unit.text, self.speaker, self.other, unit.tokens, unit.origin
                )
        return self._rewritten[span]

    def triples(self, unit: Unit) -> list[Triple]:
        """The relations that the unit states, the surest first."""
        span = (unit.start, unit.end)
        if span not in self._triples:
            voices = (None, None) if self.turn.is_agent else (self.speaker, self.other)
            self._triples[span] = (
                find_triples(unit, self.in_third_person(unit).text, *voices) if self.language == "en" else []
            )
        return self._triples[span]

    def stands_alone(self, unit: Unit) -> bool:
        """Whether the unit states something that a later statement may replace, or is not to be trusted."""
        single = any(triple.single_valued for triple in self.triples(unit))
        return single or reads_like_instructions(unit.text)


def _read_in_steps(
    tagger: Tagger, documents: Sequence[Sequence[Turn]], light: Tagger | None = None
) -> Iterator[list[tuple[int, Reading]]]:
    """The turns that matter, read, with their document's number, in order, some at a time.

    Steps depend on the turns alone, so that the same turns are always tagged together.
    """
    names = sorted({turn.speaker for turns in documents for turn in turns if turn.speaker.strip()})
    others = [addressees(turns) for turns in documents]
    needed = [(number, index) for number, turns in enumerate(documents) for index in _needed_turns(turns)]
    for step in _steps(needed, documents):
        layouts = {place: lay_out(documents[place[0]][place[1]].text) for place in step}
        agents = {place for place in step if light is not None and documents[place[0]][place[1]].is_agent}
        sentences = _tag(tagger, {place: layouts[place] for place in step if place not in agents}, names)
        if light is not None:
            sentences |= _tag(light, {place: layouts[place] for place in step if place in agents}, names)
        readings = []
        for number, index in step:
            units = read_units(layouts[number, index], sentences[number, index])
            readings.append((number, Reading(index, documents[number][index], units, others[number][index])))
        yield readings


def _steps(places: Sequence[Place], documents: Sequence[Sequence[Turn]]) -> Iterator[list[Place]]:
    """The turns in groups of growing size: a small one first, so that its facts are soon embedded."""
    step: list[Place] = []
    characters, room = 0, _FIRST_STEP
    for place in places:
        step.append(place)
        characters += len(documents[place[0]][place[1]].text)
        if characters >= room:
            yield step
            step, characters, room = [], 0, min(room * 2, _LARGEST_STEP)
    if step:
        yield step


def _tag(
    tagger: Tagger, layouts: Mapping[Place, Layout], names: Sequence[str]
) -> dict[Place, list[list[Sentence]]]:
    """The sentences of each layout's blocks."""
    if not layouts:
        return {}
    tagged = iter(tagger.tag([text for layout in layouts.values() for text in layout.texts()], names))
    return {place: [next(tagged) for _ in layout.readable] for place, layout in layouts.items()}


def _needed_turns(turns: Sequence[Turn]) -> list[int]:
    """Indices of the turns to read: the fresh ones and the one before each."""
    return [
        index
        for index, turn in enumerate(turns)
        if turn.fresh or (index + 1 < len(turns) and turns[index + 1].fresh)
    ]
