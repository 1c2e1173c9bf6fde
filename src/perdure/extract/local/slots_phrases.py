"""Verb phrases that give a slot a value, begin or end one; read from the table of English wordings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

from perdure.extract.local.slots_values import VALUE_PATTERNS, clean_value
from perdure.text.clauses import Clause
from perdure.text.slot_table import read_toml

Aspect = Literal["holds", "begins", "ends", "none", "denied"]

_ASPECTS: tuple[Aspect, ...] = ("holds", "begins", "ends", "none", "denied")
_POSSESSIVE = r"(?:my|our|your|his|her|their|the|its|that|\w+'s)"
_OLD = r"(?:(?!\bto\b)[^,;]){1,40}?"
_SINCE = re.compile(r"\b(?:for|since|now|always|ever since|these days|all my life|so far|still)\b", re.I)
_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_LEADING_ADVERBS = r"(?:(?:now|just|recently|currently|finally|officially|actually|back|already|still|only|happily|temporarily|permanently|both|all|also|again|suddenly|unfortunately|sadly|apparently|soon|later|eventually|instead)\s+){0,2}"


@dataclass(frozen=True, slots=True)
class Phrase:
    """One wording of a slot."""

    relation: str
    aspect: Aspect
    pattern: re.Pattern[str]
    """Matched behind the verb."""


@dataclass(frozen=True, slots=True)
class SlotPhrase:
    """What a clause says of a slot: the value (empty where whatever it was ends), and what stands behind it."""

    relation: str
    aspect: Aspect
    value: str
    behind: str
    kind: str = ""
    """The kind of the value, by its name in the table."""


@cache
def phrases_by_verb() -> dict[str, tuple[Phrase, ...]]:
    """Verb -> its phrases, in the order of the table."""
    index: dict[str, list[Phrase]] = {}
    for relation, rows in read_toml("slots/en.toml").items():
        for aspect in _ASPECTS:
            for wording in rows.get(aspect, ()):
                heads, pattern = _compile(wording)
                for head in heads:
                    index.setdefault(head, []).append(Phrase(relation, aspect, pattern))
    return {verb: tuple(phrases) for verb, phrases in index.items()}


def _compile(wording: str) -> tuple[list[str], re.Pattern[str]]:
    head = re.match(r"[\w|-]+", wording)
    if head is None:
        raise ValueError(f"a wording begins with a verb: {wording}")
    rest = wording[head.end() :]
    lead = r"\s*" if rest.startswith((" ", "{", "(")) else ""
    body = _body(rest).removeprefix(r"\s+")
    pattern = rf"(?i:{lead}{_LEADING_ADVERBS}{body})(?![\w'])"
    return [verb for verb in head[0].split("|") if not verb.startswith("be_")], re.compile(pattern)


def _body(rest: str) -> str:
    """A wording as a pattern."""
    parts: list[str] = []
    position = 0
    for number, hole in enumerate(_PLACEHOLDER.finditer(rest)):
        parts += [_literal(rest[position : hole.start()]), _hole(hole[1], number)]
        position = hole.end()
    parts.append(_literal(rest[position:]))
    return "".join(parts)


def _literal(text: str) -> str:
    return re.sub(r"\((?!\?)", "(?:", text).replace(" ", r"\s+")


def _hole(kind: str, number: int) -> str:
    if kind == "poss":
        return _POSSESSIVE
    if kind == "old":
        return _OLD
    return rf"(?P<{kind}__{number}>(?-i:{VALUE_PATTERNS[kind]}))"


def slot_phrases(clause: Clause) -> Iterator[SlotPhrase]:
    """The slots that the clause's verb phrase speaks of, each as the first wording that fits."""
    seen: set[str] = set()
    table = phrases_by_verb()
    for phrase in (
        *(table.get(clause.form, ()) if clause.form != clause.verb else ()),
        *table.get(clause.verb, ()),
    ):
        if phrase.relation in seen:
            continue
        match = phrase.pattern.match(" " + clause.rest)
        if match is None:
            continue
        kind, value = _value(phrase, match)
        if value is None:
            continue
        aspect = _aspect(phrase.aspect, clause, clause.rest)
        if aspect is None:
            continue
        seen.add(phrase.relation)
        yield SlotPhrase(phrase.relation, aspect, value, (" " + clause.rest)[match.end() :], kind)


def phrases_without_verb(text: str) -> Iterator[SlotPhrase]:
    """Wordings that need no clause: fragments at the start ("First week at Acme!"), and requests anywhere ("call me on ...")."""
    for phrase in _loose_phrases():
        match = phrase.pattern.match(text) if phrase.aspect == "begins" else phrase.pattern.search(text)
        kind, value = _value(phrase, match) if match is not None else ("", None)
        if match is not None and value:
            yield SlotPhrase(phrase.relation, phrase.aspect, value, text[match.end() :], kind)


@cache
def _loose_phrases() -> tuple[Phrase, ...]:
    rows = read_toml("slots/en.toml").items()
    return tuple(
        Phrase(relation, aspect, re.compile(rf"(?i:\b{_body(wording)})(?![\w'])"))
        for relation, row in rows
        for key, aspect in _LOOSE.items()
        for wording in row.get(key, ())
    )


_LOOSE: dict[str, Aspect] = {"fragments": "begins", "anywhere": "holds"}


def _value(phrase: Phrase, match: re.Match[str]) -> tuple[str, str | None]:
    """The kind and the value; empty where the wording has none; None where what stands there is no value of the kind."""
    groups = ((name.partition("__")[0], raw) for name, raw in match.groupdict().items() if raw is not None)
    kinds = {kind: raw for kind, raw in groups if kind != "end"}
    if phrase.aspect != "ends" and not kinds and phrase.aspect != "none":
        return "", None
    slot_kinds = [kind for kind in kinds if not (kind == "role" and "org" in kinds)]
    if not slot_kinds:
        return "", ""
    kind = slot_kinds[-1]
    value = clean_value(kind, kinds[kind])
    return kind, value or None


def _aspect(aspect: Aspect, clause: Clause, rest: str) -> Aspect | None:
    """What the wording says in this tense and mood; None where it states nothing about the present."""
    if aspect == "denied":
        return "holds" if clause.meant == "denied" and clause.form not in ("was", "were") else None
    if clause.meant in ("unreal", "planned", "denied", "former"):
        return None
    if clause.meant == "over":
        return "ends" if aspect == "holds" else None
    if aspect in ("holds", "none"):
        if clause.meant == "past":
            return None
        return (
            None
            if clause.meant == "perfect"
            and clause.verb != "be"
            and not _SINCE.search(rest + " " + clause.cue)
            else aspect
        )
    if clause.meant in ("past", "perfect"):
        return aspect
    return aspect if clause.verb == "be" and clause.form in ("am", "is", "are") and aspect == "ends" else None
