"""Print the figures of an exported reader, next to the present models where they do the same.

python -m lab.report --reader .lab/export/full --split test
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from lab.evaluate import (
    CHANGES,
    QuestionReading,
    answer_figures,
    by_language,
    effect_figures,
    meaning_figures,
    read_pairs,
    read_questions,
    threshold_for,
    wilson,
)
from lab.names import GIVEN
from lab.scenes import TEST, Scene, read_scenes
from lab.sources import chitchat_path, chitchat_scenes
from lab.teacher import Teacher
from perdure.models.reader import OnnxReader
from perdure.ports.reader import MEANINGS, AnswerReading, PlacedStatement

Change = Callable[[PlacedStatement], PlacedStatement]


def unchanged(statement: PlacedStatement) -> PlacedStatement:
    """Return the statement as it is."""
    return statement


def without_final_mark(statement: PlacedStatement) -> PlacedStatement:
    """Drop the final punctuation."""
    return replace(statement, text=statement.text.rstrip(" .!?…") or statement.text)


def with_full_stop(statement: PlacedStatement) -> PlacedStatement:
    """End with a full stop."""
    return replace(statement, text=without_final_mark(statement).text + ".")


def with_typo(statement: PlacedStatement) -> PlacedStatement:
    """Swap two letters of the longest word."""
    word = max(re.findall(r"\w+", statement.text) or [""], key=len)
    if len(word) < 4:
        return statement
    middle = len(word) // 2
    swapped = word[: middle - 1] + word[middle] + word[middle - 1] + word[middle + 1 :]
    return replace(statement, text=statement.text.replace(word, swapped, 1))


def with_filler(statement: PlacedStatement) -> PlacedStatement:
    """Make the statement longer without saying more."""
    return replace(statement, text=f"hey, quick one: {statement.text}")


def renamed(statement: PlacedStatement) -> PlacedStatement:
    """Give the speaker another name."""
    other = GIVEN[len(statement.speaker) * 7 % len(GIVEN)]
    return replace(statement, speaker=other)


def in_capitals(statement: PlacedStatement) -> PlacedStatement:
    """Write everything in capitals."""
    return replace(statement, text=statement.text.upper())


PERTURBATIONS: Sequence[Change] = (
    without_final_mark, with_full_stop, with_typo, with_filler, renamed, in_capitals,
)  # fmt: skip


def print_answers(name: str, readings: Sequence[QuestionReading]) -> None:
    """Print the figures of questions."""
    if not readings:
        return
    figures = answer_figures(readings)
    print(
        f"| {name} | {figures.questions} | {figures.auc:.3f} | {figures.first:.3f} | {figures.span_f1:.3f} "
        f"| {figures.refused_at_90:.3f} | {figures.kept_at_90:.3f} |"
    )


def teacher_readings(
    teacher: Teacher, scenes: Sequence[Scene], readings: Sequence[QuestionReading]
) -> list[QuestionReading]:
    """Return what the twelve-layer cross-encoder says of the same questions, in place of a probability."""
    result = []
    for scene, asked, rows, _ in readings:
        passages = [f"{s.speaker}: {s.text}" for s in (scene.statements[row] for row in rows)]
        logits = teacher.logits(asked.text, passages)
        answers = [
            AnswerReading(logit, logit, (0, len(scene.statements[row].text)))
            for row, logit in zip(rows, logits, strict=True)
        ]
        result.append(QuestionReading(scene, asked, rows, answers))
    return result


def report_answers(reader: OnnxReader, scenes: Sequence[Scene], teacher: Teacher | None) -> None:
    """Print how well answers are found, by source, by language and by type of question."""
    print(
        "\n## Answers\n\n| questions of | n | AUC | right first | span F1 | refused at 90% kept | kept at 90% refused |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- |")
    readings = read_questions(reader, scenes)
    groups = sorted({(reading.scene.source, reading.scene.language) for reading in readings})
    for group in groups:
        print_answers(" ".join(group), [r for r in readings if (r.scene.source, r.scene.language) == group])
    written = [r for r in readings if r.scene.effects]
    print_answers("all written", written)
    for kind in sorted({reading.asked.type for reading in written}):
        chosen = [r for r in written if r.asked.type == kind]
        figures = answer_figures(chosen)
        print(
            f"|   of them {kind} | {len(chosen)} | {figures.auc:.3f} | {figures.first:.3f} | {figures.span_f1:.3f} | | |"
        )
    print_calibration(written)
    if teacher is not None:
        print("\nThe twelve-layer cross-encoder on the same questions (English):\n")
        for source in sorted({reading.scene.source for reading in readings}):
            chosen = [r for r in readings if r.scene.source == source and r.scene.language == "en"]
            print_answers(source, teacher_readings(teacher, scenes, chosen))
        teacher.save()


def print_calibration(readings: Sequence[QuestionReading]) -> None:
    """Print how often statements answer, by the probability given."""
    probabilities, right = [], []
    for reading in readings:
        answering = {answer.index for answer in reading.asked.answers}
        probabilities += [each.answers for each in reading.readings]
        right += [row in answering for row in reading.rows]
    values, labels = np.array(probabilities), np.array(right)
    cells = []
    for low, high in ((0, 0.1), (0.1, 0.3), (0.3, 0.5), (0.5, 0.7), (0.7, 0.9), (0.9, 1.01)):
        rows = (values >= low) & (values < high)
        if rows.any():
            cells.append(f"{low:.1f}-{min(high, 1):.1f}: {labels[rows].mean():.2f} of {int(rows.sum())}")
    print("\nStatements that answer, by probability: " + "; ".join(cells))
    best: dict[bool, list[float]] = {True: [], False: []}
    for reading in readings:
        best[bool(reading.asked.answers)].append(max(each.answers for each in reading.readings))
    cells = [
        f"{threshold}: {np.mean(np.array(best[True]) >= threshold):.3f} / {np.mean(np.array(best[False]) < threshold):.3f}"
        for threshold in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
    ]
    print("Answerable questions kept / unanswerable ones refused, by threshold: " + "; ".join(cells))


def report_meanings(reader: OnnxReader, scenes: Sequence[Scene]) -> None:
    """Print how well meanings are read."""
    print("\n## Meaning\n")
    chosen = [scene for scene in scenes if any(said.meaning for said in scene.statements)]
    for language, each in [("all", chosen), *by_language(chosen).items()]:
        figures = meaning_figures(reader, each)
        print(
            f"{language}: {figures.statements} statements, accuracy {figures.accuracy:.3f}, macro-F1 "
            f"{figures.macro_f1:.3f}, about {figures.about_accuracy:.3f}"
        )
        if language == "all":
            classes = sorted(figures.by_class.items(), key=lambda item: -item[1][0])
            print("; ".join(f"{meaning} {f1:.2f} ({count})" for meaning, (f1, count) in classes))
            print(
                "confused: " + ", ".join(f"{right} as {wrong} {n}" for right, wrong, n in figures.confusions)
            )


def report_real_chat(reader: OnnxReader) -> None:
    """Print how far the reader agrees with two labellings of real chat, and these with each other."""
    first, second = (
        {
            scene.id: scene
            for scene in chitchat_scenes(chitchat_path(), name)
            if any(s.meaning for s in scene.statements)
        }
        for name in ("testA", "testB")
    )
    print("\n## Meaning on real chat\n")
    for name, scenes in (("A", first), ("B", second)):
        figures = meaning_figures(reader, list(scenes.values()))
        print(
            f"reader and {name}: {figures.statements} statements, accuracy {figures.accuracy:.3f}, macro-F1 {figures.macro_f1:.3f}"
        )
    pairs = [
        (one.meaning, other.meaning)
        for id, scene in first.items()
        for one, other in zip(scene.statements, second[id].statements, strict=True)
        if one.meaning
    ]
    f1 = [
        2 * sum(a == b == label for a, b in pairs) / sum((a == label) + (b == label) for a, b in pairs)
        for label in MEANINGS
        if sum(a == label for a, _ in pairs) >= 10
    ]
    print(f"A and B: accuracy {np.mean([a == b for a, b in pairs]):.3f}, macro-F1 {np.mean(f1):.3f}")


def report_effects(reader: OnnxReader, scenes: Sequence[Scene]) -> None:
    """Print how many changes are closed at which rate of wrong closings, also on perturbed text."""
    print("\n## Effect\n")
    chosen = [scene for scene in scenes if scene.effects]
    groups = [("all", chosen), *by_language(chosen).items()]
    for language, each in groups:
        figures = effect_figures(read_pairs(reader, each))
        shares = ", ".join(
            f"{share:.3f} at {rate} ({figures.thresholds[rate]:.3f}; {wilson(round(share * figures.changes), figures.changes)[0]:.2f} "
            f"to {wilson(round(share * figures.changes), figures.changes)[1]:.2f})"
            for rate, share in figures.closed.items()
        )
        print(
            f"{language}: {figures.changes} changes, {figures.others} others; closed {shares}; five classes {figures.accuracy:.3f}"
        )


def report_perturbations(reader: OnnxReader, scenes: Sequence[Scene]) -> None:
    """Print what perturbing the statements does to each head, at the thresholds of the text as it is."""
    print(
        "\n## Perturbations\n\n| statements | AUC | right first | meaning macro-F1 | closed | wrongly closed |"
    )
    print("| --- | --- | --- | --- | --- | --- |")
    chosen = [scene for scene in scenes if scene.effects]
    few = chosen[:: max(1, len(chosen) // 5)]
    plain = read_pairs(reader, chosen)
    threshold = threshold_for(
        np.array([reading.closes for pair, reading in plain if pair.effect not in CHANGES]), 0.02
    )
    for change in (unchanged, *PERTURBATIONS):
        answers = answer_figures(read_questions(reader, few, change))
        meanings = meaning_figures(reader, chosen, change)
        pairs = read_pairs(reader, chosen, change)
        closed = np.mean([reading.closes >= threshold for pair, reading in pairs if pair.effect in CHANGES])
        wrong = np.mean(
            [reading.closes >= threshold for pair, reading in pairs if pair.effect not in CHANGES]
        )
        name = change.__name__.replace("_", " ")
        print(
            f"| {name} | {answers.auc:.3f} | {answers.first:.3f} | {meanings.macro_f1:.3f} | {closed:.3f} | {wrong:.3f} |"
        )


def print_misses(reader: OnnxReader, scenes: Sequence[Scene], count: int) -> None:
    """Print the worst readings of each head; of development scenes only, as nobody may read the others."""
    for scene, asked, rows, answers in read_questions(reader, [scene for scene in scenes if scene.effects]):
        right = {answer.index for answer in asked.answers}
        best = int(np.argmax([each.answers for each in answers]))
        if (rows[best] in right) if right else answers[best].answers < 0.3:
            continue
        expected = "; ".join(
            f"{answers[index].answers:.2f} {scene.statements[index].text[:80]}" for index in right
        )
        print(
            f"Q {asked.asker}: {asked.text} | got {answers[best].answers:.2f} {scene.statements[rows[best]].text[:80]!r} | {expected or 'none'}"
        )
    readings = read_pairs(reader, scenes)
    readings.sort(
        key=lambda item: item[1].closes if item[0].effect not in CHANGES else 1 - item[1].closes, reverse=True
    )
    for pair, reading in readings[:count]:
        earlier, later = (pair.scene.statements[row].text[:90] for row in (pair.earlier, pair.later))
        print(f"E {pair.effect} {reading.closes:.2f} | {earlier} | {later}")


def main() -> None:
    """Print the report."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--reader", type=Path)
    arguments.add_argument("--work", type=Path, default=Path(".lab"))
    arguments.add_argument("--split", choices=("dev", "test"), default="dev")
    arguments.add_argument("--teacher", action="store_true", help="next to the twelve-layer cross-encoder")
    arguments.add_argument("--only", choices=("answers", "meaning", "effect", "perturbations"), default="")
    arguments.add_argument("--every", type=int, default=1, help="read one question in this many")
    arguments.add_argument("--misses", type=int, default=0)
    options = arguments.parse_args()
    reader = OnnxReader(options.reader)
    scenes = [scene for scene in read_scenes(options.work / "scenes.jsonl") if scene.split == options.split]
    for scene in scenes:
        scene.questions = scene.questions[:: options.every]
    print(f"# {reader.name}, {options.split}: {len(scenes)} scenes")
    if options.only in ("", "answers"):
        report_answers(reader, scenes, Teacher(options.work / "cache-test") if options.teacher else None)
    if options.only in ("", "meaning"):
        report_meanings(reader, scenes)
        if options.split == TEST:
            report_real_chat(reader)
    if options.only in ("", "effect"):
        report_effects(reader, scenes)
    if options.only in ("", "perturbations"):
        report_perturbations(reader, scenes)
    if options.misses and options.split == "dev":
        print_misses(reader, scenes, options.misses)


if __name__ == "__main__":
    main()
