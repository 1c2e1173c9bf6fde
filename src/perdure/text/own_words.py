"""What a fact is found by through its own words, without the text around it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from perdure.domain.fact import Fact
from perdure.ports.store import Features
from perdure.text.terms import fold


def own_terms(fact: Fact, terms: Mapping[str, float], *around: str) -> dict[str, float]:
    """Return the index terms that the fact's own words hold, or a text around it that stays.

    Terms are stems: one is held when a word begins like it, but for its last letter.
    """
    own = (
        fact.text,
        fact.source_text,
        fact.original_text,
        fact.speaker,
        fact.asked,
        fact.subject,
        fact.relation,
        fact.object,
    )
    words = " ".join(part for part in (*own, *fact.entities, *around) if part).split()
    text = " ".join(map(fold, words))
    return {term: weight for term, weight in terms.items() if term[: max(3, len(term) - 1)] in text}


def features_alone(fact: Fact, features: Features) -> Features:
    """Return the features of a fact that moved away from the text around it."""
    vectors = dict(features.vectors)
    if "fact" in vectors and "context" in vectors:
        vectors["context"] = vectors["fact"]
    return replace(
        features,
        vectors=vectors,
        terms=own_terms(fact, features.terms),
        passage="",
        passage_in_context="",
    )
