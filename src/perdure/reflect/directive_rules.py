"""Directives that a program can obey: how long an answer is, what it never mentions, dates, quoting, certainty, fixed words.

Directives are rules in plain language. A few forms of them in English are understood; all others are named in the trace as not
applied without a model.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from perdure.domain.directive import DirectiveText
from perdure.reflect.reflection import DirectiveUse


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What the directives in force ask of an answer."""

    max_sentences: int | None = None
    never: tuple[str, ...] = ()
    """Words and phrases that may not stand in an answer."""
    cite_dates: bool = False
    quote: bool = False
    only_strong: bool = False
    opening: str = ""
    closing: str = ""
    uses: tuple[DirectiveUse, ...] = ()

    def forbids(self, text: str) -> bool:
        """Whether a text holds a word that may not be mentioned."""
        return any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE) for word in self.never)


_NUMBERS = {"one": 1, "a single": 1, "two": 2, "three": 3, "four": 4, "five": 5}
_SENTENCES = re.compile(
    r"\b(?:(?:in|with|use|write|answer|give)\s+)?(?:at most|no more than|only|up to|maximum(?: of)?|max\.?)?\s*(?P<number>one|a single|two|three|four|five|\d{1,2})\s+sentences?\b",
    re.IGNORECASE,
)
_BRIEF = re.compile(
    r"\b(?:be (?:brief|concise|short)|keep (?:it|answers?) (?:brief|short|concise)|answer (?:briefly|concisely))\b",
    re.IGNORECASE,
)
_NEVER = re.compile(
    r"\b(?:never|do not|don't|must not|avoid)\s+(?:ever\s+)?(?:mention(?:ing)?|say(?:ing)?|reveal(?:ing)?|disclos(?:e|ing)|nam(?:e|ing)|bring(?:ing)? up|talk(?:ing)? about|speak(?:ing)? (?:of|about))\s+"
    r"(?:the (?:word|name|topic)s?\s+)?(?P<what>[^.;!\n]{2,120})",
    re.IGNORECASE,
)
_EXCEPTION = re.compile(
    r"\b(?:unless|except|if|when|until|to (?:anyone|others|strangers|users?)|without)\b", re.IGNORECASE
)
_DATES = re.compile(
    r"\b(?:always|must)\b[^.]{0,30}\b(?:cite|give|include|mention|state|add|show)\b[^.]{0,20}\b(?:the )?dates?\b|\b(?:cite|include|add|show) (?:the )?dates?\b",
    re.IGNORECASE,
)
_QUOTE = re.compile(
    r"\b(?:always )?(?:quote|use) (?:the )?(?:verbatim|exact words|original words|sources? verbatim)\b|\bquote verbatim\b|\balways quote\b",
    re.IGNORECASE,
)
_STRONG = re.compile(
    r"\b(?:only answer (?:if|when|where) (?:you are |you're )?(?:sure|certain)|never guess|do not guess|don't guess|only (?:use|state|rely on) (?:strong|certain|well[- ]supported))\b",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"\b(?:begin|start|open) (?:every|each|all|your|the) (?:answer|reply|response)s? with [\"“'‘](?P<words>[^\"”'’]{1,120})[\"”'’]",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    r"\b(?:end|close|finish) (?:every|each|all|your|the) (?:answer|reply|response)s? with [\"“'‘](?P<words>[^\"”'’]{1,120})[\"”'’]",
    re.IGNORECASE,
)
_JOINT = re.compile(r",\s*(?:or|and|nor)?\s*|\s+(?:or|nor|and)\s+")


def read_directives(directives: Sequence[str | DirectiveText]) -> Rules:
    """The rules of some directives; the strictest counts where two speak of the same thing."""
    rules = Rules()
    for number, directive in enumerate(directives, start=1):
        if isinstance(directive, str):
            name, content, directive_id = f"directive {number}", directive, ""
        else:
            name, content, directive_id = (
                directive.name or f"directive {number}",
                directive.content,
                directive.id,
            )
        rules = _with(rules, directive_id, name, content)
    return rules


def _with(rules: Rules, directive_id: str, name: str, content: str) -> Rules:
    applied: list[str] = []
    most = _most_sentences(content)
    if most is not None:
        applied.append(f"at most {most} sentence{'' if most == 1 else 's'}")
    never = _never(content)
    applied += [f"“{word}” is not mentioned" for word in never]
    for pattern, effect in ((_DATES, "dates are cited"), (_QUOTE, "sources are quoted"), (_STRONG, "only strong evidence is used")):  # fmt: skip
        if pattern.search(content):
            applied.append(effect)
    opening, closing = _OPENING.search(content), _CLOSING.search(content)
    applied += [f"begins with “{opening['words']}”"] if opening else []
    applied += [f"ends with “{closing['words']}”"] if closing else []
    limits = [limit for limit in (rules.max_sentences, most) if limit is not None]
    return Rules(
        max_sentences=min(limits) if limits else None,
        never=(*rules.never, *never),
        cite_dates=rules.cite_dates or _DATES.search(content) is not None,
        quote=rules.quote or _QUOTE.search(content) is not None,
        only_strong=rules.only_strong or _STRONG.search(content) is not None,
        opening=opening["words"] if opening else rules.opening,
        closing=closing["words"] if closing else rules.closing,
        uses=(
            *rules.uses,
            DirectiveUse(id=directive_id, name=name, content=content, applied="; ".join(applied)),
        ),
    )


def _most_sentences(content: str) -> int | None:
    match = _SENTENCES.search(content)
    if match is not None:
        word = match["number"].lower()
        return max(_NUMBERS.get(word) or int(word), 1)
    return 1 if _BRIEF.search(content) else None


def _never(content: str) -> tuple[str, ...]:
    """What is never to be mentioned; a rule with a condition is left to a model."""
    match = _NEVER.search(content)
    if match is None or _EXCEPTION.search(match["what"]):
        return ()
    words = (
        re.sub(r"^(?:the|a|an|my|any)\s+", "", part.strip(" \"“”'‘’"), flags=re.IGNORECASE)
        for part in _JOINT.split(match["what"])
    )
    return tuple(word for word in words if len(word) > 1)
