"""A turn as it was read: its sentences, who speaks, and what each sentence states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from perdure.extract.local.instructions import reads_like_instructions
from perdure.extract.local.language import language_of
from perdure.extract.local.persons import Rewritten, in_third_person
from perdure.extract.local.relations import find_triples
from perdure.extract.local.units import Layout, Unit, lay_out, read_units
from perdure.ports.extractor import Triple, Turn
from perdure.ports.tagger import Sentence, Tagger
from perdure.text.voice import Voice, addressees, voice_of

Place = tuple[int, int]
"""Number of a document and index of a turn in it."""
_FIRST_STEP, _LARGEST_STEP = 250, 16_000
"""Characters that are tagged together."""


class Reading:
    """One turn with its units; how they read in the third person and what they state is found once."""

    def __init__(self, index: int, turn: Turn, units: list[Unit], other: Voice | None) -> None:
        self.index = index
        self.turn = turn
        self.units = units
        self.speaker = voice_of(turn.speaker)
        self.other = other
        self.language = language_of(turn.text)
        self._told: dict[tuple[int, int], Rewritten] = {}
        self._triples: dict[tuple[int, int], list[Triple]] = {}

    def tell(self, unit: Unit) -> Rewritten:
        """The unit with names for persons; the agent's own words and plain text stay as they are."""
        place = (unit.start, unit.end)
        if place not in self._told:
            keep = self.speaker is None or self.turn.is_agent
            self._told[place] = Rewritten(unit.text) if keep else self._in_third_person(unit)
        return self._told[place]

    def _in_third_person(self, unit: Unit) -> Rewritten:
        assert self.speaker is not None
        return in_third_person(unit.text, self.speaker, self.other, unit.tokens, unit.origin)

    def triples(self, unit: Unit) -> list[Triple]:
        """The relations that the unit states, the surest first."""
        place = (unit.start, unit.end)
        if place not in self._triples:
            speaker = None if self.turn.is_agent else self.speaker
            other = None if self.turn.is_agent else self.other
            english = self.language == "en"
            self._triples[place] = find_triples(unit, self.tell(unit).text, speaker, other) if english else []
        return self._triples[place]

    def stands_alone(self, unit: Unit) -> bool:
        """Whether the unit states something that a later statement may replace, or is not to be trusted."""
        return any(triple.single_valued for triple in self.triples(unit)) or reads_like_instructions(
            unit.text
        )


def read_in_steps(
    tagger: Tagger, documents: Sequence[Sequence[Turn]], light: Tagger | None = None
) -> Iterator[list[tuple[int, Reading]]]:
    """The readings of the turns that matter with their document's number, in order, some turns at a time.

    A `light` tagger, when given, reads the agent's own turns: often long, and seldom telling about anybody.
    Steps depend on the turns alone, so that the same turns are always tagged together.
    """
    names = sorted({turn.speaker for turns in documents for turn in turns if turn.speaker.strip()})
    others = [addressees(turns) for turns in documents]
    wanted = [(number, index) for number, turns in enumerate(documents) for index in needed_turns(turns)]
    for step in _steps(wanted, documents):
        layouts = {place: lay_out(documents[place[0]][place[1]].text) for place in step}
        agents = {place for place in step if light is not None and documents[place[0]][place[1]].is_agent}
        sentences = _tag(tagger, {place: layouts[place] for place in step if place not in agents}, names)
        if light is not None:
            sentences |= _tag(light, {place: layouts[place] for place in step if place in agents}, names)
        yield [
            (
                number,
                Reading(
                    index,
                    documents[number][index],
                    read_units(layouts[number, index], sentences[number, index]),
                    others[number][index],
                ),
            )
            for number, index in step
        ]


def _steps(wanted: Sequence[Place], documents: Sequence[Sequence[Turn]]) -> Iterator[list[Place]]:
    """The turns in groups of growing size: a small one first, so that others can soon start on its facts."""
    step: list[Place] = []
    characters, room = 0, _FIRST_STEP
    for place in wanted:
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


def needed_turns(turns: Sequence[Turn]) -> list[int]:
    """Indices of the turns to read: the fresh ones and the one before each."""
    return [
        index
        for index, turn in enumerate(turns)
        if turn.fresh or (index + 1 < len(turns) and turns[index + 1].fresh)
    ]
