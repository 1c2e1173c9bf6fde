"""Events that bound time: "before Alice joined Google", "during the wedding"."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from perdure.dates.model import Anchor, DateOptions, Relation
from perdure.dates.reader import read_english

_RELATIONS: dict[str, Relation] = {
    "before": "before", "prior to": "before", "after": "after", "following": "after", "once": "after", "as soon as": "after",
    "ever since": "since", "since": "since", "until": "until", "till": "until", "up until": "until", "by the time": "until",
    "when": "when", "whenever": "when", "while": "during", "whilst": "during", "during": "during", "throughout": "during",
}  # fmt: skip
_PHRASES = "|".join(
    sorted((re.escape(phrase).replace(r"\ ", r"\s+") for phrase in _RELATIONS), key=len, reverse=True)
)
_RELATION = re.compile(rf"(?i)\b({_PHRASES})\s+(?=\S)")
_CLAUSE_END = re.compile(r"(?i)[.,;:!?()\n]|\s[-–—]\s|\s(?:but|because|so that|although|though|then)\s")
_ASKING = re.compile(
    r"(?i)(?:did|does|do|is|are|was|were|will|has|have|had|should|can|could|would|shall|might|must|exactly|am|to)\b"
)
_EMPTY = re.compile(
    r"(?i)(?:that|this|then|it|all|long|which|now|whom|what|dark|too long|a while|a long time|work|school|hours|you know)\s*$"
    r"|(?:that|this|then|it|which)\s+(?:I|we|he|she|they|you|the|my|our)\b"
)
_OFTEN = re.compile(r"(?i)(?:a|per|every|again|more|in|upon)\b")
_NO_CLAUSE = re.compile(r"(?:a|an|the|my|his|her|our|their|your|its|this|that|these|those)\b|[A-Z]")
_ARTICLE = re.compile(
    r"(?i)(?:a|an|the|my|his|her|our|their|your)\s+(?!day|moment|time|night|year|week|month|minute|last|first)\w+"
)
_NEW_CLAUSE = re.compile(r"(?<!that)(?<!which)(?<!who)(?<!where)\s(?:I|we|he|she|they|you|it)(?:'\w+)?\s")
_LAST_LINK = re.compile(r"\s+(?:and|or|to|of|in|on|at)$")
_NOUN_ONLY = frozenset(("following", "during", "throughout", "prior to"))
_DETERMINERS = ("", "the", "that", "this", "a", "my")
_REFERENCE = datetime(2020, 1, 1, tzinfo=UTC)
_LONGEST = 200


def read_anchors(text: str) -> list[Anchor]:
    """The events a text bounds time with, in order; dates are no events."""
    anchors: list[Anchor] = []
    taken = -1
    for match in _RELATION.finditer(text):
        if match.start() < taken:
            continue
        anchor = _anchor(text, match)
        if anchor is not None:
            anchors.append(anchor)
            taken = anchor.end
    return anchors


def _anchor(text: str, match: re.Match[str]) -> Anchor | None:
    phrase = " ".join(match.group(1).lower().split())
    start = match.end()
    event = _event(text, start)
    if not event or _EMPTY.match(event) or not any(letter.isalpha() for letter in event):
        return None
    if phrase in ("when", "whenever") and _ASKING.match(event):
        return None
    if phrase == "once" and _OFTEN.match(event):
        return None
    if phrase in _NOUN_ONLY and not _NO_CLAUSE.match(event):
        return None
    if _is_date(text[match.start() : start] + event, start - match.start()):
        return None
    return Anchor(_RELATIONS[phrase], event, start, start + len(event))


def _event(text: str, start: int) -> str:
    """The clause or noun phrase at an index: it ends with the clause or where another relation begins."""
    stop = min(len(text), start + _LONGEST)
    ending = _CLAUSE_END.search(text, start, stop)
    if ending is not None:
        stop = ending.start()
    following = _RELATION.search(text, start + 1, stop)
    if following is not None and text[start : following.start()].strip():
        stop = following.start()
    event = text[start:stop].rstrip()
    # What begins with an article ends where a new clause begins: "the accident | I can't run".
    clause = _NEW_CLAUSE.search(event) if _ARTICLE.match(event) else None
    return _LAST_LINK.sub("", event if clause is None else event[: clause.start()].rstrip())


def _is_date(phrase: str, offset: int) -> bool:
    """Whether a date expression stands where the event would begin."""
    for span in read_english(phrase, _REFERENCE, "past", DateOptions()):
        if span.kind in ("duration", "recurring") or span.end <= offset:
            continue
        if phrase[offset : max(span.start, offset)].strip().lower() in _DETERMINERS:
            return True
    return False
