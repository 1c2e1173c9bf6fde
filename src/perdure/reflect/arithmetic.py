"""Exact arithmetic over dated statements: how long ago, how many, in which order. It says what it counted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from perdure.domain.fact import Fact
from perdure.domain.rendering import iso_day

_HOW_LONG_AGO = re.compile(
    r"\bhow (?:long ago|long has it been|many (?P<en>days|weeks|months|years) (?:ago|since|have passed|has it been))\b"
    r"|\b(?:vor|seit) wie (?:langem|langer zeit|vielen (?P<de>tagen|wochen|monaten|jahren))\b"
    r"|\bhace cu[aá]nt[oa]s? (?:tiempo|(?P<es>d[ií]as|semanas|meses|años))\b",
    re.IGNORECASE,
)
_WEEKS = ("weeks", "wochen", "semanas")
_MONTHS = ("months", "monaten", "meses")
_YEARS = ("years", "jahren", "años")


def time_since(question: str, fact: Fact, now: datetime) -> str | None:
    """Return how long before `now` a fact happened, where the question asks for that and the fact has a sure date."""
    asked = _HOW_LONG_AGO.search(question)
    happened = fact.occurred_start
    if asked is None or happened is None or fact.has_unsure_date or happened > now:
        return None
    unit = (asked["en"] or asked["de"] or asked["es"] or "").lower()
    return f"{_distance(happened, now, unit)}, since {iso_day(happened)}"


def _distance(start: datetime, end: datetime, unit: str) -> str:
    """Return the whole units between two moments, with the days that are left."""
    days = (end.date() - start.date()).days
    if unit in _WEEKS:
        return _joined((days // 7, "week"), (days % 7, "day"))
    if unit not in (*_MONTHS, *_YEARS):
        return _joined((days, "day"))
    months = (end.year - start.year) * 12 + end.month - start.month - (end.day < start.day)
    if unit in _MONTHS:
        return _joined((months, "month"))
    return _joined((months // 12, "year"), (months % 12, "month"))


def _joined(*parts: tuple[int, str]) -> str:
    """Return "5 weeks and 3 days"; parts after the first are left out when they are zero."""
    first, *rest = parts
    shown = [first, *(part for part in rest if part[0])]
    return " and ".join(f"{number} {unit}{'' if number == 1 else 's'}" for number, unit in shown)


def order_note(facts: Sequence[Fact]) -> str | None:
    """Return how many of the statements are dated, the first and the latest of them; None for fewer than two."""
    days = sorted(fact.shown_date for fact in facts if fact.shown_date is not None)
    if len(days) < 2:
        return None
    return f"counted {len(days)} dated statements: the first of {iso_day(days[0])}, the latest of {iso_day(days[-1])}"
