"""Fitting the check of a language model's sentences against their sources, and what it is worth.

    python -m bench.support [--write]

The pairs of `bench/support_pairs.toml` are scored by the reader. Figures are of held-out cases: every case is judged by weights that were
fitted on the others (five folds). `--write` fits on all of them and writes `src/perdure/reflect/support.toml`.
"""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.evidence_fit import fit_logistic
from perdure.adapters import make_reader, make_reranker
from perdure.ports.reranker import Reranker
from perdure.recall.evidence import probability
from perdure.reflect.support import BARE, CROSS, FILE, SourceText, passages_of, support_features, unsaid
from perdure.settings import Settings

PAIRS = Path(__file__).with_name("support_pairs.toml")
TARGET = Path(__file__).parents[1] / "src" / "perdure" / "reflect" / FILE
KEPT = 0.90
"""Share of supported sentences that the floor lets through."""
FOLDS = 5
NAMES = {CROSS: ("logit", "high_logit", "covered"), BARE: ("covered",)}
Features = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Pair:
    """A sentence and a source, and whether the source supports it."""

    case: int
    sentence: str
    is_supported: bool
    features: Features
    has_unsaid: bool


def read_pairs(reranker: Reranker, *, of_others: bool = False) -> list[Pair]:
    """All pairs, scored by the reranker; or the supported sentences with the source of another case."""
    pairs = []
    cases = tomllib.loads(PAIRS.read_text(encoding="utf-8"))["case"]
    for number, case in enumerate(cases):
        sources = [SourceText(texts=(case["source"] if not of_others else cases[number - 1]["source"],))]
        for name in ("supported",) if of_others else ("supported", "unsupported"):
            for sentence in case[name]:
                logit = max(map(float, reranker.score(sentence, passages_of(sources))))
                features = support_features(sentence, sources, logit)
                has_unsaid = bool(unsaid(sentence, sources))
                pairs.append(
                    Pair(number, sentence, name == "supported" and not of_others, features, has_unsaid)
                )
    return pairs


def fit(pairs: Sequence[Pair], names: Sequence[str]) -> tuple[dict[str, float], float]:
    """Weights, and the floor that lets the set share of supported sentences through."""
    rows = [{name: pair.features[name] for name in names} for pair in pairs]
    weights = dict(
        fit_logistic(
            rows, [pair.is_supported for pair in pairs], {name: (0.0, float("inf")) for name in names}
        )
    )
    right = sorted(
        probability(weights, row) for row, pair in zip(rows, pairs, strict=True) if pair.is_supported
    )
    return weights, right[int((1.0 - KEPT) * len(right))]


def shares(pairs: Sequence[Pair], names: Sequence[str]) -> tuple[float, float]:
    """(supported sentences kept, unsupported ones removed), of cases that the weights were not fitted on."""
    kept = removed = 0
    for fold in range(FOLDS):
        weights, floor = fit([pair for pair in pairs if pair.case % FOLDS != fold], names)
        for pair in (pair for pair in pairs if pair.case % FOLDS == fold):
            holds = probability(weights, pair.features) >= floor and not pair.has_unsaid
            kept += pair.is_supported and holds
            removed += not pair.is_supported and not holds
    right = sum(pair.is_supported for pair in pairs)
    return kept / right, removed / (len(pairs) - right)


def main() -> None:
    """Fit, report, and write where asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    write = parser.parse_args().write
    reranker = make_reranker(make_reader(Settings()))
    assert reranker is not None
    pairs = read_pairs(reranker)
    others = read_pairs(reranker, of_others=True)
    lines = [
        "# Written by `python -m bench.support --write` (docs/reflect.md): do not edit.",
        f'reranker = "{reranker.name}"',
    ]
    print(f"{len(pairs)} pairs, {sum(pair.is_supported for pair in pairs)} supported")
    for name, features in NAMES.items():
        kept, removed = shares(pairs, features)
        print(f"{name}: {kept:.0%} of supported sentences kept, {removed:.0%} of unsupported ones removed")
        weights, floor = fit(pairs, features)
        wrong = sum(probability(weights, pair.features) < floor or pair.has_unsaid for pair in others)
        print(f"  {wrong / len(others):.0%} of sentences that cite another source than theirs removed")
        lines += ["", f"[{name}]", f"floor = {floor:.3f}", "", f"[{name}.weights]"]
        lines += [f"{feature} = {weight:.4f}" for feature, weight in weights.items()]
    if write:
        numbers = TARGET.read_text(encoding="utf-8").partition("# Number words")
        TARGET.write_text("\n".join(lines) + "\n\n" + "".join(numbers[1:]), encoding="utf-8")


if __name__ == "__main__":
    main()
