"""What is read out of spaCy's documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple
from unicodedata import category

from perdure.models.penn import lemma_of, universal_pos
from perdure.models.plain_words import PLAIN
from perdure.models.spacy_entities import Entity, EntityFinder
from perdure.models.spacy_parser import Parser
from perdure.models.spacy_vectors import TokenVectors
from perdure.ports.tagger import Mention, Sentence, Token

LOOSE = "proper"
"""Type of a run of proper nouns that the entity recogniser did not name; never leaves the tagger."""

_TYPES = {
    "PERSON": "person", "GPE": "place", "LOC": "place", "FAC": "place", "ORG": "organisation", "PRODUCT": "product",
    "EVENT": "event", "WORK_OF_ART": "work", "LAW": "work", "NORP": "group", "LANGUAGE": "concept",
}  # fmt: skip
_PARTS = ("tok2vec", "tagger", "parser", "lemmatizer", "ner")
_COLUMNS = ["IDX", "LENGTH", "TAG", "DEP", "HEAD", "SENT_START", "IS_SPACE"]
_UNREAD_FLAGS = (
    "IS_ALPHA", "IS_ASCII", "IS_BRACKET", "IS_CURRENCY", "IS_DIGIT", "IS_LEFT_PUNCT", "IS_LOWER", "IS_PUNCT", "IS_QUOTE",
    "IS_RIGHT_PUNCT", "IS_STOP", "IS_TITLE", "IS_UPPER", "LIKE_EMAIL", "LIKE_NUM", "LIKE_URL",
)  # fmt: skip
_PROPER = ("NNP", "NNPS")
_LEMMAS = 100_000
_ZONE = 2_000_000
"""Characters after which spaCy forgets the words it did not know before."""
_MARKS = " \t\n'\"“”‘’.,;:!?()[]{}*_-–—"


class _Words(NamedTuple):
    """A document's text and, word by word, what the pipeline found; heads are places in the document."""

    text: str
    words: list[str]
    starts: list[int]
    tags: list[str]
    deps: list[str]
    heads: list[int]
    opens: list[bool]
    """Whether a sentence begins with the word."""
    blank: list[int]


class Reader:
    """A loaded pipeline: pieces of text in, sentences with offsets in the whole text out."""

    def __init__(self, path: Path) -> None:
        import spacy

        nlp: Any = spacy.load(path, exclude=_others(path))
        self._nlp = nlp
        self._tagger: Any = nlp.get_pipe("tagger")
        self._parser = Parser(nlp.get_pipe("parser"))
        self._entities = EntityFinder(nlp.get_pipe("ner"))
        self._lemmatizer: Any = self._nlp.get_pipe("lemmatizer")
        _hash_index(self._lemmatizer)
        _forget_flags(nlp.vocab)
        network: Any = self._nlp.get_pipe("tok2vec").model
        # Parts of speech and lemmas are derived from the tags (a fifth of the pipeline's time otherwise);
        # the recogniser reads only what may hold a name.
        self._nlp.disable_pipes("tok2vec", "ner", "lemmatizer")
        self._vectors = TokenVectors(network)
        self._labels: dict[int, str] = {}
        self._lemmas: dict[tuple[str, str], str] = {}
        self._zone = ExitStack()
        self._room = 0

    def read(self, texts: Sequence[str], starts: Sequence[int]) -> list[list[Sentence]]:
        """The sentences of each piece."""
        self._keep_zone(sum(map(len, texts)))
        docs = self._parsed(texts)
        words = [self._words(doc, text) for doc, text in zip(docs, texts, strict=True)]
        named = [place for place, read in enumerate(words) if _may_name(read)]
        entities = dict(zip(named, self._entities.find([docs[place] for place in named]), strict=True))
        return [
            list(self._sentences(read, start, entities.get(place, [])))
            for place, (read, start) in enumerate(zip(words, starts, strict=True))
        ]

    def _parsed(self, texts: Sequence[str]) -> list[Any]:
        """The tagged and parsed documents: both components take a document's vectors from its tensor."""
        docs = [self._nlp.make_doc(text) for text in texts]
        vectors = self._vectors.of(docs)
        for doc, rows in zip(docs, vectors, strict=True):
            doc.tensor = rows
        self._tagger.set_annotations(docs, self._tagger.predict(docs))
        self._parser.parse(docs, vectors)
        return docs

    def _keep_zone(self, characters: int) -> None:
        """New words are kept for the next texts, but not for ever: memory stays bounded."""
        self._room -= characters
        if self._room < 0:
            self._zone.close()
            self._zone.enter_context(self._nlp.memory_zone())
            self._room = _ZONE

    def _words(self, doc: Any, text: str) -> _Words:
        """The document as plain lists: reading them is several times as fast as spaCy's token objects."""
        columns = doc.to_array(_COLUMNS).astype("int64").T.tolist() if len(doc) else [[] for _ in _COLUMNS]
        starts, lengths, tags, deps, heads, borders, blank = columns
        return _Words(
            text,
            [text[start : start + length] for start, length in zip(starts, lengths, strict=True)],
            starts,
            [self._label(tag) for tag in tags],
            [self._label(dep) for dep in deps],
            [place + head for place, head in enumerate(heads)],
            [border == 1 for border in borders],
            blank,
        )

    def _label(self, number: int) -> str:
        label = self._labels.get(number)
        if label is None:
            label = self._labels[number] = str(self._nlp.vocab.strings[number % 2**64])
        return label

    def _sentences(self, read: _Words, start: int, entities: Sequence[Entity]) -> Iterator[Sentence]:
        names = list(_names(read, start, entities))
        for first, last in _sentence_spans(read):
            kept = [place for place in range(first, last) if not read.blank[place]]
            if not kept:
                continue
            tokens = self._tokens(read, kept, start)
            begin, end = tokens[0].start, tokens[-1].end
            text = read.text[begin - start : end - start]
            yield Sentence(
                text, begin, end, tokens, tuple(name for name in names if begin <= name.start < end)
            )

    def _tokens(self, read: _Words, kept: Sequence[int], start: int) -> tuple[Token, ...]:
        within = {place: index for index, place in enumerate(kept)}
        found = []
        for index, place in enumerate(kept):
            text, tag, dep = read.words[place], read.tags[place], read.deps[place]
            pos = universal_pos(text, tag, dep)
            lemma = lemma_of(text, tag, pos, self._inflected)
            begin = start + read.starts[place]
            head = within.get(read.heads[place], index)
            found.append(Token(text, lemma, pos, tag, dep, head, begin, begin + len(text)))
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


def _hash_index(lemmatizer: Any) -> None:
    """Look words up by hash: the lemmatizer's rules search lists of tens of thousands of words otherwise."""
    index = lemmatizer.lookups.get_table("lemma_index", {})
    for pos, words in list(index.items()):
        index[pos] = frozenset(words)


def _forget_flags(vocab: Any) -> None:
    """Leave out what no component asks of a word: a third of the time of reading a new one."""
    from spacy.attrs import IDS

    for name in _UNREAD_FLAGS:
        vocab.lex_attr_getters.pop(IDS[name], None)


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


def _may_name(read: _Words) -> bool:
    """Whether a word is tagged as a proper noun, or has a capital that its place does not explain."""
    return any(
        word[0].isupper() and (tag in _PROPER or not opens) and word != "I"
        for word, tag, opens in zip(read.words, read.tags, read.opens, strict=True)
    )


def _sentence_spans(read: _Words) -> Iterator[tuple[int, int]]:
    """First and last token of each sentence; emoji and marks without words belong to the sentence before them."""
    borders = [place for place, opens in enumerate(read.opens) if opens and place]
    first = last = 0
    for start, end in pairwise([0, *borders, len(read.words)]):
        begin = start
        if begin > 0:
            while begin < end and category(read.words[begin][0]) == "So":
                begin += 1
        if begin > first and begin < end and any(char.isalnum() for char in _span(read, begin, end)):
            yield first, begin
            first = begin
        last = end
    if last > first:
        yield first, last


def _span(read: _Words, first: int, last: int) -> str:
    return read.text[read.starts[first] : read.starts[last - 1] + len(read.words[last - 1])]


def _names(read: _Words, start: int, entities: Sequence[Entity]) -> Iterator[Mention]:
    taken: set[int] = set()
    for entity in entities:
        taken.update(range(entity.start, entity.end))
        kind = _TYPES.get(entity.label)
        text = _span(read, entity.start, entity.end)
        if kind and any(char.isupper() for char in text):
            begin = read.starts[entity.start]
            yield from _bare(read.text, begin, begin + len(text), kind, start)
    if read.text.isupper():
        return
    first: int | None = None
    for place in range(len(read.words) + 1):
        proper = (
            place < len(read.words)
            and read.tags[place] in _PROPER
            and place not in taken
            and read.words[place][0].isupper()
        )
        if proper and first is None:
            first = place
        elif not proper and first is not None:
            begin = read.starts[first]
            yield from _bare(read.text, begin, begin + len(_span(read, first, place)), LOOSE, start)
            first = None


def _bare(text: str, begin: int, end: int, kind: str, start: int) -> Iterator[Mention]:
    """The name without greetings, marks and a possessive around it."""
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
