"""The multilingual embedder with its real weights, and the English cross-encoder before other languages."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.adapters import make_embedder
from perdure.engine import Perdure
from perdure.errors import ModelMissing
from perdure.models.manifest import find_model
from perdure.models.sentencepiece import unigram_tokenizer
from perdure.models.use_embedder import UseEmbedder
from perdure.models.weights import find_weights
from perdure.settings import Settings


def missing() -> bool:
    try:
        find_weights(find_model("use-multilingual"))
    except ModelMissing:
        return True
    return False


needs_weights = pytest.mark.skipif(missing(), reason="needs perdure[multilingual]")

LISBON = {
    "en": "Ann lives in Lisbon now.",
    "de": "Ann wohnt jetzt in Lissabon.",
    "es": "Ann vive ahora en Lisboa.",
    "ja": "アンは今リスボンに住んでいます。",
    "zh": "安现在住在里斯本。",
}
HOMEWORK = [
    "The dog ate my homework.",
    "Der Hund hat meine Hausaufgaben gefressen.",
    "犬が私の宿題を食べた。",
]


@pytest.fixture(scope="module")
def embedder() -> UseEmbedder:
    return UseEmbedder()


@needs_weights
@pytest.mark.parametrize("language", LISBON)
def test_a_question_is_nearer_to_its_answer_in_any_language_than_to_anything_else(
    embedder: UseEmbedder, language: str
) -> None:
    question = embedder.embed_query("Where does Ann live?")
    answer = embedder.embed_passages([LISBON[language]])[0]
    assert question @ answer > 0.3 > 0.2 > (embedder.embed_passages(HOMEWORK) @ question).max()


@needs_weights
def test_the_tokens_are_those_of_the_sentencepiece_model(embedder: UseEmbedder) -> None:
    tokenizer = unigram_tokenizer(embedder.weights.read_tokenizer())
    assert tokenizer.encode("Ａnn  lives\tin Lisbon").tokens[1:-1] == ["▁Ann", "▁lives", "▁in", "▁Lisbon"]
    assert tokenizer.encode("今日は雨です。").tokens[1:-1] == ["▁", "今日", "は", "雨", "です", "。"]


def test_one_setting_chooses_it() -> None:
    assert isinstance(make_embedder(Settings(embedder="use-multilingual")), UseEmbedder)


@needs_weights
def test_a_japanese_question_in_other_words_finds_its_fact_and_is_called_no_better_than_weak(
    tmp_path: Path,
) -> None:
    with Perdure.open(tmp_path / "m.db", embedder=UseEmbedder()) as engine:
        engine.retain(
            "b", ["妻は高校で化学を教えています。", "誕生日は五月三日です。", "屋上のトマトが熟しました。"]
        )
        answer = engine.recall("b", "妻は何の科目の先生ですか？")
        nothing = engine.recall("b", "火星の大統領は誰ですか？")
    assert "化学" in answer.recollections[0].text
    assert nothing.evidence.value != "strong"
    assert [part.part for part in nothing.degraded] == ["reader"]
    assert "does not read the script" in nothing.degraded[0].reason
