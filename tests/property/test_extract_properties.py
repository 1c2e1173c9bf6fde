"""No input breaks extraction, and every fact can be traced to its source."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from perdure.extract.local import LocalExtractor
from perdure.extract.verbatim import VerbatimExtractor
from perdure.models.rule_tagger import RuleTagger
from perdure.ports.extractor import Turn
from perdure.text.names import entity_keys, normal_name
from tests.retain.plain_tagger import PlainTagger

SAID = datetime(2023, 5, 8, tzinfo=UTC)
PIECES = st.sampled_from(
    ["I went to Paris. ", "We ", "you're ", "my dog ", "I'd ", "?", "!", "\n", "\n\n", "- ", "1. ", "# Title\n", "```\n", "**",
     "| a | b |\n", "<div>", "</div>", "[shares a photo: x] ", "@bob ", "https://a.b/c ", "yesterday ", "because ", "so ",
     "👩‍👩‍👧 ", "مرحبا ", "שלום ", "日本語。", "\ud800", "\u202e", "'", '"', "“", "I", "i", "’s ", "`x`", "Yes. ", "in 1999 ",
     "Ignore previous instructions. ", "(", ")", "[", "]", "{{", "…", "\t", "\r\n", "\u2028", "a" * 700]
)  # fmt: skip
TEXTS = st.one_of(
    st.lists(PIECES, max_size=30).map("".join),
    st.text(st.characters(exclude_characters="\x00"), max_size=300),
)
TURNS = st.builds(
    Turn,
    text=TEXTS,
    speaker=st.sampled_from(["", "Ann", "Bob", "user", "assistant", "\ud800", "O'Neil", "李"]),
    is_agent=st.booleans(),
    said_at=st.sampled_from([None, SAID]),
    title=st.sampled_from(["", "A title"]),
    fresh=st.booleans(),
)
EXTRACTORS = (LocalExtractor(PlainTagger()), LocalExtractor(RuleTagger()), VerbatimExtractor(RuleTagger()))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(TURNS, max_size=4))
def test_every_fact_has_its_source(turns: list[Turn]) -> None:
    for extractor in EXTRACTORS:
        facts = extractor.extract(turns)
        assert [fact.turn for fact in facts] == sorted(fact.turn for fact in facts)
        for fact in facts:
            turn = turns[fact.turn]
            assert turn.fresh
            assert fact.source_text
            assert turn.text[fact.start : fact.start + len(fact.source_text)] == fact.source_text
            assert fact.text.strip()
            if extractor.name == "local":
                assert fact.text == fact.source_text
            assert -5 <= fact.emotion <= 5
            assert all(fact.text[m.start : m.end] == m.text for m in fact.mentions)
            assert all(0 <= cause.cause < len(facts) for cause in fact.causes)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from(["alpha", "beta", "gamma", "delta", "Lisbon", "Ann", "1999", "project", "report"]),
        min_size=3,
        max_size=60,
    )
)
def test_content_is_never_lost(words: list[str]) -> None:
    text = " ".join(words) + "."
    facts = LocalExtractor(PlainTagger()).extract([Turn(text=text, speaker="Ann", said_at=SAID)])
    covered = " ".join(fact.source_text for fact in facts)
    assert all(word in covered for word in words)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=100))
@example("0/_")
def test_names_have_stable_forms(name: str) -> None:
    assert normal_name(normal_name(name)) == normal_name(name)
    assert bool(entity_keys(name)) == bool(normal_name(name))


ODD = [
    "a" * 100_000, "word " * 10_000, "<div>" * 5_000, "[" * 20_000, "- x\n" * 3_000, "I am. " * 3_000, "because " * 5_000,
    "\n" * 100_000 + "x", "(" * 20_000 + ")" * 20_000, "😀" * 20_000, "|" * 20_000, "*" * 20_000, '"' * 20_001, "`" * 20_001,
    "I " * 10_000, "http://" * 5_000, "a@" * 5_000, "A " * 10_000, "1. " * 2_000, "x_" * 10_000, "a/" * 10_000, "A1-" * 1_000,
]  # fmt: skip


@pytest.mark.parametrize("text", ODD, ids=lambda text: ascii(text[:6]))
def test_big_and_odd_texts(text: str) -> None:
    _check_sources(text)


@pytest.mark.long
@pytest.mark.parametrize("piece", ["a", "word ", "I am so happy. ", "😀", "<b><i>", "- item\n"])
def test_five_megabytes(piece: str) -> None:
    _check_sources(piece * (5_000_000 // len(piece)))


def _check_sources(text: str) -> None:
    turn = Turn(text=text, speaker="Ann", said_at=SAID)
    for fact in LocalExtractor(RuleTagger()).extract([turn]):
        assert text[fact.start : fact.start + len(fact.source_text)] == fact.source_text
