"""Calibrating evidence, and what it is worth.

    python -m bench.evidence [DATA.json ...] [--cache DIR] [--most N] [--ask] [--write]

Asks labelled questions with `default` and `fast` (bench/evidence_data.py) and keeps the signals of each recall in the cache, so that only the first run
needs time; `--ask` asks again. One half of the questions is fitted on: weights, levels and floors of `src/perdure/recall/calibration.toml`, which
`--write` writes. All figures are of the other half; `--write` puts them into docs/evidence.md, with the reliability curve.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.evidence_data import MOST, RECIPES, JudgedQuestion, gather
from bench.evidence_fit import (
    Bin,
    Bounds,
    calibration_error,
    fit_logistic,
    reliability,
    threshold_for,
    threshold_of_share,
)
from bench.page import load_now, table, taken, write_section
from perdure.domain.recall import Evidence
from perdure.evaluation.data import CACHE
from perdure.recall.evidence import (
    FILE,
    LEVELS,
    MIN_LATIN,
    Calibration,
    Calibrations,
    answer_features,
    fact_features,
    judge,
    parse_calibrations,
    probability,
)
from perdure.recall.judge import BESIDE, MOST_BESIDE

CALIBRATION = Path(__file__).parents[1] / "src" / "perdure" / "recall" / FILE
PAGE = Path("docs/evidence.md")
STRONG_RIGHT = 0.95
NOT_STRONG = 0.97
KEPT_RIGHT = 0.97
"""Share of the right answers that are at least weak."""
KEPT_FILLED = 0.85
"""Share of the questions with an answer among the first ten whose prompt is not empty."""
COSINE_FLOOR = 0.85
"""The floor on e5's cosine that a prompt is compared with."""
FITTED_PLACES = 12
"""Candidates of each question on which the weights of facts are fitted."""

UP, DOWN, FREE = (0.0, float("inf")), (float("-inf"), 0.0), (float("-inf"), float("inf"))
GENERAL: Mapping[str, Bounds] = {
    "covered": UP, "uncovered": DOWN, "names": UP, "nameless": FREE, "speaker": UP, "window": UP, "terms": FREE,
    "own": FREE, "stale": (float("-inf"), -1.5), "unsure": (float("-inf"), -1.0),
}  # fmt: skip
"""Features that every recall has. Too few labelled answers are stale or unsure for their weights to be fitted: they lower the odds at least by
so much (e^-1.5 is about a fifth)."""
WORDS: Mapping[str, Bounds] = {**GENERAL, "uncovered": (float("-inf"), -2.0), "covered": (0.5, float("inf"))}
"""Without a reader, a question none of whose words is known must not pass: the questions that are fitted on hardly hold one."""
PLACED: Mapping[str, Bounds] = {"behind": DOWN, "place": DOWN}
READ: Mapping[str, Bounds] = {"answers": UP, "cosine": UP}
FACT: Mapping[str, Mapping[str, Bounds]] = {
    "reader": {**GENERAL, **PLACED, **READ},
    "words": {**WORDS, **PLACED, "bm25": UP},
    "bare": {**WORDS, **PLACED},
}
# BM25 grows with the bank: as a feature of answers it made small banks look poor (docs/decisions/evidence.md).
ANSWER: Mapping[str, Mapping[str, Bounds]] = {
    "reader": {**GENERAL, **READ, "margin": UP, "best_rival": FREE, "covered_margin": UP},
    "words": {**WORDS, "bm25": UP, "bm25_margin": UP, "covered_margin": UP},
    "bare": {**WORDS, "covered_margin": UP},
}
Chooser = Callable[[JudgedQuestion], Sequence[int]]
"""Question -> places of the candidates that go into the prompt."""


def is_adversarial(question: JudgedQuestion) -> bool:
    """Whether it asks of one speaker what the other did: neither fitted on nor counted, but told apart."""
    return question.kind == "adversarial"


def fit_all(questions: Sequence[JudgedQuestion]) -> Calibrations:
    """The calibrations, fitted on the half that is for it; without the reader its readings are left out."""
    fitted = [q for q in questions if q.fitted and q.signals.facts and not is_adversarial(q)]
    unread = [without_reader(question) for question in fitted if question.recipe == "fast"]
    own = {"reader": [question for question in fitted if question.signals.latin >= MIN_LATIN]}
    return Calibrations({name: fit_one(name, own.get(name, unread)) for name in FACT})


def without_reader(question: JudgedQuestion) -> JudgedQuestion:
    """The question as if the reader had been missing, in the same order."""
    facts = tuple(replace(fact, answers=None) for fact in question.signals.facts)
    return replace(question, signals=replace(question.signals, facts=facts))


def fit_one(name: str, questions: Sequence[JudgedQuestion]) -> Calibration:
    """Weights, levels and floor from the questions of one kind of recall."""
    answer = fit_logistic(
        [answer_features(q.signals) for q in questions], [q.right_first for q in questions], ANSWER[name]
    )
    places = [(q, place) for q in questions for place in range(1, min(len(q.helps), FITTED_PLACES))]
    fact = fit_logistic(
        [fact_features(q.signals, place) for q, place in places],
        [q.helps[place] for q, place in places],
        FACT[name],
    )
    told = [probability(answer, answer_features(q.signals)) for q in questions]
    right = [q.right_first for q in questions]
    unanswerable = [p for p, q in zip(told, questions, strict=True) if not q.answerable]
    in_three = [q.right_in_three for q in questions]
    strong = max(threshold_for(told, in_three, STRONG_RIGHT), threshold_of_share(unanswerable, NOT_STRONG))
    weak = threshold_of_share([p for p, was in zip(told, right, strict=True) if was], 1.0 - KEPT_RIGHT)
    draft = Calibration(
        name=name, fact=fact, answer=answer, strong=rounded(strong), weak=rounded(weak), floor=0.0
    )
    best = [max(relevances(q, draft)) for q in questions if any(q.helps[:10])]
    return Calibration(
        name=name, fact=fact, answer=answer, strong=draft.strong, weak=draft.weak,
        floor=rounded(threshold_of_share(best, 1.0 - KEPT_FILLED)),
    )  # fmt: skip


def rounded(probability: float) -> float:
    """As the file has it."""
    return round(probability, 3)


def relevances(question: JudgedQuestion, calibration: Calibration) -> list[float]:
    """The probability of each judged candidate."""
    names = [str(place) for place in range(len(question.signals.facts))]
    return list(judge(question.signals, calibration, names).relevances.values()) or [0.0]


@dataclass(frozen=True, slots=True)
class Told:
    """A held-out question with what the calibration says of it."""

    question: JudgedQuestion
    calibration: Calibration
    relevances: Sequence[float]

    @property
    def confidence(self) -> float:
        return self.relevances[0]

    @property
    def is_strong(self) -> bool:
        return self.calibration.level(self.confidence) is Evidence.STRONG

    @property
    def is_weak(self) -> bool:
        return self.calibration.level(self.confidence) is Evidence.WEAK

    @property
    def injected(self) -> list[int]:
        """Places of the candidates that go into a prompt."""
        floor = self.calibration.floor
        kept = [n for n, p in enumerate(self.relevances) if p >= floor]
        beside = [n for n, p in enumerate(self.relevances) if BESIDE * floor <= p < floor] if kept else []
        return sorted([*kept, *beside[: max(0, MOST_BESIDE - len(kept))]])


def tell(questions: Sequence[JudgedQuestion], calibrations: Calibrations) -> list[Told]:
    """What the calibrations say of questions."""
    told = []
    for question in questions:
        calibration = calibrations.choose(question.signals)
        told.append(Told(question, calibration, relevances(question, calibration)))
    return told


def share(outcomes: Sequence[bool]) -> str:
    """The share of the true ones."""
    return f"{sum(outcomes) / len(outcomes):.3f}" if outcomes else ""


LEVEL_HEAD = (
    "held out", "answerable", "unanswerable", "first right", "calibration error", "strong: right in three",
    "strong: right first", "answerable: strong", "answerable: weak", "unanswerable: not strong", "unanswerable: none",
)  # fmt: skip


def level_row(label: str, told: Sequence[Told]) -> list[str]:
    """What the levels are worth among these questions."""
    answerable = [one for one in told if one.question.answerable]
    unanswerable = [one for one in told if not one.question.answerable]
    strong = [one for one in told if one.is_strong]
    bins = reliability([one.confidence for one in told], [one.question.right_first for one in told])
    return [
        label,
        str(len(answerable)),
        str(len(unanswerable)),
        share([one.question.right_first for one in answerable]),
        f"{calibration_error(bins):.3f}" if told else "",
        share([one.question.right_in_three for one in strong]),
        share([one.question.right_first for one in strong]),
        share([one.is_strong for one in answerable]),
        share([one.is_weak for one in answerable]),
        share([not one.is_strong for one in unanswerable]),
        share([not (one.is_strong or one.is_weak) for one in unanswerable]),
    ]


def level_rows(told: Sequence[Told]) -> list[list[str]]:
    """All questions, each set, each language, each person, and the adversarial ones."""
    usual = [one for one in told if not is_adversarial(one.question)]
    rows = [level_row("all", usual)]
    groups: list[tuple[str, Callable[[JudgedQuestion], bool]]] = [
        *((name, lambda q, name=name: q.set == name) for name in sorted({one.question.set for one in usual})),
        *((f"{name} person", lambda q, name=name: q.person == name) for name in ("first", "third")),
    ]  # fmt: skip
    rows += [level_row(label, [one for one in usual if belongs(one.question)]) for label, belongs in groups]
    adversarial = [one for one in told if is_adversarial(one.question)]
    return rows + ([level_row("adversarial", adversarial)] if adversarial else [])


PROMPT_HEAD = (
    "what goes in", "empty, no answer", "empty, answer", "empty, answer in ten", "an answer inside", "precision", "facts",
)  # fmt: skip


def prompt_row(label: str, questions: Sequence[JudgedQuestion], choose: Chooser) -> list[str]:
    """What a way to choose the facts of a prompt is worth.

    "Answer in ten" are the questions with a fact that helps among the first ten; precision is the share of injected facts that help, over all
    questions.
    """
    chosen = [(question, choose(question)) for question in questions]
    answerable = [(q, places) for q, places in chosen if q.answerable]
    facts = [q.helps[place] for q, places in chosen for place in places]
    return [
        label,
        share([not places for q, places in chosen if not q.answerable]),
        share([not places for q, places in answerable]),
        share([not places for q, places in answerable if any(q.helps[:10])]),
        share([any(q.helps[place] for place in places) for q, places in answerable]),
        share(facts),
        f"{len(facts) / max(len(chosen), 1):.1f}",
    ]


def prompt_rows(told: Sequence[Told]) -> list[list[str]]:
    """The calibrated floor beside the first five, the first ten and a fixed floor on the cosine; then by set."""
    usual = [one for one in told if not is_adversarial(one.question)]
    questions = [one.question for one in usual]
    injected = {id(one.question): one.injected for one in usual}
    ways: list[tuple[str, Chooser]] = [
        ("`inject`", lambda q: injected[id(q)]),
        ("first five", lambda q: range(min(5, len(q.helps)))),
        ("first ten", lambda q: range(min(10, len(q.helps)))),
        (f"cosine of {COSINE_FLOOR:.2f}, at most ten", _above_cosine),
    ]
    rows = [prompt_row(label, questions, choose) for label, choose in ways]
    for name in sorted({question.set for question in questions}):
        own = [question for question in questions if question.set == name]
        rows.append(prompt_row(f"`inject`, {name}", own, lambda q: injected[id(q)]))
    return rows


def _above_cosine(question: JudgedQuestion) -> list[int]:
    """The first ten candidates whose cosine reaches the fixed floor."""
    above = [n for n, fact in enumerate(question.signals.facts) if (fact.cosine or 0.0) >= COSINE_FLOOR]
    return above[:10]


CURVE_HEAD = ("told", "answers", "mean told", "came true", "facts", "mean told", "came true")


def answer_bins(told: Sequence[Told]) -> list[Bin]:
    """The reliability of the confidence."""
    usual = [one for one in told if not is_adversarial(one.question)]
    return reliability([one.confidence for one in usual], [one.question.right_first for one in usual])


def fact_bins(told: Sequence[Told]) -> list[Bin]:
    """The reliability of the relevance of the facts behind the first."""
    usual = [one for one in told if not is_adversarial(one.question)]
    pairs = [
        (p, helps)
        for one in usual
        for p, helps in zip(one.relevances[1:], one.question.helps[1:], strict=True)
    ]
    return reliability([p for p, _ in pairs], [helps for _, helps in pairs])


def curve_rows(told: Sequence[Told]) -> list[list[str]]:
    """Both reliabilities, a row per tenth."""
    rows = []
    columns = [{bin_.tenth: bin_ for bin_ in bins} for bins in (answer_bins(told), fact_bins(told))]
    for tenth in range(10):
        cells = [f"{tenth / 10:.1f} to {(tenth + 1) / 10:.1f}"]
        for column in columns:
            bin_ = column.get(tenth)
            cells += [str(bin_.count), f"{bin_.told:.2f}", f"{bin_.came_true:.2f}"] if bin_ else [""] * 3
        rows.append(cells)
    return rows


def as_toml(calibrations: Calibrations) -> str:
    """The calibrations as the engine reads them."""
    lines = [
        "# Written by `python -m bench.evidence --write` (docs/evidence.md): do not edit.",
        "# Weights of a logistic regression by feature (recall/evidence.py), and the probabilities at which levels begin.",
    ]
    for name, calibration in calibrations.by_name.items():
        lines += ["", f"[{name}]"]
        lines += [f"{level} = {getattr(calibration, level):.3f}" for level in LEVELS]
        for part in ("answer", "fact"):
            lines += ["", f"[{name}.{part}]"]
            lines += [f"{feature} = {weight:.4f}" for feature, weight in getattr(calibration, part).items()]
    return "\n".join(lines) + "\n"


def report(questions: Sequence[JudgedQuestion], calibrations: Calibrations) -> list[str]:
    """The tables of the held-out half."""
    lines: list[str] = []
    held_out = [question for question in questions if not question.fitted]
    for recipe in RECIPES:
        told = tell([question for question in held_out if question.recipe == recipe], calibrations)
        lines += [f"### `{recipe}`", "", *table(LEVEL_HEAD, level_rows(told)), ""]
        lines += [*table(PROMPT_HEAD, prompt_rows(told)), ""]
        errors = [calibration_error(bins) for bins in (answer_bins(told), fact_bins(told))]
        lines += [f"Calibration error in ten bins: {errors[0]:.3f} of answers, {errors[1]:.3f} of facts.", ""]
        lines += [*table(CURVE_HEAD, curve_rows(told)), ""]
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="*", type=Path)
    parser.add_argument("--cache", type=Path, default=CACHE)
    parser.add_argument("--most", type=int, default=MOST, help="questions of each data file")
    parser.add_argument("--ask", action="store_true", help="ask again, whatever the cache has")
    parser.add_argument("--write", action="store_true", help=f"write {FILE} and {PAGE}")
    chosen = parser.parse_args()
    load = load_now()
    questions = gather(chosen.data, chosen.cache, chosen.most, chosen.ask)
    calibrations = fit_all(questions)
    if chosen.write:
        CALIBRATION.write_text(as_toml(calibrations), encoding="utf-8")
    calibrations = parse_calibrations(as_toml(calibrations))
    lines = report(questions, calibrations)
    print("\n".join(lines))
    if chosen.write:
        command = " ".join(["python -m bench.evidence", *(path.name for path in chosen.data)])
        write_section("figures", [taken(command, load), "", *lines], PAGE)


if __name__ == "__main__":
    main()
