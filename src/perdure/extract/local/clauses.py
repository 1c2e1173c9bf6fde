"""Statements within a sentence: where one clause ends and the next begins, and whether a sentence leans on the one before."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from perdure.extract.local.units import QUOTED, Unit
from perdure.ports.tagger import Token
from perdure.text.wordlist import word_set

_SUBJECTS = ("nsubj", "nsubjpass")
_FINITE = ("VBD", "VBP", "VBZ", "MD")
_SPLICED = ("ccomp", "parataxis")
_JOINING = word_set("and but so plus")
_BREAKS = word_set(", ; - – — --")
_OPINION = word_set(
    "think believe guess suppose hope know feel say mean bet swear wish hear see tell imagine assume reckon doubt wonder"
)
"""Verbs that a comma may hang on a statement: "Ghent is nice, I think"."""
_CONDITIONS = word_set("if unless when whenever once until while whether although though because since as")
_LONE_PRONOUNS = word_set(
    "it its itself this that these those they them their theirs he him his she her hers there one ones both such same so "
    "it's that's he's she's they're he'd she'd they'd it'll he'll she'll they'll they've"
)
"""Words that stand for something named elsewhere."""
_LEANING_START = word_set("""
it it's its that that's this these those they they're them he he's she she's her his their also and but so because then
there which such another both either neither too plus therefore thus hence however though although still yet otherwise
instead meanwhile anyway besides especially even since
""")
_FIRST_WORD = re.compile(r"\W*([^\W\d_]+(?:['’][^\W\d_]+)*)")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_CLOSED = re.compile(rf"{QUOTED.pattern}|`[^`]*`|\([^()]*\)|\[[^\[\]]*\]")
_WEATHER = word_set("rain snow hail pour freeze thunder")
_FEWEST_WORDS = 3
_SPEAKING = word_set("i we you my our he she they it")
_EARLY = 3
"""A pronoun among so few first words has nothing before it in its own sentence to stand for."""


def starts_leaning(text: str) -> bool:
    """Whether a sentence starts with a word that points to what was said before it."""
    match = _FIRST_WORD.match(text)
    return match is not None and match[1].casefold().replace("’", "'") in _LEANING_START


def leans_back(unit: Unit) -> bool:
    """Whether a sentence points to what was said before it: by its first word, or by a pronoun without a noun before it."""
    return starts_leaning(unit.text) or has_lone_pronoun(unit)


def has_lone_pronoun(unit: Unit) -> bool:
    """Whether a pronoun stands for something that its own sentence does not name before it."""
    if not unit.tokens:
        words = [word.casefold().replace("’", "'") for word in _WORD.findall(unit.text)[:_EARLY]]
        return any(word in _LONE_PRONOUNS for word in words)
    low, high = unit.origin, unit.origin + len(unit.text)
    return _leans_within(unit.tokens, low, high)


def _leans_within(tokens: Sequence[Token], low: int, high: int) -> bool:
    """Whether a pronoun between two offsets has no noun before it there that it could stand for."""
    named: list[int] = []
    for index, token in enumerate(tokens):
        if not low <= token.start < high:
            continue
        if token.pos in ("NOUN", "PROPN") and token.dep not in ("npadvmod", "intj", "compound"):
            named.append(index)
        elif _points_elsewhere(tokens, token) and not any(_may_mean(tokens, index, noun) for noun in named):
            return True
    return False


def _may_mean(tokens: Sequence[Token], pronoun: int, noun: int) -> bool:
    """Whether a pronoun can stand for a noun: an object never stands for the subject of its own verb."""
    if tokens[pronoun].tag == "PRP$" or tokens[noun].dep not in _SUBJECTS:
        return True
    governor = tokens[pronoun].head
    for _ in range(len(tokens)):
        if tokens[governor].pos in ("VERB", "AUX") or tokens[governor].head == governor:
            break
        governor = tokens[governor].head
    return tokens[noun].head != governor


def _points_elsewhere(tokens: Sequence[Token], token: Token) -> bool:
    low = token.text.casefold()
    if low not in _LONE_PRONOUNS or token.dep == "expl":
        return False
    if low == "it" and token.head < len(tokens) and tokens[token.head].lemma in _WEATHER:
        return False
    if low in ("that", "this", "these", "those", "one", "both", "such", "same", "so"):
        return token.dep in (*_SUBJECTS, "dobj", "pobj", "attr")
    return True


def _own_tokens(unit: Unit) -> list[Token]:
    """The tokens within the unit: of a clause, those of the clause."""
    low, high = unit.origin, unit.origin + len(unit.text)
    return [token for token in unit.tokens if low <= token.start < high]


def is_statement(unit: Unit) -> bool:
    """Whether a sentence says something by itself: it has a subject with a verb, or is long enough."""
    if unit.tokens:
        own = _own_tokens(unit)
        has_own_subject = any(
            token.dep in _SUBJECTS
            and token.tag not in ("WP", "WDT")
            and unit.tokens[token.head].pos in ("VERB", "AUX")
            for token in own
        )
        return has_own_subject or (bool(own) and own[0].start > unit.origin)
    words = [word.casefold() for word in _WORD.findall(unit.text)]
    return len(words) >= 2 * _FEWEST_WORDS or (len(words) >= _FEWEST_WORDS and words[0] in _SPEAKING)


def split_statements(unit: Unit, states: Callable[[Unit], bool]) -> list[Unit]:
    """The sentence's statements: clauses joined by "and", "but", "so" or a comma that stand alone; else the sentence.

    A clause with a subject of its own is a statement. One that shares its subject is split off only where every
    part `states` a relation, so that each can be replaced by itself: "I work at Acme and live in Rome".
    """
    if unit.kind != "prose" or not unit.tokens or not unit.is_readable or unit.is_question or unit.is_aside:
        return [unit]
    joints = [joint for joint in _joints(unit) if not joint.subject]
    parts = _parts(unit, joints)
    return [piece for part in parts for piece in _split_shared(part, states)]


def _split_shared(unit: Unit, states: Callable[[Unit], bool]) -> list[Unit]:
    joints = [joint for joint in _joints(unit) if joint.subject]
    parts = _parts(unit, joints)
    return parts if len(parts) > 1 and all(states(part) for part in parts) else [unit]


@dataclass(frozen=True, slots=True)
class _Joint:
    """Where a clause ends and the next begins in the unit's text."""

    end: int
    begin: int
    subject: str = ""
    """The subject that the next clause leaves out."""
    effect: bool = False
    """Whether the next clause starts with "so"."""


def _parts(unit: Unit, joints: Sequence[_Joint]) -> list[Unit]:
    if not joints:
        return [unit]
    begins = [0, *(joint.begin for joint in joints)]
    ends = [*(joint.end for joint in joints), len(unit.text)]
    parts = []
    for number, (begin, end) in enumerate(zip(begins, ends, strict=True)):
        joint = joints[number - 1] if number else None
        parts.append(_clause(unit, begin, end, joint))
    return parts


def _clause(unit: Unit, begin: int, end: int, joint: _Joint | None) -> Unit:
    """A clause as a sentence of its own, beginning with the subject that it leaves out."""
    part = unit.part(begin, begin + len(unit.text[begin:end].rstrip(" ,;-–—")))
    subject = joint.subject if joint is not None else ""
    is_effect = joint is not None and joint.effect
    text = subject + part.text if subject else part.text
    if not subject and not is_effect:
        text = text[:1].upper() + text[1:]
    closed = text if end == len(unit.text) or text[-1:] in ".!?…)\"”'’" else f"{text}."
    return replace(
        part, text=closed, origin=part.origin - len(subject), tail=is_effect or (unit.tail and not begin)
    )


def _joints(unit: Unit) -> list[_Joint]:
    tokens = unit.tokens
    if _starts_with_condition(unit):
        return []
    closed = [match.span() for match in _CLOSED.finditer(unit.text)]
    joints: list[_Joint] = []
    for index in range(len(tokens)):
        if not _is_clause_head(tokens, index):
            continue
        joint = _joint_before(unit, index)
        if joint is None or any(low < joint.end < high for low, high in closed):
            continue
        if joints and joint.begin <= joints[-1].begin:
            continue
        if 0 < joint.end <= joint.begin < len(unit.text) and _says_enough(unit, joints, joint):
            joints.append(joint)
    return [joint for joint in joints if joint.subject or not _leans(unit, joints, joint)]


def _starts_with_condition(unit: Unit) -> bool:
    match = _FIRST_WORD.match(unit.text)
    return match is not None and match[1].casefold() in _CONDITIONS


def _is_clause_head(tokens: Sequence[Token], index: int) -> bool:
    """Whether a verb heads a clause on the level of the whole sentence that has another such clause before it."""
    token = tokens[index]
    if token.pos not in ("VERB", "AUX"):
        return False
    if token.dep == "conj":
        return token.head < index and _is_main(tokens, token.head)
    if token.dep in _SPLICED and token.head < index:
        return _is_main(tokens, token.head) and _is_spliced(tokens, index)
    if token.dep != "ROOT":
        return False
    return any(
        other.dep in _SPLICED and other.head == index and place < index and _subject(tokens, place) is not None
        and _subject(tokens, index) is not None and not _is_marked(tokens, place)
        for place, other in enumerate(tokens)
    )  # fmt: skip


def _is_spliced(tokens: Sequence[Token], verb: int) -> bool:
    """Whether a clause that hangs on a verb before it is a statement of its own behind a comma."""
    subject = _subject(tokens, verb)
    if subject is None or _is_marked(tokens, verb) or tokens[tokens[verb].head].lemma.casefold() in _OPINION:
        return False
    return tokens[max(_first_of(tokens, subject) - 1, 0)].text in _BREAKS


def _is_main(tokens: Sequence[Token], index: int) -> bool:
    for _ in range(len(tokens)):
        token = tokens[index]
        if token.pos not in ("VERB", "AUX"):
            return False
        if token.dep == "ROOT":
            return True
        spliced = token.dep in _SPLICED and token.head > index and not _is_marked(tokens, index)
        if not spliced and token.dep != "conj":
            return False
        index = token.head
    return False


def _is_marked(tokens: Sequence[Token], verb: int) -> bool:
    return any(token.head == verb and token.dep == "mark" for token in tokens)


def _joint_before(unit: Unit, verb: int) -> _Joint | None:
    """The joint in front of a clause: its "and", or the comma before its subject."""
    tokens = unit.tokens
    subject = _subject(tokens, verb)
    first = _first_of(tokens, subject) if subject is not None else verb
    place = first - 1
    while (
        place > 0
        and tokens[place].pos in ("ADV", "INTJ", "AUX", "PART")
        and tokens[place].text not in _BREAKS
    ):
        if tokens[place].text.casefold() in _JOINING:
            break
        place -= 1
    if place <= 0:
        return None
    low = tokens[place].text.casefold()
    if low not in _JOINING and low not in _BREAKS:
        return None
    if subject is None:
        shared = _short_subject(tokens, tokens[verb].head)
        return _joint(unit, place, shared) if shared and low in _JOINING else None
    if tokens[verb].lemma.casefold() in _OPINION and tokens[verb].dep == "ROOT":
        return None
    return _joint(unit, place, "") if _has_finite(tokens, verb) else None


def _joint(unit: Unit, place: int, subject: str) -> _Joint:
    tokens = unit.tokens
    effect = tokens[place].text.casefold() == "so" and not subject
    begin = tokens[place].start if effect else tokens[place + 1].start
    return _Joint(tokens[place].start - unit.origin, begin - unit.origin, subject, effect)


def _has_finite(tokens: Sequence[Token], verb: int) -> bool:
    if tokens[verb].tag in _FINITE:
        return True
    return any(
        token.head == verb and token.dep in ("aux", "auxpass") and token.tag in _FINITE for token in tokens
    )


def _first_of(tokens: Sequence[Token], index: int) -> int:
    """The first token of the phrase that hangs on a token."""
    first = index
    for place in range(index - 1, -1, -1):
        head = place
        for _ in range(len(tokens)):
            head = tokens[head].head
            if head in (index, tokens[head].head):
                break
        if head != index:
            break
        first = place
    return first


def _says_enough(unit: Unit, joints: Sequence[_Joint], joint: _Joint) -> bool:
    """Whether the clauses on both sides are more than a few words."""
    before = unit.text[joints[-1].begin if joints else 0 : joint.end]
    after = unit.text[joint.begin :]
    fewest = _FEWEST_WORDS - bool(joint.subject) + 2 * joint.effect
    return len(_WORD.findall(before)) >= _FEWEST_WORDS and len(_WORD.findall(after)) >= fewest


def _leans(unit: Unit, joints: Sequence[_Joint], joint: _Joint) -> bool:
    """Whether the clause behind a joint has a word that stands for something said in the clause before."""
    end = next((other.end for other in joints if other.begin > joint.begin), len(unit.text))
    return _leans_within(unit.tokens, unit.origin + joint.begin, unit.origin + end)


def _subject(tokens: Sequence[Token], verb: int) -> int | None:
    return next(
        (place for place, token in enumerate(tokens) if token.head == verb and token.dep in _SUBJECTS), None
    )


def _short_subject(tokens: Sequence[Token], verb: int) -> str:
    """The verb's subject where it is "I" or a name of one word, which can be said again."""
    subject = _subject(tokens, verb)
    if subject is None or any(t.head == subject and place != subject for place, t in enumerate(tokens)):
        return ""
    token = tokens[subject]
    return f"{token.text} " if token.text == "I" or token.pos == "PROPN" else ""
