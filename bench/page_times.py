"""How soon a view is there, and of how many bytes: `python -m bench.page_times [--facts 1000 100000] [--turns 5] [--keep FOLDER]`.

Each view is opened anew, in a browser that has seen none of the page's files. "Answer" is from the start of the load to the last
byte that the view asked the server for; "paint" is from there to the first frame that shows the view, "first" from the first byte of
the server's answer to the first frame that shows anything. The bank is that of `bench.recall`, put into the store without
extraction (`bench.page_bank`); `--keep FOLDER` keeps its files there and uses those that it has. Writes the table of docs/web.md.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from urllib.parse import quote

from playwright.sync_api import Browser

from bench.page import load_now, table, taken, write_section
from bench.page_bank import HUB, open_filled
from bench.page_browser import Watched, address, launched, views_of
from bench.page_demo import served
from bench.recall import BANK, PEOPLE
from perdure import Perdure

PAGE = Path("docs/web.md")
QUESTION = f"Where did {PEOPLE[0]} move?"
LIMIT = 300.0
"""Milliseconds that a view may take after the answer."""
DRAWN = """
new PerformanceObserver((list) => {
  for (const one of list.getEntries()) window.__answered = Math.max(window.__answered || 0, one.responseEnd);
}).observe({type: "resource", buffered: true});
new MutationObserver(() => {
  if (document.querySelector("#content h1")) requestAnimationFrame(() => setTimeout(() => (window.__drawn = performance.now())));
}).observe(document, {childList: true, subtree: true});
"""
"""Runs before the page: notes when the last answer came, and when the frame after the last change of the view was drawn."""


@dataclass(frozen=True, slots=True)
class Opening:
    """One opening of a view: milliseconds, bytes on the wire, requests."""

    first: float
    answer: float
    paint: float
    size: int
    requests: int


def measure(browser: Browser, url: str, place: str) -> Opening:
    """Open a view in a browser that has nothing stored."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    page = context.new_page()
    page.add_init_script(DRAWN)
    sizes: list[int] = []
    network = context.new_cdp_session(page)
    network.send("Network.enable")
    network.on("Network.loadingFinished", lambda event: sizes.append(int(event["encodedDataLength"])))
    watched = Watched(page, url)
    watched.open(place)
    if watched.problems:
        raise RuntimeError(f"{place}: {watched.problems}")
    times = page.evaluate(
        """() => ({
          started: performance.getEntriesByType("navigation")[0].responseStart,
          first: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? performance.now(),
          answered: window.__answered, drawn: window.__drawn,
        })"""
    )
    context.close()
    return Opening(
        first=times["first"] - times["started"],
        answer=times["answered"],
        paint=max(0.0, times["drawn"] - times["answered"]),
        size=sum(sizes),
        requests=len(watched.requests),
    )


def middle(openings: Sequence[Opening]) -> Opening:
    """The medians of some openings."""
    return Opening(
        first=median(one.first for one in openings),
        answer=median(one.answer for one in openings),
        paint=median(one.paint for one in openings),
        size=round(median(one.size for one in openings)),
        requests=round(median(one.requests for one in openings)),
    )


def measure_views(facts: int, turns: int, keep: Path | None) -> dict[str, Opening]:
    """Every view of a bank of so many facts; a first opening of each is not counted."""
    with tempfile.TemporaryDirectory() as folder:
        path = open_filled(keep or Path(folder), facts)
        with Perdure.open(path, require_keys=False) as engine, served(engine) as url, launched() as browser:
            things = {"fact": engine.facts.list(BANK, text="trip", limit=1).facts[0].id, "entity": HUB}
            context = browser.new_context()
            looked = Watched(context.new_page(), url)
            looked.open(address(BANK, "ask"))
            views = views_of(looked.page)
            context.close()
            measured = {}
            for name, group in views:
                if not group and name not in things:
                    continue
                place = address(BANK, name, things.get(name, "")) + (
                    f"?q={quote(QUESTION)}" if name == "ask" else ""
                )
                openings = [measure(browser, url, place) for _ in range(turns + 1)]
                measured[name] = middle(openings[1:])
                print(facts, name, measured[name], flush=True)
            return measured


def report(figures: dict[int, dict[str, Opening]], command: str, load: float) -> list[str]:
    """The section of docs/web.md."""
    head = ["view"]
    for facts in figures:
        head += [f"{facts:,} facts: first", "answer", "paint", "KB", "requests"]
    rows = [
        [f"`{name}`", *(cell for sizes in figures.values() for cell in _cells(sizes[name]))]
        for name in next(iter(figures.values()))
    ]
    verdicts = [
        f"Over {LIMIT:.0f} ms from the last answer to its frame (paint): {_over(figures, 'paint')}.",
        f"Over {LIMIT:.0f} ms from the first byte of the page to the first frame, nothing stored (first): {_over(figures, 'first')}.",
    ]
    return [taken(command, load), "", *table(head, rows), "", *verdicts]


def _over(figures: dict[int, dict[str, Opening]], name: str) -> str:
    late = [
        f"`{view}` at {facts:,}"
        for facts, sizes in figures.items()
        for view, one in sizes.items()
        if getattr(one, name) > LIMIT
    ]
    total = sum(len(sizes) for sizes in figures.values())
    return "every view" if len(late) == total else ", ".join(late) or "none"


def _cells(one: Opening) -> list[str]:
    return [
        f"{one.first:.0f} ms",
        f"{one.answer:.0f} ms",
        f"{one.paint:.0f} ms",
        f"{one.size / 1000:.0f}",
        str(one.requests),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--facts", type=int, nargs="+", default=[1000, 100_000])
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument(
        "--keep", type=Path, help="folder of the filled banks, kept for the next run [a temporary one]"
    )
    chosen = parser.parse_args()
    if chosen.keep is not None:
        chosen.keep.mkdir(parents=True, exist_ok=True)
    load = load_now()
    figures = {facts: measure_views(facts, chosen.turns, chosen.keep) for facts in chosen.facts}
    command = f"python -m bench.page_times --facts {' '.join(map(str, chosen.facts))} --turns {chosen.turns}"
    write_section("times", report(figures, command, load), PAGE)


if __name__ == "__main__":
    main()
