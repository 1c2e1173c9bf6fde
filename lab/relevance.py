"""Rerank e5's best 30 of LoCoMo, LongMemEval and HotpotQA with the reader and with the present cross-encoder.

python -m lab.relevance --reader .lab/export/full --banks locomo
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Mapping, Sequence
from datetime import date
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab.teacher import Teacher
from perdure.models.reader import OnnxReader
from perdure.ports.reader import PlacedStatement

_POOL, _TEXT = 30, 1200
_PASSAGE_BANKS = ("hotpotqa",)


def place(items: Sequence[Mapping[str, Any]]) -> list[PlacedStatement]:
    """Return the items of a bank in their places: the turn before is of the same session."""
    placed = []
    for number, item in enumerate(items):
        previous = items[number - 1] if number else None
        in_session = previous is not None and previous.get("session") == item.get("session") is not None
        before = f"{previous['speaker']}: {previous['text'][-300:]}" if previous and in_session else ""
        text = f"{item['title']}: {item['text']}" if "title" in item else item["text"]
        said_at = date.fromisoformat(item["date"][:10]) if item.get("date") else None
        placed.append(PlacedStatement(text[:_TEXT], item.get("speaker", ""), "", said_at, before))
    return placed


class Ranking:
    """Sums of nDCG@10, recall@1, @5 and @10 of one way to rank."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.seconds = 0.0
        self._sums = np.zeros(4)
        self._count = 0

    def add(self, order: Sequence[int], evidence: set[int]) -> None:
        """Count one question."""
        gains = [1 / log2(place + 2) for place, row in enumerate(order[:10]) if row in evidence]
        ideal = sum(1 / log2(place + 2) for place in range(min(10, len(evidence))))
        recalls = [len(evidence & set(order[:depth])) / len(evidence) for depth in (1, 5, 10)]
        self._sums += (sum(gains) / ideal, *recalls)
        self._count += 1

    def __str__(self) -> str:
        ndcg, first, fifth, tenth = self._sums / max(1, self._count)
        return f"| {self.name} | {ndcg:.3f} | {first:.3f} | {fifth:.3f} | {tenth:.3f} | {self.seconds:.0f} |"


def compare(bank_name: str, shared: Path, reader: OnnxReader, teacher: Teacher, questions: int) -> None:
    """Print the figures of a bank file."""
    names = (
        "e5", "cross-encoder-12", "reader: relevance", "reader: answers", "reader: both",
        "reader: relevance and e5", "reader: answers and e5",
    )  # fmt: skip
    rankings = {name: Ranking(name) for name in names}
    chooser = random.Random(5)
    for bank in json.loads((shared / f"{bank_name}.json").read_text(encoding="utf-8")):
        placed = place(bank["items"])
        passages = [
            f"{each.speaker}: {each.text}" if each.speaker and bank_name not in _PASSAGE_BANKS else each.text
            for each in placed
        ]
        position = {item["id"]: row for row, item in enumerate(bank["items"])}
        queries = [query for query in bank["queries"] if any(id in position for id in query["evidence"])]
        share = max(1, round(questions * len(bank["items"]) / _items(bank_name, shared)))
        for query in chooser.sample(queries, min(len(queries), share)):
            evidence = {position[id] for id in query["evidence"] if id in position}
            cosines = teacher.similarities(query["query"], passages)
            pool = [int(row) for row in np.argsort(-cosines)[:_POOL]]
            rankings["e5"].add(pool, evidence)
            begun = time.monotonic()
            logits = teacher.logits(query["query"], [passages[row] for row in pool])
            rankings["cross-encoder-12"].seconds += time.monotonic() - begun
            rankings["cross-encoder-12"].add(_sorted(pool, logits), evidence)
            begun = time.monotonic()
            readings = reader.answers(query["query"], "", [placed[row] for row in pool])
            rankings["reader: relevance"].seconds += time.monotonic() - begun
            answers = [np.log(max(each.answers, 1e-9) / max(1 - each.answers, 1e-9)) for each in readings]
            relevance = [each.relevance for each in readings]
            rankings["reader: relevance"].add(_sorted(pool, relevance), evidence)
            rankings["reader: answers"].add(_sorted(pool, answers), evidence)
            both = [first + second for first, second in zip(relevance, answers, strict=True)]
            rankings["reader: both"].add(_sorted(pool, both), evidence)
            near = _standard(cosines[pool])
            for name, scores in (("relevance", relevance), ("answers", answers)):
                rankings[f"reader: {name} and e5"].add(
                    _sorted(pool, (_standard(scores) + near).tolist()), evidence
                )
    teacher.save()
    print(
        f"\n{bank_name}\n\n| e5's best 30 by | nDCG@10 | recall@1 | @5 | @10 | seconds |\n| --- | --- | --- | --- | --- | --- |"
    )
    print(*rankings.values(), sep="\n")


def _items(bank_name: str, shared: Path) -> int:
    return sum(
        len(bank["items"]) for bank in json.loads((shared / f"{bank_name}.json").read_text(encoding="utf-8"))
    )


def _standard(scores: Sequence[float] | NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the scores with mean 0 and deviation 1."""
    values = np.asarray(scores, np.float64)
    standard: NDArray[np.float64] = (values - values.mean()) / (values.std() + 1e-9)
    return standard


def _sorted(pool: Sequence[int], scores: Sequence[float]) -> list[int]:
    return [row for _, row in sorted(zip(scores, pool, strict=True), key=lambda pair: -pair[0])]


def main() -> None:
    """Print the comparison."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--reader", type=Path)
    arguments.add_argument("--banks", nargs="+", default=["locomo"])
    arguments.add_argument("--questions", type=int, default=300)
    arguments.add_argument("--shared", type=Path, default=Path("data"))
    arguments.add_argument("--work", type=Path, default=Path(".lab"))
    options = arguments.parse_args()
    teacher = Teacher(options.work / "cache-relevance")
    for bank in options.banks:
        compare(bank, options.shared, OnnxReader(options.reader), teacher, options.questions)


if __name__ == "__main__":
    main()
