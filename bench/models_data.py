"""Labelled data for the models' benchmark: each bank's texts, and questions with the texts that answer them."""

from __future__ import annotations

import importlib
import inspect
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from perdure.text.terms import index_terms

_MODULES = (
    "argparse",
    "logging",
    "email",
    "datetime",
    "threading",
    "subprocess",
    "socket",
    "random",
    "unittest",
    "pathlib",
)
Scores = NDArray[np.float32]
DEPTH = 100


def paragraphs() -> list[str]:
    """Paragraphs of prose that every Python brings along: those of the standard library's docstrings."""
    found: set[str] = set()
    for name in _MODULES:
        for _, thing in inspect.getmembers(importlib.import_module(name), inspect.isclass):
            for part in re.split(r"\n\s*\n", thing.__doc__ or ""):
                text = " ".join(part.split())
                if 60 < len(text) < 400:
                    found.add(text)
    return sorted(found)


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the rows of the texts that answer it."""

    text: str
    evidence: frozenset[int]


@dataclass(frozen=True, slots=True)
class Bank:
    """Texts that are searched together."""

    texts: tuple[str, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Quality:
    """Means over the questions."""

    hit_at_1: float
    recall_at_5: float
    recall_at_10: float
    mrr: float


def read_banks(path: Path, questions: int) -> list[Bank]:
    """The banks of a data file with at most that many questions in all, evenly spread."""
    data = json.loads(path.read_text(encoding="utf-8"))
    every = sum(len(bank["queries"]) for bank in data)
    step = max(1, -(-every // questions)) if questions else 1
    return [bank for entry in data if (bank := _bank(entry, step)).questions]


def _bank(entry: dict[str, list[dict[str, object]]], step: int) -> Bank:
    rows = {str(item["id"]): row for row, item in enumerate(entry["items"])}
    texts = tuple(_text(item) for item in entry["items"])
    asked = []
    for query in entry["queries"][::step]:
        evidence = frozenset(rows[item] for item in query["evidence"] if item in rows)  # type: ignore[attr-defined]
        if evidence:
            asked.append(Question(str(query["query"]), evidence))
    return Bank(texts, tuple(asked))


def _text(item: dict[str, object]) -> str:
    who = item.get("speaker") or item.get("title") or ""
    return f"{who}: {item['text']}" if who else str(item["text"])


def judge(banks: Sequence[Bank], rankings: Sequence[Sequence[Sequence[int]]]) -> Quality:
    """Quality of rankings: for each bank and each of its questions rows of the bank, best first."""
    found = np.zeros(4)
    count = 0
    for bank, ranked in zip(banks, rankings, strict=True):
        for question, rows in zip(bank.questions, ranked, strict=True):
            hits = [place for place, row in enumerate(rows) if row in question.evidence]
            found += (
                bool(hits and hits[0] == 0),
                sum(place < 5 for place in hits) / len(question.evidence),
                sum(place < 10 for place in hits) / len(question.evidence),
                1.0 / (hits[0] + 1) if hits else 0.0,
            )
            count += 1
    return Quality(*(float(value) for value in found / max(count, 1)))


class Bm25:
    """The plain keyword baseline: k1 1.2, b 0.75, over the same terms as the index."""

    def __init__(self, texts: Sequence[str]) -> None:
        terms = [index_terms(text) for text in texts]
        lengths = np.array([words.total() for words in terms], np.float32)
        self._norm = 1.2 * (0.25 + 0.75 * lengths / max(float(lengths.mean()), 1.0))
        self._postings: dict[str, dict[int, int]] = {}
        for row, words in enumerate(terms):
            for word, count in words.items():
                self._postings.setdefault(word, {})[row] = count

    def scores(self, query: str) -> Scores:
        """One score a text."""
        total = np.zeros(len(self._norm), np.float32)
        for word in index_terms(query):
            counts = self._postings.get(word, {})
            if counts:
                rows = np.fromiter(counts, np.int64, len(counts))
                tf = np.fromiter(counts.values(), np.float32, len(counts))
                idf = np.log(1.0 + (len(self._norm) - len(rows) + 0.5) / (len(rows) + 0.5))
                total[rows] += idf * tf * 2.2 / (tf + self._norm[rows])
        return total


def best_first(scores: Scores, depth: int = DEPTH) -> list[int]:
    """Rows by falling score, ties by row."""
    return [int(row) for row in np.argsort(-scores, kind="stable")[:depth]]
