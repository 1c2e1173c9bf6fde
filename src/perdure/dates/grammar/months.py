"""Month names, and the judgement whether "may", "march" or "April" is a month at all."""

from __future__ import annotations

from perdure.dates.grammar.numbers import two_digit_year, year_words
from perdure.dates.lexicon import word_set
from perdure.dates.scan import Scan

_LEADS = word_set(
    "in since until till by of from during before after last next early late mid between through throughout around about "
    "previous past coming following on to for starting beginning ending late later earlier every each end middle start "
    "than until'til til past current w/c month"
)
_VERBS = frozenset(("may", "march", "mar", "sept", "jan"))
_NAMES = frozenset(("april", "may", "june", "august", "jan", "march"))
_AFTER_MODAL = word_set(
    "to through until till and - , . ; ! ? ) for when with is was we i he she they it at on in or"
)


def month_at(scan: Scan, i: int) -> tuple[int, int] | None:
    """A month's number and the index after its name, with the dot of "Jan."."""
    month = scan.lex.months.get(scan.words[i])
    if month is None or (i and scan.words[i - 1] in ("$", "#", "@") and not scan.spaced[i]):
        return None
    j = i + 1
    dotted = scan.words[j] == "." and not scan.spaced[j] and scan.ends[i] - scan.starts[i] <= 4
    if (
        dotted
        and scan.words[i] != "may"
        and (scan.numbers[j + 1] is not None or scan.words[j + 1] in (",", "-"))
    ):
        j += 1
    return month, j


def month_alone(scan: Scan, i: int, j: int) -> bool:
    """Whether the month name in tokens [i, j) is a month though no day or year follows."""
    word = scan.words[i]
    previous = scan.words[i - 1] if i else ""
    if (
        len(word) == 3
        and word != "may"
        and scan.surface(i).isupper()
        and not scan.text.isupper()
        and previous not in _LEADS
    ):
        return False
    if word == "may" and previous in ("this", "that", "it", "which", "these", "those"):
        return (
            previous == "this"
            and (j >= scan.size or scan.words[j] in _AFTER_MODAL)
            and scan.words[j] not in ("or", "it", "i")
        )
    if previous in _LEADS or previous in scan.lex.shifts:
        return True
    if previous == "the" and word not in ("march",):
        return True
    if word in _VERBS:
        if not scan.capitalised(i) or (word == "may" and (i == 0 or previous in (".", "!", "?"))):
            return scan.size == 1 and word != "may"
        return previous in ("-", ",", "and", "or", "&", "/", "(") or (word != "may" and i > 0)
    return not (word in _NAMES and _looks_like_name(scan, i, j))


def _looks_like_name(scan: Scan, i: int, j: int) -> bool:
    following = scan.words[j]
    if following in ("'", "said", "says", "asked", "told", "is", "was", "likes", "and", "has", "went", "'s"):
        return scan.capitalised(i) and following not in ("is", "was", "and")
    return (
        scan.capitalised(j)
        and following.isalpha()
        and following not in scan.lex.weekdays
        and following not in scan.lex.months
    )


def year_after(scan: Scan, j: int) -> tuple[int, int] | None:
    """The year that completes a month or a day: ", 2016", "of 87", "in 2019", "'95", "nineteen eighty six"."""
    k = j
    if scan.words[k] in (",", "-", "/", ".") and (scan.words[k] == "," or not scan.spaced[k + 1]):
        k += 1
    linked = scan.words[k] in ("of", "in")
    if linked:
        k = scan.skip(scan.skip(scan.skip(k + 1, "the"), "year"), "of")
    width, number = scan.digits(k), scan.numbers[k]
    if width == 4 and number is not None and 1000 <= number <= 2999:
        return (number, k + 1) if not _part_of_number(scan, k + 1) else None
    apostrophe = scan.words[k] in ("'", "’", "‘")
    if apostrophe and scan.digits(k + 1) == 2 and not scan.spaced[k + 1]:
        return two_digit_year(scan.numbers[k + 1] or 0)[0], k + 2
    if scan.words[k - 1] == "of" and linked and width == 2 and number is not None:
        return two_digit_year(number)[0], k + 1
    if scan.words[k] in scan.lex.cardinals:
        return year_words(scan, k)
    return None


def _part_of_number(scan: Scan, j: int) -> bool:
    return (
        scan.words[j] in (":", "/", ".", ",")
        and not scan.spaced[j]
        and scan.digits(j + 1) > 0
        and not scan.spaced[j + 1]
    )
