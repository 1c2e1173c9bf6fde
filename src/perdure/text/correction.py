"""Corrections: words by which somebody takes back what they said before."""

from __future__ import annotations

import re

from perdure.text.sentence import is_readable

_CORRECTION = re.compile(
    r"""(?:^|[.!?;,:—–(\s])(?:
        i\ meant(?!\ to\b)|i\ mean[,:]|meant\ to\ (?:say|write|type)|(?:scratch|strike|ignore|forget)\ (?:that|what\ i\ (?:just\ )?said)|correction\b|to\ correct\ myself|let\ me\ correct
        |i\ misspoke|i\ mistyped|i\ misremembered|i\ was\ wrong|i\ (?:just\ )?made\ a\ mistake|i\ (?:got|had)\ (?:it|that|the\ \w+|them|this)\ (?:all\ )?(?:wrong|mixed\ up|backwards)|got\ the\ \w+\ wrong
        |i\ (?:mixed|confused|muddled|swapped)\ (?:them|it|that|those|the\ \w+|up)|mixed\ (?:them|it|that|those)\ up|my\ (?:mistake|bad|error)|typo\b|autocorrect|slip\ of\ the\ (?:tongue|pen)
        |no,?\ wait|wait,?\ no|hang\ on,?\ no|hold\ on,?\ no|oops|whoops|that\ (?:was|is)\ (?:wrong|not\ right|a\ typo|my\ mistake|incorrect)|i\ gave\ you\ the\ wrong|wrong\ (?:number|day|date|name|time|address|one|city|year)\b
        |i\ said\ \S.{0,40}?\bbut\ (?:it|that|i|he|she|they)|not\ \S.{0,30}?\ as\ i\ (?:said|wrote|told)|sorry,?\ (?:it['’]?s|that['’]?s|not|no|the|my|i\ meant)
        |i\ (?:told|gave)\ you\ .{0,40}?\bbut\ (?:it|that)\ (?:is|was)
    )(?![\w])|\bmake\ (?:that|it)\ (?:an?\ |the\ |on\ |at\ )?(?-i:[\dA-Z])|^\*\w+|^no,\ not\b|\bit\ always\ was\b|\bnever\ was\b""",
    re.IGNORECASE | re.VERBOSE,
)


def is_correction(text: str) -> bool:
    """Whether a short text says that something said before it was wrong."""
    return is_readable(text) and _CORRECTION.search(text) is not None
