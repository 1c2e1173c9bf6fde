"""The local extractor with the installed English pipeline."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from perdure.extract.local import LocalExtractor
from perdure.models.spacy_tagger import SpacyTagger, find_pipeline
from perdure.ports.extractor import ExtractedFact, Turn

pytestmark = pytest.mark.skipif(find_pipeline() is None, reason="needs perdure[nlp]")
SAID = datetime(2024, 3, 14, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def extractor() -> LocalExtractor:
    return LocalExtractor(SpacyTagger())


def facts(extractor: LocalExtractor, *lines: tuple[str, str]) -> list[ExtractedFact]:
    return extractor.extract([Turn(text=text, speaker=who, said_at=SAID) for who, text in lines])


def test_joined_verbs_agree_and_dates_are_absolute(extractor: LocalExtractor) -> None:
    (fact,) = facts(extractor, ("Ann", "I visited Lisbon yesterday, I love the trams and want to go back."))
    assert fact.text == "Ann visited Lisbon on 13 March 2024, Ann loves the trams and wants to go back."
    assert ("Lisbon", "place") in {(m.text, m.type) for m in fact.mentions}


@pytest.mark.parametrize(
    ("said", "triple"),
    [
        ("I work as a nurse at Mercy Hospital.", ("Ann", "works_at", "Mercy Hospital")),
        ("My brother lives in Berlin.", ("Ann's brother", "lives_in", "Berlin")),
        ("I am married to Robert Hill.", ("Ann", "married_to", "Robert Hill")),
        ("I don't like olives.", ("Ann", "dislikes", "olives")),
    ],
)
def test_relations(extractor: LocalExtractor, said: str, triple: tuple[str, str, str]) -> None:
    found = facts(extractor, ("Ann", said))[0].triple
    assert found is not None
    assert (found.subject, found.relation, found.object) == triple


@pytest.mark.parametrize(
    "said", ["I would love to live in Berlin one day.", "I used to work at Mercy Hospital."]
)
def test_what_is_not_so_is_no_current_value(extractor: LocalExtractor, said: str) -> None:
    assert not any(fact.triple and fact.triple.single_valued for fact in facts(extractor, ("Ann", said)))


def test_odd_text_passes(extractor: LocalExtractor) -> None:
    text = "I \ud800 went 😀😀 to <b>مرحبا</b> ```x\n- a\n" + "z" * 3000
    for fact in facts(extractor, ("Ann", text)):
        assert text[fact.start :].startswith(fact.source_text)
