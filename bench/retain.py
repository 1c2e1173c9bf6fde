"""Throughput of retain beside the bare embedder on the same texts: `python -m bench.retain DATA.json [--items 400] [--rounds 3]`.

`--growth 1000 10000 100000` instead measures every stage in banks of these sizes; `--one-line 5` retains so many megabytes in one line.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from itertools import cycle, groupby, islice
from pathlib import Path
from statistics import median

from bench.retain_growth import growth
from perdure.engine import Perdure
from perdure.evaluation.data import LabelledItem, load_banks
from perdure.models.onnx_embedder import OnnxEmbedder
from perdure.settings import Settings

GROWTH_ITEMS = 100


Calls = list[list[LabelledItem]]


def a_session_each(items: list[LabelledItem]) -> Calls:
    """The items of a session in one call, as a conversation that goes on is retained."""
    return [list(group) for _, group in groupby(items, key=lambda item: item.session)]


def embed(calls: Calls) -> float:
    """Texts a second of the embedder alone."""
    embedder = OnnxEmbedder()
    embedder.embed_passages(["warm up"])
    started = time.perf_counter()
    for call in calls:
        embedder.embed_passages([f"{item.speaker}: {item.text}" for item in call])
    return sum(map(len, calls)) / (time.perf_counter() - started)


def retain(calls: Calls, settings: Settings) -> tuple[float, dict[str, float]]:
    """Texts a second of whole retains, and the share of each stage."""
    stages: dict[str, float] = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        Perdure.open(Path(folder) / "memory.db", settings=settings) as engine,
    ):
        engine.retain("warm", "Warm up the models, please.", speaker="Ann")
        started = time.perf_counter()
        for call in calls:
            turns = [
                {"content": i.text, "speaker": i.speaker, "timestamp": i.date, "document_id": i.session}
                for i in call
            ]
            for stage in engine.retain("bench", turns).timings:
                stages[stage.stage] = stages.get(stage.stage, 0.0) + stage.milliseconds
        elapsed = time.perf_counter() - started
    total = stages.pop("total")
    return sum(map(len, calls)) / elapsed, {name: value / total for name, value in stages.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--items", type=int, default=400)
    parser.add_argument(
        "--rounds", type=int, default=1, help="rounds in turn, of which the medians are shown"
    )
    parser.add_argument("--growth", type=int, nargs="+", metavar="FACTS")
    parser.add_argument("--one-line", type=float, metavar="MB")
    chosen = parser.parse_args()
    everything = list(load_banks(chosen.data)[0].items)
    items = everything[: chosen.items]
    if chosen.growth:
        growth(everything[:GROWTH_ITEMS], chosen.growth, Settings())
    elif chosen.one_line:
        one_line(everything, chosen.one_line)
    else:
        throughput(items, chosen.rounds)


def one_line(items: list[LabelledItem], megabytes: float) -> None:
    """One text without a line break, with all stages on: at a quarter of the size, and at the size."""
    with tempfile.TemporaryDirectory() as folder, Perdure.open(Path(folder) / "memory.db") as engine:
        engine.retain("warm", "Warm up the models, please.", speaker="Ann")
        for size in (megabytes / 4, megabytes):
            sentences = (
                f"{item.text} It was number {n}.".replace("\n", " ") for n, item in enumerate(cycle(items))
            )
            text = " ".join(islice(sentences, int(size * 1e6 / 100)))[: int(size * 1e6)]
            started = time.perf_counter()
            result = engine.retain(f"bank-{size}", text)
            elapsed = time.perf_counter() - started
            print(f"{size:.2f} MB in one line: {elapsed:.1f} s, {elapsed / size:.1f} s a MB, {result}")


def throughput(items: list[LabelledItem], rounds: int) -> None:
    """Whole retains beside the embedder alone, which gets the same texts in the same calls before and after."""
    for name, calls in (("all in one call", [items]), ("a session a call", a_session_each(items))):
        print(f"{name}:")
        for line in compared(calls, rounds):
            print(f"  {line}")


def compared(calls: Calls, rounds: int) -> list[str]:
    """The medians of some rounds, a line each."""
    kinds = {
        "retain, spaCy": Settings(),
        "retain, rules": Settings(tagger="rules"),
        "retain, verbatim": Settings(extractor="verbatim"),
    }
    bare = [embed(calls)]
    rates: dict[str, list[float]] = {label: [] for label in kinds}
    ratios: dict[str, list[float]] = {label: [] for label in kinds}
    shares: dict[str, dict[str, float]] = {}
    for _ in range(rounds):
        for label, settings in kinds.items():
            rate, shares[label] = retain(calls, settings)
            bare.append(embed(calls))
            rates[label].append(rate)
            ratios[label].append(2 * rate / (bare[-2] + bare[-1]))
    lines = [f"{'bare embedder':18} {median(bare):7.1f} texts/s"]
    for label in kinds:
        parts = "  ".join(f"{name} {share:.0%}" for name, share in shares[label].items())
        found = f"{median(ratios[label]):.2f} of the embedder"
        lines.append(f"{label:18} {median(rates[label]):7.1f} texts/s  {found}  {parts}")
    return lines


if __name__ == "__main__":
    main()
