from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.errors import InvalidInput
from perdure.models.tokens import token_counter

NAMES = ("cl100k", "o200k", "approximate")
PROSE = (
    "The observatory stands on a hill outside the town. Every evening two volunteers open the dome, check the weather "
    "and write the temperature in a book that has been kept since 1931; nobody remembers who began it, and nobody "
    "would dare to stop. On clear nights children may look through the smaller telescope for fifteen minutes."
)


def test_known_counts() -> None:
    assert token_counter("cl100k").count("hello world") == 2
    assert token_counter("cl100k").count("antidisestablishmentarianism") == 6
    assert token_counter("o200k").count("Привет, мир") < token_counter("cl100k").count("Привет, мир")
    assert list(map(token_counter("cl100k").count, ["", "hello", "hello world"])) == [0, 1, 2]


def test_special_tokens_are_ordinary_text() -> None:
    assert token_counter("cl100k").count("<|endoftext|>") > 1


def test_the_approximation_is_near_on_prose() -> None:
    exact = token_counter("cl100k").count(PROSE)
    assert abs(token_counter("approximate").count(PROSE) - exact) <= 0.15 * exact


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=60, deadline=None)
@given(text=st.text(st.characters(), max_size=60), limit=st.integers(-1, 30))
def test_cut_is_a_beginning_that_fits_and_no_near_longer_one_does(name: str, text: str, limit: int) -> None:
    tokens = token_counter(name)
    cut = tokens.cut(text, limit)
    assert text.startswith(cut)
    assert tokens.count(cut) <= max(limit, 0)
    if limit <= 0:
        # A blank may count nothing, and yet no room is no room.
        assert cut == ""
        return
    assert all(
        tokens.count(text[:end]) > limit for end in range(len(cut) + 1, min(len(cut) + 9, len(text) + 1))
    )


@pytest.mark.parametrize("name", NAMES)
def test_megabytes_and_lone_surrogates(name: str) -> None:
    tokens = token_counter(name)
    assert tokens.count("\ud800 x") >= 1
    assert tokens.cut("word " * 400_000, 10).count("word") in (9, 10)
    assert tokens.count(PROSE * 3) == pytest.approx(3 * tokens.count(PROSE), rel=0.02)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(InvalidInput, match="cl100k, o200k or approximate"):
        token_counter("gpt2")
