"""Named things that rules find in any text: known names, addresses, handles and identifiers."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from perdure.ports.tagger import Mention

_URL = re.compile(r"\b(?:https?://|www\.)[^\s<>\"']+[^\s<>\"'.,;:!?)\]}…]")
_EMAIL = re.compile(r"\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}\b")
_HANDLE = re.compile(r"(?<![\w@/.])@[A-Za-z_]\w{1,38}\b")
_IDENTIFIER = re.compile(
    r"\b[A-Z]{2,10}-\d{1,8}\b"
    r"|\b[a-z]+(?:_[a-z0-9]+)+\b"
    r"|\b[a-z]+(?:[A-Z][a-z0-9]+)+\b|\b(?:[A-Z][a-z0-9]+){2,6}\b"
    r"|(?<!\w)#[A-Za-z]\w{2,40}\b"
)
_RULES = (
    ("url", _URL, re.compile(r"http|www\.")),
    ("handle", _EMAIL, re.compile("@")),
    ("handle", _HANDLE, re.compile("@")),
    ("concept", _IDENTIFIER, re.compile(r"[a-z0-9][A-Z]|[-_#]")),
)
"""(type, pattern, what every match has in it: quickly looked for, and seldom there)"""


class Gazetteer:
    """Known names, found in any case."""

    def __init__(self, names: Collection[str]) -> None:
        known = sorted(
            {" ".join(name.split()) for name in names if len(name.strip()) > 1}, key=len, reverse=True
        )
        pattern = "|".join(re.escape(name).replace(r"\ ", r"\s+") for name in known)
        self._pattern = re.compile(rf"(?<![\w@])(?:{pattern})(?!\w)", re.IGNORECASE) if known else None

    def find(self, text: str) -> list[Mention]:
        """Each occurrence of a known name, as a person."""
        if self._pattern is None:
            return []
        return [Mention(found.group(), "person", *found.span()) for found in self._pattern.finditer(text)]


def find_marked(text: str) -> list[Mention]:
    """URLs, e-mail addresses, handles, hashtags and identifiers such as PROJ-12, snake_case or CamelCase."""
    return [
        Mention(found.group(), kind, *found.span())
        for kind, rule, sign in _RULES
        if sign.search(text)
        for found in rule.finditer(text)
    ]


def apart(*groups: Iterable[Mention]) -> list[Mention]:
    """The mentions in order of place; where two overlap the longer stays, of equal ones that of the earlier group."""
    ranked = sorted(
        ((mention, rank) for rank, group in enumerate(groups) for mention in group),
        key=lambda item: (item[0].start - item[0].end, item[1], item[0].start),
    )
    taken: list[Mention] = []
    covered = bytearray()
    for mention, _ in ranked:
        if len(covered) < mention.end:
            covered.extend(bytes(mention.end - len(covered)))
        if not any(covered[mention.start : mention.end]):
            covered[mention.start : mention.end] = b"\1" * (mention.end - mention.start)
            taken.append(mention)
    return sorted(taken, key=lambda mention: mention.start)


def within(mentions: Sequence[Mention], spans: Sequence[tuple[int, int]]) -> list[tuple[Mention, ...]]:
    """The mentions of each span; both in order of place. A mention that reaches beyond its span is left out."""
    found: list[list[Mention]] = [[] for _ in spans]
    at = 0
    for mention in mentions:
        while at < len(spans) and spans[at][1] <= mention.start:
            at += 1
        if at < len(spans) and spans[at][0] <= mention.start and mention.end <= spans[at][1]:
            found[at].append(mention)
    return [tuple(group) for group in found]
