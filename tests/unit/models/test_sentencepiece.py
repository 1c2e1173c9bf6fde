from __future__ import annotations

import struct

import pytest

from perdure.models.sentencepiece import read_fields, unigram_tokenizer

NORMAL, UNKNOWN, CONTROL = 1, 2, 3
NO_CHARACTERS = struct.pack("<I", 1024) + bytes(1024) + b"\0"
"""A table that changes no character: a trie whose units are all empty, and no replacements."""


def field(number: int, content: bytes) -> bytes:
    low, high = len(content) & 0x7F | 0x80, len(content) >> 7
    return bytes([number << 3 | 2, low, high]) + content


def piece(text: str, score: float, kind: int = NORMAL) -> bytes:
    parts = field(1, text.encode()) + bytes([2 << 3 | 5]) + struct.pack("<f", score) + bytes([3 << 3, kind])
    return field(1, parts)


SPECIAL = piece("<unk>", 0, UNKNOWN) + piece("<s>", 0, CONTROL) + piece("</s>", 0, CONTROL)
PIECES = (
    piece("▁a", -1) + piece("▁", -2) + piece("a", -3) + piece("ab", -1.5) + piece("<", -4) + piece("s>", -4)
)
MODEL = SPECIAL + PIECES + field(3, field(1, b"identity") + field(2, NO_CHARACTERS))


def test_the_likeliest_pieces_stand_between_the_marks_of_beginning_and_end() -> None:
    tokenizer = unigram_tokenizer(MODEL)
    assert tokenizer.encode("a").ids == [1, 3, 2]
    assert tokenizer.encode("ab").ids == [1, 4, 6, 2]
    assert tokenizer.encode("  a   a ").ids == [1, 3, 3, 2]
    assert tokenizer.encode("").ids == [1, 2]


def test_what_is_in_no_piece_is_unknown() -> None:
    assert unigram_tokenizer(MODEL).encode("axx").ids == [1, 3, 0, 2]


def test_a_text_cannot_write_a_mark() -> None:
    assert unigram_tokenizer(MODEL).encode("a<s>").ids == [1, 3, 7, 8, 2]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no model at all",
        MODEL[:-3],
        SPECIAL + PIECES,
        PIECES + field(3, field(2, NO_CHARACTERS)),
        b"\x0a\xff",
    ],
)
def test_any_other_file_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError):
        unigram_tokenizer(content)


def test_fields_have_their_number_and_their_value() -> None:
    message = (
        bytes([1 << 3, 0xAC, 0x02])
        + field(2, b"xy")
        + bytes([3 << 3 | 5])
        + b"1234"
        + bytes([4 << 3 | 1])
        + b"12345678"
    )
    assert list(read_fields(message)) == [(1, 300, b""), (2, 0, b"xy"), (3, 0, b"1234"), (4, 0, b"12345678")]
