"""Matching templates of wordings against the words of a clause."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from perdure.text.wording_clause import Clause, Token
from perdure.text.wording_kinds import OWN_VALUE, OWNED_KINDS
from perdure.text.wording_values import may_be_name, value_ends
from perdure.text.wordings import FIRST, Choice, End, Finite, Gap, Node, Noun, Value, Who, Word


@dataclass(frozen=True, slots=True)
class Subject:
    """Who a clause is about: the speaker, somebody named, a relative, or nobody in words."""

    person: str = ""
    name: str = ""
    kin: str = ""
    """The English word for a relative of the speaker."""
    is_pronoun: bool = False
    """Whether it is "he" or "she", for whom a statement before has the name."""

    @property
    def is_speaker(self) -> bool:
        """Whether it is "I" or "we"."""
        return self.person in FIRST or self.person == "on"

    def agrees(self, persons: frozenset[str]) -> bool:
        """Whether a verb for these persons can have it as its subject."""
        if not self.person:
            return True
        return ("3s" if self.person == "on" else self.person) in persons


@dataclass(frozen=True, slots=True)
class Owned:
    """What somebody has one of: "my dentist", "the deadline of Apollo"."""

    relation: str
    kind: str
    owner: Subject


@dataclass(frozen=True, slots=True)
class Match:
    """What a template took from a clause; positions count in the clause's tokens."""

    subject: Subject | None = None
    persons: frozenset[str] = frozenset()
    values: tuple[tuple[str, str], ...] = ()
    """(kind, text) of each filled hole, in order."""
    owned: Owned | None = None
    literal: frozenset[int] = frozenset()
    """Positions of words that the template itself wrote."""
    end: int = 0
    value_first: bool = False
    """Whether a value stands before what it is a value of: "Lea ist meine Chefin"."""


def find(
    clause: Clause, nodes: Sequence[Node], starts: Sequence[int] | None = None, owned: Owned | None = None
) -> Iterator[Match]:
    """The matches of a template in a clause, from the first possible place on; `owned` is what a value belongs to."""
    for start in range(len(clause.tokens)) if starts is None else starts:
        yield from _sequence(clause, nodes, start, Match(owned=owned))


def same_word(token: Token, word: Word) -> bool:
    """Whether a token is the word; one typed without accents may have lost them."""
    return token.low == word.low or (token.low == token.bare and token.bare == word.bare)


def _sequence(clause: Clause, nodes: Sequence[Node], place: int, match: Match) -> Iterator[Match]:
    if not nodes:
        yield replace(match, end=place)
        return
    node, rest = nodes[0], nodes[1:]
    if isinstance(node, Gap):
        for words in range(node.most + 1):
            if words and not _may_stand_between(clause, place + words - 1, node):
                return
            yield from _sequence(clause, rest, place + words, match)
        return
    for after, changed in _node(clause, node, place, match):
        yield from _sequence(clause, rest, after, changed)


def _may_stand_between(clause: Clause, place: int, gap: Gap) -> bool:
    if place >= len(clause.tokens) or not clause.tokens[place].is_word:
        return False
    words, low = clause.wordings.words, clause.tokens[place].low
    if not gap.adverbs or any(low in words[name] for name in ("time_prepositions", *_ADVERBS)):
        return True
    return low in words["stops"] and low not in words["prepositions"]


_ADVERBS = ("now", "when", "when_units", "negations", "adverbs")


def _node(clause: Clause, node: Node, place: int, match: Match) -> Iterator[tuple[int, Match]]:
    tokens = clause.tokens
    if isinstance(node, Word):
        if place < len(tokens) and same_word(tokens[place], node):
            yield place + 1, replace(match, literal=match.literal | {place})
    elif isinstance(node, Choice):
        for option in node.options:
            for inner in _sequence(clause, option, place, match):
                yield inner.end, inner
    elif isinstance(node, Finite):
        yield from _finite(clause, node, place, match)
    elif isinstance(node, Value) and node.kind in OWNED_KINDS - {"noun_word"}:
        is_object = place - 1 in match.literal
        for end, owned in _owned(clause, place, any_noun=node.kind == "the", is_object=is_object):
            yield end, replace(match, owned=owned, value_first=bool(match.values))
    elif isinstance(node, Value) and node.kind == "noun_word":
        noun = clause.wordings.nouns.get(tokens[place].low) if place < len(tokens) else None
        if noun is not None:
            yield place + 1, replace(match, owned=Owned(noun.relation, noun.kind, Subject("1s")))
    elif isinstance(node, Value) and (node.kind != OWN_VALUE or match.owned is not None):
        kind = match.owned.kind if node.kind == OWN_VALUE and match.owned is not None else node.kind
        for end, value in value_ends(clause, kind, place):
            yield end, replace(match, values=(*match.values, (kind, value)))
    elif isinstance(node, Who):
        for end, subject in _subjects(clause, node, place):
            if not match.persons or subject.agrees(match.persons):
                yield end, replace(match, subject=subject)
    elif isinstance(node, End) and place == len(tokens):
        yield place, match


def _finite(clause: Clause, node: Finite, place: int, match: Match) -> Iterator[tuple[int, Match]]:
    """A form of the verb that agrees with the subject; forms with their accents come first."""
    exact: list[tuple[tuple[Word, ...], frozenset[str]]] = []
    loose: list[tuple[tuple[Word, ...], frozenset[str]]] = []
    for form, persons in node.forms:
        words = clause.tokens[place : place + len(form)]
        if len(words) < len(form) or not all(map(same_word, words, form)):
            continue
        (exact if all(t.low == w.low for t, w in zip(words, form, strict=True)) else loose).append(
            (form, persons)
        )
    for form, persons in exact or loose:
        if match.subject is None or match.subject.agrees(persons):
            used = match.literal | set(range(place, place + len(form)))
            yield place + len(form), replace(match, persons=persons, literal=used)


def _subjects(clause: Clause, node: Who, place: int) -> Iterator[tuple[int, Subject]]:
    """The subjects that may begin at a place."""
    table = clause.wordings
    yield from _speakers(clause, place)
    first = _first_word(clause)
    blocked = table.words["prepositions"] | table.words["articles"] | table.words["joints"] | table.mine
    if place == first or _may_begin_subject(clause, place, blocked):
        yield from _relatives(clause, place)
        yield from _named(clause, place)
    if clause.has(place, table.words["third_persons"]):
        yield place + 1, Subject("3s", is_pronoun=True)
    if node.may_be_left_out and (table.drops_subject or (table.verb_second and place == first)):
        yield place, Subject()


def _may_begin_subject(clause: Clause, place: int, blocked: frozenset[str]) -> bool:
    """Whether a noun within the clause may be its subject; where the verb is second, only behind it."""
    table = clause.wordings
    if table.verb_second:
        return clause.has(place - 1, table.finite_forms | table.words["cuts"])
    return not clause.has(place - 1, blocked)


def _speakers(clause: Clause, place: int) -> Iterator[tuple[int, Subject]]:
    table = clause.wordings
    if place >= len(clause.tokens):
        return
    person = table.persons.get(clause.tokens[place].low)
    if person is None:
        return
    joints = table.words["joints"]
    if clause.has(place - 1, joints) and place > 1:
        yield place + 1, Subject("1p")
    elif clause.has(place + 1, joints):
        for end, _ in (*_relatives(clause, place + 2), *_named(clause, place + 2)):
            yield end, Subject("1p")
    else:
        yield place + 1, Subject(person)


def _relatives(clause: Clause, place: int) -> Iterator[tuple[int, Subject]]:
    """ "My brother Tom", "my older sister", "Dad"."""
    table = clause.wordings
    at = place
    if clause.has(at, table.mine):
        at += 1
        while clause.has(at, table.words["adjectives"]) and at < place + 3:
            at += 1
        nouns = frozenset(table.kin)
    else:
        nouns = table.bare_kin
    if not clause.has(at, nouns):
        return
    noun = clause.tokens[at].low
    person = "3p" if noun in table.plural_kin else "3s"
    at += 1
    while clause.has(at, table.words["adjectives"]):
        at += 1
    for end, subject in _named(clause, at):
        yield end, replace(subject, person=person)
    yield at, Subject(person, kin=table.kin.get(noun, noun))


def _named(clause: Clause, place: int) -> Iterator[tuple[int, Subject]]:
    """A run of capitalised words that are no other words."""
    end = place
    streets = tuple(clause.wordings.words["streets"])
    while end < place + 3 and may_be_name(clause, end):
        if streets and clause.tokens[end].low.endswith(streets):
            return
        end += 1
    for stop in range(end, place, -1):
        yield stop, Subject("3s", name=clause.part(place, stop))


def _owned(clause: Clause, place: int, *, any_noun: bool, is_object: bool) -> Iterator[tuple[int, Owned]]:
    """A noun behind "my" or, where that is enough or `any_noun` will do, "the", with what tells it from others."""
    table = clause.wordings
    mine = clause.has(place, table.mine)
    if clause.has(place - 1, table.words["prepositions"]) and not is_object:
        return
    yield from _of_genitive(clause, place)
    if not mine and not clause.has(place, table.words["articles"]):
        mine = place == 0 and (clause.has(place, table.words["new"]) or _is_heading(clause))
        if not mine and not (
            clause.has(place - 1, table.finite_forms) and clause.has(place, table.dated_nouns)
        ):
            return
        place -= 1
    at = place + 1
    before: list[str] = []
    while at < len(clause.tokens) and at < place + 3 and _is_adjective(clause, at):
        if clause.has(at, table.words["former"]):
            return
        if not clause.has(at, table.words["adjectives"]):
            before.append(clause.tokens[at].bare)
        at += 1
    for length in (4, 3, 2, 1):
        noun = _noun(clause, at, length)
        if noun is not None:
            yield from _described(clause, at + length, noun, before, mine=mine, owned=mine or any_noun)
            return


def _of_genitive(clause: Clause, place: int) -> Iterator[tuple[int, Owned]]:
    """ "Leos Lieblingsfarbe": a noun behind the name of its owner."""
    table = clause.wordings
    if (
        not table.nouns_capital
        or not may_be_name(clause, place)
        or not clause.tokens[place].low.endswith("s")
    ):
        return
    text = clause.tokens[place].text[:-1].rstrip("'’")
    at = place + 1
    while clause.has(at, table.words["adjectives"]):
        at += 1
    noun = _noun(clause, at, 1)
    if noun is None or noun.kind == "typed" or len(text) < 3:
        return
    is_relative = text.casefold() in table.bare_kin
    owner = Subject("3s", kin=table.kin.get(text.casefold(), "")) if is_relative else Subject("3s", name=text)
    yield at + 1, Owned(noun.relation, noun.kind, owner)


def _is_heading(clause: Clause) -> bool:
    """Whether the clause begins with a noun that says what the rest is: "Abgabe ist Freitag", "Miete: 700 Euro"."""
    table = clause.wordings
    titles = table.words["titles"]
    return clause.tokens[0].low in table.nouns and not (
        clause.tokens[0].low in table.kin or clause.has(0, titles) or may_be_name(clause, 1)
    )


def _is_adjective(clause: Clause, place: int) -> bool:
    table = clause.wordings
    if clause.has(place, table.words["adjectives"]) or clause.has(place, table.words["former"]):
        return True
    token = clause.tokens[place]
    return table.nouns_capital and not token.capital and token.low not in table.words["stops"]


def _noun(clause: Clause, place: int, length: int) -> Noun | None:
    table = clause.wordings
    words = clause.tokens[place : place + length]
    if len(words) < length:
        return None
    phrase = " ".join(word.low for word in words)
    noun = table.nouns.get(phrase)
    if noun is None and length == 1:
        noun = _unlisted_noun(clause, place)
    return noun


def _unlisted_noun(clause: Clause, place: int) -> Noun | None:
    """A compound of a listed noun, a favourite, or any other noun, whose value must then show its kind."""
    table, token = clause.wordings, clause.tokens[place]
    word = token.bare.rpartition("-")[2] if "-" in token.bare else token.bare
    name = token.bare.replace("-", "_")
    favourite = next((mark for mark in table.words["favourite_prefix"] if word.startswith(mark)), "")
    if favourite:
        thing = word.removeprefix(favourite)
        return Noun(f"favourite_{table.choices['thing'].get(thing, thing)}", "thing", False)
    if clause.has(place + 1, table.words["favourite"]):
        return Noun(f"favourite_{table.choices['thing'].get(word, word)}", "thing", False)
    if (
        not token.is_word
        or word in table.kin
        or word in table.words["stops"]
        or word in table.words["no_nouns"]
    ):
        return None
    if table.nouns_capital:
        heads = [noun for noun in table.nouns if len(noun) > 3 and word.endswith(noun)]
        if heads:
            head = table.nouns[max(heads, key=len)]
            return Noun(name, head.kind, head.ownerless)
        if not token.capital:
            return None
    return Noun(name, "typed", False)


def _described(
    clause: Clause, at: int, noun: Noun, before: list[str], *, mine: bool, owned: bool
) -> Iterator[tuple[int, Owned]]:
    """The noun with an owner, or with the words behind it that tell which one it is."""
    table = clause.wordings
    while clause.has(at, table.words["adjectives"]) or clause.has(at, table.words["favourite"]):
        at += 1
    speaker = Subject("1s")
    if clause.has(at, table.words["of"]) and not mine:
        for end, owner in (*_relatives(clause, at + 1), *_named(clause, at + 1)):
            yield end, Owned(_joined(noun.relation, before), noun.kind, owner)
    if not owned and not noun.ownerless:
        return
    for words in range(5):
        behind = clause.tokens[at : at + words]
        if len(behind) < words or not all(word.is_word for word in behind):
            return
        telling = [word.bare for word in behind if not _is_small(clause, word)]
        if (
            words
            and not all(word.capital for word in behind)
            and (not clause.has(at, table.words["prepositions"] | table.words["of"]) or not telling)
            and table.nouns_capital
        ):
            continue
        if any(word.low in table.finite_forms or word.low in table.words["takes_up"] for word in behind):
            return
        joined = _joined(noun.relation, before + telling)
        if table.nouns_capital and words and all(word.capital for word in behind):
            joined = _joined(telling[-1], [*before, noun.relation, *telling[:-1]]) if telling else joined
        yield at + words, Owned(joined, noun.kind, speaker)


def _is_small(clause: Clause, token: Token) -> bool:
    """Whether a word behind a noun does not tell which one it is; a day may change."""
    lists = ("articles", "prepositions", "of", "stops", "when", "when_small", "when_units")
    return any(token.low in clause.wordings.words[name] for name in lists) or token.text[0].isdigit()


def _joined(relation: str, words: Sequence[str]) -> str:
    """The relation with what tells it apart before it, as in "team_meeting"."""
    return "_".join((*words, relation)).replace("'", "").replace("-", "_")


def _first_word(clause: Clause) -> int:
    """The first place behind "and", "well" and the like."""
    place = 0
    lead = clause.wordings.words["joints"] | clause.wordings.words["leads"]
    while clause.has(place, lead) or (place < len(clause.tokens) and not clause.tokens[place].is_word):
        place += 1
    return place
