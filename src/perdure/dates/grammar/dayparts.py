"""Parts of the day: "in the morning", "late this afternoon", "tonight", "last night", "lunchtime"."""

from __future__ import annotations

from perdure.dates.build import on_day, part_node
from perdure.dates.nodes import Match
from perdure.dates.scan import Scan, memoised

_EARLY = {"early": "start", "late": "end", "later": "end", "mid": "mid", "earlier": "start"}


def part_name(scan: Scan, j: int) -> tuple[str, int] | None:
    """ "morning", "night-time", "lunch time", also in the plural."""
    words = scan.words
    word = words[j]
    timed = _joined_time(scan, j + 1)
    if timed is not None:
        name = {"night": "nighttime", "day": "daytime"}.get(word) or scan.lex.meals.get(word)
        return (name, timed) if name is not None else None
    if word in scan.lex.parts_of_day:
        return word, j + 1
    if word.endswith("s") and word[:-1] in ("morning", "afternoon", "evening", "night"):
        return word[:-1], j + 1
    return None


def _joined_time(scan: Scan, j: int) -> int | None:
    k = scan.skip(j, "-")
    return k + 1 if scan.words[k] == "time" else None


@memoised
def part_of_day(scan: Scan, i: int) -> Match | None:
    """A part of the day, of today or of any day."""
    words = scan.words
    if words[i] in ("tonight", "tonite"):
        return on_day(part_node(scan, "night"), 0), i + 1
    mod = _EARLY.get(words[i])
    j = i + 1 if mod else i
    j = scan.skip(j, "-") if mod else j
    dated = _dated_part(scan, j, mod)
    if dated is not None:
        return dated
    inside = scan.words[j] == "in"
    if inside:
        j = scan.skip(j + 1, "the")
        mod = mod or _EARLY.get(words[j])
        j = scan.skip(j + 1, "-") if words[j] in _EARLY else j
    found = part_name(scan, j)
    if found is None:
        return None
    name, k = found
    if not inside and not _stands_alone(scan, i, j, k):
        return None
    if name == "night" and (mod == "mid" or (words[j] == "nights" and not inside)):
        return None
    return part_node(scan, name, mod), k


def _stands_alone(scan: Scan, i: int, j: int, k: int) -> bool:
    previous = scan.words[i - 1] if i else ""
    if previous == "good" or (
        scan.words[j].endswith("s")
        and scan.words[j] in ("mornings", "evenings", "nights", "afternoons")
        and previous not in scan.lex.weekdays
    ):
        return False
    return not (scan.words[j] == "night" and scan.words[k] in ("club", "-", "shift", "life", "mode", "sky"))


def _dated_part(scan: Scan, j: int, mod: str | None) -> Match | None:
    """ "this morning", "last night", "next evening", "late this morning"."""
    steps = scan.lex.shifts.get(scan.words[j])
    if steps is None:
        return None
    k = j + 1
    if mod is None and scan.words[k] in _EARLY:
        mod, k = _EARLY[scan.words[k]], k + 1
    found = part_name(scan, k)
    if found is None or scan.words[k].endswith("s"):
        return None
    return on_day(part_node(scan, found[0], mod), steps), found[1]


def meal(scan: Scan, i: int) -> Match | None:
    """ "lunch" where a time is expected: "before lunch"."""
    name = scan.lex.meals.get(scan.words[i])
    return None if name is None else (part_node(scan, name), i + 1)
