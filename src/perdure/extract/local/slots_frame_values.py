"""Values in frames: what each kind looks like, and the longest beginning of the words that is one."""

from __future__ import annotations

import re
from collections.abc import Callable

from perdure.extract.local.slots_values import (
    ANIMALS,
    CAPITAL,
    GAMES,
    LANGUAGES,
    NUMBER,
    SPORTS,
    STOP_WORDS,
    VALUE_PATTERNS,
    bare,
    clean_value,
    is_car,
    is_medicine,
    thing_kind,
)
from perdure.extract.local.slots_values import WORDS as _LISTS
from perdure.text.kin import PERSONS
from perdure.text.value_patterns import MONEY
from perdure.text.wordlist import word_set

_WORD = rf"(?!(?i:{'|'.join(STOP_WORDS)})\b)[^\W_][\w'&+/.-]*"
_FEW = rf"{_WORD}(?:\s+{_WORD}){{0,4}}"
_NAMES = rf"{CAPITAL}(?:\s+(?:(?:of|de|da|la|le|the|&)\s+){{0,2}}{CAPITAL})*"
_ANIMAL = "guinea pigs?|" + "|".join(f"{animal}s?" for animal in sorted(ANIMALS, key=len, reverse=True))
_FOOD = (
    "red meat|meat|fish|dairy|gluten|pork|beef|lamb|chicken|seafood|shellfish|eggs|sugar|animal products|wheat|carbs|cheese|poultry|bread|pasta"
    "|nuts|caffeine|coffee|alcohol|milk|lactose|soy|processed food|sweets|junk food|white flour"
)
_DAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?s?"
_SMALL = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
_CLOCK = rf"(?:\d{{1,2}}(?:[:.]\d{{2}})?\s?(?:[ap]\.?m\.?)?|half past \w+|noon|{_SMALL})"
_DIETS = "|".join(sorted(_LISTS["diets"], key=len, reverse=True))
_RELIGIONS = "|".join(f"{word}s?" for word in sorted(_LISTS["religions"], key=len, reverse=True))
_ILLNESS = "cancer|asthma|migraines?|diabetes|back pain|depression|anxiety|arthritis|epilepsy|adhd|insomnia|tinnitus|eczema|psoriasis|hay fever|gout|anaemia|anemia"

FRAME_PATTERNS: dict[str, str] = {
    **VALUE_PATTERNS,
    "field": rf"{_WORD}(?:\s+{_WORD}){{0,2}}",
    "school2": rf"(?:the\s+)?{_NAMES}",
    "hours2": rf"(?i:{VALUE_PATTERNS['hours']}|(?:from\s+)?{_CLOCK}\s+(?:to|till|until)\s+{_CLOCK}|(?:\w+\s)?(?:night|weekend|early|late|day|evening|morning)\s?shifts?|{_SMALL} on,? {_SMALL} off|(?:mornings|afternoons|evenings|nights|weekends)(?: only)?|shifts)",
    "clock": rf"(?i:{_CLOCK})",
    "days": rf"(?i:{_DAY}\b(?:\s*(?:,|to|till|through|and|-|–)\s*{_DAY}\b)*)",
    "transport2": r"(?i:(?:overnight\s|night\s|express\s|local\s|commuter\s)?(?:e-?bike|bike|bicycle|bus|train|tram|metro|tube|subway|underground|ferry|coach|scooter|moped|motorbike|car|s-bahn|u-bahn|foot)\b(?:\s\d+)?)",
    "duration": rf"(?i:(?:an?|\d+|{_SMALL})\s(?:and a half\s)?(?:hours?|minutes|mins?)(?:\sand\s\w+)?(?:\sminutes)?)",
    "person": rf"{CAPITAL}(?:\s+{CAPITAL})*",
    "person2": rf"{CAPITAL}(?:\s+{CAPITAL})*",
    "personk2": VALUE_PATTERNS["personk"],
    "age2": r"(?:\d{1,3}|(?i:eighteen|nineteen|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:-\w+)?))(?=\s+years?\s+old|\s+(?:now|today|yesterday|last|this|on|already|and|at)\b|\s*(?:[.,;!](?!\d)|$))",
    "n2": NUMBER,
    "pet2": rf"(?i:an?|one|two|three|four|five|six|\d|some)\s+(?:[\w-]+\s+){{0,3}}?(?i:{_ANIMAL})\b(?:,?\s*(?:named|called)\s+{CAPITAL})?",
    "oldpet2": rf"(?:[\w-]+\s+){{0,1}}?(?i:{_ANIMAL})\b(?:,?\s*{CAPITAL})?|{CAPITAL}",
    "diet2": rf"(?i:{_DIETS}|intermittent fasting)\b(?:\s(?:diet|food|meat)\b)?",
    "anyfood": rf"(?i:{_FOOD})\b",
    "anyfood2": rf"(?i:{_FOOD})\b",
    "fasting": r"(?i:(?:intermittent )?fasting|keto|paleo|low-carb)",
    "coeliac": r"(?i:coeliac|celiac)(?:\s+disease)?",
    "med2": rf"(?i:the\s+|a\s+|my\s+)?(?:\d[\d.,]*\s?(?:mg|mcg|µg|ml|micrograms|units|iu)\s+(?:of\s+)?)?{_FEW}",
    "car2": rf"(?i:an?\s+|the\s+|my\s+|our\s+)(?:[\w-]+\s+)?{_FEW}",
    "oldcar2": rf"{_WORD}(?:\s+{_WORD})?",
    "religion2": rf"(?i:(?:{_RELIGIONS})|jehovah's witness(?:es)?)\b(?:\s(?:faith|church|congregation)\b)?",
    "skill2": _FEW,
    "sport2": _FEW,
    "item": rf"{_WORD}(?:\s+{_WORD}){{0,2}}?",
    "amount2": rf"(?:{MONEY}|\d[\d.,]*k?)(?!\s?(?:%|days?|hours?|people|years?))",
    "length2": r"(?:\d[.,]\d+\s?m(?:et(?:er|re)s?)?|\d{3}\s?cm|\d\s?m\s?\d{2}|one met(?:re|er) \w+|\d'\d+)",
    "illness": rf"(?:an?\s+)?{_WORD}(?:\s+{_WORD})?",
    "illness2": rf"(?i:{_ILLNESS})",
    "selfgo": "", "unwed": "", "sep": "", "carpool": "", "nokids": "", "alone2": "", "pregnant": "",
    "bybike3": "", "onfoot3": "", "bycar3": "",
}  # fmt: skip
"""Kind -> the pattern of its values; an empty one where the frame alone gives the value."""

_FIXED = {
    "selfgo": "self-employed", "unwed": "single", "sep": "separated", "carpool": "carpool", "nokids": "none", "alone2": "alone",
    "pregnant": "pregnant", "bybike3": "bike", "onfoot3": "foot", "bycar3": "car", "coeliac": "gluten",
}  # fmt: skip
_FIELDS = word_set(
    "management engineering design development marketing sales nursing teaching research consulting accounting finance qa testing support operations "
    "law medicine journalism science analytics hr recruiting logistics procurement carpentry academia"
)
_NOT_PERSONS = word_set(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november december the it this that today "
    "someone nobody everyone everybody somebody one work home i we he she they you my our his her here there what new no yes"
)
_NO_FOOD = word_set(
    "bad severe mild strong new food a an the me it that this i we he she they out so please nothing everything anything which what"
)


def frame_value(match: re.Match[str]) -> str | None:
    """The value of a frame's match; empty where the frame has none, None where what stands there is none of its kind."""
    raws = [
        (name.partition("__")[0], raw)
        for name, raw in match.groupdict().items()
        if "__" in name and raw is not None
    ]
    if not raws:
        return ""
    kind, raw = raws[-1]
    return value_of_kind(kind, raw) or None


def value_of_kind(kind: str, raw: str) -> str:
    """The value as it is stored; empty for what only looks like one."""
    if kind in _FIXED:
        return _FIXED[kind]
    if kind in ("anyfood", "anyfood2"):
        return f"no {raw.casefold()}"
    is_one = _SHRINKING.get(kind)
    if is_one is not None:
        return _longest(raw, is_one)
    value = clean_value(_AS.get(kind, kind), raw)
    is_fitting = _TESTS.get(kind)
    return value if value and (is_fitting is None or is_fitting(value)) else ""


def _longest(raw: str, is_one: Callable[[str], bool]) -> str:
    """The longest beginning of the words that passes."""
    words = bare(raw).split()
    for end in range(len(words), 0, -1):
        value = " ".join(words[:end]).strip(" .,;:!?")
        if value and is_one(value):
            return value
    return ""


def _is_skill(value: str) -> bool:
    words = value.casefold().split()
    return (len(words) == 1 and words[0] in LANGUAGES) or value.casefold() == "sign language"


def _is_sport(value: str) -> bool:
    words = value.casefold().split()
    return words[-1] in SPORTS or (len(words) == 1 and words[0] in GAMES)


def _is_field(value: str) -> bool:
    return value.casefold().split()[-1] in _FIELDS


def _is_named(value: str) -> bool:
    return value.split()[0].casefold() not in _NOT_PERSONS


def _is_drug(value: str) -> bool:
    words = [
        word for word in value.split() if not re.match(r"\d|(?:of|mg|mcg|ml|micrograms|the|units)$", word)
    ]
    return 0 < len(words) <= 2 and words[0].casefold() not in STOP_WORDS and is_medicine(value)


_AS = {
    "person2": "fullname", "personk2": "personk", "person": "fullname", "age2": "n", "n2": "n", "hours2": "text", "school2": "name", "diet2": "diet",
}  # fmt: skip
_SHRINKING: dict[str, Callable[[str], bool]] = {
    "skill2": _is_skill,
    "sport2": _is_sport,
    "field": _is_field,
    "med2": _is_drug,
    "car2": lambda value: is_car(value) and value.split()[-1].casefold() not in STOP_WORDS,
    "oldcar2": is_car,
}
_TESTS: dict[str, Callable[[str], bool]] = {
    "person": lambda value: _is_named(value) and value.casefold() not in PERSONS,
    "person2": _is_named,
    "worg": lambda value: _is_named(value) and value.casefold() not in PERSONS,
    "place": _is_named,
    "team": _is_named,
    "fullname": _is_named,
    "school2": _is_named,
    "food": lambda value: value.split()[0].casefold() not in _NO_FOOD,
    "item": lambda value: value.split()[0].casefold() not in _NO_FOOD and not thing_kind(value),
    "oldpet2": lambda value: value.casefold() not in PERSONS and _is_named(value),
    "illness": lambda value: value.split()[0].casefold() not in _NO_FOOD,
}
