"""The local extractor: statements exactly as they were said, without a language model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from perdure.domain.fact import INSTRUCTION, QUESTION, FactType
from perdure.domain.item import USER_ROLES
from perdure.domain.orders import reads_like_instructions
from perdure.domain.work import check_work
from perdure.extract.local.causes import with_causes
from perdure.extract.local.emotion import read_emotion
from perdure.extract.local.language import language_of
from perdure.extract.local.mentions import find_aliases, find_mentions
from perdure.extract.local.questions import is_filler, is_short, is_yes_or_no, last_question
from perdure.extract.local.slices import Slice, read_slices
from perdure.extract.local.times import read_timing
from perdure.extract.local.topic import topic_of
from perdure.ports.extractor import ExtractedFact, Turn
from perdure.ports.tagger import Mention, Tagger
from perdure.text.voice import name_of, nearest_other

_FIRST_STEP, _LARGEST_STEP = 500, 16_000
"""Characters that are tagged together."""

Place = tuple[int, int]
"""Number of a document and index of a turn in it."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """A turn with what was found in its text."""

    index: int
    turn: Turn
    language: str
    mentions: Sequence[Mention]
    names: Sequence[str]
    """Names of those who speak in the document."""
    asks_agent: bool
    """Whether its questions are put to the agent."""
    question: str
    """What the turn before, by another speaker, asks at its end; empty where it asks nothing."""


class LocalExtractor:
    """Cuts turns into verbatim statements, with their dates and the things they name.

    With a `light` tagger, that one reads the agent's own turns, which are often long and seldom tell about anybody.
    """

    def __init__(self, tagger: Tagger, light: Tagger | None = None) -> None:
        self._tagger = tagger
        self._light = light or tagger

    @property
    def name(self) -> str:
        """Name of the extractor."""
        return "local"

    def extract(self, turns: Sequence[Turn]) -> list[ExtractedFact]:
        """Return the statements in the order of their turns; greetings and thanks give none."""
        return self.extract_many([turns])[0]

    def extract_many(self, documents: Sequence[Sequence[Turn]]) -> list[list[ExtractedFact]]:
        """Return `extract` of several documents, their turns tagged together."""
        facts: list[list[ExtractedFact]] = [[] for _ in documents]
        for step in self.extract_in_steps(documents):
            for number, fact in step:
                facts[number].append(fact)
        return facts

    def extract_in_steps(
        self, documents: Sequence[Sequence[Turn]]
    ) -> Iterator[list[tuple[int, ExtractedFact]]]:
        """Yield the statements of `extract_many` with their document's number, as soon as some turns are read."""
        counts = [0] * len(documents)
        for step in _steps(documents):
            facts: list[tuple[int, ExtractedFact]] = []
            for (number, _), reading in zip(step, self._read(documents, step), strict=True):
                check_work()
                statements = with_causes(_statements(reading), counts[number])
                counts[number] += len(statements)
                facts += [(number, fact) for fact in statements]
            yield facts

    def _read(self, documents: Sequence[Sequence[Turn]], places: Sequence[Place]) -> list[_Reading]:
        names = sorted({turn.speaker for turns in documents for turn in turns if turn.speaker.strip()})
        turns = [documents[number][index] for number, index in places]
        mentions: dict[int, Sequence[Mention]] = {}
        for tagger, by_agent in ((self._tagger, False), (self._light, True)):
            chosen = [at for at, turn in enumerate(turns) if turn.is_agent is by_agent]
            tagged = tagger.tag([turns[at].text for at in chosen], names) if chosen else []
            mentions |= zip(chosen, tagged, strict=True)
        speakers = {number: _speakers(documents[number]) for number in {number for number, _ in places}}
        return [
            _reading(documents[number], index, mentions[at], speakers[number])
            for at, (number, index) in enumerate(places)
        ]


def _speakers(turns: Sequence[Turn]) -> list[str]:
    """Return the names of those who speak, without roles."""
    return sorted({name for turn in turns if turn.is_talk and (name := name_of(turn.speaker))})


def _reading(
    turns: Sequence[Turn], index: int, mentions: Sequence[Mention], names: Sequence[str]
) -> _Reading:
    turn, other = turns[index], nearest_other(turns, index)
    is_user = (turn.role or turn.speaker).casefold() in USER_ROLES
    return _Reading(
        index=index,
        turn=turn,
        language=language_of(turn.text),
        mentions=mentions,
        names=names,
        question=_question_before(turns, index),
        asks_agent=turn.is_talk and not turn.is_agent and (is_user or (other is not None and other.is_agent)),
    )


def _question_before(turns: Sequence[Turn], index: int) -> str:
    before = turns[index - 1] if index else None
    if (
        before is None
        or not before.is_talk
        or before.speaker == turns[index].speaker
        or not turns[index].is_talk
    ):
        return ""
    return last_question(before.text)


def _statements(reading: _Reading) -> list[ExtractedFact]:
    text = reading.turn.text
    statements = []
    for number, one in enumerate(read_slices(text, reading.language, asks_agent=reading.asks_agent)):
        words = text[one.start : one.end]
        question = reading.question if not number and is_short(words) else ""
        if not is_filler(words) or (question and is_yes_or_no(words)):
            statements.append(replace(_statement(reading, one), asked=question))
    return statements


def _statement(reading: _Reading, part: Slice) -> ExtractedFact:
    turn = reading.turn
    text = turn.text[part.start : part.end]
    timing = read_timing(text, turn.said_at)
    emotion, emotion_tags = (0.0, ()) if turn.is_data else read_emotion(text)
    inside = [
        Mention(one.text, one.type, one.start - part.start, one.end - part.start)
        for one in reading.mentions
        if part.start <= one.start and one.end <= part.end
    ]
    names = [(name, "person") for name in reading.names]
    if turn.title:
        names.append((turn.title, "concept"))
    return ExtractedFact(
        text=text,
        turn=reading.index,
        source_text=text,
        start=part.start,
        type=FactType.EXPERIENCE if turn.is_agent or turn.is_data else FactType.WORLD,
        mentions=find_mentions(text, inside, names, language=reading.language),
        aliases=find_aliases(text),
        occurred=timing.window,
        dates=timing.dates,
        emotion=emotion,
        emotion_tags=emotion_tags,
        topic=topic_of(text),
        language=reading.language,
        flags=(
            *timing.flags,
            *((QUESTION,) if part.is_question else ()),
            *((INSTRUCTION,) if reads_like_instructions(text) else ()),
        ),
    )


def _steps(documents: Sequence[Sequence[Turn]]) -> Iterator[list[Place]]:
    """Yield the turns to read in groups of growing size: a small one first, so that its facts are soon embedded."""
    step: list[Place] = []
    characters, room = 0, _FIRST_STEP
    for number, turns in enumerate(documents):
        for index, turn in enumerate(turns):
            if not turn.fresh or turn.is_instruction:
                continue
            step.append((number, index))
            characters += len(turn.text)
            if characters >= room:
                yield step
                step, characters, room = [], 0, min(room * 2, _LARGEST_STEP)
    if step:
        yield step
