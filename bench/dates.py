"""Exact-resolution accuracy of date readers on a specification file, direction and non-dates, and Perdure's speed.

    python -m bench.dates [FILE] [--json] [--failures N] [--no-peers] [--misses]

Without a file only the second part is run: sentences whose words decide which date is meant, or that it is none
(bench/date_sentences.py).

The rule of comparison is written down in docs/dates.md. The peers dateparser and recognizers-text-suite are optional:
where they are not installed the report says so. Perdure's reader needs only the standard library, so that the
benchmark also runs from any environment that has the peers, with `src` on the path.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from perdure.dates import DateSpan, DateValue, read_dates

KINDS = ("date", "daterange", "datetime", "datetimerange", "time", "timerange", "duration", "set")
DATES_AND_RANGES = frozenset(KINDS[:4])
DEFAULT_REFERENCE = datetime(2019, 1, 1)
_SPEC_KIND = {"range": "daterange", "recurring": "set"}

Value = tuple[str | None, ...]


@dataclass(frozen=True)
class Result:
    """A found or expected expression with its possible values."""

    text: str
    start: int
    kind: str
    values: frozenset[Value]
    timex: frozenset[str]


Reader = Callable[[str, datetime], list[Result]]


def expected_results(item: dict[str, Any]) -> list[Result]:
    """The results the specification wants for an input."""
    return [_spec_result(result) for result in item["results"]]


def _spec_result(result: dict[str, Any]) -> Result:
    values = result["values"]
    shown = frozenset(_spec_value(value) for value in values)
    timex = frozenset(str(value.get("timex", "")) for value in values)
    return Result(result["text"].lower(), result["start"], result["type"].split(".")[-1], shown, timex)


def _spec_value(value: dict[str, Any]) -> Value:
    if "value" in value:
        return (str(value["value"]),)
    return (value.get("start"), value.get("end"))


def perdure_reader(text: str, reference: datetime) -> list[Result]:
    """Perdure's spans in the specification's form."""
    return [_perdure_result(span) for span in read_dates(text, reference)]


def _perdure_result(span: DateSpan) -> Result:
    if span.seconds is not None:
        values: set[Value] = {(f"{span.seconds:g}" if span.seconds < 1e6 else str(int(span.seconds)),)}
    else:
        values = {_perdure_value(span, value) for value in span.values}
    kind = _SPEC_KIND.get(span.kind, span.kind)
    return Result(span.text.lower(), span.start, kind, frozenset(values), frozenset((span.timex,)))


def _perdure_value(span: DateSpan, value: DateValue) -> Value:
    pattern = {"date": "%Y-%m-%d", "range": "%Y-%m-%d", "time": "%H:%M:%S", "timerange": "%H:%M:%S"}.get(
        span.kind, "%Y-%m-%d %H:%M:%S"
    )
    start = value.start.strftime(pattern) if value.start else None
    if span.kind in ("date", "datetime", "time"):
        return (start,)
    return (start, value.end.strftime(pattern) if value.end else None)


def recognizers_reader() -> Reader | None:
    """Recognizers-Text, when installed (it needs emoji<2)."""
    try:
        from recognizers_date_time import recognize_datetime
        from recognizers_text import Culture
    except ImportError:
        return None

    def read(text: str, reference: datetime) -> list[Result]:
        results = []
        for found in recognize_datetime(text, Culture.English, reference=reference):
            values = (found.resolution or {}).get("values") or []
            shown = [dict(value) for value in values if value]
            results.append(
                _spec_result(
                    {"text": found.text, "start": found.start, "type": found.type_name, "values": shown}
                )
            )
        return results

    return read


def dateparser_reader() -> Reader | None:
    """dateparser.search, when installed; it knows moments only."""
    try:
        from dateparser.search import search_dates
    except ImportError:
        return None

    def read(text: str, reference: datetime) -> list[Result]:
        settings = {"RELATIVE_BASE": reference}
        found = search_dates(text, languages=["en"], settings=settings) or []
        position, results = 0, []
        for part, moment in found:
            start = max(text.find(part, position), 0)
            position = start + len(part)
            values = frozenset(
                {(f"{moment:%Y-%m-%d}",), (f"{moment:%Y-%m-%d %H:%M:%S}",), (f"{moment:%H:%M:%S}",)}
            )
            results.append(Result(part.lower(), start, "moment", values, frozenset()))
        return results

    return read


def exact(result: Result, expected: Result) -> bool:
    """The same text at the same place, the same kind and a value of the specification's."""
    if result.text != expected.text or result.start != expected.start or result.kind != expected.kind:
        return False
    if expected.values == {("not resolved",)}:
        return bool(result.timex & expected.timex)
    return bool(result.values & expected.values)


def lenient(result: Result, expected: Result) -> bool:
    """For a reader of moments: any overlap, and the value's or the range's beginning."""
    if (
        result.start + len(result.text) <= expected.start
        or expected.start + len(expected.text) <= result.start
    ):
        return False
    firsts = {value[0] for value in expected.values}
    return any(value[0] in firsts for value in result.values)


def input_is_right(
    results: list[Result],
    expected: list[Result],
    kinds: frozenset[str],
    same: Callable[[Result, Result], bool],
) -> bool:
    """All expected results of the kinds found; by exact comparison also nothing else of those kinds."""
    of_kinds = [result for result in expected if result.kind in kinds]
    if not all(any(same(candidate, result) for candidate in results) for result in of_kinds):
        return False
    if same is lenient:
        return bool(of_kinds) or not results
    return sum(result.kind in kinds for result in results) == len(of_kinds)


@dataclass
class Tally:
    """Right and all inputs of a kind."""

    right: int = 0
    all: int = 0

    def add(self, right: bool) -> None:
        """Counts an input."""
        self.right += right
        self.all += 1

    @property
    def accuracy(self) -> float:
        """The share of right ones."""
        return round(self.right / self.all, 4) if self.all else 0.0


def score(
    items: list[dict[str, Any]], read: Reader, same: Callable[[Result, Result], bool]
) -> tuple[dict[str, Tally], list[tuple[Any, ...]]]:
    """Tallies by kind, for dates and ranges together, and the failures."""
    tallies = {name: Tally() for name in ("dates_and_ranges", *KINDS, "none", "all")}
    failures = []
    for item in items:
        expected = expected_results(item)
        results = read(item["input"], reference_of(item))
        kinds = {result.kind for result in expected}
        for kind in KINDS:
            if kind in kinds:
                tallies[kind].add(input_is_right(results, expected, frozenset((kind,)), same))
        if not expected:
            tallies["none"].add(not results)
        right = input_is_right(results, expected, DATES_AND_RANGES, same)
        if kinds & DATES_AND_RANGES or not expected:
            tallies["dates_and_ranges"].add(right)
        whole = input_is_right(results, expected, frozenset(KINDS), same)
        tallies["all"].add(whole)
        if not whole:
            failures.append((item, expected, results, right))
    return tallies, failures


def reference_of(item: dict[str, Any]) -> datetime:
    """The time an input was said; a fixed one where the file has none."""
    reference = item.get("reference")
    return datetime.fromisoformat(reference[:26]) if reference else DEFAULT_REFERENCE


def speed() -> dict[str, float]:
    """Sentences a second without a date and with one, and seconds for a line of a million characters, in processor time."""
    reference = datetime(2023, 5, 8, 12)
    names = ("Alice", "Bob", "Carol", "Dave")
    plain = [
        f"{name} likes the {thing} that her sister gave to the neighbours"
        for name in names
        for thing in ("garden", "red car", "old house", "small dog")
    ]
    dates = (
        "yesterday",
        "last Friday",
        "on 3 May 2021",
        "in March",
        "two weeks ago",
        "next Tuesday at 5pm",
        "in 2019",
        "on 2018-09-23",
    )
    dated = [f"{name} went to the market {date}" for name in names for date in dates]
    line = " ".join(
        plain[n % len(plain)] + " " + (dates[n % len(dates)] if n % 4 == 0 else "and again")
        for n in range(14_000)
    )[:1_000_000]
    begun = time.process_time()
    read_dates(line, reference)
    spent = round(time.process_time() - begun, 2)
    return {
        "import_milliseconds": import_milliseconds(),
        "without_date_per_second": _rate(plain, reference),
        "with_date_per_second": _rate(dated, reference),
        "million_characters_seconds": spent,
    }


def import_milliseconds() -> float:
    """Processor time of importing the reader in a fresh interpreter, the best of three."""
    code = (
        "import time; t = time.process_time(); import perdure.dates; print((time.process_time() - t) * 1000)"
    )
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        for _ in range(3)
    ]
    return round(min(float(run.stdout) for run in runs), 1)


def _rate(sentences: list[str], reference: datetime, seconds: float = 0.5) -> float:
    for sentence in sentences:
        read_dates(sentence, reference)
    best = 0.0
    for _ in range(3):
        done, begun = 0, time.process_time()
        while time.process_time() - begun < seconds:
            for sentence in sentences:
                read_dates(sentence, reference)
            done += len(sentences)
        best = max(best, done / (time.process_time() - begun))
    return round(best)


def run(items: list[dict[str, Any]], peers: bool) -> tuple[dict[str, Any], list[tuple[Any, ...]]]:
    """The report and Perdure's failures."""
    tallies, failures = score(items, perdure_reader, exact)
    report: dict[str, Any] = {
        "inputs": len(items),
        "perdure": {name: tally.accuracy for name, tally in tallies.items()},
    }
    report["counts"] = {name: tally.all for name, tally in tallies.items()}
    if peers:
        for name, reader, same in (
            ("dateparser", dateparser_reader(), lenient),
            ("recognizers", recognizers_reader(), exact),
        ):
            report[name] = "not installed"
            if reader is not None:
                begun = time.perf_counter()
                report[name] = {kind: tally.accuracy for kind, tally in score(items, reader, same)[0].items()}
                report[name]["inputs_per_second"] = round(len(items) / (time.perf_counter() - begun), 1)
    return report, failures


def print_report(report: dict[str, Any], failures: list[tuple[Any, ...]], limit: int) -> None:
    """The report as a table and the failures."""
    systems = [
        name for name in ("perdure", "dateparser", "recognizers") if isinstance(report.get(name), dict)
    ]
    print(f"{'kind':<18}{'inputs':>8}" + "".join(f"{name:>14}" for name in systems))
    for kind in ("dates_and_ranges", *KINDS, "none", "all"):
        print(
            f"{kind:<18}{report['counts'][kind]:>8}"
            + "".join(f"{report[name][kind]:>14.4f}" for name in systems)
        )
    for name in ("dateparser", "recognizers"):
        if report.get(name) == "not installed":
            print(f"{name}: not installed")
    for name, value in report["speed"].items():
        print(f"{name}: {value}")
    print(f"\n{len(failures)} inputs are not exact ('D': among the dates and ranges):")
    for item, expected, results, right in failures[:limit]:
        print(f"{' ' if right else 'D'} [{item['id']}] {item['input']!r} @ {item.get('reference')}")
        print(f"      wanted {[_shown(result) for result in expected]}")
        print(f"      found  {[_shown(result) for result in results]}")


def _shown(result: Result) -> str:
    values = " | ".join(sorted(" / ".join(part or ".." for part in value) for value in result.values))
    return f"{result.text!r} {result.kind}: {values} {','.join(sorted(result.timex)) if not values or values == 'not resolved' else ''}".strip()


def main(arguments: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m bench.dates", description=__doc__)
    parser.add_argument(
        "file", type=Path, nargs="?", help="a specification; without it only sentences are read"
    )
    parser.add_argument("--json", action="store_true", help="print JSON only")
    parser.add_argument("--failures", type=int, default=1000, help="how many failures to list")
    parser.add_argument("--no-peers", action="store_true", help="leave the other readers out")
    parser.add_argument("--misses", action="store_true", help="list what is read wrong in the seen sentences")
    options = parser.parse_args(arguments)
    if options.file is None:
        _print_sentences(options.misses)
        return 0
    items = json.loads(options.file.read_text(encoding="utf-8"))
    report, failures = run(items, not options.no_peers)
    report["speed"] = speed()
    if options.json:
        report["failures"] = [
            {"id": item["id"], "input": item["input"], "dates_right": right} for item, _, _, right in failures
        ]
        print(json.dumps(report, ensure_ascii=False, indent=1))
    else:
        print_report(report, failures, options.failures)
        _print_sentences(options.misses)
    return 0


def _print_sentences(with_misses: bool) -> None:
    print("\ndirection and non-dates")
    # The extractor is imported only here: the first part runs from environments that have the peers and no Perdure.
    from bench import date_sentences

    if with_misses:
        print(date_sentences.misses())
    print(date_sentences.report())


if __name__ == "__main__":
    sys.exit(main())
