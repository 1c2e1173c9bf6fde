"""Which kind of value a question asks for, and whether a statement holds one: a name for "who", a number for "how much".

It never says that a statement answers, only that it cannot.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from enum import StrEnum

from perdure.text.names import normal_name
from perdure.text.slot_table import slots


class AnswerKind(StrEnum):
    """What an answer must hold."""

    NAME = "name"
    NUMBER = "number"
    TIME = "time"
    MAIL = "mail"
    ANY = "any"


_NUMBERS = r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|half|double|once|twice|dozen)\b"
_HOLDS = {
    AnswerKind.NUMBER: re.compile(_NUMBERS, re.IGNORECASE),
    AnswerKind.TIME: re.compile(
        rf"{_NUMBERS}|\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september|october|november|december"
        r"|morning|noon|afternoon|evening|night|midnight|tomorrow|yesterday|today|week|month|year|spring|summer|autumn|fall|winter|christmas|easter)\w*",
        re.IGNORECASE,
    ),
    AnswerKind.MAIL: re.compile(r"@"),
}
_KIND_OF_VALUE = {
    "number": AnswerKind.NUMBER, "money": AnswerKind.NUMBER, "phone": AnswerKind.NUMBER, "date": AnswerKind.TIME, "time": AnswerKind.TIME,
    "mail": AnswerKind.MAIL, "person": AnswerKind.NAME,
}  # fmt: skip
_QUESTIONS = (
    (re.compile(r"\s*(?:and |so )?who(?:m|se|'s|’s)?\b", re.IGNORECASE), AnswerKind.NAME),
    (re.compile(r"\s*how (?:much|many|old|high|tall|heavy|often)\b", re.IGNORECASE), AnswerKind.NUMBER),
    (
        re.compile(r"\s*(?:when|(?:at |on )?(?:what|which) (?:time|day|date|hours?))\b", re.IGNORECASE),
        AnswerKind.TIME,
    ),
)
_YES_OR_NO = re.compile(r"\s*(?:do|does|did|is|are|am|was|were|has|have|had|can|will)\b", re.IGNORECASE)
_NAME = re.compile(r"(?<=[\w,;] )(?!I\b)[A-ZÀ-ÖØ-Þ][\w'’-]+")
"""A word with a capital within a sentence."""


def asked_kind(question: str, relation: str | None) -> AnswerKind:
    """What a value that answers must hold, by the question's first words, else by the slot."""
    for words, kind in _QUESTIONS:
        if words.match(question):
            return kind
    if _YES_OR_NO.match(question) or relation is None or relation not in slots():
        return AnswerKind.ANY
    return _KIND_OF_VALUE.get(slots()[relation].value, AnswerKind.ANY)


def may_hold(kind: AnswerKind, text: str, names: Collection[str], besides: Collection[str]) -> bool:
    """Whether a statement, in which these names were found, may hold a value of the kind; a name is one besides those of the question."""
    if kind is AnswerKind.ANY:
        return True
    if kind is not AnswerKind.NAME:
        return _HOLDS[kind].search(text) is not None
    own = {word for name in besides for word in normal_name(name).split()}
    mentioned = (*names, *_NAME.findall(text))
    return text == text.lower() or any(not own.issuperset(normal_name(name).split()) for name in mentioned)
