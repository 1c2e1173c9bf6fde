"""Months, years and decades: "Jan.", "'95", "the nineties", and whether "may" or "2049" is one at all."""

from __future__ import annotations

from datetime import datetime

from perdure.dates.calendar import add_months
from perdure.dates.grammar.numbers import cardinal, ordinal, two_digit_year, year_words
from perdure.dates.grammar.numeric import continues, inside_number
from perdure.dates.lexicon import word_set
from perdure.dates.nodes import Match, Node, calendar_year, period_node
from perdure.dates.scan import Scan

_MONTH_LEADS = word_set(
    "in since until till by of from during before after last next early late mid between through throughout around about "
    "previous past coming following on to for starting beginning ending late later earlier every each end middle start "
    "than until'til til past current w/c month"
)
_MONTH_VERBS = word_set("may march mar sept jan")
_MONTH_NAMES = word_set("april may june august jan march")
_AFTER_MAY = word_set("to through until till and - , . ; ! ? ) for when with is was we he she they at on in")
_YEAR_LEADS = word_set(
    "in since until till by of from during before after for to through year and or not than between around about circa early late mid "
    "- – ~ ( [ , > < = the this that until'til summer winter spring fall autumn as back on"
)
_SHORT_YEAR_LEADS = word_set(
    "in since until till of from by before after during to and class back summer spring fall winter autumn"
)
_WEAK_YEAR_LEADS = word_set("for to of about around than =")
_NUMBERED = word_set(
    "room number no page code id flight route model building suite unit apartment bus gate version extension ext pin"
)
_AFTER_YEAR = word_set(
    "is was were are will would has had have did does and or but to through until till in at with for as when while that which by on from"
)
_COUNTED = word_set("people usd euro kg km percent m men women children")
_OPENS_YEAR = word_set("( [ \" ' , - ~ – > < = : / “ ‘")
_BEFORE_DECADE = word_set("the mid early late of - in")
_BEFORE_DASH = word_set("mid early late pre s")


def month_at(scan: Scan, i: int) -> tuple[int, int] | None:
    """A month's number and the index after its name, with the dot of "Jan."."""
    month = scan.lex.months.get(scan.words[i])
    if month is None or (scan.words[i - 1] in ("$", "#", "@") and not scan.spaced[i]):
        return None
    j = i + 1
    short = len(scan.words[i]) <= 4 and scan.words[i] != "may"
    if scan.words[j] == "." and not scan.spaced[j] and _dot_belongs(scan, j, short):
        j += 1
    return month, j


def _dot_belongs(scan: Scan, j: int, short: bool) -> bool:
    """Whether the dot at an index ends an abbreviation or joins a day: "Jan. 5", "October.3rd", "October. 2"."""
    numbered = scan.numbers[j + 1] is not None
    if short:
        return numbered or scan.words[j + 1] in (",", "-")
    day = numbered and scan.digits(j + 1) <= 2
    return day and (not scan.spaced[j + 1] or scan.words[j + 2] in ("", ".", ",", "!", "?"))


def month_alone(scan: Scan, i: int, j: int) -> bool:
    """Whether the month name in tokens [i, j) is a month though no day or year follows."""
    word, previous = scan.words[i], scan.words[i - 1]
    shouted = len(word) == 3 and word != "may" and scan.surface(i).isupper() and not scan.text.isupper()
    if shouted and previous not in _MONTH_LEADS:
        return False
    if word == "may" and previous in ("this", "that", "it", "which", "these", "those"):
        return previous == "this" and (j >= scan.size or scan.words[j] in _AFTER_MAY)
    if previous in _MONTH_LEADS or previous in scan.lex.shifts or (previous == "the" and word != "march"):
        return True
    if word in _MONTH_VERBS:
        if not scan.capitalised(i) or (word == "may" and previous in ("", ".", "!", "?")):
            return scan.size == 1 and word != "may"
        return previous in ("-", ",", "and", "or", "&", "/", "(") or (word != "may" and i > 0)
    return word not in _MONTH_NAMES or not _looks_like_name(scan, i, j)


def _looks_like_name(scan: Scan, i: int, j: int) -> bool:
    """Whether a person is called so: "April said", "June Carter"."""
    following = scan.words[j]
    if following in ("'", "said", "says", "asked", "told", "likes", "has", "went", "'s"):
        return scan.capitalised(i)
    if following in ("is", "was", "and") or not following.isalpha() or not scan.capitalised(j):
        return False
    return following not in scan.lex.weekdays and following not in scan.lex.months


def year_after(scan: Scan, j: int) -> tuple[int, int] | None:
    """The year that completes a month or a day: ", 2016", "of 87", "in 2019", "'95", "nineteen eighty six"."""
    k = j
    if scan.words[k] == "," or (scan.words[k] in ("-", "/", ".") and not scan.spaced[k + 1]):
        k += 1
    linked = scan.words[k] in ("of", "in")
    if linked:
        k = scan.skip(scan.skip(scan.skip(k + 1, "the"), "year"), "of")
    width, number = scan.digits(k), scan.numbers[k]
    if width == 4 and number is not None and 1000 <= number <= 2999:
        return None if _part_of_number(scan, k + 1) else (number, k + 1)
    if scan.words[k] in ("'", "’", "‘") and scan.digits(k + 1) == 2 and not scan.spaced[k + 1]:
        return two_digit_year(scan.numbers[k + 1] or 0)[0], k + 2
    if linked and scan.words[k - 1] == "of" and width == 2 and number is not None:
        return two_digit_year(number)[0], k + 1
    return year_words(scan, k) if scan.words[k] in scan.lex.cardinals else None


def _part_of_number(scan: Scan, j: int) -> bool:
    return scan.words[j] in (":", "/", ".", ",") and scan.tight(j) and scan.digits(j + 1) > 0


def year(scan: Scan, i: int) -> Match | None:
    """ "2008", "year 2012", "the year 2020", "nineteen ninety six"."""
    words = scan.words
    j = i + 2 if scan.at(i, "the", "year") else scan.skip(i, "year")
    named = j > i
    if named and words[j] == "of":
        return None
    if words[i] in ("'", "‘"):
        return _short_year(scan, i)
    spoken = year_words(scan, j) if words[j] in scan.lex.cardinals else None
    if spoken is not None and 1500 <= spoken[0] <= 2199 and (named or _is_spoken_year(scan, i, spoken[1])):
        return calendar_year(spoken[0]), spoken[1]
    if named and (ancient := _ancient_year(scan, j)) is not None:
        return ancient
    if (number := scan.numbers[j]) is None or scan.digits(j) != 4:
        return None
    if (named and 1 <= number <= 2999) or (1500 <= number <= 2199 and _is_year(scan, j, number)):
        return calendar_year(number), j + 1
    return None


def _ancient_year(scan: Scan, j: int) -> Match | None:
    """ "year 247", "year two hundred and sixty seven"."""
    number = cardinal(scan, j) if scan.digits(j) == 3 or scan.words[j] in scan.lex.cardinals else None
    if number is None or not 100 <= number[0] <= 999:
        return None
    return calendar_year(number[0]), number[1]


def _short_year(scan: Scan, i: int) -> Match | None:
    """ "in '98"."""
    number = scan.numbers[i + 1]
    if (
        number is None
        or scan.digits(i + 1) != 2
        or scan.spaced[i + 1]
        or scan.words[i - 1] not in _SHORT_YEAR_LEADS
    ):
        return None
    decade_follows = scan.words[i + 2] in ("s", "'s", "'") and not scan.spaced[i + 2]
    return None if decade_follows else (calendar_year(two_digit_year(number)[0]), i + 2)


def _is_spoken_year(scan: Scan, i: int, j: int) -> bool:
    return scan.words[i - 1] in _YEAR_LEADS and not _counts(scan, j)


def _is_year(scan: Scan, j: int, number: int) -> bool:
    """Whether a number from 1500 to 2199 is a year and not a quantity or a piece of a code."""
    words = scan.words
    previous, following = words[j - 1], words[j + 1]
    if inside_number(scan, j) and (previous != "-" or scan.digits(j - 2) != 4 or _in_code(scan, j - 2)):
        return False
    if continues(scan, j + 1, "/.,:") or (continues(scan, j + 1, "-") and scan.year_in_digits(j + 2) is None):
        return False
    if scan.spaced[j] and scan.digits(j - 1) > 2:
        # Groups of digits are one number: "0176 4420 1958".
        return False
    if previous in _NUMBERED or (previous == "." and words[j - 2] == "no"):
        return False
    if following == "-" and scan.digits(j + 2) in (1, 2) and words[j + 3] not in scan.lex.months:
        return False
    if following in ("bc", "bce") or (number > scan.now.year + 1 and _in_title(scan, j)):
        return False
    if not scan.spaced[j] and previous not in _OPENS_YEAR:
        return False
    if previous == "-" and scan.numbers[j - 2] is not None and scan.digits(j - 2) != 4:
        return False
    if following in ("-", "/", ":") and scan.tight(j + 1) and words[j + 2].isalnum():
        return words[j + 2] in scan.lex.months or scan.digits(j + 2) == 4
    if not scan.spaced[j + 1] and following.isalpha():
        return False
    return (previous in _YEAR_LEADS and previous not in _WEAK_YEAR_LEADS) or not _counts(scan, j + 1)


def _in_title(scan: Scan, j: int) -> bool:
    """Whether a name stands before the number: "Blade Runner 2049"."""
    previous = scan.words[j - 1]
    return j > 0 and scan.capitalised(j - 1) and previous.isalpha() and previous not in _YEAR_LEADS


def _in_code(scan: Scan, j: int) -> bool:
    """Whether the number at an index is itself glued to something before it."""
    return j > 0 and not scan.spaced[j] and scan.words[j - 1] in ("-", "/", ".", ",")


def _counts(scan: Scan, j: int) -> bool:
    """Whether a noun follows that a number before it counts: "2000 people"."""
    word = scan.words[j]
    if not word.isalpha() or word in _AFTER_YEAR or word in scan.lex.months or scan.capitalised(j):
        return False
    return word in _COUNTED or (word.endswith("s") and not word.endswith("ss"))


def decade(scan: Scan, i: int) -> Match | None:
    """ "1990s", "the 90s", "the nineties", "15th century", "the 1800s"."""
    words = scan.words
    century = _century(scan, i)
    if century is not None:
        return century
    j = scan.skip(i, "the")
    if words[j] in ("early", "mid", "late", "-"):
        return None
    spelled = _spelled_decade(scan, j, words[i] == "the" or words[i - 1] in _BEFORE_DECADE)
    if spelled is not None:
        return spelled
    apostrophe = words[j] in ("'", "’", "‘") and not scan.spaced[j + 1]
    j = j + 1 if apostrophe else j
    number, width = scan.numbers[j], scan.digits(j)
    if number is None or number % 10 or inside_number(scan, j):
        return None
    if words[j - 1] == "-" and not scan.spaced[j] and words[j - 2] not in _BEFORE_DASH:
        return None
    k = j + 2 if words[j + 1] in ("'", "’") and words[j + 2] == "s" and not scan.spaced[j + 2] else j + 1
    if words[k] not in ("s", "'s") or (scan.spaced[k] and width != 4):
        return None
    if width == 4 and 1000 <= number <= 2199:
        return (_years(number, 100) if number % 100 == 0 and number < 2000 else _years(number, 10)), k + 1
    if width == 2 and (apostrophe or j > i or words[i - 1] in _BEFORE_DECADE):
        return _years((1900 if number >= 20 else 2000) + number, 10), k + 1
    return None


def _spelled_decade(scan: Scan, j: int, article: bool) -> Match | None:
    """ "the nineties", "nineteen seventies", "the twenty-tens", "the two thousand and tens", "the noughties"."""
    words, decades = scan.words, scan.lex.decades
    if words[j] in decades:
        number = decades[words[j]]
        # The tens and the noughties are of this century.
        return (_years((1900 if 20 <= number < 100 else 2000) + number % 100, 10), j + 1) if article else None
    if scan.at(j, "two", "thousands"):
        return (_years(2000, 10), j + 2) if article else None
    if scan.at(j, "two", "thousand"):
        k = scan.skip(j + 2, "and")
        return (_years(2000 + decades[words[k]], 10), k + 1) if words[k] in decades else None
    century = scan.lex.cardinals.get(words[j], 0)
    k = scan.skip(j + 1, "-")
    if not 15 <= century <= 20 or words[k] not in decades:
        return None
    return _years(century * 100 + decades[words[k]] % 100, 10), k + 1


def _century(scan: Scan, i: int) -> Match | None:
    number = ordinal(scan, i)
    if number is None or scan.words[number[1]] not in ("century", "cent") or not 1 <= number[0] <= 21:
        return None
    end = number[1] + 1
    if scan.words[end] in ("bc", "bce"):
        return None
    first = (number[0] - 1) * 100
    start, stop = datetime(max(first, 1), 1, 1), datetime(first + 100, 1, 1)
    return period_node([(start, stop)], "century", f"({start:%Y-%m-%d},{stop:%Y-%m-%d},P100Y)"), end


def _years(first: int, length: int) -> Node:
    """The ten or hundred years from a year on."""
    start = datetime(first, 1, 1)
    stop = add_months(start, 12 * length)
    if length == 100:
        return period_node([(start, stop)], "century")
    return period_node([(start, stop)], "decade", f"({start:%Y-%m-%d},{stop:%Y-%m-%d},P10Y)")
