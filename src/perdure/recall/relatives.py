"""Relatives by name: "Ann's brother" in a question is looked up in what memory says of him ("Ann's brother Sami ...")."""

from __future__ import annotations

import re
from functools import cache

from perdure.domain.filter import Filter
from perdure.ports.probe import KeywordProbe
from perdure.ports.store import Reading
from perdure.text.kin import PERSONS
from perdure.text.terms import index_terms

LOOKED_AT = 20
"""Statements that hold the word for the relative."""
_NAME = r"(?-i:(?!The\b|He\b|She\b|And\b|My\b|Our\b|We\b|Is\b)([A-ZÀ-ÖØ-Þ][\w-]+))"


@cache
def _relative_asked() -> re.Pattern[str]:
    """Somebody's relative of whom something is asked, not who he or she is."""
    words = "|".join(sorted(map(re.escape, PERSONS), key=len, reverse=True))
    return re.compile(
        rf"(?<!who is )(?<!who was )(?<!who's )\b(?P<owner>[\w-]+)['’]s (?P<kin>{words})\b"
        rf"(?=['’]s \w| (?!(?:called|named|now|at|in|before|again|today|these)\b)[a-z]+)",
        re.IGNORECASE,
    )


def named_relative(reading: Reading, where: Filter, question: str) -> str:
    """The question with the relative's name behind the word for him or her; as it is when memory has no single one."""
    asked = _relative_asked().search(question)
    if asked is None:
        return question
    word = asked["kin"].lower()
    hits = reading.search(KeywordProbe(dict.fromkeys(index_terms(word), 1.0)), where, LOOKED_AT)
    owner = re.escape(asked["owner"])
    telling = re.compile(
        rf"(?:\b{owner}['’]s|\b[Mm]y|\b[Oo]ur) (?:\w+ )?{word}(?:,| is called| is named|['’]s name is| is)? {_NAME}"
        rf"|{_NAME},? (?:is )?(?:{owner}['’]s|my|our) {word}\b",
        re.IGNORECASE,
    )
    names = {
        name
        for fact in reading.facts([hit.fact_id for hit in hits])
        for match in telling.finditer(fact.text)
        for name in match.groups()
        if name
    }
    if len(names) != 1:
        return question
    return f"{question[: asked.end()]} {names.pop()}{question[asked.end() :]}"
