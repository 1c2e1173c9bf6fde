"""Perdure beside other memories, in one run on one machine: same texts, same questions.

    python -m bench.peers DATA.json [DATA.json ...] [--banks N] [--queries N ...] [--peers NAME ...] [--work FOLDER]

Every memory gets a virtual environment in the work folder (made once) and runs as a process of its own.
Results are kept there by data, driver and packages: an interrupted run goes on where it stopped, and memories that are
not named by --peers still show what was found for them before. --fresh asks the named ones anew.
The environments take about 4 GB with the CPU build of torch; where pip would take the one for CUDA, name the index of
the CPU builds in PIP_EXTRA_INDEX_URL.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from pathlib import Path

from bench.peers.contestants import CONTESTANTS, ROOT
from bench.peers.outcome import Outcome, figures
from bench.peers.page import Section, page
from bench.peers.runner import Runner
from bench.peers.selection import Selection, select
from perdure.evaluation.data import load_banks

OWN = "perdure"
PEERS = list(dict.fromkeys(c.environment for c in CONTESTANTS if c.environment != OWN))


def main() -> None:
    """Run what is asked for and write the page."""
    chosen = _arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the driver that runs is ended too
    chosen.work.mkdir(parents=True, exist_ok=True)
    runner = Runner(chosen.work, chosen.minutes)
    sections = []
    for place, path in enumerate(chosen.data):
        count = chosen.queries[min(place, len(chosen.queries) - 1)] if chosen.queries else None
        selection = select(path.stem, load_banks(path), chosen.banks, count)
        sections.append(Section(selection, _outcomes(runner, selection, chosen.peers, chosen.fresh)))
    chosen.out.write_text(page(_command(chosen), sections), encoding="utf-8")
    print(f"written: {chosen.out}", file=sys.stderr)


def _outcomes(runner: Runner, selection: Selection, peers: list[str], fresh: bool) -> dict[str, Outcome]:
    found: dict[str, Outcome] = {}
    for contestant in CONTESTANTS:
        before = runner.cached(contestant, selection)
        named = contestant.environment in (OWN, *peers)
        if named and (fresh or before is None or before.failure):
            print(f"{selection.name}, {contestant.name}: running", file=sys.stderr, flush=True)
            started = time.monotonic()
            before = runner.run(contestant, selection)
            print(
                f"  {_summary(before, selection)}; {time.monotonic() - started:.0f} s",
                file=sys.stderr,
                flush=True,
            )
        elif before is not None:
            print(
                f"{selection.name}, {contestant.name}: kept; {_summary(before, selection)}", file=sys.stderr
            )
        if before is not None:
            found[contestant.name] = before
    return found


def _summary(outcome: Outcome, selection: Selection) -> str:
    if outcome.failure:
        return f"did not run: {outcome.failure}"
    row = figures(outcome, selection)
    return (
        f"recall@5 {row.quality['recall@5']:.3f}, ndcg@10 {row.quality['ndcg@10']:.3f}, "
        f"p50 {row.p50:.0f} ms, retain {row.texts_a_second:.1f} texts/s"
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.peers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("data", nargs="+", type=Path)
    parser.add_argument("--banks", type=int, help="only the first N banks of each file")
    parser.add_argument(
        "--queries", nargs="+", type=int, help="so many questions of each file, evenly spread"
    )
    parser.add_argument(
        "--peers", nargs="*", choices=PEERS, default=PEERS, help="beside Perdure (default: all)"
    )
    parser.add_argument(
        "--work", type=Path, default=_cache(), help="environments and results (default: %(default)s)"
    )
    parser.add_argument("--minutes", type=float, default=10.0, help="most that retaining a file may take")
    parser.add_argument("--fresh", action="store_true", help="ignore kept results")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "peers.md")
    chosen = parser.parse_args()
    chosen.work = chosen.work.resolve()
    return chosen


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "perdure" / "peers"


def _command(chosen: argparse.Namespace) -> str:
    words = ["python -m bench.peers", *(path.name for path in chosen.data)]
    if chosen.banks:
        words.append(f"--banks {chosen.banks}")
    if chosen.queries:
        words.append(f"--queries {' '.join(map(str, chosen.queries))}")
    return " ".join(words)


if __name__ == "__main__":
    main()
