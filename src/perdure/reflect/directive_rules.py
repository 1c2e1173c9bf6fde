"""Directives that a program can obey: the number of sentences of an answer, and words that it never mentions.

Directives are rules in plain language. Without a language model these two forms of them, in English, are obeyed; the trace
names all others as not applied.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from perdure.domain.directive import DirectiveText
from perdure.reflect.reflection import DirectiveUse

_NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5}
_SENTENCES = re.compile(r"\b(one|two|three|four|five|\d{1,2})\s+sentences?\b", re.IGNORECASE)
_NEVER = re.compile(
    r"\b(?:never|do not|don't|must not|avoid)\s+(?:ever\s+)?"
    r"(?:mention(?:ing)?|say(?:ing)?|reveal(?:ing)?|disclos(?:e|ing)|nam(?:e|ing)|bring(?:ing)? up|talk(?:ing)? about|speak(?:ing)? (?:of|about))\s+"
    r"(?:the (?:word|name|topic)s?\s+)?(?P<what>[^.;!\n]{2,120})",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"\b(?:unless|except|if|when|until|to (?:anyone|others|strangers|users?)|without)\b", re.IGNORECASE
)
_JOINT = re.compile(r",\s*(?:or|and|nor)?\s*|\s+(?:or|nor|and)\s+")
_ARTICLE = re.compile(r"^(?:the|a|an|my|any)\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What the directives in force demand of an answer."""

    max_sentences: int | None = None
    never: tuple[str, ...] = ()
    """Words and phrases that may not occur in an answer."""
    uses: tuple[DirectiveUse, ...] = ()

    def forbids(self, text: str) -> bool:
        """Return whether a text contains a word that may not be mentioned."""
        return any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE) for word in self.never)


def read_directives(directives: Sequence[str | DirectiveText]) -> Rules:
    """Return the rules of directives; of several limits the lowest is in force."""
    limits: list[int] = []
    never: list[str] = []
    uses: list[DirectiveUse] = []
    for number, directive in enumerate(directives, start=1):
        content = directive if isinstance(directive, str) else directive.content
        limit, forbidden = _limit(content), _forbidden(content)
        applied = [f"at most {one} sentence{'' if one == 1 else 's'}" for one in limit]
        applied += [f"“{word}” is not mentioned" for word in forbidden]
        limits += limit
        never += forbidden
        uses.append(
            DirectiveUse(
                id="" if isinstance(directive, str) else directive.id,
                name=("" if isinstance(directive, str) else directive.name) or f"directive {number}",
                content=content,
                applied="; ".join(applied),
            )
        )
    return Rules(max_sentences=min(limits, default=None), never=tuple(never), uses=tuple(uses))


def _limit(content: str) -> list[int]:
    match = _SENTENCES.search(content)
    if match is None:
        return []
    word = match[1].lower()
    return [max(_NUMBERS.get(word) or int(word), 1)]


def _forbidden(content: str) -> list[str]:
    """Return what is never to be mentioned; a rule with a condition needs a language model."""
    match = _NEVER.search(content)
    if match is None or _CONDITION.search(match["what"]):
        return []
    words = (_ARTICLE.sub("", part.strip(" \"“”'‘’")) for part in _JOINT.split(match["what"]))
    return [word for word in words if len(word) > 1]
