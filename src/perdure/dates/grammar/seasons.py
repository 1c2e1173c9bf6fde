"""Seasons: "last summer", "spring 2020", "this winter"."""

from __future__ import annotations

from datetime import datetime

from perdure.dates.build import period_node, season_bounds
from perdure.dates.grammar.months import year_after
from perdure.dates.lexicon import word_set
from perdure.dates.nodes import Match, Node
from perdure.dates.scan import Scan

_CODES = {"spring": "SP", "summer": "SU", "autumn": "FA", "winter": "WI"}
_LEADS = word_set(
    "in during since until till by the whole early late mid of over all through throughout before after around entire"
)


def season(scan: Scan, i: int) -> Match | None:
    """A season with what tells its year."""
    words = scan.words
    steps = scan.lex.shifts.get(words[i])
    j = i + 1 if steps is not None or words[i] == "the" else i
    if steps is not None and words[i] == "this" and scan.lex.shifts.get(words[j]):
        steps, j = scan.lex.shifts[words[j]], j + 1
    name = scan.lex.seasons.get(words[j])
    if name is None:
        return None
    if steps is not None:
        return _shifted(scan, name, steps), j + 1
    known = year_after(scan, j + 1) or _year_by_word(scan, j + 1)
    if known is not None:
        return _node(scan, name, [known[0]], f"{known[0]}-{_CODES[name]}"), known[1]
    if words[j] in ("spring", "fall") and not _meant_as_season(scan, i, j):
        return None
    return _node(scan, name, _years(scan, name), _CODES[name]), j + 1


def _meant_as_season(scan: Scan, i: int, j: int) -> bool:
    """Whether a word before makes a season of "spring" or "fall"."""
    previous = scan.words[i - 1] if i else ""
    return previous in (
        ("in", "during", "of", "until", "since", "by", "before", "after") if j > i else _LEADS
    )


def _year_by_word(scan: Scan, k: int) -> tuple[int, int] | None:
    j = scan.skip(k, "of")
    steps = scan.lex.shifts.get(scan.words[j])
    if steps is None or scan.words[j + 1] != "year":
        return None
    return scan.now.year + steps, j + 2


def _years(scan: Scan, name: str) -> list[int]:
    """The years of the last (or running) and the next such season."""
    now = scan.now
    begun = [year for year in range(now.year - 2, now.year + 1) if _start(scan, name, year) <= now]
    return [begun[-1], begun[-1] + 1]


def _start(scan: Scan, name: str, year: int) -> datetime:
    return season_bounds(name, year, scan.options.southern_hemisphere)[0]


def _shifted(scan: Scan, name: str, steps: int) -> Node:
    southern = scan.options.southern_hemisphere
    running, following = _years(scan, name)
    over = season_bounds(name, running, southern)[1] <= scan.now
    if steps < 0:
        year = running if over else running - 1
    elif steps > 0:
        year = following
    else:
        year = (
            scan.now.year
            if not season_bounds(name, scan.now.year - 1, southern)[1] > scan.now
            else scan.now.year - 1
        )
    return _node(scan, name, [year], f"{year}-{_CODES[name]}")


def _node(scan: Scan, name: str, years: list[int], timex: str) -> Node:
    bounds = [season_bounds(name, year, scan.options.southern_hemisphere) for year in years]
    return period_node(bounds, "season", timex, "unresolved")
