"""The local extractor with the installed English pipeline."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from perdure.extract.local import LocalExtractor
from perdure.models.spacy_tagger import SpacyTagger, find_pipeline
from perdure.ports.extractor import Turn

pytestmark = pytest.mark.skipif(find_pipeline() is None, reason="needs perdure[nlp]")
SAID = datetime(2024, 3, 14, 12, tzinfo=UTC)


def named(text: str) -> dict[str, str]:
    """Return name -> type of what a statement of Ann's mentions."""
    facts = LocalExtractor(SpacyTagger()).extract([Turn(text=text, speaker="Ann", said_at=SAID)])
    return {mention.text: mention.type for fact in facts for mention in fact.mentions}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("I visited Lisbon yesterday with Maria Santos.", {"Lisbon": "concept", "Maria Santos": "person"}),
        ("We are flying to Lisbon on Friday.", {"Lisbon": "place"}),
        ("we bought a Volvo from Marcus", {"Volvo": "concept", "Marcus": "concept"}),
        ("SO HAPPY, we got the KEYS to the flat!!", {}),
        ("Thanks! Monday works, and Ok for June too.", {}),
    ],
)
def test_names_are_named_and_typed_only_where_the_type_is_nearly_sure(
    text: str, names: dict[str, str]
) -> None:
    assert named(text) == names


def test_of_other_languages_only_sure_names_are_taken() -> None:
    assert named("Die Steuererklärung und der Mietvertrag liegen bei Lena im Zimmer.") == {"Lena": "person"}
