"""Make the training file: scenes of all sources, with hard negatives and the teacher's logits.

python -m lab.build --work .lab --shared data
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from lab.scenes import TEST, TRAIN, Asked, Scene, write_scenes
from lab.sources import (
    chat_bank,
    chitchat_path,
    chitchat_scenes,
    friendsqa_scenes,
    molweni_scenes,
    sentence_scenes,
    statebench_scenes,
    written_scenes,
)
from lab.teacher import Teacher, WordOverlap

_ELSEWHERE = 0.25
_SIMILAR, _OVERLAPPING, _RANDOM = 5, 3, 2
_CHAT_SCENES, _CHAT_BANK, _CHAT_QUESTIONS = 600, 4000, 2400


def main() -> None:
    """Build the file and print counts."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--work", type=Path, default=Path(".lab"))
    arguments.add_argument("--shared", type=Path, default=Path("data"))
    arguments.add_argument("--small", action="store_true", help="without the bank of real chat")
    options = arguments.parse_args()
    scenes = list(_scenes(options.shared, options.small))
    _ask_elsewhere(scenes)
    teacher = Teacher(options.work / "cache")
    for number, scene in enumerate(scenes):
        if scene.split != TEST:
            _add_pools(scene, teacher)
        if number % 50 == 0:
            print(f"{number} of {len(scenes)} scenes", flush=True)
    teacher.save()
    write_scenes(scenes, options.work / "scenes.jsonl")
    _print_counts(scenes)


def _scenes(shared: Path, small: bool) -> Iterator[Scene]:
    yield from written_scenes()
    yield from sentence_scenes()
    yield from friendsqa_scenes(shared / "friendsqa.json")
    yield from molweni_scenes(shared / "train" / "molweni.json")
    yield from statebench_scenes(shared / "statebench.json")
    chat = list(chitchat_scenes(chitchat_path()))
    labelled = [scene for scene in chat if any(said.meaning for said in scene.statements)]
    others = [scene for scene in chat if not any(said.meaning for said in scene.statements)]
    random.Random(0).shuffle(others)
    yield from labelled
    yield from others[:_CHAT_SCENES]
    if not small:
        yield chat_bank(others[_CHAT_SCENES:], _CHAT_BANK, _CHAT_QUESTIONS)


def _ask_elsewhere(scenes: list[Scene]) -> None:
    """Put some questions to a conversation of other people, which holds no answer."""
    written = [
        scene for scene in scenes if scene.effects and scene.source != "changes" and scene.split == TRAIN
    ]
    chooser = random.Random(1)
    asked = [(scene, question) for scene in written for question in scene.questions]
    for scene, question in asked:
        others = [each for each in written if each.language == scene.language and each.id != scene.id]
        if others and chooser.random() < _ELSEWHERE:
            chooser.choice(others).questions.append(Asked(question.text, question.asker, "none"))


def _add_pools(scene: Scene, teacher: Teacher) -> None:
    """Choose the statements that look most like answers, and ask the teacher about them and the answers."""
    if not scene.questions:
        return
    texts = [said.text for said in scene.statements]
    overlap = WordOverlap(texts)
    for asked in scene.questions:
        answering = {answer.index for answer in asked.answers}
        similar = np.argsort(-teacher.similarities(asked.text, texts))[: _SIMILAR + len(answering)]
        shared = overlap.scores(asked.text)
        overlapping = [int(row) for row in np.argsort(-shared)[:_OVERLAPPING] if shared[row] > 0]
        chance = random.Random(asked.text).sample(range(len(texts)), min(_RANDOM, len(texts)))
        neighbours = [
            index + step for index in answering for step in (-1, 1) if 0 <= index + step < len(texts)
        ]
        pool = dict.fromkeys([*map(int, similar), *overlapping, *neighbours, *chance])
        asked.pool = [index for index in pool if index not in answering]
        if scene.language != "en":
            continue  # The teacher reads English.
        rows = [*answering, *asked.pool]
        passages = [_passage(scene, row) for row in rows]
        asked.relevance = dict(zip(rows, teacher.logits(asked.text, passages), strict=True))


def _passage(scene: Scene, row: int) -> str:
    said = scene.statements[row]
    return f"{said.speaker}: {said.text}" if said.speaker and not scene.is_bank else said.text


def _print_counts(scenes: list[Scene]) -> None:
    counts: Counter[tuple[str, str]] = Counter()
    for scene in scenes:
        kind = f"{scene.source} {scene.split} {scene.language}"
        counts[kind, "scenes"] += 1
        counts[kind, "statements"] += len(scene.statements)
        counts[kind, "meanings"] += sum(bool(said.meaning) for said in scene.statements)
        counts[kind, "questions"] += len(scene.questions)
        counts[kind, "effects"] += len(scene.effects)
    for (kind, what), count in sorted(counts.items()):
        print(f"{count:7} {what:12} {kind}")


if __name__ == "__main__":
    main()
