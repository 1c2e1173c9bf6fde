"""Pairs of statements, and the log odds that the later one takes the place of the older one.

Most pairs are made of the labelled sentences, read by heads that have not seen them; those that people could have said
in this order come from the pairs of bench/truth that may be looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np

from bench.changes.fit import PENALTY, LabelledSentence, Rows, Weights, held_out, labels_of
from bench.truth.pairs import Expect, Pair, load_pairs
from perdure.models.statement_heads import HEADS, VECTOR_SCALE
from perdure.ports.statements import NO_SLOT, StatementClassifier, StatementReading
from perdure.retain.replacement import SLOTS_OF_THINGS, WEIGHTS, pair_features
from perdure.retain.statement_words import wording_of

LOG_ODDS = Path(str(files("perdure.retain").joinpath(WEIGHTS)))
TRUTH = Path(__file__).parent.parent / "truth"
PAIR_FILES = (TRUTH / "seen" / "pairs.json", TRUTH / "fresh" / "pairs.json")
"""Never the unseen half."""
SEED = 11
OLDER_PER_SENTENCE = 6
"""Older statements of the same slot that a sentence is set against; as many of other slots."""
MADE_PAIRS = 20_000
"""Made pairs that are fitted on."""
HAND_SHARE = 0.35
"""Weight of the pairs that were written as such, of all."""
CHANGES = frozenset({"begins", "corrects", "holds"})
OWN = frozenset({"self", "we"})
STEPS = 1000
RATE = 0.02
RIDGE = 2e-3


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """What is known of two statements, and whether the later one takes the older one's place."""

    features: Mapping[str, float]
    replaces: bool
    by_hand: bool


def made_pairs(sentences: Sequence[LabelledSentence], rows: Rows, folds: int) -> Iterator[LabelledPair]:
    """Pairs of labelled sentences of one language; slots of which people have several are left out as replacements."""
    readings = _held_out_readings(sentences, rows, folds)
    words = [wording_of(sentence.text, sentence.language) for sentence in sentences]
    rng = np.random.default_rng(SEED)
    older = [number for number, one in enumerate(sentences) if one.aspect in ("holds", "begins", "none")]
    for number, new in enumerate(sentences):
        of_language = [
            other for other in older if sentences[other].language == new.language and other != number
        ]
        same = [other for other in of_language if sentences[other].slot == new.slot]
        others = [other for other in of_language if sentences[other].slot != new.slot]
        for other in [*_some(same, rng), *_some(others, rng)]:
            replaces = (
                sentences[other].slot == new.slot != NO_SLOT
                and new.aspect in CHANGES
                and new.subject in OWN
                and sentences[other].subject in OWN
            )
            if "thing" in (new.subject, sentences[other].subject) and sentences[other].slot == new.slot:
                continue
            if replaces and new.slot in SLOTS_OF_THINGS:
                continue
            if new.aspect == "ends" and sentences[other].slot == new.slot and new.subject in OWN:
                continue
            features = pair_features(readings[number], words[number], readings[other], words[other])
            yield LabelledPair(features, replaces, by_hand=False)


def _some(numbers: Sequence[int], rng: np.random.Generator) -> list[int]:
    chosen = rng.permutation(len(numbers))[:OLDER_PER_SENTENCE]
    return [numbers[index] for index in chosen]


def _held_out_readings(
    sentences: Sequence[LabelledSentence], rows: Rows, folds: int
) -> list[StatementReading]:
    shares = {
        name: (
            sorted(set(labels_of(sentences, name))),
            held_out(rows, labels_of(sentences, name), penalty, folds),
        )
        for name, penalty in PENALTY.items()
    }

    def reading(number: int) -> StatementReading:
        slots, aspects, subjects = (
            dict(zip(shares[name][0], shares[name][1][number].tolist(), strict=True)) for name in HEADS
        )
        return StatementReading(slots, aspects, subjects, rows.vectors[number] / np.float32(VECTOR_SCALE))

    return [reading(number) for number in range(len(sentences))]


def written_pairs(classifier: StatementClassifier) -> Iterator[LabelledPair]:
    """The pairs of bench/truth by one speaker."""
    for path in PAIR_FILES:
        for pair in load_pairs(path):
            if pair.turns[pair.old].speaker == pair.turns[pair.new].speaker and pair.kind not in (
                "clock",
                "low_trust",
            ):
                yield _written_pair(pair, classifier)


def _written_pair(pair: Pair, classifier: StatementClassifier) -> LabelledPair:
    old, new = pair.turns[pair.old], pair.turns[pair.new]
    reading, older = classifier.classify([new.text, old.text])
    features = pair_features(
        reading,
        wording_of(new.text, pair.language, new.speaker),
        older,
        wording_of(old.text, pair.language, old.speaker, [pair.old_value]),
    )
    return LabelledPair(features, pair.expect is not Expect.KEPT, by_hand=True)


def fit_replacement(
    sentences: Sequence[LabelledSentence], rows: Rows, classifier: StatementClassifier, folds: int = 4
) -> dict[str, float]:
    """The log odds of `pair_features`, fitted on a sample of the made pairs and all written ones."""
    made = list(made_pairs(sentences, rows, folds))
    chosen = np.random.default_rng(1).permutation(len(made))[:MADE_PAIRS]
    return fit_log_odds([*(made[index] for index in chosen), *written_pairs(classifier)])


def save_log_odds(log_odds: Mapping[str, float], path: Path) -> None:
    """Write the log odds as TOML."""
    lines = (f"{name} = {value:.4f}\n" for name, value in log_odds.items())
    path.write_text(
        "# Log odds that a statement takes an older one's place, by feature; fitted by python -m bench.changes --write.\n\n"
        f"[log_odds]\n{''.join(lines)}",
        encoding="utf-8",
    )


def fit_log_odds(pairs: Sequence[LabelledPair]) -> dict[str, float]:
    """Logistic regression by Adam on standardised features; the weights are given for the features as they are."""
    names = list(pairs[0].features)
    rows: Weights = np.array([[pair.features[name] for name in names] for pair in pairs], np.float32)
    labels = np.array([pair.replaces for pair in pairs], np.float32)
    by_hand = np.array([pair.by_hand for pair in pairs])
    importance = np.where(
        by_hand, HAND_SHARE / max(by_hand.sum(), 1), (1 - HAND_SHARE) / max((~by_hand).sum(), 1)
    )
    center, spread = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    standard = np.hstack([(rows - center) / spread, np.ones((len(rows), 1), np.float32)])
    weights = np.zeros(standard.shape[1])
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        error = (1 / (1 + np.exp(-standard @ weights)) - labels) * importance
        gradient = standard.T @ error
        gradient[:-1] += RIDGE * weights[:-1]
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.999 * square + 0.001 * gradient**2
        weights -= RATE * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    slopes = weights[:-1] / spread
    fitted = dict(zip(names, slopes.tolist(), strict=True))
    return {"bias": float(weights[-1] - slopes @ center), **fitted}
