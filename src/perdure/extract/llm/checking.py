"""What of a model's answer is kept: sources, names, times, causes and labels are checked against the turns.

The local extractor's statements of the same turns fill in for what the model left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from perdure.domain.fact import INSTRUCTION, MADE_BY, QUESTION, FactType
from perdure.domain.orders import reads_like_instructions
from perdure.extract.llm.answer import WordedFact
from perdure.extract.llm.grounding import is_in_first_person, is_named, source_of, timing_of, unsaid
from perdure.extract.llm.prompting import Place, ShownChunk
from perdure.extract.local.emotion import read_emotion
from perdure.extract.local.language import language_of
from perdure.extract.local.mentions import find_aliases, find_mentions
from perdure.extract.local.topic import topic_of
from perdure.ports.extractor import Cause, ExtractedFact, Replacement, Triple, Turn
from perdure.text.retelling import is_retold, overlap, shares_words
from perdure.text.surrogates import without_surrogates
from perdure.text.voice import voice_of

MOST_PER_TURN = 5
_RELATION = re.compile(r"[a-z][a-z_]{0,40}")
CHARACTERS_PER_FACT = 300
"""A turn so many times as long may give as many facts, where that is more than `MOST_PER_TURN`."""
LONGEST_FACT = 1_000
QUOTED_AT = 0.5
"""Share of two sources that both must cover of each other to be the same."""
QUOTED_RETOLD = 0.2
"""Share of a local fact's words that a wording must have which rests on the same words of the turn."""
ENTITY_TYPES = frozenset({"person", "place", "organisation", "product", "event", "work", "group", "concept"})


@dataclass(slots=True)
class DocumentFacts:
    """The facts of one document as they come: by what they were numbered, so that causes find them."""

    local: Sequence[ExtractedFact]
    """What the local extractor reads in the document."""
    count: int = 0
    positions: dict[int, int] = field(default_factory=dict)
    """Index in `local` -> position among the document's facts, of those that were kept."""

    def local_of(self, turns: Sequence[int]) -> list[int]:
        """Indices of the local facts of some turns."""
        chosen = frozenset(turns)
        return [index for index, fact in enumerate(self.local) if fact.turn in chosen]


NumberedFact = tuple[int, ExtractedFact]
"""Number of a document and a fact of it."""


def local_facts(documents: Sequence[DocumentFacts], places: Sequence[Place]) -> list[NumberedFact]:
    """The local extractor's facts of some turns, in order."""
    facts: list[NumberedFact] = []
    for number, turns in turns_by_document(places).items():
        document = documents[number]
        own = _numbered(document, [(index, None) for index in document.local_of(turns)])
        facts += [(number, fact) for fact in own]
    return facts


def turns_by_document(places: Sequence[Place]) -> dict[int, list[int]]:
    """Number of a document -> indices of its turns among the places."""
    turns: dict[int, list[int]] = {}
    for number, index in places:
        turns.setdefault(number, []).append(index)
    return turns


def checked_facts(
    documents: Sequence[DocumentFacts], chunk: ShownChunk, answer: Sequence[WordedFact], made_by: str
) -> list[NumberedFact]:
    """The facts of a chunk, in the order of its turns: the model's that stand up to their source, and local ones for the rest."""
    worded = _worded(chunk, answer, made_by)
    facts: list[NumberedFact] = []
    for number, turns in turns_by_document([place for place, _ in chunk.turns]).items():
        own = [(position, fact) for document, position, fact in worded if document == number]
        facts += [(number, fact) for fact in _of_document(documents[number], turns, own)]
    return facts


def _of_document(
    document: DocumentFacts, turns: Sequence[int], worded: Sequence[tuple[int, ExtractedFact]]
) -> list[ExtractedFact]:
    """The facts of one document's turns in a chunk."""
    facts = [fact for _, fact in worded]
    left = [(index, None) for index in document.local_of(turns) if _is_missed(index, document, facts)]
    return _numbered(document, [*left, *((None, pair) for pair in worded)])


def _worded(
    chunk: ShownChunk, answer: Sequence[WordedFact], made_by: str
) -> list[tuple[int, int, ExtractedFact]]:
    """(number of the document, index in the answer, fact) of what may be kept, in the order of the turns."""
    said = chunk.said
    per_turn: dict[Place, int] = {}
    kept: list[tuple[int, int, ExtractedFact]] = []
    for number, worded in enumerate(answer):
        shown = chunk.turn_of(worded.turn)
        if shown is None:
            continue
        place, turn = shown
        if per_turn.get(place, 0) >= max(MOST_PER_TURN, len(turn.text) // CHARACTERS_PER_FACT):
            continue
        fact = _fact(worded, place[1], turn, chunk, said, made_by)
        if fact is not None and all(fact.text != other.text for _, _, other in kept):
            per_turn[place] = per_turn.get(place, 0) + 1
            kept.append((place[0], number, fact))
    return sorted(kept, key=lambda one: (one[0], one[2].turn))


def _fact(
    worded: WordedFact, index: int, turn: Turn, chunk: ShownChunk, said: str, made_by: str
) -> ExtractedFact | None:
    """The fact with what was checked; None where it says what nobody said, or "I" although the speaker has a name."""
    text = " ".join(without_surrogates(worded.text).replace("\x00", " ").split())
    if not text or len(text) > LONGEST_FACT:
        return None
    source = source_of(worded.quote, turn)
    timing = timing_of(worded.when, worded.date, source, turn)
    confirmed = timing.window if timing.sure else None
    listed = [name for name, _ in worded.named()]
    if unsaid(text, said, listed, confirmed, turn.said_at) or not shares_words(text, said):
        return None
    speaker = voice_of(turn.speaker)
    if speaker is not None and not speaker.is_role and is_in_first_person(text):
        return None
    is_order = reads_like_instructions(source.text) or reads_like_instructions(text)
    by_agent = turn.is_agent or turn.is_data
    emotion, emotion_tags = read_emotion(source.text) if not turn.is_data else (0.0, ())
    voices = [voice_of(other.speaker) for other in (*chunk.before, *(turn for _, turn in chunk.turns))]
    names = [(voice.name, "person") for voice in voices if voice is not None and not voice.is_role]
    names += [
        (name, kind if kind in ENTITY_TYPES else "concept")
        for name, kind in worded.named()
        if is_named(name, said)
    ]
    return ExtractedFact(
        text=text,
        turn=index,
        source_text=source.text,
        start=source.start,
        type=FactType(worded.type) if by_agent else FactType.WORLD,
        mentions=find_mentions(text, (), list(dict.fromkeys(names))),
        aliases=find_aliases(source.text),
        triple=_triple(worded, said),
        occurred=timing.window,
        dates=tuple(pair for pair in timing.dates if pair[0] in text),
        causes=tuple(_causes(worded)),
        emotion=emotion,
        emotion_tags=emotion_tags,
        topic=topic_of(source.text),
        language=language_of(turn.text),
        flags=(*timing.flags, *((INSTRUCTION,) if is_order else ()), MADE_BY + made_by),
        replaces=() if is_order else tuple(_replacements(worded, chunk)),
    )


def _triple(worded: WordedFact, said: str) -> Triple | None:
    """Return the relation that a fact states, if its subject and object were named."""
    if len(worded.relation) != 3:
        return None
    subject, relation, object_ = (part.strip() for part in worded.relation)
    if not _RELATION.fullmatch(relation) or not (is_named(subject, said) and is_named(object_, said)):
        return None
    return Triple(subject=subject, relation=relation, object=object_)


def _causes(worded: WordedFact) -> list[Cause]:
    """Causes by their index in the answer."""
    return [
        Cause(cause=index, confidence=confidence)
        for index, confidence in worded.caused_by().items()
        if confidence > 0
    ]


def _replacements(worded: WordedFact, chunk: ShownChunk) -> list[Replacement]:
    """What the fact is said to replace; labels that were not offered are refused."""
    labels = {**dict.fromkeys(worded.corrected, True), **dict.fromkeys(worded.changed, False)}
    return [
        Replacement(fact_id=offered.id, corrects=corrects)
        for label, corrects in labels.items()
        if (offered := chunk.offered_under(label)) is not None
    ]


def _is_missed(index: int, document: DocumentFacts, worded: Sequence[ExtractedFact]) -> bool:
    """Return whether no fact of the model tells what a local statement does; questions to the agent are kept by themselves."""
    local = document.local[index]
    if QUESTION in local.flags:
        return True
    told = [fact for fact in worded if fact.turn == local.turn]
    quoting = [fact.text for fact in told if _quotes(fact, local)]
    return not is_retold(local.source_text, quoting, at=QUOTED_RETOLD) and not is_retold(
        local.source_text, [fact.text for fact in told]
    )


def _quotes(fact: ExtractedFact, local: ExtractedFact) -> bool:
    """Whether a fact rests on most of a local one's words, and not on a whole turn that has more than these."""
    end, other_end = local.start + len(local.source_text), fact.start + len(fact.source_text)
    covers = overlap(local.start, end, fact.start, other_end)
    within = overlap(fact.start, other_end, local.start, end)
    return covers >= QUOTED_AT and within >= QUOTED_AT


def _numbered(
    document: DocumentFacts,
    chosen: Sequence[tuple[int | None, tuple[int, ExtractedFact] | None]],
) -> list[ExtractedFact]:
    """The facts in the order of their turns, with the causes of each by their positions in the document.

    `chosen` has the index of a local fact, or a model's fact with its index in the answer.
    """

    def fact_of(one: tuple[int | None, tuple[int, ExtractedFact] | None]) -> ExtractedFact:
        index, worded = one
        if worded is not None:
            return worded[1]
        assert index is not None
        return document.local[index]

    ordered = sorted(chosen, key=lambda one: (fact_of(one).turn, fact_of(one).start))
    in_answer: dict[int, int] = {}
    for position, (index, worded) in enumerate(ordered, document.count):
        if worded is not None:
            in_answer[worded[0]] = position
        elif index is not None:
            document.positions[index] = position
    facts = []
    for position, one in enumerate(ordered, document.count):
        fact = fact_of(one)
        places = in_answer if one[1] is not None else document.positions
        causes = tuple(
            replace(cause, cause=places[cause.cause])
            for cause in fact.causes
            if cause.cause in places and places[cause.cause] != position
        )
        facts.append(replace(fact, causes=causes) if causes != fact.causes else fact)
    document.count += len(ordered)
    return facts
