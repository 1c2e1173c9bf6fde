"""Reader of SentencePiece model files (unigram) for the `tokenizers` library.

The file is a protocol buffer, `sentencepiece_model.proto` of google/sentencepiece. Only these fields are read:

    message ModelProto { repeated SentencePiece pieces = 1; NormalizerSpec normalizer_spec = 3; }
    message SentencePiece { string piece = 1; float score = 2; Type type = 3; }
    message NormalizerSpec { bytes precompiled_charsmap = 2; }
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_NORMAL, _UNKNOWN, _CONTROL = 1, 2, 3
"""Types of pieces."""
_VARINT, _EIGHT_BYTES, _COUNTED, _FOUR_BYTES = 0, 1, 2, 5
"""Wire types of protocol buffers."""

Field = tuple[int, int, bytes]
"""Number, value of a varint (0 otherwise), and content of any other field."""


def unigram_tokenizer(model: bytes) -> Tokenizer:
    """Return the tokenizer of a model file, which adds `<s>` and `</s>`; raise ValueError for any other file."""
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

    pieces: list[tuple[str, float]] = []
    special: dict[str, int] = {}
    charsmap = b""
    for number, _, content in read_fields(model):
        if number == 1:
            piece, score, kind = _read_piece(content)
            if kind in (_UNKNOWN, _CONTROL):
                # No text may match such a piece, and the library would match any.
                special[piece] = len(pieces)
                piece = f"\0{piece}"
            pieces.append((piece, score))
        elif number == 3:
            charsmap = next((part for field, _, part in read_fields(content) if field == 2), b"")
    if not {"<unk>", "<s>", "</s>"} <= special.keys() or not charsmap:
        raise ValueError("not a SentencePiece model with <unk>, <s>, </s> and a table of characters")
    tokenizer = Tokenizer(models.Unigram(pieces, special["<unk>"], False))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Precompiled(charsmap), normalizers.Replace(Regex(" {2,}"), " "), normalizers.Strip()]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always", split=False)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[(name, special[name]) for name in ("<s>", "</s>")]
    )
    return tokenizer


def _read_piece(content: bytes) -> tuple[str, float, int]:
    piece, score, kind = "", 0.0, _NORMAL
    for number, value, part in read_fields(content):
        match number:
            case 1:
                piece = part.decode("utf-8")
            case 2:
                (score,) = struct.unpack("<f", part)
            case 3:
                kind = value
    return piece, score, kind


def read_fields(message: bytes) -> Iterator[Field]:
    """Yield the fields of a protocol buffer message; raise ValueError if it is cut or invalid."""
    at = 0
    while at < len(message):
        tag, at = _read_varint(message, at)
        number, wire = tag >> 3, tag & 7
        value, size = 0, 0
        if wire == _VARINT:
            value, at = _read_varint(message, at)
        elif wire == _COUNTED:
            size, at = _read_varint(message, at)
        elif wire in (_EIGHT_BYTES, _FOUR_BYTES):
            size = 8 if wire == _EIGHT_BYTES else 4
        else:
            raise ValueError(f"wire type {wire} at byte {at}")
        if at + size > len(message):
            raise ValueError(f"a field of {size} bytes at byte {at} goes beyond the end")
        yield number, value, message[at : at + size]
        at += size


def _read_varint(message: bytes, at: int) -> tuple[int, int]:
    """Return a number in groups of seven bits, lowest first, and the position after it."""
    value = shift = 0
    while True:
        if at >= len(message):
            raise ValueError("a number goes beyond the end")
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
