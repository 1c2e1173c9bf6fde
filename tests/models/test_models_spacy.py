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
    assert [mention.text for mention in tagged[0].mentions] == [
        name.removeprefix("the ") for name in expected
    ]


def test_a_batch_gives_what_each_text_gives_alone() -> None:
    tagger = SpacyTagger()
    assert tagger.tag(TEXTS) == [tagger.tag([text])[0] for text in TEXTS]


def test_tags_heads_and_lemmas_agree_with_the_whole_pipeline(pipeline: Any) -> None:
    texts = [
        "She was running faster than the children who had bought two mice and ate them.",
        "I didn't know that he'd gone; those were better days, and nobody has been told.",
    ]
    for text, sentences in zip(texts, SpacyTagger().tag(texts), strict=True):
        ours = [token for sentence in sentences for token in sentence.tokens]
        theirs = list(pipeline(text))
        assert [(token.text, token.tag, token.dep) for token in ours] == [
            (token.text, token.tag_, token.dep_) for token in theirs
        ]
        same = sum((a.lemma, a.pos) == (b.lemma_, b.pos_) for a, b in zip(ours, theirs, strict=True))
        assert same >= len(ours) - 1
        (sentence,) = sentences
        assert [sentence.tokens[token.head].text for token in sentence.tokens] == [
            token.head.text for token in theirs
        ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Great news! 😀 We won 🎉🎉", ["Great news! 😀", "We won 🎉🎉"]),
        ("- buy milk\n- call Anna\n1. fix the roof", ["- buy milk", "- call Anna", "1. fix the roof"]),
        ("First paragraph without a stop\n\nSecond one", ["First paragraph without a stop", "Second one"]),
        ("!!!", ["!!!"]),
    ],
)
def test_sentences_of_untidy_texts(text: str, expected: list[str]) -> None:
    (sentences,) = SpacyTagger().tag([text])
    assert [sentence.text for sentence in sentences] == expected


def test_a_long_line_is_read_in_pieces() -> None:
    line = "word " * 3000 + "x" * 9000
    (sentences,) = SpacyTagger().tag([line])
    assert max(sentence.end - sentence.start for sentence in sentences) <= 2000
    assert sum(sentence.end - sentence.start for sentence in sentences) > 0.9 * len(line)


def test_names_keep_neither_greetings_nor_possessives() -> None:
    (sentences,) = SpacyTagger().tag(["Hey Melanie! Thanks Bob. We saw Caroline's painting in New Delhi."])
    found = {mention.text for sentence in sentences for mention in sentence.mentions}
    assert {"Melanie", "Bob", "Caroline", "New Delhi"} <= found
    assert not found & {"Hey Melanie", "Thanks Bob", "Caroline's", "Delhi", "Hey", "Thanks"}
