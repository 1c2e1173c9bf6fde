"""Masking of secrets: keys, tokens and passwords by the formats of `secrets.toml`, card numbers and IBANs by checksum."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

_CARD = re.compile(r"(?<![\w.,-])(?:\d[ -]?){12,18}\d(?![\w-]|[.,]\d)")
_CARD_ISSUERS = re.compile(r"4\d{12}(?:\d{3}){0,2}|(?:5[1-5]|2[2-7])\d{14}|3[47]\d{13}|(?:6011|65|64[4-9])\d{12,15}|35\d{14}|3(?:0[0-5]|[68]\d)\d{11}")  # fmt: skip
_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])")
_DIGIT, _LETTER = re.compile(r"\d"), re.compile(r"[A-Za-z]")
_PLACEHOLDER = re.compile(
    r"(.)\1*|.*(?:\.\.\.|…|\*\*\*|xxxx|placeholder|change[_-]?me|example|redacted|secret: ).*"
    r"|(?:your|my|the|some|env|os|settings|config|self|args|options|process|getenv|vault|file)[._:-].*"
    r"|(?:[$%@?]|:?-|~?/|\.{1,2}/|&|#|--|https?:).*",
    re.IGNORECASE | re.DOTALL,
)
"""Values in place of a secret: repeated characters, references to variables, files and settings, ellipses."""


@dataclass(frozen=True, slots=True)
class MaskedText:
    """A text without its secrets, and the names of the formats that were masked, in order."""

    text: str
    secrets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Format:
    name: str
    keywords: tuple[str, ...]
    pattern: re.Pattern[str]
    is_value: bool
    """Whether only the name in front tells that it is a secret, so that placeholders have to be left out."""

    def spans(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Yield start, end and name of each secret of this format."""
        group = "secret" if "secret" in self.pattern.groupindex else 0
        for match in self.pattern.finditer(text):
            if not self.is_value or _is_secret_value(match.group(group)):
                yield (*match.span(group), self.name)


def mask_secrets(text: str) -> MaskedText:
    """Replace each secret by `[secret: name of its format]`."""
    spans = sorted([*_formatted(text), *_cards(text), *_ibans(text)], key=lambda span: (span[0], -span[1]))
    parts: list[str] = []
    names: list[str] = []
    end = 0
    for start, stop, name in spans:
        if start < end:
            continue
        parts += [text[end:start], f"[secret: {name}]"]
        names.append(name)
        end = stop
    return MaskedText("".join([*parts, text[end:]]), tuple(names)) if names else MaskedText(text)


def _formatted(text: str) -> Iterator[tuple[int, int, str]]:
    lowered = text.lower()
    for kind in _formats():
        if any(keyword in lowered for keyword in kind.keywords):
            yield from kind.spans(text)


def _cards(text: str) -> Iterator[tuple[int, int, str]]:
    for match in _CARD.finditer(text):
        digits = re.sub(r"\D", "", match.group())
        if _CARD_ISSUERS.fullmatch(digits) and _passes_luhn(digits):
            yield (*match.span(), "card number")


def _ibans(text: str) -> Iterator[tuple[int, int, str]]:
    for match in _IBAN.finditer(text):
        compact = match.group().replace(" ", "")
        if (
            15 <= len(compact) <= 34
            and int("".join(str(int(c, 36)) for c in compact[4:] + compact[:4])) % 97 == 1
        ):
            yield (*match.span(), "iban")


def _passes_luhn(digits: str) -> bool:
    doubled = (sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (sum(map(int, digits[-1::-2])) + sum(doubled)) % 10 == 0


def _is_secret_value(value: str) -> bool:
    """Return whether a value after "password=" or "token:" looks like one, and not like a name or a placeholder."""
    is_quoted = value[0] in "\"'"
    bare = value.strip("\"'").rstrip(".,;!?")
    if _PLACEHOLDER.fullmatch(bare) or "(" in bare:
        return False
    has_digit, has_letter = bool(_DIGIT.search(bare)), bool(_LETTER.search(bare))
    has_symbol = bool(re.search(r"[^\w.\-/]", bare))
    return (has_digit and has_letter) or (has_symbol and len(bare) >= 6) or (is_quoted and has_digit)


@lru_cache(maxsize=1)
def _formats() -> tuple[_Format, ...]:
    source = files("perdure.guard").joinpath("secrets.toml").read_text(encoding="utf-8")
    return tuple(
        _Format(
            entry["name"], tuple(entry["keywords"]), re.compile(entry["pattern"]), entry.get("value", False)
        )
        for entry in tomllib.loads(source)["secret"]
    )
