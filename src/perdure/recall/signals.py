"""Reading the signals of a recall off its candidates."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from perdure.domain.fact import Fact
from perdure.domain.recall import Candidate, FactSignals, Query, QuestionSignals
from perdure.text.terms import index_terms

JUDGED = 30
"""Candidates that are judged, the best first; those behind them are no better than the last of these."""
COVERING = 10
"""Candidates among which each of the question's terms is looked for."""
TRUSTED = 2


def read_signals(query: Query, pool: Sequence[Candidate], stale: Collection[str]) -> QuestionSignals:
    """The signals of the candidates, best first, as far as their facts are read."""
    read = [(candidate, candidate.fact) for candidate in pool if candidate.fact is not None][:JUDGED]
    terms = [frozenset(index_terms(f"{fact.text} {fact.source_text} {fact.speaker}")) for _, fact in read]
    asked = query.terms.keys()
    first = frozenset().union(*terms[:COVERING])
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
        logit=candidate.logit,
        cosine=scores.get("semantic"),
        nearby=scores.get("neighbourhood"),
        bm25=scores.get("keyword", 0.0),
        covered=covered,
        channels=len(scores),
        score=candidate.score,
        names=_share(query.entities.keys(), fact.entity_ids),
        speaker=candidate.by_named or candidate.by_role,
        window=candidate.boosts.get("temporal") if query.window is not None else None,
        stale=stale,
        unsure=fact.trust < TRUSTED,
    )


def _share(asked: Collection[str], present: Collection[str]) -> float:
    """Share of what is asked for that is present; 0 where nothing is."""
    return sum(one in present for one in asked) / len(asked) if asked else 0.0


def latin_share(text: str) -> float:
    """Share of a text's letters that are of the Latin script; 1 where it has none."""
    letters = [character for character in text if character.isalpha()]
    if not letters:
        return 1.0
    return sum(character < "\u0250" or "\u1e00" <= character < "\u1f00" for character in letters) / len(
        letters
    )
