"""Read the signals of a recall off its candidates."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from perdure.domain.fact import Fact
from perdure.domain.recall import Candidate, FactSignals, Query, QuestionSignals
from perdure.recall.evidence import odds
from perdure.text.terms import index_terms

JUDGED = 30
"""Candidates that are judged, the best first; those behind them are no better than the last of these."""
COVERING = 10
"""Candidates among which each of the question's terms is looked for."""
TRUSTED = 2
MOST_ODDS = 6.0
"""Bound of the log-odds of answering."""


def read_signals(query: Query, pool: Sequence[Candidate], stale: Collection[str]) -> QuestionSignals:
    """Return the signals of the candidates, best first, as far as their facts are read."""
    read = [(candidate, candidate.fact) for candidate in pool if candidate.fact is not None][:JUDGED]
    terms = [frozenset(index_terms(f"{fact.text} {fact.source_text} {fact.speaker}")) for _, fact in read]
    asked = query.terms.keys()
    first = frozenset[str]().union(*terms[:COVERING])
    facts = tuple(
        _fact_signals(query, candidate, fact, _share(asked, own), fact.id in stale)
        for (candidate, fact), own in zip(read, terms, strict=True)
    )
    return QuestionSignals(
        facts=facts,
        terms=len(asked),
        entities=len(query.entities),
        window=query.window is not None,
        own=query.asker is not None,
        latin=latin_share(query.text),
        uncovered=1.0 - _share(asked, first),
    )


def _fact_signals(query: Query, candidate: Candidate, fact: Fact, covered: float, stale: bool) -> FactSignals:
    scores = {rank.channel: rank.score for rank in candidate.ranks}
    return FactSignals(
        answers=None if candidate.answers is None else bounded_odds(candidate.answers),
        cosine=scores.get("semantic", 0.0),
        bm25=scores.get("keyword", 0.0),
        covered=covered,
        score=candidate.score,
        names=_share(query.entities.keys(), fact.entity_ids),
        speaker=candidate.by_named or candidate.by_role,
        window=candidate.boosts.get("temporal") if query.window is not None else None,
        stale=stale,
        unsure=fact.trust < TRUSTED,
    )


def bounded_odds(probability: float) -> float:
    """Return the log-odds of a probability that the reader gives."""
    return min(max(odds(probability), -MOST_ODDS), MOST_ODDS)


def _share(asked: Collection[str], present: Collection[str]) -> float:
    """Return the share of what is asked for that is present; 0 if nothing is asked for."""
    return sum(one in present for one in asked) / len(asked) if asked else 0.0


def latin_share(text: str) -> float:
    """Return the share of a text's letters that are of the Latin script; 1 if it has none."""
    letters = [character for character in text if character.isalpha()]
    if not letters:
        return 1.0
    latin = sum(letter < "\u0250" or "\u1e00" <= letter < "\u1f00" for letter in letters)
    return latin / len(letters)
