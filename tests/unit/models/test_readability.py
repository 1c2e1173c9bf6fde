"""Told from a small English vocabulary: its own words are whole, those of another language in pieces."""

from __future__ import annotations

import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from perdure.models.onnx_reranker import Readability, readability

LATIN = "abcdefghijklmnopqrstuvwxyz"
WORDS = ["where", "does", "anna", "live", "wo", "wohn", "##t", "##oh", "ん", "ど", "に", "##ん"]


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    pieces = ["[UNK]", *WORDS, *LATIN, *(f"##{letter}" for letter in LATIN), "?"]
    vocabulary = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
    wordpiece = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    wordpiece.normalizer = normalizers.BertNormalizer()
    wordpiece.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return wordpiece


def read(tokenizer: Tokenizer, text: str) -> Readability:
    return readability(text, tokenizer.encode(text, add_special_tokens=False))


def test_words_of_the_models_own_language_are_whole(tokenizer: Tokenizer) -> None:
    reading = read(tokenizer, "Where does Anna live?")
    assert reading == Readability(0.0, 1.0)
    assert not reading.other_script
    assert not reading.other_language


def test_a_rare_name_makes_no_other_language(tokenizer: Tokenizer) -> None:
    assert not read(tokenizer, "Where does Siobhan live?").other_language


def test_words_of_another_language_come_in_pieces(tokenizer: Tokenizer) -> None:
    reading = read(tokenizer, "Wo wohnt Gertrud jetzt?")
    assert reading.other_language
    assert not reading.other_script


@pytest.mark.parametrize("text", ["どこに住んでいますか？", "住在哪里？", "Где?"])
def test_characters_one_by_one_or_unknown_are_another_script(tokenizer: Tokenizer, text: str) -> None:
    assert read(tokenizer, text).other_script


def test_a_foreign_name_in_a_question_makes_no_other_script(tokenizer: Tokenizer) -> None:
    assert not read(tokenizer, "Where does 小雨 live?").other_script


@pytest.mark.parametrize("text", ["", "?!", "😀", "a", "x y"])
def test_without_words_nothing_is_foreign(tokenizer: Tokenizer, text: str) -> None:
    reading = read(tokenizer, text)
    assert not reading.other_script
    assert not reading.other_language
