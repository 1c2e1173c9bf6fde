"""Years alone, only where a number is a year."""

from __future__ import annotations

from perdure.dates.build import calendar_year
from perdure.dates.grammar.numbers import year_words
from perdure.dates.grammar.numeric import continues, inside_number
from perdure.dates.lexicon import word_set
from perdure.dates.nodes import Match
from perdure.dates.scan import Scan

_LEADS = word_set(
    "in since until till by of from during before after for to through year and or not than between around about circa early late mid "
    "- – ~ ( [ , > < = the this that until'til summer winter spring fall autumn as back on"
)
_NUMBERED = word_set(
    "room number no page code id flight route model building suite unit apartment bus gate version extension ext pin"
)
_VERBS = word_set(
    "is was were are will would has had have did does and or but to through until till in at with for as when while that which by on from"
)


def year(scan: Scan, i: int) -> Match | None:
    """ "2008", "year 2012", "the year 2020", "nineteen ninety six"."""
    words = scan.words
    j = i + 1 if words[i] == "the" and words[i + 1] == "year" else i
    named = words[j] == "year"
    if named:
        j = j + 1
        if words[j] == "of":
            return None
    elif j > i:
        return None
    spoken = year_words(scan, j) if words[j] in scan.lex.cardinals else None
    if spoken is not None and 1500 <= spoken[0] <= 2199 and (named or _spoken_year(scan, i, spoken[1])):
        return calendar_year(spoken[0]), spoken[1]
    number = scan.numbers[j]
    if number is None or scan.digits(j) != 4:
        return None
    if named and 1 <= number <= 2999:
        return calendar_year(number), j + 1
    if 1500 <= number <= 2199 and _is_year(scan, j):
        return calendar_year(number), j + 1
    return None


def _spoken_year(scan: Scan, i: int, j: int) -> bool:
    previous = scan.words[i - 1] if i else ""
    return previous in _LEADS and not _counted_noun(scan, j)


def _is_year(scan: Scan, j: int) -> bool:
    """Whether a number from 1500 to 2199 is a year and not a quantity or a piece of a code."""
    if inside_number(scan, j) and not (
        scan.words[j - 1] == "-" and scan.digits(j - 2) == 4 and not _longer_code(scan, j - 2)
    ):
        return False
    if continues(scan, j + 1, "/.,:") or (continues(scan, j + 1, "-") and not _year_number(scan, j + 2)):
        return False
    previous = scan.words[j - 1] if j else ""
    if previous in _NUMBERED or (previous == "." and scan.words[j - 2] == "no"):
        return False
    if scan.words[j + 1] == "-" and scan.digits(j + 2) in (1, 2) and scan.words[j + 3] not in scan.lex.months:
        return False
    if scan.words[j + 1] in ("bc", "bce") or (
        _in_title(scan, j) and (scan.numbers[j] or 0) > scan.now.year + 1
    ):
        return False
    if (
        j
        and not scan.spaced[j]
        and previous not in ("(", "[", '"', "'", ",", "-", "~", "–", ">", "<", "=", ":", "/", "“", "‘")
    ):
        return False
    if previous == "-" and j > 1 and scan.numbers[j - 2] is not None and scan.digits(j - 2) != 4:
        return False
    if (
        scan.words[j + 1] in ("-", "/", ":")
        and not scan.spaced[j + 1]
        and not scan.spaced[j + 2]
        and scan.words[j + 2].isalnum()
    ):
        return scan.words[j + 2] in scan.lex.months or scan.digits(j + 2) == 4
    if not scan.spaced[j + 1] and scan.words[j + 1].isalpha():
        return False
    return (
        previous in _LEADS and previous not in ("for", "to", "of", "about", "around", "than", "=")
    ) or not _counted_noun(scan, j + 1)


def _year_number(scan: Scan, j: int) -> bool:
    return scan.digits(j) == 4 and 1500 <= (scan.numbers[j] or 0) <= 2199


def _in_title(scan: Scan, j: int) -> bool:
    """Whether a name stands before the number: "Blade Runner 2049"."""
    return (
        j > 0 and scan.capitalised(j - 1) and scan.words[j - 1].isalpha() and scan.words[j - 1] not in _LEADS
    )


def _longer_code(scan: Scan, j: int) -> bool:
    """Whether the number at an index is itself glued to something before it."""
    return j > 0 and not scan.spaced[j] and scan.words[j - 1] in ("-", "/", ".", ",")


def _counted_noun(scan: Scan, j: int) -> bool:
    word = scan.words[j]
    if not word.isalpha() or word in _VERBS or word in scan.lex.months or scan.capitalised(j):
        return False
    return (word.endswith("s") and not word.endswith("ss")) or word in (
        "people",
        "usd",
        "euro",
        "kg",
        "km",
        "percent",
        "m",
        "men",
        "women",
        "children",
    )
