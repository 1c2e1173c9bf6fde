"""Importing twice is importing once, whatever is in the source; and after any change it is as if imported fresh."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from perdure import ImportedDocument, ImportedFact, Item, Perdure, Window
from perdure.contrib.imports.json_stream import stream_members
from perdure.domain.imported import SkippedPart

PLAIN: dict[str, Any] = {
    "embedder": "hashing", "reranker": "none", "tagger": "rules", "tokens": "approximate", "extractor": "verbatim",
}  # fmt: skip
NAMES = st.sampled_from(["Ann", "Ben", "Carl"])
PLACES = st.sampled_from(["Oslo", "Porto", "Graz"])
TIMES = st.one_of(st.none(), st.datetimes(datetime(2020, 1, 1), datetime(2024, 1, 1), timezones=st.just(UTC)))
SENTENCES = st.builds("{} lives in {} number {}".format, NAMES, PLACES, st.integers(0, 9))


@st.composite
def documents(draw: st.DrawFn, number: int) -> ImportedDocument:
    texts = draw(st.lists(SENTENCES, min_size=1, max_size=4, unique=True))
    times = [draw(TIMES) for _ in texts]
    items = tuple(
        Item(content=text, timestamp=time, timeless=time is None, speaker=draw(st.sampled_from(["", "user"])))
        for text, time in zip(texts, times, strict=True)
    )
    ready = draw(st.booleans())
    facts = tuple(
        ImportedFact(
            text=text,
            item=place,
            said_at=time,
            valid=None if time is None else draw(st.sampled_from([None, Window(time, None)])),
            entities=((text.split()[0], "person"),),
            tags=draw(st.sampled_from([frozenset(), frozenset({"home"})])),
        )
        for place, (text, time) in enumerate(zip(texts, times, strict=True))
    )
    return ImportedDocument(id=f"d{number}", items=items, facts=facts if ready else None)


class Given:
    name = "given"

    def __init__(self, parts: list[ImportedDocument]) -> None:
        self.parts = parts

    def read(self) -> Iterator[ImportedDocument | SkippedPart]:
        yield from self.parts

    def close(self) -> None:
        pass


@contextmanager
def opened() -> Iterator[Perdure]:
    with tempfile.TemporaryDirectory() as folder, Perdure.open(Path(folder) / "m.db", **PLAIN) as memory:
        yield memory


SOURCES = st.integers(1, 3).flatmap(lambda count: st.tuples(*(documents(number) for number in range(count))))


@given(SOURCES)
@settings(max_examples=12, deadline=None)
def test_importing_twice_is_importing_once_for_any_source(source: tuple[ImportedDocument, ...]) -> None:
    with opened() as memory:
        memory.banks.import_from("b", Given(list(source)))
        stored = sorted(memory.banks.export("b"))
        again = memory.banks.import_from("b", Given(list(source)))
        assert (again.unchanged, again.added, again.updated, again.facts) == (len(source), 0, 0, 0)
        assert sorted(memory.banks.export("b")) == stored


@given(st.lists(documents(0), min_size=2, max_size=3))
@settings(max_examples=12, deadline=None)
def test_a_changed_document_says_afterwards_what_it_says_now(versions: list[ImportedDocument]) -> None:
    """Versions of one document, ready or not, one after the other: what is believed is what the last one states."""
    with opened() as memory:
        for version in versions:
            memory.banks.import_from("b", Given([version]))
        believed = sorted(fact.text.removeprefix("user: ") for fact in memory.facts.iterate("b"))
        assert believed == sorted(item.content for item in versions[-1].items)
        text = "\n".join(chunk.text for chunk in memory.documents.chunks("b", document_id="d0"))
        assert all(item.content in text for item in versions[-1].items)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), st.lists(VALUES, max_size=5) | VALUES, max_size=4), st.integers(1, 7))
@settings(max_examples=100, deadline=None)
def test_json_read_in_parts_is_json_read_whole(value: dict[str, Any], size: int) -> None:
    class Slow:
        """A text that gives a few characters at a time."""

        def __init__(self, text: str) -> None:
            self.text = text

        def read(self, asked: int) -> str:
            part, self.text = self.text[:size], self.text[size:]
            return part

    read: dict[str, Any] = {key: [] for key, inner in value.items() if isinstance(inner, list)}
    for member in stream_members(Slow(json.dumps(value)), "value"):  # type: ignore[arg-type]
        if member.number >= 0:
            assert member.number == len(read[member.key])
            read[member.key].append(member.value)
        else:
            read[member.key] = member.value
    assert read == value
