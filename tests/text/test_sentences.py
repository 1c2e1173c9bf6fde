from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.text.sentences import MAX_PIECE, pieces, sentences


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I went home. It rained!", ["I went home.", "It rained!"]),
        (
            "Dr. Smith met J. R. Hartley at 5 p.m. on Jan. 3.",
            ["Dr. Smith met J. R. Hartley at 5 p.m. on Jan. 3."],
        ),
        ("It costs 3.50 euros, e.g. for tea. Cheap!", ["It costs 3.50 euros, e.g. for tea.", "Cheap!"]),
        ("Great news! 😀 See you soon 👍🏽", ["Great news! 😀", "See you soon 👍🏽"]),
        ('She said "Stop." Then she left.', ['She said "Stop."', "Then she left."]),
        ("Really?! Yes... maybe", ["Really?!", "Yes... maybe"]),
        ("- milk\n- call Anna\n1. one\n2) two", ["- milk", "- call Anna", "1. one", "2) two"]),
        (
            "# Title\n\nA line\nthat goes on.\nAnother one.",
            ["# Title", "A line\nthat goes on.", "Another one."],
        ),
        ("no marks at all just words", ["no marks at all just words"]),
        ("今日は雨です。明日は晴れ！", ["今日は雨です。", "明日は晴れ！"]),
        ("see example.com/a.b for more", ["see example.com/a.b for more"]),
        (" \n\t ", []),
        ("", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert cut(text) == expected


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from("ab A.!?\n-1)😀é。\"'"), max_size=80))
def test_spans_are_in_order_trimmed_and_lose_no_letter(text: str) -> None:
    spans = list(sentences(text))
    assert all(start < end for start, end in spans)
    assert all(first[1] <= second[0] for first, second in pairwise(spans))
    assert all(text[start:end] == text[start:end].strip() for start, end in spans)
    kept = "".join(text[start:end] for start, end in spans)
    assert [char for char in kept if not char.isspace()] == [char for char in text if not char.isspace()]


@pytest.mark.parametrize(
    "line", ["word " * 1_000_000, "x" * 5_000_000, "Go. " * 100_000, "." * 5_000_000, "\n" * 5_000_000]
)
def test_megabytes_on_one_line_are_cut_in_linear_time(line: str) -> None:
    found = list(pieces(line))
    assert all(end - start <= MAX_PIECE for start, end in found)
    assert sum(end - start for start, end in sentences(line)) <= len(line)
