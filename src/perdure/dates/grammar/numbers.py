"""Numbers, counts and lengths of time, in digits and in words: "21st", "a couple of", "2 years and 3 months"."""

from __future__ import annotations

from perdure.dates.lexicon import word_set
from perdure.dates.nodes import DAY_SECONDS, Length, Match, Node, make_length
from perdure.dates.scan import Scan, memoised

_SUFFIXES = word_set("st nd rd th")
_FRACTIONS = {"½": 0.5, "¼": 0.25, "¾": 0.75}
_VAGUE = {"few": 3.0, "some": 3.0, "several": 3.0, "couple": 2.0, "dozen": 12.0, "handful": 5.0}
_SIZES = ("second", "minute", "hour", "day", "week", "month", "year")
_ONLY_GLUED = word_set("h d y mo")


def small_cardinal(scan: Scan, i: int) -> tuple[int, int] | None:
    """A number in words below a hundred: "forty five", "twenty-six"."""
    if (value := scan.lex.cardinals.get(scan.words[i])) is None:
        return None
    return _compound(scan, i, scan.lex.cardinals) or (value, i + 1)


def _compound(scan: Scan, i: int, units: dict[str, int]) -> tuple[int, int] | None:
    """Tens with one of the units: "twenty six", "twenty-sixth"."""
    if (tens := scan.lex.cardinals.get(scan.words[i])) is None or tens < 20:
        return None
    j = i + 2 if scan.words[i + 1] == "-" and not scan.spaced[i + 1] else i + 1
    unit = units.get(scan.words[j])
    return (tens + unit, j + 1) if unit is not None and 1 <= unit <= 9 else None


def cardinal(scan: Scan, i: int) -> tuple[int, int] | None:
    """A whole number in digits or words."""
    number = scan.numbers[i]
    if number is not None:
        return number, i + 1
    small = small_cardinal(scan, i)
    if small is None or scan.words[small[1]] not in ("hundred", "thousand"):
        return small
    return _with_scales(scan, *small)


def _with_scales(scan: Scan, value: int, j: int) -> tuple[int, int]:
    total = value * (1000 if scan.words[j] == "thousand" else 100)
    rest = small_cardinal(scan, scan.skip(j + 1, "and"))
    if rest is None or rest[0] >= 100 or total % 100:
        return total, j + 1
    if scan.words[rest[1]] == "hundred" and total % 1000 == 0:
        rest = _with_scales(scan, *rest)
    return total + rest[0], rest[1]


def ordinal(scan: Scan, i: int) -> tuple[int, int] | None:
    """ "21st", "twenty-first", "second"."""
    number = scan.numbers[i]
    if number is not None:
        return (number, i + 2) if scan.words[i + 1] in _SUFFIXES and not scan.spaced[i + 1] else None
    value = scan.lex.ordinals.get(scan.words[i])
    return (value, i + 1) if value is not None else _compound(scan, i, scan.lex.ordinals)


def day_number(scan: Scan, i: int) -> tuple[int, int] | None:
    """A day of a month: "the 9th", "9", "nine"."""
    j = scan.skip(i, "the")
    number = ordinal(scan, j) or cardinal(scan, j)
    return number if number is not None and 1 <= number[0] <= 31 and scan.digits(j) <= 2 else None


def year_words(scan: Scan, i: int) -> tuple[int, int] | None:
    """ "nineteen eighty six", "two thousand and fifteen", "twenty nineteen"."""
    if (small := small_cardinal(scan, i)) is None:
        return None
    value, j = small
    millennium = scan.words[j] == "thousand" and value in (1, 2)
    if millennium or (scan.words[j] == "hundred" and 15 <= value <= 20):
        return _with_scales(scan, value, j)
    if not 15 <= value <= 20:
        return None
    k = scan.skip(j, "-")
    spoken_zero = scan.words[k] in ("oh", "o")
    rest = small_cardinal(scan, k + spoken_zero)
    if rest is None or (rest[0] < 10 and not spoken_zero):
        return None
    return value * 100 + rest[0], rest[1]


def two_digit_year(number: int) -> list[int]:
    """The years a two-digit year can mean."""
    if number < 30:
        return [2000 + number]
    return [1900 + number] if number >= 40 else [1900 + number, 2000 + number]


def count(scan: Scan, i: int) -> tuple[float, int] | None:
    """How many: "3", "2.5", "a", "a couple of", "few", "half an", "one and a half", "½"."""
    words = scan.words
    if words[i] in _FRACTIONS:
        return _FRACTIONS[words[i]], i + 1
    if words[i] == "half":
        return 0.5, scan.skip(i + 1, "a", "an")
    if _quarter_of_a(scan, i):
        return 0.25, i + 3
    j = scan.skip(i, "a")
    if words[j] in _VAGUE:
        return _VAGUE[words[j]], scan.skip(j + 1, "of")
    if words[i] in ("a", "an", "another"):
        if words[i + 1] == "half":
            return 0.5, i + 2
        return (0.25, i + 4) if _quarter_of_a(scan, i + 1) else (1.0, i + 1)
    whole = cardinal(scan, i)
    return None if whole is None else _fraction_after(scan, float(whole[0]), whole[1])


def _quarter_of_a(scan: Scan, i: int) -> bool:
    return scan.at(i, "quarter", "of") and scan.words[i + 2] in ("a", "an")


def _fraction_after(scan: Scan, value: float, j: int) -> tuple[float, int]:
    words = scan.words
    if words[j] in _FRACTIONS:
        return value + _FRACTIONS[words[j]], j + 1
    if words[j] == "." and scan.tight(j) and scan.digits(j + 1):
        return float(f"{int(value)}.{scan.surface(j + 1)}"), j + 2
    if words[j] == "and" and words[j + 1] in ("a", "half"):
        k = scan.skip(j + 1, "a")
        if words[k] in ("half", "quarter"):
            return value + (0.5 if words[k] == "half" else 0.25), k + 1
    return value, j


def single_length(scan: Scan, i: int) -> tuple[Length, int] | None:
    """A count with its unit."""
    if (counted := count(scan, i)) is None:
        return None
    amount, j = counted
    j = scan.skip(scan.skip(j, "-"), "more", "full", "whole", "additional", "long", "extra", "short")
    if scan.words[j] in ("business", "working", "work") and scan.unit(j + 1) == "day":
        days = int(amount)
        return Length(business=days, timex=f"P{days}BD", total=amount * DAY_SECONDS), j + 2
    if (unit := scan.unit(j)) is None or amount > 100_000:
        return None
    if scan.words[j] in _ONLY_GLUED and (scan.spaced[j] or scan.numbers[j - 1] is None):
        return None
    more, end = _fraction_of_unit(scan, j + 1)
    return make_length(amount + more, unit), end


def _fraction_of_unit(scan: Scan, j: int) -> tuple[float, int]:
    """ "and a half", "and a quarter" after a unit."""
    words = scan.words
    if words[j] == "and":
        k = scan.skip(j + 1, "a")
        if words[k] == "half" and scan.unit(k + 1) is None and words[k + 1] not in ("a", "an", "past"):
            return 0.5, k + 1
        if words[k] == "quarter" and k > j + 1:
            return 0.25, k + 1
    return 0, j


@memoised
def length_at(scan: Scan, i: int) -> tuple[Length, int] | None:
    """A length, its parts joined: "2 years, 1 month and 21 days"."""
    if (first := single_length(scan, i)) is None:
        return None
    total, j = first
    for _ in range(5):
        k = scan.skip(scan.skip(j, ","), "and")
        following = single_length(scan, k)
        if following is None or (
            _rank(following[0].grain) >= _rank(total.grain)
            and not _any_order(scan, total, following[0], j, k)
        ):
            break
        if scan.words[k] in ("a", "an") and k == j:
            break
        total, j = _join(total, following[0]), following[1]
    return total, j


def _any_order(scan: Scan, total: Length, following: Length, j: int, k: int) -> bool:
    """Whether a larger unit follows directly: "1 month 2 years ago"."""
    return j == k and scan.numbers[j] is not None and _rank(following.grain) > _rank(total.grain)


def _rank(grain: str) -> int:
    return _SIZES.index(grain) if grain in _SIZES else len(_SIZES)


def _join(first: Length, second: Length) -> Length:
    """The sum; the grain is the finer one."""
    tail = second.timex[1:]
    return Length(
        first.months + second.months,
        first.days + second.days,
        first.seconds + second.seconds,
        first.business + second.business,
        min(first.grain, second.grain, key=_rank),
        first.timex + (tail.removeprefix("T") if "T" in first.timex else tail),
        first.total + second.total,
    )


def duration(scan: Scan, i: int) -> Match | None:
    """ "3 hours", "more than 4 days", "all day", "the whole week": it has no place on the time line."""
    words = scan.words
    mod = None
    if words[i + 1] == "than" and words[i] in ("more", "longer", "less", "fewer", "shorter"):
        mod, i = ("more_than" if words[i] in ("more", "longer") else "less_than"), i + 2
    length = _whole_unit(scan, i) if words[i] in ("all", "whole", "entire", "full") else length_at(scan, i)
    if length is None or words[i] == "another":
        return None
    single = words[i] in ("a", "an") and words[i + 1] in ("day", "second", "night")
    if single and words[i - 1] not in ("for", "than", "in", "within", "takes"):
        return None
    said, j = length
    return Node("duration", said.grain, [], mod=mod, timex=said.timex, seconds=said.total), j


def _whole_unit(scan: Scan, i: int) -> tuple[Length, int] | None:
    j = scan.skip(i + 1, "the")
    unit = scan.unit(j)
    if unit is None or scan.words[j].endswith("s") or unit in ("second", "weekend", "night"):
        return None
    return make_length(1, unit), j + 1
