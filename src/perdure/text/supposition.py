"""What a sentence does not assert: questions that somebody asked, suppositions, wishes, plans, fiction."""

from __future__ import annotations

import re

_QUOTED_QUESTION = re.compile(
    r"\bAsked(?: by [^\"“]{1,40})? [\"“][^\"”]*[\"”],? ?|\basked(?: \S+)?: [\"“][^\"”]*\?[\"”]"
)
"""A question that a statement answers, or that follows it: nothing in it is said of the statement."""
_ASKED = re.compile(r"^(?:(?![.!?] [A-Z])[^\":]){1,60} asked(?: [^\":]{1,40})?: [\"“]")
_SUPPOSED = re.compile(
    r"""^(?:maybe\s|perhaps\s)?if\s|\b(?:
    if\s+(?:only\s+)?\w+\s+(?:\w+\s+)?(?:were|lived|had|could|moved|worked|won|was\s+to)\b
    |(?:would|might|could)\s+(?:have|be|like|love|live|move|work|rather|probably|never|\w+)\b
    |(?:thinking|dreaming|talking)\s+(?:of|about)|consider(?:s|ing)|toy(?:s|ing)?\s+with|tempted\s+to
    |wish(?:es|ed)?|hop(?:es?|ing)\s+to\b|(?<!you\s)want(?:s|ed)?\s+to\b|would\s+love|plan(?:s|ning)?\s+to\b|dreams?\s+of|(?<!can\s)(?<!could\s)imagin(?:e|es|ing)|suppose|pretend\w*
    |some\s?day|one\s+day|only\s+a\s+dream|almost|nearly|as\s+if|supposedly|allegedly|rumou?rs?|joking|kidding|just\s+a\s+joke
    |(?:novel|book|film|movie|story|song|series|show|game|play|poem|character|hero(?:ine)?|narrator|lyrics?)\b.{0,60}["“]
    |(?:in|from)\s+(?:a|the|my|this|that)\s+(?:\w+\s+)?(?:novel|book|film|movie|story|song|series|game|play|poem|dream)
    |(?:the|a)\s+(?:novel|film|movie|story|song|series|poem)\s+(?:is|starts|opens|begins|says|goes)
    |(?:says|claims|told\s+\w+|reckons)[,:]?\s+["“'‘]
    |dream(?:t|ed)\s+that|had\s+a\s+dream
    |look(?:ed|ing)\s+at\s+(?:an?|some|the)\s+(?:\w+\s+)?(?:house|flat|apartment|place|studio|car|job)s?\b
    )""",
    re.IGNORECASE | re.VERBOSE,
)


def is_asked(text: str) -> bool:
    """Whether a statement is only that somebody asked something."""
    return _ASKED.match(text) is not None


def is_supposed(text: str) -> bool:
    """Whether a statement supposes, wishes, plans or tells a story, rather than saying what is so."""
    return _SUPPOSED.search(_QUOTED_QUESTION.sub("", text)) is not None
