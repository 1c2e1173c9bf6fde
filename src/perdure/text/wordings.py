"""The template language in which wordings of slots are written, one TOML file per language (`text/slots/`).

A template is a sentence with holes: `{who} <wohnen> in {place}`.

* `{who}`: the subject, `{place}`, `{organisation}`, ...: a value of that kind, or a word of a list of that name
* `<wohnen>`: a verb of the file's table, in every person and tense that the file gives
* `(a|b c)`: one of these, `[a]`: may be left out, `_`: one word or none, `...`: up to eight, `.`: the end of the clause

Up to eight words may stand behind a verb without being written; behind `<verb!>` only adverbs and phrases of time.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any

from perdure.text.wording_kinds import has_noun_before_its_value, refuse_unknown_kinds

LANGUAGES = ("de", "es", "fr")
_PIECE = re.compile(
    r"\{(?P<hole>\w+)\}|<(?P<verb>[^<>]+)>|(?P<gap>\.\.\.)|(?P<mark>[()\[\]|.])|(?P<word>[^\s()\[\]|{}<>.]+\.?)"
)
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})
_FREE_WORDS = 8
_BEFORE_VERB = 3
_BEFORE_PARTICIPLE = 3
FIRST = frozenset(("1s", "1p"))


class Aspect(StrEnum):
    """What a wording says of its slot."""

    HOLDS = "holds"
    BEGINS = "begins"
    ENDS = "ends"
    PAST = "past"


@dataclass(frozen=True, slots=True)
class Word:
    """A word as it is written and as it is typed without accents."""

    low: str
    bare: str


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several sequences."""

    options: tuple[tuple[Node, ...], ...]


@dataclass(frozen=True, slots=True)
class Value:
    """A hole for a value of a kind."""

    kind: str


@dataclass(frozen=True, slots=True)
class Who:
    """A hole for the subject."""

    may_be_left_out: bool = True


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb by the name it has in the table, before tense and order are chosen."""

    name: str
    only_adverbs: bool = False


@dataclass(frozen=True, slots=True)
class Finite:
    """The forms of a verb in one tense, each with the persons it may stand for: 1s, 1p, 3s, 3p."""

    forms: tuple[tuple[tuple[Word, ...], frozenset[str]], ...]


@dataclass(frozen=True, slots=True)
class Gap:
    """Up to so many words of any kind, or only adverbs and phrases of time."""

    most: int
    adverbs: bool = False


@dataclass(frozen=True, slots=True)
class End:
    """The end of the clause."""


Node = Word | Choice | Value | Who | Verb | Finite | Gap | End


@dataclass(frozen=True, slots=True)
class Phrase:
    """A template in one order of words."""

    nodes: tuple[Node, ...]
    keys: tuple[frozenset[str], ...]
    """Of each of these sets a match has a word."""

    def may_match(self, words: frozenset[str]) -> bool:
        """Whether a clause of these words is worth a closer look."""
        return not any(key.isdisjoint(words) for key in self.keys)


@dataclass(frozen=True, slots=True)
class Wording(Phrase):
    """One order of words that says something of a slot."""

    aspect: Aspect
    tail: tuple[Node, ...]
    """What is left when subject and verb are not said again: "now in Bonn"."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A relation and its wordings."""

    relation: str
    past: str
    ended: str
    single: bool
    wordings: tuple[Wording, ...]
    value: str
    """The object where the wordings have no hole for it."""


@dataclass(frozen=True, slots=True)
class Noun:
    """What somebody has one of: a dentist, a deadline, a password."""

    relation: str
    kind: str
    ownerless: bool
    """Whether "the deadline" is enough, without whose it is."""


@dataclass(frozen=True, slots=True)
class Wordings:
    """Everything one language's file says."""

    code: str
    verb_second: bool
    drops_subject: bool
    nouns_capital: bool
    slots: tuple[Slot, ...]
    attributes: tuple[tuple[str, Wording], ...]
    """Wordings of "my ... is", each with what it adds to the noun as a relation: "runs_on"."""
    nouns: Mapping[str, Noun]
    persons: Mapping[str, str]
    """First-person pronoun -> person."""
    mine: frozenset[str]
    kin: Mapping[str, str]
    """Noun -> the English word for the relative."""
    bare_kin: frozenset[str]
    """Words for relatives that are said without "my"."""
    plural_kin: frozenset[str]
    words: Mapping[str, frozenset[str]]
    """Word lists by name: articles, prepositions, stops, joints and so on."""
    choices: Mapping[str, Mapping[str, str]]
    """List's name -> word or phrase -> the value it stands for."""
    guards: Mapping[str, tuple[Phrase, ...]]
    """Name of a guard -> the phrases that trip it."""
    endings: tuple[Wording, ...]
    """Wordings that name a value as over, whatever slot it filled: "switched from {old} to"."""
    leavings: tuple[Wording, ...]
    """Wordings that say that a person is no longer there: "Dr. Lang retired"."""
    finite_forms: frozenset[str]
    """Verb forms of any verb in the table."""

    @property
    def dated_nouns(self) -> frozenset[str]:
        """Nouns for what has a date and is said without an article: "j'ai rendez-vous"."""
        return frozenset(word for word, noun in self.nouns.items() if noun.ownerless and noun.kind == "when")

    def kinds_of(self, relation: str) -> frozenset[str]:
        """The kinds of value that the wordings of a relation have holes for."""
        holes = {
            node.kind
            for slot in self.slots
            if slot.relation == relation
            for wording in slot.wordings
            for node in wording.nodes
            if isinstance(node, Value)
        }
        noun = relation.removesuffix("_time").rpartition("_")[2]
        return frozenset(
            holes | {other.kind for other in self.nouns.values() if noun == other.relation} - {"typed"}
        )


def bare(text: str, code: str) -> str:
    """A text in lower case as it is typed without accents; every language has its own custom."""
    low = text.casefold()
    if code == "de":
        low = low.translate(_UMLAUTS)
    if low.isascii():
        return low
    low = low.replace("œ", "oe").replace("æ", "ae")
    return "".join(char for char in unicodedata.normalize("NFKD", low) if not unicodedata.combining(char))


@cache
def wordings(code: str) -> Wordings:
    """The wordings of a language of `LANGUAGES`."""
    path = files("perdure.text").joinpath("slots", f"{code}.toml")
    table = _Reader(code, tomllib.loads(path.read_text("utf-8"))).read()
    kinds = [hole.kind for phrase in _phrases(table) for hole in _holes(phrase.nodes)]
    refuse_unknown_kinds((*kinds, *(noun.kind for noun in table.nouns.values())), table.choices, path.name)
    return table


class _Reader:
    """Turns a language's file into wordings."""

    def __init__(self, code: str, raw: Mapping[str, Any]) -> None:
        self._code = code
        self._raw = raw
        self._verb_second = raw["order"] == "verb second"

    def read(self) -> Wordings:
        raw = self._raw
        return Wordings(
            code=self._code,
            verb_second=self._verb_second,
            drops_subject=bool(raw["drops_subject"]),
            nouns_capital=bool(raw["nouns_capital"]),
            slots=tuple(self._slot(row) for row in raw["slot"]),
            attributes=tuple(
                (row.get("adds", ""), wording) for row in raw["attribute"] for wording in self._wordings(row)
            ),
            nouns={
                spelling: Noun(
                    row.get("relation", self._bare(word).replace(" ", "_").replace("-", "_")),
                    row["kind"],
                    row.get("ownerless", False),
                )
                for row in raw["noun"]
                for word in self._phrases(row["words"])
                for spelling in self._spellings(word)
            },
            persons=dict(raw["persons"]),
            mine=self._set(raw["mine"]),
            kin={
                spelling: name
                for name, words in raw["kin"].items()
                for word in words.split()
                for spelling in self._spellings(word)
            },
            bare_kin=self._set(raw["bare_kin"]),
            plural_kin=self._set(raw["plural_kin"]),
            words={name: self._set(words) for name, words in raw["words"].items()},
            choices={name: self._choice(rows) for name, rows in raw["choice"].items()},
            guards={name: tuple(self._guards(phrases)) for name, phrases in raw["guards"].items()},
            endings=tuple(self._wordings(raw["ended"])),
            leavings=tuple(self._wordings({"ends": raw["ended"]["left"]})),
            finite_forms=frozenset(self._finite_forms()),
        )

    def _finite_forms(self) -> Iterator[str]:
        for forms in self._raw["verbs"].values():
            for tense in ("now", "was"):
                for form, _ in self._finite(forms[tense]).forms if tense in forms else ():
                    yield from (form[-1].low, form[-1].bare)

    def _guards(self, templates: Iterable[str]) -> Iterator[Phrase]:
        """The phrases of a guard; one with a verb in every tense and order."""
        for template in templates:
            nodes = self._parse(template)
            if not any(isinstance(node, Verb) for node in nodes):
                yield Phrase(nodes, _keys(nodes))
            for tense in ("now", "was", "done") if any(isinstance(node, Verb) for node in nodes) else ():
                yield from self._orders(template, tense, Aspect.HOLDS)

    def _slot(self, row: Mapping[str, Any]) -> Slot:
        return Slot(
            relation=row["relation"],
            past=row.get("past", ""),
            ended=row.get("ended", f"no_longer_{row['relation']}"),
            single=row.get("single", True),
            wordings=tuple(self._wordings(row)),
            value=row.get("value", ""),
        )

    def _wordings(self, row: Mapping[str, Any]) -> Iterator[Wording]:
        """Wordings of events before those of states, so that "moved to" is read before "lives in"."""
        for template in row.get("gone", ()):
            yield from self._orders(template, "now", Aspect.ENDS)
        for template in row.get("recent", ()):
            yield from self._orders(template, "now", Aspect.BEGINS)
        for aspect in (Aspect.BEGINS, Aspect.ENDS):
            for template in row.get(aspect.value, ()):
                for tense in ("was", "done"):
                    yield from self._orders(template, tense, aspect)
        for template in row.get(Aspect.HOLDS.value, ()):
            yield from self._orders(template, "now", Aspect.HOLDS)
            for tense in ("was", "done"):
                yield from self._orders(template, tense, Aspect.PAST)

    def _orders(self, template: str, tense: str, aspect: Aspect) -> Iterator[Wording]:
        """The template in each order of words that the language has."""
        nodes = self._parse(template)
        place = next((index for index, node in enumerate(nodes) if isinstance(node, Verb)), None)
        if place is None:
            if aspect is not Aspect.PAST and tense != "done":
                yield self._wording(nodes, aspect, ())
            return
        verb = nodes[place]
        assert isinstance(verb, Verb)
        head, rest = nodes[:place], nodes[place + 1 :]
        last = tuple(node for node in rest[-1:] if isinstance(node, End))
        rest = rest[: len(rest) - len(last)]
        subject = head[-1:] if head and isinstance(head[-1], Who | Value) else ()
        before = head[: len(head) - len(subject)]
        gap = (Gap(_FREE_WORDS, verb.only_adverbs),)
        forms = self._raw["verbs"][verb.name]
        if tense not in forms:
            return
        if tense == "done":
            auxiliary, _, participle = forms["done"].partition(" ")
            finite: tuple[Node, ...] = (self._finite(self._raw["verbs"][auxiliary]["now"]),)
            behind: tuple[Node, ...] = (self._participle(participle),)
        else:
            finite, behind = (self._finite(forms[tense]),), ()
        named = tuple(Who(may_be_left_out=False) if isinstance(node, Who) else node for node in subject)
        if self._verb_second:
            orders = [
                (*subject, *finite, *gap, *rest, *behind),
                (*finite, *named, *gap, *rest, *behind),
                (*named, *gap, *rest, *behind, *finite),
            ]
            if behind and rest:
                orders.append((*subject, *finite, *gap, *behind, *rest))
            front, back = _split_behind_value(rest)
            if front and any(isinstance(node, Who) for node in named):
                orders.append((*front, *finite, *named, *gap, *back, *behind))
        else:
            middle = (Gap(_BEFORE_PARTICIPLE), *behind) if behind else ()
            orders = [(*subject, *self._before_verb(subject), *finite, *middle, *gap, *rest)]
            if named:
                orders.append((*finite, *middle, *named, *gap, *rest))
        for order in orders:
            if has_noun_before_its_value(_holes((*before, *order))):
                yield self._wording((*before, *order, *last), aspect, rest)

    def _before_verb(self, subject: tuple[Node, ...]) -> tuple[Node, ...]:
        """Room for negations and small pronouns; between a noun and its verb only for adverbs."""
        return tuple(Gap(_BEFORE_VERB, adverbs=not isinstance(node, Who)) for node in subject)

    def _wording(self, nodes: tuple[Node, ...], aspect: Aspect, tail: tuple[Node, ...]) -> Wording:
        return Wording(
            nodes, _keys(nodes), aspect, tail if any(isinstance(node, Value) for node in tail) else ()
        )

    def _finite(self, cells: str) -> Finite:
        persons: dict[tuple[Word, ...], set[str]] = {}
        columns = cells.split("/")
        if len(columns) == 3:
            columns.append(columns[1])
        for person, cell in zip(("1s", "1p", "3s", "3p"), columns, strict=True):
            for form in cell.split("|"):
                if form.strip():
                    persons.setdefault(tuple(map(self._word, _split(form))), set()).add(person)
        return Finite(tuple((form, frozenset(who)) for form, who in persons.items()))

    def _participle(self, text: str) -> Choice:
        endings = ("", "e", "s", "es") if self._code == "fr" else ("",)
        return Choice(
            tuple(
                tuple(
                    self._word(word + (ending if last else "")) for word, last in _marked_last(form.split())
                )
                for form in text.split("|")
                for ending in endings
            )
        )

    def _parse(self, template: str) -> tuple[Node, ...]:
        pieces = list(_PIECE.finditer(template))
        nodes, rest = self._sequence(pieces, 0)
        if rest != len(pieces):
            raise ValueError(f"unbalanced brackets in the wording {template!r}")
        return nodes

    def _sequence(self, pieces: list[re.Match[str]], place: int) -> tuple[tuple[Node, ...], int]:
        nodes: list[Node] = []
        while place < len(pieces) and pieces[place]["mark"] not in (")", "]", "|"):
            piece = pieces[place]
            if piece["mark"] in ("(", "["):
                node, place = self._bracket(pieces, place + 1, optional=piece["mark"] == "[")
                nodes.append(node)
                continue
            nodes.extend(self._plain(piece))
            place += 1
        return tuple(nodes), place

    def _bracket(self, pieces: list[re.Match[str]], place: int, *, optional: bool) -> tuple[Choice, int]:
        options: list[tuple[Node, ...]] = []
        closing = "]" if optional else ")"
        while True:
            option, place = self._sequence(pieces, place)
            options.append(option)
            if place >= len(pieces):
                raise ValueError("a bracket of a wording is not closed")
            if pieces[place]["mark"] == closing:
                break
            place += 1
        return Choice((*options, ()) if optional else tuple(options)), place + 1

    def _plain(self, piece: re.Match[str]) -> Iterator[Node]:
        if piece["hole"] == "who":
            yield Who()
        elif piece["hole"]:
            yield Value(piece["hole"])
        elif piece["verb"]:
            yield Verb(piece["verb"].rstrip("!"), piece["verb"].endswith("!"))
        elif piece["gap"]:
            yield Gap(_FREE_WORDS)
        elif piece["word"] == "_":
            yield Gap(1)
        elif piece["mark"] == ".":
            yield End()
        else:
            yield from map(self._word, _split(piece["word"]))

    def _word(self, text: str) -> Word:
        return Word(text.casefold(), self._bare(text))

    def _bare(self, text: str) -> str:
        return bare(text, self._code)

    def _set(self, words: str) -> frozenset[str]:
        """The words as written and as typed without accents; "té" is still not "te"."""
        return frozenset(spelling for word in words.split() for spelling in self._spellings(word))

    def _spellings(self, word: str) -> tuple[str, str]:
        return word.casefold(), self._bare(word)

    def _phrases(self, words: str) -> list[str]:
        """Words; those joined by "_" are one phrase."""
        return [word.replace("_", " ") for word in words.split()]

    def _choice(self, rows: str | Mapping[str, str]) -> dict[str, str]:
        values = {"": rows} if isinstance(rows, str) else rows
        return {
            spelling: value
            for value, words in values.items()
            for word in self._phrases(words)
            for spelling in self._spellings(word)
        }


def _phrases(table: Wordings) -> Iterator[Phrase]:
    """Everything that a clause is matched against."""
    yield from (wording for slot in table.slots for wording in slot.wordings)
    yield from (wording for _, wording in table.attributes)
    yield from (phrase for phrases in table.guards.values() for phrase in phrases)
    yield from (*table.endings, *table.leavings)


def _holes(nodes: Iterable[Node]) -> Iterator[Value]:
    """The holes for values, in order, those within brackets too."""
    for node in nodes:
        if isinstance(node, Value):
            yield node
        elif isinstance(node, Choice):
            for option in node.options:
                yield from _holes(option)


def _split_behind_value(nodes: tuple[Node, ...]) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    """A phrase that can come first in the sentence ("bei Bosch"), and what stays behind; () where none can."""
    place = next((index for index, node in enumerate(nodes) if isinstance(node, Value)), None)
    return (nodes[: place + 1], nodes[place + 1 :]) if place is not None else ((), nodes)


def _split(form: str) -> list[str]:
    """The words of a form; an elided one is a word of its own: "m'installe"."""
    return re.findall(r"[^\s']+'(?=\w)|[^\s']+'?", form)


def _marked_last(words: Iterable[str]) -> list[tuple[str, bool]]:
    listed = list(words)
    return [(word, index + 1 == len(listed)) for index, word in enumerate(listed)]


def _keys(nodes: tuple[Node, ...]) -> tuple[frozenset[str], ...]:
    """For each node that cannot be left out, the words of which a match has one."""
    keys = []
    for node in nodes:
        if isinstance(node, Word):
            keys.append(frozenset((node.bare,)))
        elif isinstance(node, Finite):
            keys.append(frozenset(form[-1].bare for form, _ in node.forms))
        elif isinstance(node, Choice) and all(
            option and isinstance(option[0], Word) for option in node.options
        ):
            firsts = [option[0] for option in node.options]
            keys.append(frozenset(word.bare for word in firsts if isinstance(word, Word)))
    return tuple(keys)
