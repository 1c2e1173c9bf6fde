"""How many: a number that a sentence states of the thing asked for, else the number of different facts that tell of one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from perdure.reflect.asked import Asked
from perdure.reflect.passages import About, Passage
from perdure.reflect.readers.listing import read_items
from perdure.reflect.readers.reading import TRIED, Place, Reading, places
from perdure.text.terms import index_terms

WORDS = {
    word: number
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty".split()
    )
} | {"thirty": 30, "forty": 40, "fifty": 50, "hundred": 100, "once": 1, "twice": 2, "thrice": 3, "dozen": 12}
_NAMES = {number: word for word, number in WORDS.items() if word not in ("once", "twice", "thrice", "dozen")}
_ORDINALS = {
    word: number
    for number, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth".split(), start=1
    )
}
_NUMBER = (
    r"(?:\d[\d,]*(?:\.\d+)?|a dozen|(?:twenty|thirty|forty|fifty)(?:-\w+)?|"
    + "|".join(word for word in WORDS if word not in ("once", "twice", "thrice", "dozen", "hundred", "zero"))
    + r"|several|a few|a couple(?: of)?|both|many)"
)
_MONEY = re.compile(
    r"[$€£]\s?\d[\d,]*(?:\.\d+)?(?:\s?(?:k|million|billion))?|\b\d[\d,]*(?:\.\d+)? (?:dollars|euros|pounds|bucks)\b",
    re.IGNORECASE,
)
_TIMES = re.compile(
    r"\b(?:once|twice|thrice|(?:\w+|\d+) times)\b(?: an? (?:day|week|month|year))?", re.IGNORECASE
)
_OFTEN = re.compile(
    r"\b(?:every (?:other )?\w+|once|twice|(?:\w+ )?times an? \w+|daily|weekly|monthly|yearly|(?:once|twice|\w+ times) (?:a|an|per) \w+)\b(?: an? (?:day|week|month|year))?",
    re.IGNORECASE,
)
_THING = re.compile(
    r"\bhow (?:many|much)(?: of)?(?: the| my| his| her| their| different| more)* (?P<noun>[\w-]+(?: [\w-]+){0,2}?) (?:do|does|did|is|are|was|were|has|have|had|will|would|can|in|on|from|that|for|and|at)\b",
    re.IGNORECASE,
)
_OLD = re.compile(
    r"\b(\d{1,3})[ -]years?[ -]old\b|\b(?:turned|turning|is|age[d]?) (\d{1,3})\b", re.IGNORECASE
)
_FULL = re.compile(r"\b(?:(?:[$€£]\s?)?\d[\d,]*(?:\.\d+)?)(?: (?:percent|%|[a-z]+))?", re.IGNORECASE)
LEAST_TO_COUNT = 2


def read_how_many(asked: Asked, passages: Sequence[Passage]) -> Reading | None:
    """A stated number of the things asked for, else a count over facts, said to be one."""
    thing = thing_asked(asked)
    ranked = [
        place
        for place in places(asked, passages)
        if not place.sentence.is_question and place.passage.about is not About.OTHER
    ]
    for place in ranked[:TRIED]:
        stated = _stated(asked, place, thing)
        if stated:
            return Reading(answer=stated, passages=(place.passage,), reader="how many")
    return _ordinal(ranked[: 2 * TRIED], thing) or _counted(asked, passages, thing)


def thing_asked(asked: Asked) -> str:
    """The noun whose number is asked for, empty for an age, a price, how often."""
    match = _THING.search(asked.text)
    return match["noun"].lower() if match is not None else ""


def _stated(asked: Asked, place: Place, thing: str) -> str:
    text, low = place.sentence.text, asked.text.lower()
    if "how old" in low or "what age" in low:
        age = _OLD.search(text)
        return (age[1] or age[2]) if age is not None else ""
    if "how often" in low:
        often = _OFTEN.search(text)
        return often[0] if often is not None else ""
    if "how much" in low or "price" in low or "cost" in low or "amount" in low:
        money = _MONEY.search(text)
        return money[0] if money is not None else ""
    if thing in ("times", "time"):
        times = _TIMES.search(text)
        return times[0] if times is not None and place.coverage >= 0.5 else ""
    head = thing.split()[-1] if thing else ""
    stems = set(index_terms(head))
    if not stems:
        number = _FULL.search(text)
        return number[0] if number is not None else ""
    for match in re.finditer(
        rf"\b(?P<number>{_NUMBER}) (?P<rest>(?:[\w'-]+ ){{0,3}}?[\w'-]+)", text, re.IGNORECASE
    ):
        if stems & set(index_terms(match["rest"])):
            return match["number"]
    return ""


def _ordinal(ranked: Sequence[Place], thing: str) -> Reading | None:
    """The highest "my fourth tournament": so many there were at least."""
    stems = set(index_terms(thing.split()[-1] if thing else ""))
    highest: tuple[int, Place] | None = None
    for place in ranked:
        for match in re.finditer(
            rf"\b(?P<nth>{'|'.join(_ORDINALS)})(?P<rest>(?: [\w'-]+){{1,3}})",
            place.sentence.text,
            re.IGNORECASE,
        ):
            number = _ORDINALS[match["nth"].lower()]
            if (
                stems & set(index_terms(match["rest"]))
                and number > 1
                and (highest is None or number > highest[0])
            ):
                highest = number, place
    if highest is None:
        return None
    number, place = highest
    return Reading(
        answer=in_words(number), passages=(place.passage,), reader="how many", is_derived=True,
        note="at least: an ordinal was said",
    )  # fmt: skip


def _counted(asked: Asked, passages: Sequence[Passage], thing: str) -> Reading | None:
    if not thing:
        return None
    items = read_items(asked, passages)
    if len(items) < LEAST_TO_COUNT:
        return None
    sources = tuple(dict.fromkeys(passage for _, passage in items))
    if len(sources) < LEAST_TO_COUNT:
        return None
    return Reading(
        answer=in_words(len(items)), passages=sources, reader="how many", is_derived=True,
        note=f"counted over {len(sources)} facts: {', '.join(item for item, _ in items)}",
    )  # fmt: skip


def in_words(number: int) -> str:
    """three; 27."""
    return _NAMES.get(number, str(number))
