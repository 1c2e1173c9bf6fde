"""How cost grows with the bank: `python -m bench.growth [--facts 1000 10000 100000] [--out docs]`.

Every size is built by one process and asked by another, so that memory is that of a reader alone. Writes docs/growth.md and
docs/growth.svg. A million facts (`--facts 1000 10000 100000 1000000`) take about a quarter of an hour.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from bench.page import machine
from bench.recall import BANK, ask, build
from perdure.engine import Perdure

ASKED = (("fast", "mid"), ("default", "mid"))
TURNS = (
    "I moved to Bergen in March because the harbour was hiring again.",
    "My sister Ida still lives in Porto and teaches pottery on Fridays.",
    "We bought the blue boat from Mr. Fox last week, it needs a new engine.",
    "Honestly I think night trains are better than flying.",
    "The choir meets at the old mill now, the hall was flooded in May.",
    "I promised Jon that I would fix his bike before Saturday.",
    "Our manager Gia Hill left for Lima, so Ben Cole runs the team.",
    "I have been allergic to walnuts since I was six.",
)
RETAINED = 64


def build_one(path: Path, facts: int) -> dict[str, float]:
    """Fill a bank; facts a second and megabytes."""
    rate = build(path, facts)
    return {"written a second": rate, "disk MB": path.stat().st_size / 1e6}


def ask_one(path: Path, queries: int) -> dict[str, Any]:
    """Open a filled bank, ask it, retain on top of it."""
    figures: dict[str, Any] = {}
    before = _resident()
    with Perdure.open(path) as engine:
        started = time.perf_counter()
        engine.recall(BANK, "Where did Ann Abe move?", recipe="fast", track=False)
        figures["first recall s"] = time.perf_counter() - started
        for recipe, budget in ASKED:
            times = ask(engine, recipe, budget, queries)
            figures[recipe] = {
                stage: {"p50": median(values), "p95": quantiles(values, n=20)[18]}
                for stage, values in times.items()
            }
        figures["memory MB"] = _resident()
        figures["memory before MB"] = before
        figures["retained a second"], figures["retain"] = _retain(engine)
    return figures


def _retain(engine: Perdure) -> tuple[float, dict[str, float]]:
    """Turns a second of a real retain into the bank, and milliseconds a turn of each stage."""
    engine.retain("warm", TURNS[0], speaker="Ann Abe")
    turns = [
        {
            "content": f"{TURNS[n % len(TURNS)]} That was number {n}.",
            "speaker": "Ann Abe",
            "timestamp": "2024-05-01",
        }
        for n in range(RETAINED)
    ]
    started = time.perf_counter()
    result = engine.retain(BANK, turns, document_id="growth")
    elapsed = time.perf_counter() - started
    return RETAINED / elapsed, {stage.stage: stage.milliseconds / RETAINED for stage in result.timings}


def _resident() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def measure(facts: int, queries: int) -> dict[str, Any]:
    """Both halves of one size, each in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        figures = {"facts": facts, **_child("build", path, facts)}
        return {**figures, **_child("ask", path, queries)}


def _child(part: str, path: Path, count: int) -> dict[str, Any]:
    command = [
        sys.executable,
        "-m",
        "bench.growth",
        "--part",
        part,
        "--path",
        str(path),
        "--count",
        str(count),
    ]
    found = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    loaded: dict[str, Any] = json.loads(found.stdout.splitlines()[-1])
    return loaded


def write_page(rows: Sequence[Mapping[str, Any]], folder: Path) -> None:
    """docs/growth.md."""
    lines = [
        "# Growth",
        "",
        f"Written by `python -m bench.growth --facts {' '.join(str(row['facts']) for row in rows)}`. {machine()}",
        "",
        "Facts are sentences of about 12 words, with vectors and token vectors; each size in a fresh process. Recall in p50 / p95 ms.",
        "",
        "| facts | fast | default | first recall, s | memory, MB | disk, MB | written, facts/s | retained, turns/s |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        whole = [f"{row[r]['total']['p50']:.0f} / {row[r]['total']['p95']:.0f}" for r, _ in ASKED]
        lines.append(
            f"| {row['facts']:,} | {whole[0]} | {whole[1]} | {row['first recall s']:.2f} | {row['memory MB']:.0f} | "
            f"{row['disk MB']:.0f} | {row['written a second']:,.0f} | {row['retained a second']:.0f} |"
        )
    for recipe, _ in ASKED:
        lines += [
            "",
            f"## Stages of `{recipe}`, p50 ms",
            "",
            *_stages([(r["facts"], _p50(r[recipe])) for r in rows]),
        ]
    lines += [
        "",
        "## Stages of retain, ms a turn",
        "",
        *_stages([(row["facts"], row["retain"]) for row in rows]),
    ]
    lines += ["", "![growth](growth.svg)", ""]
    (folder / "growth.md").write_text("\n".join(lines), encoding="utf-8")


def _p50(stages: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    return {stage: figures["p50"] for stage, figures in stages.items()}


def _stages(rows: Sequence[tuple[int, Mapping[str, float]]]) -> list[str]:
    names = list(rows[0][1])
    lines = [f"| facts | {' | '.join(names)} |", "| ---: |" + " ---: |" * len(names)]
    return lines + [
        f"| {facts:,} | {' | '.join(f'{found.get(name, 0.0):.1f}' for name in names)} |"
        for facts, found in rows
    ]


def draw(rows: Sequence[Mapping[str, Any]], folder: Path) -> None:
    """docs/growth.svg: latency, throughput, memory and disk over the size of the bank."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    facts = [row["facts"] for row in rows]
    figure, axes = pyplot.subplots(1, 3, figsize=(11, 3.4))
    for recipe, colour in (("fast", "#dd8452"), ("default", "#4c72b0")):
        axes[0].plot(
            facts, [row[recipe]["total"]["p50"] for row in rows], "o-", color=colour, label=f"{recipe}, p50"
        )
        axes[0].plot(
            facts, [row[recipe]["total"]["p95"] for row in rows], "o:", color=colour, label=f"{recipe}, p95"
        )
    axes[0].set(title="recall", ylabel="ms")
    axes[1].plot(
        facts, [row["retained a second"] for row in rows], "o-", color="#55a868", label="turns a second"
    )
    axes[1].set(title="retain, all stages", ylabel="turns/s")
    axes[2].plot(
        facts, [row["memory MB"] for row in rows], "o-", color="#8172b3", label="memory, models included"
    )
    axes[2].plot(facts, [row["disk MB"] for row in rows], "o-", color="#937860", label="disk")
    axes[2].set(title="memory and disk", ylabel="MB", yscale="log")
    for axis in axes:
        axis.set(xscale="log", xlabel="facts in the bank")
        axis.grid(alpha=0.3)
        axis.set_ylim(top=axis.get_ylim()[1] * (1.3 if axis.get_yscale() == "linear" else 4))
        axis.legend(fontsize=7, loc="upper left", ncols=2)
    for axis in axes[:2]:
        axis.set_ylim(bottom=0)
    figure.tight_layout()
    figure.savefig(folder / "growth.svg")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("--queries", type=int, default=30)
    parser.add_argument("--out", type=Path, default=Path("docs"))
    parser.add_argument("--part", choices=("build", "ask"), help=argparse.SUPPRESS)
    parser.add_argument("--path", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--count", type=int, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.part:
        work = build_one if chosen.part == "build" else ask_one
        print(json.dumps(work(chosen.path, chosen.count)))
        return
    chosen.out.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, Any]] = []
    for facts in chosen.facts:
        rows.append(measure(facts, chosen.queries))
        print(json.dumps(rows[-1]), flush=True)
        write_page(rows, chosen.out)
        draw(rows, chosen.out)


if __name__ == "__main__":
    main()
