"""The local extractor: rules over a tagger's sentences, without a language model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from perdure.domain.fact import CORRECTION, INSTRUCTION
from perdure.domain.orders import reads_like_instructions
from perdure.domain.work import check_work
from perdure.extract.local.answers import Answered, restate
from perdure.extract.local.causes import find_causes
from perdure.extract.local.emotion import read_emotion
from perdure.extract.local.filler import Heard, hear, is_filler
from perdure.extract.local.grouping import Group, Shape, Statements, group_units, is_fragment
from perdure.extract.local.kinds import kind_of
from perdure.extract.local.language import language_of
from perdure.extract.local.mentions import find_aliases, find_mentions
from perdure.extract.local.persons import Person, Rewritten, in_third_person, people_in, put_name
from perdure.extract.local.relations import find_triples
from perdure.extract.local.render import Scene, write_fact
from perdure.extract.local.smalltalk import is_reply, is_small_talk, last_question, needs_question
from perdure.extract.local.times import read_timing, valid_while
from perdure.extract.local.topic import topic_of
from perdure.extract.local.units import Layout, Unit, lay_out, read_units
from perdure.extract.local.worded_slots import worded_slots
from perdure.ports.extractor import Cause, ExtractedFact, Triple, Turn
from perdure.ports.tagger import Mention, Sentence, Tagger
from perdure.text.correction import is_correction
from perdure.text.names import normal_name
from perdure.text.voice import Voice, addressees, voice_of

_CONTEXT_UNITS = 12
"""Sentences before a fact in which the person that "he" or "she" stands for is looked for."""
_CONTEXT_TURNS = 3
"""Turns before a fact that are remembered."""
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
        before: list[tuple[int, Reading]] = []
        for readings in _read_in_steps(self._tagger, documents, self._light):
            self._restate(before[-1:], readings, names)
            step: list[tuple[int, ExtractedFact]] = []
            for number, reading in readings:
                check_work()
                if reading.turn.fresh:
                    previous = [earlier for owner, earlier in before if owner == number]
                    reading.earlier = previous
                    facts = self._turn(reading, previous, names[number], counts[number])
                    counts[number] += len(facts)
                    step += [(number, fact) for fact in facts]
                before = [*before[1 - _CONTEXT_TURNS :], (number, reading)]
            yield step

    def _restate(
        self,
        before: Sequence[tuple[int, Reading]],
        readings: Sequence[tuple[int, Reading]],
        names: Sequence[frozenset[str]],
    ) -> None:
        """Read the statements that answers make of their questions, all of a step in one call of the tagger."""
        answers: list[tuple[Reading, Answered]] = []
        for (earlier, previous), (number, reading) in pairwise([*before, *readings]):
            question = reading.ask(previous, names[number]) if earlier == number else None
            if question is not None and reading.turn.fresh and reading.tells_of_speaker:
                answered = restate(question, reading.units[0])
                if answered is not None:
                    answers.append((reading, answered))
        if not answers:
            return
        speakers = sorted({reading.turn.speaker for reading, _ in answers})
        tagged = self._tagger.tag([answered.text for _, answered in answers], speakers)
        for (reading, answered), sentences in zip(answers, tagged, strict=True):
            reading.take_answer(answered, sentences)

    def _turn(
        self, reading: Reading, previous: Sequence[Reading], names: frozenset[str], first: int
    ) -> list[ExtractedFact]:
        """The facts of a turn; `first` is the first one's index in the document."""
        if reading.turn.is_instruction:
            return []
        to = _heard(reading, previous)
        units = [unit for unit in reading.told() if _is_content(unit, reading, names, to)]
        if _asks_by_the_way(reading, units):
            units = [unit for unit in units if not unit.is_question]
        people = _People(reading, previous)
        about = Statements(
            single=reading.tells_of_speaker,
            stands_alone=reading.stands_alone,
            states=lambda unit: bool(reading.triples(unit)),
            is_named=people.is_named,
            answers=reading.question is not None,
        )
        groups = group_units(units, self._shape, about)
        facts = []
        for position, group in enumerate(groups):
            answers = position == 0 and _needs_question(group.units[0], people)
            scene = Scene(
                speaker=reading.speaker,
                other=reading.other,
                is_agent=reading.turn.is_agent,
                is_data=reading.turn.is_data,
                question=reading.question.text if answers and reading.question is not None else "",
                asker=reading.asker,
                title=reading.turn.title,
                english=reading.language == "en",
                in_third_person=reading.in_third_person,
            )
            facts.append(_fact(reading, group, scene, people))
        return _with_causes(facts, groups, first)


def _heard(reading: Reading, previous: Sequence[Reading]) -> Heard:
    """What a turn of the agent replies to."""
    if not reading.turn.is_agent or not previous or not previous[-1].tells_of_speaker:
        return Heard()
    before = previous[-1]
    return hear(before.turn.text, any(unit.is_question for unit in before.units))


def _asks_by_the_way(reading: Reading, units: Sequence[Unit]) -> bool:
    """Whether a turn tells something and asks its listener back: that question serves the answer and is no fact.

    What somebody asks the agent tells what they are after, and stays.
    """
    if not reading.tells_of_speaker or reading.to_agent:
        return False
    return any(unit.kind != "prose" or not (unit.is_question or is_fragment(unit)) for unit in units)


def _is_content(unit: Unit, reading: Reading, names: frozenset[str], to: Heard) -> bool:
    """Whether a unit may be part of a fact: no small talk, and of the agent no filler."""
    if unit.kind == "code" or unit.restated or not unit.is_readable:
        return True
    if reading.turn.is_agent and is_filler(unit, to):
        return False
    is_answer = reading.question is not None and unit is reading.units[0] and is_reply(unit)
    return is_answer or not is_small_talk(unit.text, names)


def _needs_question(unit: Unit, people: _People) -> bool:
    return not unit.restated and needs_question(unit) and not people.is_named(unit)


class _People:
    """The persons that a turn's pronouns may stand for: of the sentences before each, also in earlier turns."""

    def __init__(self, reading: Reading, previous: Sequence[Reading]) -> None:
        self._reading = reading
        self._earlier = [
            (earlier.speaker, earlier.other, unit) for earlier in previous for unit in earlier.units
        ]

    def before(self, unit: Unit) -> list[Person]:
        """Those of the last sentences before a unit."""
        reading = self._reading
        own = [(reading.speaker, reading.other, u) for u in reading.units if u.end <= unit.start]
        near = [*self._earlier, *own][-_CONTEXT_UNITS:]
        people = [person for speaker, other, u in near for person in people_in([u], speaker, other)]
        talking = {normal_name(voice.name) for voice in (reading.speaker, reading.other) if voice is not None}
        distinct = {normal_name(person.name): person for person in reversed(people)}
        return [person for name, person in distinct.items() if name not in talking]

    def is_named(self, unit: Unit) -> bool:
        """Whether the pronoun that a unit starts with stands for just one of them."""
        return put_name(unit.text, self.before(unit)) != unit.text


def _fact(reading: Reading, group: Group, scene: Scene, people: _People) -> ExtractedFact:
    turn = reading.turn
    near = people.before(group.units[0])
    source = turn.text[group.start : group.end]
    text = write_fact(group, scene, lambda text: put_name(text, near)) or source
    said = " ".join(unit.text for unit in group.units) if group.units[0].restated else source
    is_question = all(unit.is_question for unit in group.units)
    kind = kind_of(said, is_agent=turn.is_agent or turn.is_data, is_question=is_question)
    emotion, emotion_tags = read_emotion(source) if not turn.is_data else (0.0, ())
    timing = read_timing(said, turn.said_at)
    triple, stated_in = _triple(reading, group)
    began = read_timing(stated_in, turn.said_at) if triple else None
    names = [
        (voice.name, "person")
        for voice in (reading.speaker, reading.other)
        if voice and not voice.is_role and not turn.is_data
    ]
    names += [(person.name, "person") for person in near]
    if turn.title:
        names.append((turn.title, "concept"))
    return ExtractedFact(
        text=text,
        turn=reading.index,
        source_text=source,
        start=group.start,
        type=kind.type,
        mentions=find_mentions(text, _tagged_mentions(reading, group, scene), names),
        aliases=find_aliases(source),
        triple=triple,
        occurred=timing.window,
        valid=valid_while(triple, began, turn.said_at),
        confidence=kind.confidence,
        emotion=emotion,
        emotion_tags=emotion_tags,
        topic=topic_of(said),
        language=reading.language,
        flags=(
            *timing.flags,
            *((INSTRUCTION,) if reads_like_instructions(source) else ()),
            *((CORRECTION,) if triple is not None and (triple.corrects or is_correction(turn.text)) else ()),
        ),
    )


def _tagged_mentions(reading: Reading, group: Group, scene: Scene) -> list[Mention]:
    """The tagger's mentions; of other languages, whose nouns an English model takes for names, only the firm ones."""
    asked = reading.question.mentions if scene.question and reading.question is not None else ()
    mentions = [*asked, *(mention for unit in group.units for mention in unit.mentions)]
    if reading.language == "en":
        return mentions
    return [mention for mention in mentions if mention.type != "concept"]


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

    def __init__(
        self, index: int, turn: Turn, units: list[Unit], other: Voice | None, *, to_agent: bool = False
    ) -> None:
        self.index = index
        self.to_agent = to_agent
        """Whether the other of the two who talk is the agent."""
        self.turn = turn
        self.units = units
        self.speaker = voice_of(turn.speaker)
        self.other = other
        self.language = language_of(turn.text)
        self.earlier: Sequence[Reading] = ()
        """The turns before it that were read."""
        self.question: Unit | None = None
        """What the turn before asked."""
        self.asker: Voice | None = None
        self._answer: list[Unit] = []
        self._rewritten: dict[tuple[int, int, str], Rewritten] = {}
        self._triples: dict[tuple[int, int, str], list[Triple]] = {}

    @property
    def tells_of_speaker(self) -> bool:
        """Whether somebody who is not the agent speaks."""
        return self.turn.is_talk and not self.turn.is_agent

    def ask(self, previous: Reading, names: frozenset[str]) -> Unit | None:
        """Note the question of the turn before, when another speaker asked it; None when there is none."""
        if self.speaker is None or not self.units or previous.index + 1 != self.index:
            return None
        if not previous.turn.is_talk or previous.turn.speaker == self.turn.speaker:
            return None
        self.question = last_question(previous.units, names)
        self.asker = previous.speaker
        return self.question

    def take_answer(self, answered: Answered, sentences: Sequence[Sentence]) -> None:
        """Put the statement that the first unit makes of the question in its place, and what else it says behind."""
        if len(sentences) != 1:
            return
        first = self.units[0]
        end = answered.rest
        while end > 0 and first.text[end - 1] in " ,;:–—-":
            end -= 1
        statement = Unit(
            answered.text,
            first.start,
            first.start + end,
            block=first.block,
            tokens=sentences[0].tokens,
            mentions=sentences[0].mentions,
            restated=True,
        )
        if self.in_third_person(statement).safe:
            rest = (
                [_capitalised(first.part(answered.rest, len(first.text)))]
                if answered.rest < len(first.text)
                else []
            )
            self._answer = [statement, *rest]

    def told(self) -> list[Unit]:
        """The units of the turn, with the statement that its answer makes."""
        return [*self._answer, *self.units[1:]] if self._answer else self.units

    def in_third_person(self, unit: Unit) -> Rewritten:
        """The unit with names for persons; the agent's own words and plain text stay as they are."""
        span = (unit.start, unit.end, unit.text)
        if span not in self._rewritten:
            if self.speaker is None or not self.tells_of_speaker:
                self._rewritten[span] = Rewritten(unit.text)
            else:
                self._rewritten[span] = in_third_person(
                    unit.text, self.speaker, self.other, unit.tokens, unit.origin
                )
        return self._rewritten[span]

    def triples(self, unit: Unit) -> list[Triple]:
        """The relations that the unit states, the surest first."""
        span = (unit.start, unit.end, unit.text)
        if span not in self._triples:
            voices = (None, None) if self.turn.is_agent else (self.speaker, self.other)
            if self.turn.is_data or not unit.is_readable:
                self._triples[span] = []
            elif self.language == "en":
                told = self.in_third_person(unit).text
                self._triples[span] = find_triples(unit, told, *voices, before=self._before(unit))
            else:
                self._triples[span] = worded_slots(unit, self.language, voices[0], self._before(unit))
        return self._triples[span]

    def _before(self, unit: Unit) -> list[Triple]:
        """What the same speaker stated just before the unit, the last one last."""
        own = [u for u in self.units if u.end <= unit.start]
        earlier = [reading for reading in self.earlier if reading.turn.speaker == self.turn.speaker]
        triples = [triple for reading in earlier for u in reading.told() for triple in reading.triples(u)]
        return [*triples, *(triple for u in own for triple in self.triples(u))]

    def stands_alone(self, unit: Unit) -> bool:
        """Whether the unit states something that a later statement may replace, or is not to be trusted."""
        single = any(triple.single_valued for triple in self.triples(unit))
        return single or reads_like_instructions(unit.text)


def _capitalised(unit: Unit) -> Unit:
    return replace(unit, text=unit.text[:1].upper() + unit.text[1:])


def _read_in_steps(
    tagger: Tagger, documents: Sequence[Sequence[Turn]], light: Tagger | None = None
) -> Iterator[list[tuple[int, Reading]]]:
    """The turns that matter, read, with their document's number, in order, some at a time.

    Steps depend on the turns alone, so that the same turns are always tagged together.
    """
    names = sorted({turn.speaker for turns in documents for turn in turns if turn.speaker.strip()})
    others = [addressees(turns) for turns in documents]
    agents_of = [{voice_of(turn.speaker) for turn in turns if turn.is_agent} for turns in documents]
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
            other = others[number][index]
            to_agent = other is not None and other in agents_of[number]
            reading = Reading(index, documents[number][index], units, other, to_agent=to_agent)
            readings.append((number, reading))
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
    """Indices of the turns to read: the fresh ones, the one before each, and what one of them corrects."""
    needed = {
        index
        for index, turn in enumerate(turns)
        if turn.fresh or (index + 1 < len(turns) and turns[index + 1].fresh)
    }
    for index, turn in enumerate(turns):
        if turn.fresh and is_correction(turn.text):
            first = max(0, index - _CONTEXT_TURNS)
            needed.update(i for i in range(first, index) if turns[i].speaker == turn.speaker)
    return sorted(needed)
