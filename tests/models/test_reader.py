from __future__ import annotations

import shutil
from datetime import date
from pathlib import Path

import pytest

from perdure.errors import ModelError, ModelMissing, ModelTampered
from perdure.models.reader import SHIPPED, OnnxReader
from perdure.ports.reader import ABOUTS, EFFECTS, MEANINGS, PlacedStatement

CHAT = [
    PlacedStatement("morning! how was your weekend", "tom", "mia", date(2025, 3, 3)),
    PlacedStatement("we moved to leeds last week, still living out of boxes", "mia", "tom", date(2025, 3, 3)),
    PlacedStatement("my sister is allergic to peanuts btw", "tom", "mia", date(2025, 3, 4)),
    PlacedStatement("the printer is jammed again", "mia", "tom", date(2025, 3, 5)),
]


@pytest.fixture(scope="module")
def reader() -> OnnxReader:
    return OnnxReader()


def test_the_statement_that_answers_is_the_most_probable_and_its_words_are_marked(reader: OnnxReader) -> None:
    readings = reader.answers("Where does Mia live now?", "", CHAT)

    best = max(range(len(CHAT)), key=lambda row: readings[row].answers)
    start, end = readings[best].span
    assert best == 1
    assert "leeds" in CHAT[1].text[start:end]


def test_a_question_that_nothing_answers_is_less_probable_everywhere(reader: OnnxReader) -> None:
    answered = max(reading.answers for reading in reader.answers("Where does Mia live now?", "", CHAT))
    unanswered = max(reading.answers for reading in reader.answers("What car does Tom drive?", "", CHAT))

    assert unanswered < answered


def test_a_reading_does_not_depend_on_the_others_of_the_call(reader: OnnxReader) -> None:
    together = reader.answers("who is allergic to peanuts", "mia", CHAT)
    alone = [reader.answers("who is allergic to peanuts", "mia", [statement])[0] for statement in CHAT]

    assert list(together) == alone


def test_no_statements_give_no_readings(reader: OnnxReader) -> None:
    assert list(reader.answers("anything?", "", [])) == []
    assert list(reader.meanings([])) == []
    assert list(reader.effects([])) == []


def test_an_answer_late_in_a_long_text_is_found(reader: OnnxReader) -> None:
    filler = "The meeting covered the budget, the offsite and the new coffee machine in some detail. "
    text = filler * 20 + "Mia said that she lives in Leeds now. " + filler * 20

    [reading] = reader.answers("Where does Mia live now?", "", [PlacedStatement(text)])

    start, end = reading.span
    assert "Leeds" in text[start:end]


@pytest.mark.parametrize("text", ["", " ", "\ud800", "🙂" * 500, "x" * 100_000])
def test_any_text_is_read(reader: OnnxReader, text: str) -> None:
    statement = PlacedStatement(text, text, text, None, text)

    [reading] = reader.answers(text, text, [statement])

    assert 0 <= reading.answers <= 1
    assert 0 <= reading.span[0] <= reading.span[1] <= len(text)
    assert reader.effects([(statement, statement)])[0].closes <= 1
    assert reader.meanings([statement])[0].meaning in MEANINGS


def test_probabilities_of_every_head_sum_to_one(reader: OnnxReader) -> None:
    meaning = reader.meanings([CHAT[1]])[0]
    effect = reader.effects([(CHAT[1], CHAT[2])])[0]

    assert tuple(meaning.meanings) == MEANINGS
    assert tuple(meaning.abouts) == ABOUTS
    assert tuple(effect.effects) == EFFECTS
    for shares in (meaning.meanings, meaning.abouts, effect.effects):
        assert sum(shares.values()) == pytest.approx(1)


def test_a_change_closes_what_it_changes_and_not_another_statement(reader: OnnxReader) -> None:
    home = PlacedStatement("i live in berlin", "mia", "tom", date(2025, 1, 1))
    cat = PlacedStatement("our cat is called pixel", "mia", "tom", date(2025, 1, 2))
    moved = PlacedStatement("we moved to leeds last week", "mia", "tom", date(2025, 3, 3))

    changed, unchanged = reader.effects([(home, moved), (cat, moved)])

    assert changed.closes > unchanged.closes


def test_a_question_and_a_greeting_are_not_read_as_facts(reader: OnnxReader) -> None:
    question, greeting = reader.meanings(
        [PlacedStatement("where do you work?", "tom", "mia"), PlacedStatement("good morning!", "tom", "mia")]
    )

    assert question.meaning == "question"
    assert greeting.meaning == "none"


@pytest.mark.parametrize(
    "question", ["アンナはどこで働いていますか", "안나는 어디에서 일하나요", "Где работает Анна?"]
)
def test_a_question_in_a_script_that_the_model_cannot_read_is_refused(
    reader: OnnxReader, question: str
) -> None:
    with pytest.raises(ModelError, match="does not read the script"):
        reader.answers(question, "", CHAT)


def test_missing_weights_are_a_missing_model(tmp_path: Path) -> None:
    with pytest.raises(ModelMissing, match="reader"):
        OnnxReader(tmp_path).answers("who?", "", CHAT)


@pytest.mark.parametrize("name", ["reader.onnx", "tokenizer.json"])
def test_changed_weights_are_refused(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "reader"
    shutil.copytree(SHIPPED, folder)
    content = bytearray((folder / name).read_bytes())
    content[len(content) // 2] ^= 1
    (folder / name).write_bytes(content)

    with pytest.raises(ModelTampered):
        OnnxReader(folder).meanings(CHAT)


def test_weights_made_for_other_labels_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "reader"
    shutil.copytree(SHIPPED, folder)
    card = folder / "reader.toml"
    card.write_text(card.read_text(encoding="utf-8").replace('"temporary"', '"brief"'), encoding="utf-8")

    with pytest.raises(ModelError, match="meanings"):
        OnnxReader(folder).meanings(CHAT)
