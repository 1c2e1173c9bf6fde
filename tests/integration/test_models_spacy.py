"""The spaCy tagger against spaCy itself, and on texts that pipelines stumble over."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from perdure.models.spacy_entities import EntityFinder
from perdure.models.spacy_parser import Parser
from perdure.models.spacy_tagger import SpacyTagger, find_pipeline
from perdure.models.spacy_vectors import TokenVectors

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


def test_entities_are_exactly_those_of_spacy(pipeline: Any) -> None:
    finder = EntityFinder(pipeline.get_pipe("ner"))
    assert finder._vectorised
    with pipeline.select_pipes(disable=["ner"]):
        docs = list(pipeline.pipe(TEXTS))
    found = finder.find(docs)
    expected = [[(span.start, span.end, span.label_) for span in doc.ents] for doc in pipeline.pipe(TEXTS)]
    assert sum(map(len, expected)) > 12
    assert [[tuple(entity) for entity in entities] for entities in found] == expected
    assert finder.find([]) == []


def test_a_recogniser_of_another_make_is_run_by_spacy(pipeline: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    ner = pipeline.get_pipe("ner")
    expected = EntityFinder(ner).find(list(pipeline.pipe(TEXTS)))
    monkeypatch.setitem(ner.model.attrs, "has_upper", False)
    finder = EntityFinder(ner)
    monkeypatch.setitem(ner.model.attrs, "has_upper", True)
    assert not finder._vectorised
    assert finder.find(list(pipeline.pipe(TEXTS))) == expected


def _parse(doc: Any) -> list[tuple[int, str, bool]]:
    return [(token.head.i, token.dep_, token.is_sent_start) for token in doc]


def _unparsed(pipeline: Any, texts: list[str]) -> tuple[list[Any], list[Any]]:
    with pipeline.select_pipes(enable=["tok2vec", "tagger"]):
        docs = list(pipeline.pipe(texts))
    return docs, [doc.tensor for doc in docs]


def test_parses_are_exactly_those_of_spacy(pipeline: Any) -> None:
    parser = Parser(pipeline.get_pipe("parser"))
    assert parser._stepped
    texts = [
        *TEXTS,
        "",
        "But why? Because the man who was seen by everybody had left before it rained, I think.",
    ]
    docs, vectors = _unparsed(pipeline, texts)
    parser.parse(docs, vectors)
    assert [_parse(doc) for doc in docs] == [_parse(doc) for doc in pipeline.pipe(texts)]


def test_a_parser_of_another_make_is_run_by_spacy(pipeline: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    component = pipeline.get_pipe("parser")
    monkeypatch.setitem(component.model.attrs, "has_upper", False)
    parser = Parser(component)
    monkeypatch.setitem(component.model.attrs, "has_upper", True)
    assert not parser._stepped
    docs, vectors = _unparsed(pipeline, TEXTS)
    parser.parse(docs, vectors)
    assert [_parse(doc) for doc in docs] == [_parse(doc) for doc in pipeline.pipe(TEXTS)]


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


def test_vectors_are_those_of_spacy(pipeline: Any) -> None:
    docs = [pipeline.make_doc(text) for text in TEXTS]
    for network in (
        pipeline.get_pipe("tok2vec").model,
        pipeline.get_pipe("ner").model.get_ref("tok2vec").layers[0],
    ):
        vectors = TokenVectors(network)
        assert vectors._known
        for _ in range(2):  # what was kept of a word serves the next time
            for ours, theirs in zip(vectors.of(docs), network.predict(docs), strict=True):
                np.testing.assert_allclose(ours, theirs, atol=1e-4)


def test_vectors_stay_the_same_when_words_are_forgotten(
    pipeline: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = pipeline.get_pipe("tok2vec").model
    docs = [pipeline.make_doc(text) for text in TEXTS]
    monkeypatch.setattr("perdure.models.spacy_vectors._KEPT", 20)
    forgetful = TokenVectors(network)
    for doc in docs:
        np.testing.assert_allclose(forgetful.of([doc])[0], network.predict([doc])[0], atol=1e-4)
    assert len(forgetful._places) <= max(20, *map(len, docs))


def test_a_network_of_another_make_is_run_by_spacy(pipeline: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    network = pipeline.get_pipe("tok2vec").model
    window = next(node for node in network.walk() if node.name == "expand_window")
    monkeypatch.setitem(window.attrs, "window_size", 2)
    vectors = TokenVectors(network)
    monkeypatch.setitem(window.attrs, "window_size", 1)
    assert not vectors._known
    docs = [pipeline.make_doc(text) for text in TEXTS]
    for ours, theirs in zip(vectors.of(docs), network.predict(docs), strict=True):
        np.testing.assert_array_equal(ours, theirs)
