"""What readers read: recalled facts cut into sentences, each with whose word it is and of whom it speaks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from math import log

from perdure.domain.fact import Fact
from perdure.domain.recall import Evidence, Recollection
from perdure.ports.tagger import Mention, Tagger, Token
from perdure.reflect.asked import Asked
from perdure.text.clauses import is_verb_form, lemma_of
from perdure.text.names import normal_name
from perdure.text.terms import index_terms

_QUOTED = r"[\"“](?P<{0}>.*?)[\"”](?=\s|$|,)"
_FRAME = re.compile(
    r"(?:Asked (?:by (?P<asker>[^\"“]{1,40}?) )?[\"“](?P<question>.*?)[\"”], )?"
    r"(?P<speaker>[A-ZÀ-ÖØ-Þ][^\"“:.!?]{0,40}?) (?:said|replied|answered|added)(?: to [^\"“:]{1,40})?: "
    r"(?:[\"“](?P<quoted>.*?)[\"”](?=\s|$)|(?P<told>(?:[^.!?]|[.!?](?!\s|$))+[.!?]*))",
    re.DOTALL,
)
_ASKED_FRAME = re.compile(
    r"(?P<speaker>[A-ZÀ-ÖØ-Þ][^\"“:.!?]{0,40}?) asked(?: [^\":]{1,40})?: [\"“].*?[\"”](?=\s|$)", re.DOTALL
)
_ATTACHMENT = re.compile(
    r"^[^.:!?]{1,40} (?:shares|shared|sends|sent) an? (?:photo|picture|image|video|file|link)\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_FIRST_PERSON = frozenset({"i", "we", "my", "our", "me", "us", "mine", "myself", "ourselves", "i'm", "i've"})
_SECOND_PERSON = frozenset({"you", "your", "yours", "yourself"})
_SUBJECTS = frozenset({"nsubj", "nsubjpass", "csubj", "poss", "attr", "agent"})
CERTAIN = 1.0 - 1e-9


class About(IntEnum):
    """How surely a passage speaks of whom the question asks about."""

    OTHER = 0
    """Of somebody else."""
    UNCLEAR = 1
    """Nobody is named."""
    MENTIONED = 2
    """It names the person, who is not shown to be the one it is about."""
    OWN = 3
    """The person is its subject, or says it of themself; or the question is about nobody."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PassageSentence:
    """A sentence of a fact's text without the frame that says who said it."""

    text: str
    tokens: tuple[Token, ...] = ()
    mentions: tuple[Mention, ...] = ()
    start: int = 0
    """Where the sentence begins in the text that the tokens' offsets count in."""
    is_quote: bool = False
    """Whether "I" in it means the fact's speaker."""
    is_question: bool = False
    is_attachment: bool = False
    """Whether it only describes what was sent along."""
    question: str = ""
    """What it answers, where a question came before it."""
    terms: frozenset[str] = frozenset()
    """Stems of its words and of those of the question before it."""
    own_terms: frozenset[str] = frozenset()

    def piece(self, first: int, last: int) -> str:
        """The words from one token to another, as written."""
        return self.text[self.tokens[first].start - self.start : self.tokens[last].end - self.start]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Passage:
    """A recalled fact, cut into sentences."""

    recollection: Recollection
    sentences: tuple[PassageSentence, ...]
    about: About = About.OWN

    @property
    def fact(self) -> Fact:
        """The fact itself."""
        return self.recollection.fact

    @property
    def strength(self) -> float:
        """The logit of the recollection's score."""
        return logit(self.recollection.score)

    @property
    def asserts(self) -> bool:
        """Whether it says anything, rather than only asking."""
        return not all(sentence.is_question for sentence in self.sentences)

    @property
    def is_supported(self) -> bool:
        """Whether recall calls it evidence at all."""
        return self.recollection.evidence is not Evidence.NONE


def logit(score: float) -> float:
    """ln(p / (1 - p)); scores outside (0, 1) count as almost certain."""
    bounded = min(max(score, 1.0 - CERTAIN), CERTAIN)
    return log(bounded) - log(1.0 - bounded)


@dataclass(frozen=True, slots=True)
class _Segment:
    text: str
    is_quote: bool = False
    is_question: bool = False
    question: str = ""


def read_passages(
    recollections: Sequence[Recollection], asked: Asked, tagger: Tagger | None
) -> tuple[Passage, ...]:
    """The recollections as passages, in their order."""
    segments = [list(_segments(one.fact.text)) for one in recollections]
    flat = [segment for row in segments for segment in row]
    tagged = _tagged([segment.text for segment in flat], tagger, asked.persons)
    passages: list[Passage] = []
    place = 0
    for recollection, row in zip(recollections, segments, strict=True):
        sentences: list[PassageSentence] = []
        for segment in row:
            sentences += [_with_segment(sentence, segment) for sentence in tagged[place]]
            place += 1
        passage = Passage(recollection=recollection, sentences=tuple(sentences))
        passages.append(
            Passage(
                recollection=recollection,
                sentences=passage.sentences,
                about=about_of(passage, asked.persons),
            )
        )
    return tuple(passages)


def _with_segment(sentence: PassageSentence, segment: _Segment) -> PassageSentence:
    return PassageSentence(
        text=sentence.text,
        tokens=sentence.tokens,
        mentions=sentence.mentions,
        start=sentence.start,
        is_quote=segment.is_quote,
        is_question=segment.is_question or sentence.text.rstrip(" \"'”’").endswith("?"),
        is_attachment=_ATTACHMENT.match(sentence.text) is not None,
        question=segment.question,
        terms=frozenset(index_terms(f"{segment.question} {sentence.text} {_verbs(sentence)}")),
        own_terms=frozenset(index_terms(sentence.text)),
    )


def _verbs(sentence: PassageSentence) -> str:
    """The base forms of its verbs: "bought" is found by "buy"."""
    if sentence.tokens:
        verbs = [token.lemma for token in sentence.tokens if token.pos == "VERB"]
    else:
        verbs = [
            lemma_of(word) for word in re.findall(r"[a-z]+", sentence.text.lower()) if is_verb_form(word)
        ]
    return " ".join(verbs)


def _segments(text: str) -> Iterator[_Segment]:
    """The parts of a fact's text: quoted or told words of the speaker, questions, and plain sentences."""
    place = 0
    while place < len(text):
        frames = [match for match in (_FRAME.search(text, place), _ASKED_FRAME.search(text, place)) if match]
        if not frames:
            break
        match = min(frames, key=lambda frame: (frame.start(), -frame.end()))
        if text[place : match.start()].strip():
            yield _Segment(text[place : match.start()].strip())
        if match.re is _ASKED_FRAME:
            yield _Segment(match[0][match[0].find(":") + 1 :].strip(' "“”'), is_quote=True, is_question=True)
        else:
            quoted = match["quoted"]
            yield _Segment(
                (quoted if quoted is not None else match["told"]).strip(),
                is_quote=quoted is not None,
                question=match["question"] or "",
            )
        place = max(match.end(), place + 1)
    if text[place:].strip():
        yield _Segment(text[place:].strip())


def _tagged(texts: Sequence[str], tagger: Tagger | None, names: Sequence[str]) -> list[list[PassageSentence]]:
    if tagger is None:
        return [
            [PassageSentence(text=part) for part in _SENTENCE_END.split(text) if part.strip()]
            for text in texts
        ]
    return [
        [
            PassageSentence(text=one.text, tokens=one.tokens, mentions=one.mentions, start=one.start)
            for one in sentences
            if one.text.strip()
        ]
        for sentences in tagger.tag(texts, names)
    ]


def about_of(passage: Passage, persons: Sequence[str]) -> About:
    """Whether a passage speaks of one of the persons asked about; of all of them where it names several."""
    if not persons:
        return About.OWN
    return max(_about(passage, person) for person in persons)


def _about(passage: Passage, person: str) -> About:
    fact, name = passage.fact, normal_name(person)
    words = normal_name(fact.text).split()
    first = name.split()[0] if name else ""
    is_speaker = bool(fact.speaker) and _same_person(fact.speaker, person)
    if fact.subject and _owned_by(fact.subject, name):
        return About.OWN
    if is_speaker and (_speaks_in_first_person(passage) or not _other_subject(passage, person)):
        return About.OWN
    if first not in words:
        if not fact.speaker and not fact.subject:
            return About.UNCLEAR
        return About.UNCLEAR if is_speaker else About.OTHER
    return About.OWN if _is_subject(passage, first) else About.MENTIONED


def _same_person(one: str, other: str) -> bool:
    first, second = normal_name(one), normal_name(other)
    return first == second or bool(first and second and first.split()[0] == second.split()[0])


def _owned_by(subject: str, name: str) -> bool:
    own = normal_name(subject)
    return own == name or own.startswith(f"{name} ") or (bool(own) and name.startswith(f"{own} "))


def _speaks_in_first_person(passage: Passage) -> bool:
    return any(
        sentence.is_quote
        and not sentence.is_question
        and _FIRST_PERSON & set(re.findall(r"[a-z']+", sentence.text.lower()))
        for sentence in passage.sentences
    )


def _other_subject(passage: Passage, person: str) -> bool:
    """Whether a sentence is about somebody else: another name, or "you", is its subject."""
    first = normal_name(person).split()[:1]
    for sentence in passage.sentences:
        for token in sentence.tokens:
            if token.dep not in _SUBJECTS:
                continue
            low = token.text.lower()
            if sentence.is_quote and low in _SECOND_PERSON:
                return True
            if (
                token.pos == "PROPN"
                and [low] != first
                and any(
                    mention.type == "person" and mention.start <= token.start < mention.end
                    for mention in sentence.mentions
                )
            ):
                return True
    return False


def _is_subject(passage: Passage, first: str) -> bool:
    """Whether the name is a subject or an owner in one of the sentences; without a parse, whether it begins one."""
    for sentence in passage.sentences:
        if sentence.is_question:
            continue
        if not sentence.tokens:
            if normal_name(sentence.text).split()[:1] == [first]:
                return True
            continue
        for token in sentence.tokens:
            if normal_name(token.text) == first and (
                token.dep in _SUBJECTS
                or (token.dep == "conj" and sentence.tokens[token.head].dep in _SUBJECTS)
            ):
                return True
    return False
