"""Values that a sentence in German, Spanish or French names as over: "statt Polnisch", "cambié el metro por ..."."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from perdure.text.ended_values import ANYBODY, SPEAKER, EndedValue
from perdure.text.sentence import is_readable
from perdure.text.wording_clause import Clause
from perdure.text.wording_match import Match, find
from perdure.text.wording_sentence import clauses_of, is_denied, is_said_as_fact, trips
from perdure.text.wordings import LANGUAGES, Wording, wordings


def worded_endings(text: str, language: str) -> list[EndedValue]:
    """The values that a sentence says are over, in its own words; none in a language without wordings."""
    if language not in LANGUAGES or not is_readable(text) or text.rstrip().endswith("?"):
        return []
    table = wordings(language)
    if not is_said_as_fact(text, table):
        return []
    return list(dict.fromkeys(ended for clause in clauses_of(text, table) for ended in _in_clause(clause)))


def _in_clause(clause: Clause) -> Iterator[EndedValue]:
    if any(trips(clause, guard) for guard in ("temporary", "wish", "ahead")):
        return
    for match in _matches(clause, clause.wordings.endings):
        yield EndedValue(match.values[0][1], _owner(match))
    for match in _matches(clause, clause.wordings.leavings):
        yield EndedValue(match.values[0][1], SPEAKER, of_person=True)


def _matches(clause: Clause, wordings: Sequence[Wording]) -> Iterator[Match]:
    words = clause.words
    for wording in wordings:
        if wording.may_match(words):
            for match in find(clause, wording.nodes):
                if match.values and not is_denied(clause, match):
                    yield match


def _owner(match: Match) -> str:
    """Whose value it was: the speaker's, that of whom the clause names, or of whom the sentence is about."""
    subject = match.subject
    if subject is None or subject.is_pronoun:
        return ANYBODY
    if subject.name or subject.kin:
        return subject.name or subject.kin
    first = subject.is_speaker or bool(match.persons & {"1s", "1p"})
    return SPEAKER if first else ANYBODY
