from __future__ import annotations

import random
from datetime import date
from pathlib import Path

import pytest

from lab.augment import Rates, Variation
from lab.evaluate import auc, threshold_for, wilson, word_f1
from lab.scenes import TEST, TRAIN, Asked, Expected, Said, Scene, read_scenes, write_scenes
from lab.sources import written_scenes
from perdure.ports.reader import PlacedStatement

WRITTEN = """@ lang=en | kind=friends | two friends
1 2025-01-01 mia>tom {fact;speaker} i live in leeds
2 2025-02-01 mia>tom {begins;speaker} moved to york
N leeds=place
Q bot "Where does Mia live?" -> 2 "york", ~1 "leeds" !current
E 2>1 ends
"""


def test_batches_that_are_held_out_are_never_trained_on(tmp_path: Path) -> None:
    for batch in ("enA-1", "enC-1", "enF-2", "xxT-1"):
        (tmp_path / f"{batch}.txt").write_text(WRITTEN, encoding="utf-8")

    splits = {scene.source: scene.split for scene in written_scenes(tmp_path)}

    assert splits["enA"] != TEST
    assert {splits[batch] for batch in ("enC", "enF", "xxT")} == {TEST}


def test_a_file_that_breaks_the_format_is_skipped_with_a_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "enA-1.txt").write_text(WRITTEN, encoding="utf-8")
    (tmp_path / "enA-2.txt").write_text(WRITTEN.replace("2>1", "1>2"), encoding="utf-8")

    assert len(list(written_scenes(tmp_path))) == 1
    assert "enA-2" in capsys.readouterr().out


def test_scenes_come_back_as_they_were_written(tmp_path: Path) -> None:
    scene = Scene(
        "a", "enA", TRAIN, statements=[Said("hi", "mia"), Said("leeds", "tom", "mia", "2025-01-02")]
    )
    scene.questions = [Asked("where?", "mia", "fact", [Expected(1, "leeds")], [0], {0: -3.5})]
    scene.effects = [(1, 0, "adds")]

    write_scenes([scene], tmp_path / "scenes.jsonl")
    [again] = read_scenes(tmp_path / "scenes.jsonl")

    assert again == scene
    assert again.placed(1) == PlacedStatement("leeds", "tom", "mia", date(2025, 1, 2), "mia: hi")


def test_the_words_that_answer_stay_marked_however_a_text_is_varied() -> None:
    everything = Rates(1, 1, 0, 0, 1, 1, 1, 1)
    for seed in range(50):
        variation = Variation(random.Random(seed), {}, everything)
        placed, marked = variation.placed(PlacedStatement("we moved, finally, to leeds last week."), "leeds")

        assert placed.text[marked.start : marked.end] == "leeds"


def test_a_name_is_replaced_alike_in_question_and_statement() -> None:
    always = Rates(0, 0, 0, 1, 0, 0, 0, 0)
    for seed in range(20):
        variation = Variation(random.Random(seed), {"zorro": "person"}, always)
        question, _ = variation.question("where does Zorro live", "")
        placed, _ = variation.placed(PlacedStatement("Zorro lives in leeds", "zorro"))

        name = question.split()[2].casefold()
        assert placed.text.split()[0].casefold() == name
        assert placed.speaker == name


def test_figures_of_rankings_and_words() -> None:
    assert auc([True, False, False], [0.9, 0.1, 0.2]) == 1
    assert auc([True, False], [0.5, 0.5]) == 0.5
    assert word_f1("in Leeds.", "leeds") == pytest.approx(2 / 3)
    assert word_f1("york", "leeds") == 0


def test_a_threshold_lets_through_no_more_than_its_share() -> None:
    import numpy as np

    others = np.linspace(0, 1, 200)

    assert (others >= threshold_for(others, 0.01)).sum() == 2


def test_the_interval_of_a_share_contains_it() -> None:
    low, high = wilson(9, 10)

    assert low < 0.9 < high <= 1
