"""The parts of a text that are not the speaker's own statement: quotations, code, addresses, paths, headings."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

_LONGEST_QUOTE = 600
_QUOTED = re.compile(
    rf"\"[^\"\n]{{1,{_LONGEST_QUOTE}}}\"|“[^”]{{1,{_LONGEST_QUOTE}}}”|„[^“”\"]{{1,{_LONGEST_QUOTE}}}[“”\"]"
    rf"|«[^»]{{1,{_LONGEST_QUOTE}}}»|»[^«\n]{{1,{_LONGEST_QUOTE}}}«|「[^」]{{1,{_LONGEST_QUOTE}}}」"
    rf"|(?<![\w'])'(?=[^\W_])[^'\n]{{1,{_LONGEST_QUOTE}}}(?:(?<=\w)'\w[^'\n]{{1,200}})*'(?!\w)"
    rf"|(?<!\w)‘[^’\n]{{1,{_LONGEST_QUOTE}}}’(?!\w)"
)
_CODE = re.compile(
    r"```(?s:.*?)(?:```|\Z)|`[^`\n]+`"
    r"|\b(?:https?|ftp|file)://\S+|\bwww\.\S+|\b[\w.+-]{1,64}@[\w-]{1,64}\.\w+"
    r"|(?<![\w/.])(?:~|\.{1,2})?/(?:[\w.-]{1,80}/){1,20}[\w.-]*|\b[A-Za-z]:\\\S+|\b[A-Za-z_][\w.-]{0,80}(?:/[\w.-]{1,80}){2,20}"
    r"|\b[\w.-]{1,80}\.(?:py|js|ts|json|ya?ml|toml|txt|md|csv|xlsx?|docx?|pdf|png|jpe?g|gif|mp[34]|zip|gz|log|html?|sql|sh|db)\b"
    r"|^#{1,6}\s.*$|^>.*$",
    re.MULTILINE,
)
_MARKS = re.compile(r"[\"“”„«»「`‘]|(?<!\w)'|://|www\.|@|/|\\|\.\w{2,4}\b|^[#>]", re.MULTILINE)
_REPORT = re.compile(
    r"(?i)\b(?P<present>says|reads|states|shows|tells|announces|words?|note|sign|message|subject)\s*(?:that\s*)?[:,]?\s*$"
    r"|\b(?P<past>said|wrote|texted|replied|told \w+|stated|announced|answered|emailed|messaged|posted)\s*(?:that\s*)?[:,]?\s*$"
    r"|(?P<colon>:)\s*$"
)
_GENERAL = re.compile(
    r"(?i)\b(?:always|never|every|each|usually|often|whenever|how do (?:you|i|we) (?:say|spell|write))\b"
)

_SENTENCE_END = re.compile(r"[.!?]\s+|\n")
_SENTENCE = 200


class Passage(NamedTuple):
    """A part [start, end) of a text that is quoted or code."""

    start: int
    end: int
    quotation: bool


def verbatim_passages(text: str) -> list[Passage]:
    """The quotations, code, addresses, paths and headings of a text, in order; code inside quotes is one with them."""
    if _MARKS.search(text) is None:
        return []
    code = [Passage(match.start(), match.end(), False) for match in _CODE.finditer(text)]
    quotes = [Passage(match.start(), match.end(), True) for match in _QUOTED.finditer(text)]
    passages: list[Passage] = []
    for passage in sorted(code + quotes, key=lambda one: (one.start, -one.end)):
        if not passages or passage.start >= passages[-1].end:
            passages.append(passage)
    return passages


def passage_at(passages: list[Passage], index: int) -> Passage | None:
    """The passage that an index lies in."""
    i = bisect_right(passages, index, key=lambda passage: passage.start) - 1
    return passages[i] if i >= 0 and index < passages[i].end else None


def is_reported(text: str, passage: Passage, absolute: bool) -> bool:
    """Whether a quotation is told for what it says: "the note says 'plumber tomorrow'".

    A report in the past was made at another time, so that only its `absolute` dates can be read from here.
    """
    low, high = max(0, passage.start - _SENTENCE), passage.end + _SENTENCE
    low = max((end.end() for end in _SENTENCE_END.finditer(text, low, passage.start)), default=low)
    ending = _SENTENCE_END.search(text, passage.end, high)
    report = _REPORT.search(text, low, passage.start)
    high = ending.start() if ending else high
    if (
        report is None
        or _GENERAL.search(text, low, passage.start)
        or _GENERAL.search(text, passage.end, high)
    ):
        return False
    return absolute or report.group("past") is None
