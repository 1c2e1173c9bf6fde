"""A sentence of another language as clauses, and the guards that tell what is not said as a fact."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from perdure.text.wording_clause import Clause, Token, tokens_of
from perdure.text.wording_match import Match, find
from perdure.text.wordings import Wordings

_QUOTES = re.compile(r"[«»„“”‹›‚‘\"][^«»„“”‹›‚‘\"\n]*[«»“”‹›‘’\"]")
_BORDERS = frozenset(",;:()–—-…!.")


def clauses_of(text: str, table: Wordings) -> list[Clause]:
    """The clauses of a sentence in order; quoted words are left out."""
    plain = without_quotes(text)
    tokens = tokens_of(plain, table.code)
    return [Clause(plain, tuple(clause), table) for clause in _clauses(tokens, table)]


def is_said_as_fact(text: str, table: Wordings) -> bool:
    """Whether a sentence is neither supposed nor somebody else's claim nor made up."""
    plain = without_quotes(text)
    whole = Clause(plain, tuple(tokens_of(plain, table.code)), table)
    return not any(trips(whole, guard) for guard in ("hypothetical", "hearsay", "fiction"))


def trips(clause: Clause, guard: str) -> bool:
    """Whether a phrase of the guard stands in the clause."""
    return next(hits(clause, guard), None) is not None


def hits(clause: Clause, guard: str) -> Iterator[Match]:
    """The phrases of the guard that stand in the clause."""
    words = clause.words
    for phrase in clause.wordings.guards[guard]:
        if phrase.may_match(words):
            yield from find(clause, phrase.nodes)


def is_denied(clause: Clause, match: Match) -> bool:
    """Whether a negation stands beside what a template took."""
    negations = clause.wordings.words["negations"]
    return any(
        token.low in negations and place not in match.literal for place, token in enumerate(clause.tokens)
    )


def without_quotes(text: str) -> str:
    """The text with quoted words blanked, so that offsets stay."""
    return _QUOTES.sub(lambda match: " " * len(match[0]), text)


def _clauses(tokens: Sequence[Token], table: Wordings) -> Iterator[list[Token]]:
    """The clauses of a sentence: cut at punctuation, before conjunctions and at an "and" that joins statements."""
    clause: list[Token] = []
    for place, token in enumerate(tokens):
        if token.text == ":" and _is_label(clause, table):
            clause.append(token)
            continue
        if token.text in _BORDERS:
            within = _is_apposition(tokens, place, table) or _is_dislocation(
                clause, tokens[place + 1 :], table
            )
            if clause and not within:
                yield clause
                clause = []
            continue
        cut = token.low in table.words["cuts"] or (
            token.low in table.words["joints"]
            and any(word.low in table.finite_forms for word in clause)
            and _joins_statements(tokens, place, table)
        )
        if cut and clause:
            yield clause
            clause = []
        clause.append(token)
    if clause:
        yield clause


def _joins_statements(tokens: Sequence[Token], place: int, table: Wordings) -> bool:
    """Whether a subject or a verb stands right behind an "and"."""
    ahead = [token.low for token in tokens[place + 1 : place + 3]]
    return any(
        word in table.finite_forms or word in table.persons or (index == 0 and word in table.words["now"])
        for index, word in enumerate(ahead)
    )


def _is_label(before: Sequence[Token], table: Wordings) -> bool:
    """The words before the colon of "Meine Nummer: 0171 ..."."""
    if not before or any(word.low in table.finite_forms for word in before):
        return (
            bool(before) and before[-1].low in table.nouns and any(word.low in table.mine for word in before)
        )
    if before[-1].low in table.nouns or before[0].low in table.nouns:
        return True
    return 2 <= len(before) <= 5 and (before[0].low in table.mine or before[0].low in table.words["new"])


def _is_dislocation(before: Sequence[Token], behind: Sequence[Token], table: Wordings) -> bool:
    """The comma of "mon équipe, c'est Rennes"."""
    if not before or not behind or behind[0].low not in table.words["takes_up"]:
        return False
    if any(word.low in table.finite_forms for word in before):
        return False
    return before[0].low in table.mine or before[0].low in table.words["articles"]


def _is_apposition(tokens: Sequence[Token], place: int, table: Wordings) -> bool:
    """The commas of "my brother, Tom, lives"."""
    for comma in (place, place - 2, place - 3):
        closing = next((c for c in (comma + 2, comma + 3) if c < len(tokens) and tokens[c].text == ","), None)
        if comma < 1 or tokens[comma].text != "," or closing is None or place not in (comma, closing):
            continue
        between = tokens[comma + 1 : closing]
        if tokens[comma - 1].bare in table.kin and all(word.capital for word in between):
            return True
    return False
