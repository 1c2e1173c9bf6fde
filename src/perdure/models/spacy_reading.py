"""What is read out of spaCy's documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from unicodedata import category

from perdure.models.penn import lemma_of, universal_pos
from perdure.models.plain_words import PLAIN
from perdure.models.spacy_entities import Entity, EntityFinder
from perdure.ports.tagger import Mention, Sentence, Token

LOOSE = "proper"
"""Type of a run of proper nouns that the entity recogniser did not name; never leaves the tagger."""

_TYPES = {
    "PERSON": "person", "GPE": "place", "LOC": "place", "FAC": "place", "ORG": "organisation", "PRODUCT": "product",
    "EVENT": "event", "WORK_OF_ART": "work", "LAW": "work", "NORP": "group", "LANGUAGE": "concept",
}  # fmt: skip
_PARTS = ("tok2vec", "tagger", "parser", "lemmatizer", "ner")
_LEMMAS = 100_000
_MARKS = " \t\n'\"“”‘’.,;:!?()[]{}*_-–—"


class Reader:
    """A loaded pipeline: pieces of text in, sentences with offsets in the whole text out."""

    def __init__(self, path: Path) -> None:
        import spacy

        self._nlp = spacy.load(path, exclude=_others(path))
        self._entities = EntityFinder(self._nlp.get_pipe("ner"))
        self._lemmatizer: Any = self._nlp.get_pipe("lemmatizer")
        # Parts of speech and lemmas are derived from the tags (a fifth of the pipeline's time otherwise);
        # the recogniser, most of the time, reads only what may hold a name.
        self._nlp.disable_pipes("ner", "lemmatizer")
        self._lemmas: dict[tuple[str, str], str] = {}

    def read(self, texts: Sequence[str], starts: Sequence[int]) -> list[list[Sentence]]:
        """The sentences of each piece."""
        with self._nlp.memory_zone():
            docs = list(self._nlp.pipe(texts, batch_size=len(texts)))
            named = [doc for doc in docs if _may_name(doc)]
            entities = dict(zip(map(id, named), self._entities.find(named), strict=True))
            return [
                list(self._sentences(doc, start, entities.get(id(doc), [])))
                for doc, start in zip(docs, starts, strict=True)
            ]

    def _sentences(self, doc: Any, start: int, entities: Sequence[Entity]) -> Iterator[Sentence]:
        names = list(_names(doc, start, entities))
        for first, last in _sentence_spans(doc):
            words = [token for token in doc[first:last] if not token.is_space]
            if not words:
                continue
            tokens = self._tokens(words, start)
            begin, end = tokens[0].start, tokens[-1].end
            text = doc.text[begin - start : end - start]
            yield Sentence(
                text, begin, end, tokens, tuple(name for name in names if begin <= name.start < end)
            )

    def _tokens(self, words: Sequence[Any], start: int) -> tuple[Token, ...]:
        place = {word.i: index for index, word in enumerate(words)}
        found = []
        for index, word in enumerate(words):
            text, tag, dep = word.text, word.tag_, word.dep_
            pos = universal_pos(text, tag, dep)
            lemma = lemma_of(text, tag, pos, self._inflected)
            begin = start + word.idx
            found.append(
                Token(text, lemma, pos, tag, dep, place.get(word.head.i, index), begin, begin + len(text))
            )
        return tuple(found)

    def _inflected(self, lower: str, pos: str) -> str:
        key = lower, pos
        lemma = self._lemmas.get(key)
        if lemma is None:
            if len(self._lemmas) >= _LEMMAS:
                self._lemmas.clear()
            word = self._nlp.make_doc(lower)[0]
            word.pos_ = pos
            lemma = self._lemmas[key] = str(self._lemmatizer.rule_lemmatize(word)[0])
        return lemma


def _others(path: Path) -> list[str]:
    """The components that are not used."""
    import json

    components = json.loads((path / "meta.json").read_text(encoding="utf-8"))
    every = [
        *components.get("pipeline", ()),
        *components.get("components", ()),
        *components.get("disabled", ()),
    ]
    return sorted(set(every) - set(_PARTS))


def _may_name(doc: Any) -> bool:
    """Whether a word is tagged as a proper noun, or has a capital that its place does not explain."""
    return any(
        (token.tag_ in ("NNP", "NNPS") or not token.is_sent_start)
        and token.text[0].isupper()
        and token.text != "I"
        for token in doc
    )


def _sentence_spans(doc: Any) -> Iterator[tuple[int, int]]:
    """First and last token of each sentence; emoji and marks without words belong to the sentence before them."""
    first = last = 0
    for sentence in doc.sents:
        start = sentence.start
        if start > 0:
            while start < sentence.end and category(doc[start].text[0]) == "So":
                start += 1
        if start > first and any(char.isalnum() for char in doc[start : sentence.end].text):
            yield first, start
            first = start
        last = sentence.end
    if last > first:
        yield first, last


def _names(doc: Any, start: int, entities: Sequence[Entity]) -> Iterator[Mention]:
    taken: set[int] = set()
    for entity in entities:
        taken.update(range(entity.start, entity.end))
        span = doc[entity.start : entity.end]
        kind = _TYPES.get(entity.label)
        if kind and any(char.isupper() for char in span.text):
            yield from _bare(doc, span.start_char, span.end_char, kind, start)
    if doc.text.isupper():
        return
    run: list[Any] = []
    for token in [*doc, None]:
        if (
            token is not None
            and token.i not in taken
            and token.tag_ in ("NNP", "NNPS")
            and token.text[0].isupper()
        ):
            run.append(token)
        elif run:
            yield from _bare(doc, run[0].idx, run[-1].idx + len(run[-1].text), LOOSE, start)
            run = []


def _bare(doc: Any, begin: int, end: int, kind: str, start: int) -> Iterator[Mention]:
    """The name without greetings, marks and a possessive around it."""
    text = doc.text
    end -= len(text[begin:end]) - len(text[begin:end].removesuffix("'s").removesuffix("’s").rstrip(_MARKS))
    while begin < end:
        stripped = text[begin:end].lstrip(_MARKS)
        begin = end - len(stripped)
        word = stripped.split(None, 1)[0] if stripped else ""
        alone = kind == LOOSE or word.rstrip(_MARKS) != stripped
        if not alone or word.rstrip(_MARKS).lower() not in PLAIN or stripped.startswith("New "):
            break
        begin += len(word)
    if end - begin > 1:
        yield Mention(text[begin:end], kind, start + begin, start + end)
