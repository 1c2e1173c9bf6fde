"""The spaCy tagger against spaCy itself, and on texts that pipelines stumble over."""

from __future__ import annotations

from typing import Any

import pytest

from perdure.models.spacy_tagger import SpacyTagger, find_pipeline

spacy = pytest.importorskip("spacy")

TEXTS = [
    "Angela Merkel met Barack Obama in Berlin on 3 May 2013, and the European Commission was not amused.",
    "Yesterday Anna flew from São Paulo to New York City with Lufthansa. She paid $400!",
    "The Lord of the Rings was written by J. R. R. Tolkien at Oxford. I love it.",
    "  Leading space,\n\nand a break. Microsoft bought GitHub for 7.5 billion dollars  ",
    "no names here at all",
    "Google",
    "At the Berlin Marathon we saw three Kenyans and two Germans from Siemens AG; the Louvre was closed.",
]


@pytest.fixture(scope="module")
def pipeline() -> Any:
    return spacy.load(find_pipeline(), exclude=["senter"])


def test_entities_are_those_of_spacy(pipeline: Any) -> None:
    (tagged,) = SpacyTagger().tag([TEXTS[0]])
    expected = [span.text for span in pipeline(TEXTS[0]).ents if span.label_ != "DATE"]
    assert [mention.text for mention in tagged] == [name.removeprefix("the ") for name in expected]


def test_a_batch_gives_what_each_text_gives_alone() -> None:
    tagger = SpacyTagger()
    assert tagger.tag(TEXTS) == [tagger.tag([text])[0] for text in TEXTS]


def test_a_long_line_is_read_in_pieces() -> None:
    (mentions,) = SpacyTagger().tag(["word " * 3000 + "x" * 9000 + " and Angela Merkel came to Berlin"])
    assert mentions[-1].text == "Berlin"


def test_names_keep_neither_greetings_nor_possessives() -> None:
    (mentions,) = SpacyTagger().tag(["Hey Melanie! Thanks Bob. We saw Caroline's painting in New Delhi."])
    found = {mention.text for mention in mentions}
    assert {"Melanie", "Bob", "Caroline", "New Delhi"} <= found
    assert not found & {"Hey Melanie", "Thanks Bob", "Caroline's", "Delhi", "Hey", "Thanks"}
