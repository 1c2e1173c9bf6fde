"""Cardinals, ordinals, years and counts, in digits and in words."""

from __future__ import annotations

from perdure.dates.scan import Scan

_SUFFIXES = frozenset(("st", "nd", "rd", "th"))
_FRACTIONS = {"½": 0.5, "¼": 0.25, "¾": 0.75}
_VAGUE = {"few": 3.0, "some": 3.0, "several": 3.0, "couple": 2.0, "dozen": 12.0, "handful": 5.0}


def small_cardinal(scan: Scan, i: int) -> tuple[int, int] | None:
    """A number in words below a hundred: "forty five", "twenty-six"."""
    cardinals = scan.lex.cardinals
    tens = cardinals.get(scan.words[i])
    if tens is None:
        return None
    if tens >= 20:
        j = i + 2 if scan.words[i + 1] == "-" and not scan.spaced[i + 1] else i + 1
        unit = cardinals.get(scan.words[j])
        if unit is not None and 1 <= unit <= 9:
            return tens + unit, j + 1
    return tens, i + 1


def cardinal(scan: Scan, i: int) -> tuple[int, int] | None:
    """A whole number in digits or words."""
    number = scan.numbers[i]
    if number is not None:
        return number, i + 1
    small = small_cardinal(scan, i)
    if small is None:
        return None
    value, j = small
    if scan.words[j] not in ("hundred", "thousand"):
        return value, j
    return _with_scales(scan, value, j)


def _with_scales(scan: Scan, value: int, j: int) -> tuple[int, int]:
    total = value * (1000 if scan.words[j] == "thousand" else 100)
    j += 1
    k = scan.skip(j, "and")
    small = small_cardinal(scan, k)
    if small is not None and small[0] < 100 and total % 100 == 0:
        if scan.words[small[1]] == "hundred" and total % 1000 == 0:
            rest, j = _with_scales(scan, small[0], small[1])
            return total + rest, j
        return total + small[0], small[1]
    return total, j


def ordinal(scan: Scan, i: int) -> tuple[int, int] | None:
    """ "21st", "twenty-first", "second"."""
    words = scan.words
    number = scan.numbers[i]
    if number is not None:
        if words[i + 1] in _SUFFIXES and not scan.spaced[i + 1]:
            return number, i + 2
        return None
    value = scan.lex.ordinals.get(words[i])
    if value is not None:
        return value, i + 1
    tens = scan.lex.cardinals.get(words[i])
    if tens is not None and tens >= 20:
        j = i + 2 if words[i + 1] == "-" and not scan.spaced[i + 1] else i + 1
        unit = scan.lex.ordinals.get(words[j])
        if unit is not None and unit <= 9:
            return tens + unit, j + 1
    return None


def year_words(scan: Scan, i: int) -> tuple[int, int] | None:
    """ "nineteen eighty six", "two thousand and fifteen", "twenty nineteen"."""
    small = small_cardinal(scan, i)
    if small is None:
        return None
    value, j = small
    if scan.words[j] == "thousand" and value in (1, 2):
        return _with_scales(scan, value, j)
    if scan.words[j] == "hundred" and 15 <= value <= 20:
        return _with_scales(scan, value, j)
    if not 15 <= value <= 20:
        return None
    k = scan.skip(j, "-")
    rest = small_cardinal(scan, scan.skip(k, "oh", "o"))
    if rest is None or (rest[0] < 10 and k == scan.skip(k, "oh", "o")):
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
    if words[i] == "quarter" and words[i + 1] == "of" and words[i + 2] in ("a", "an"):
        return 0.25, i + 3
    vague = _vague_count(scan, i)
    if vague is not None:
        return vague
    if words[i] in ("a", "an", "another"):
        if words[i + 1] == "half":
            return 0.5, i + 2
        if words[i + 1] == "quarter" and words[i + 2] == "of" and words[i + 3] in ("a", "an"):
            return 0.25, i + 4
        return 1.0, i + 1
    whole = cardinal(scan, i)
    if whole is None:
        return None
    return _fraction_after(scan, float(whole[0]), whole[1])


def _vague_count(scan: Scan, i: int) -> tuple[float, int] | None:
    j = scan.skip(i, "a")
    value = _VAGUE.get(scan.words[j])
    if value is None:
        return None
    return value, scan.skip(j + 1, "of")


def _fraction_after(scan: Scan, value: float, j: int) -> tuple[float, int]:
    words = scan.words
    if words[j] in _FRACTIONS:
        return value + _FRACTIONS[words[j]], j + 1
    if words[j] == "." and not scan.spaced[j] and not scan.spaced[j + 1] and scan.digits(j + 1):
        return float(f"{int(value)}.{scan.surface(j + 1)}"), j + 2
    if words[j] == "and" and words[j + 1] in ("a", "half"):
        k = scan.skip(j + 1, "a")
        if words[k] == "half":
            return value + 0.5, k + 1
        if words[k] == "quarter":
            return value + 0.25, k + 1
    return value, j
