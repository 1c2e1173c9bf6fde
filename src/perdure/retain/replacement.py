"""How likely it is that a statement takes the place of an older one: the readings of both and the words they share.

The log odds beside this file are fitted by `python -m bench.changes` on pairs of labelled statements.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from perdure.ports.statements import (
    ALSO,
    BEGINS,
    CORRECTS,
    ENDS,
    HOLDS,
    NO_SLOT,
    OTHER,
    SELF,
    WE,
    StatementReading,
)
from perdure.retain.statement_words import Wording
from perdure.text.assertion import is_for_a_while, is_plain_statement, speaks_of_change, speaks_of_end
from perdure.text.wordings import LANGUAGES

WEIGHTS = "replacement.toml"
SLOTS_OF_THINGS = frozenset(
    "tool appointment owner money favourite secret doctor count status place_of_thing plan_name preference hobby language pet "
    "allergy medication bank device health".split()
)
"""Slots of which somebody has several, told apart by the thing's noun."""
WORDED_SLOTS = frozenset(
    "marital age role diet commute study religion children work_hours allergy health hobby preference favourite".split()
)
"""Slots whose values are words as often as names or numbers."""
SLOTS_OF_PEOPLE = frozenset("partner boss doctor housemate pet owner children name marital".split())
"""Slots whose values are often the subject: "Ann runs the team now"."""
_SMALL = 0.02
"""Added to probabilities before their logarithm, so that no single reading decides alone."""


def agreement(first: StatementReading, second: StatementReading) -> float:
    """The probability that two sentences state the same slot."""
    return sum(first.slots[slot] * second.slots[slot] for slot in first.slots if slot != NO_SLOT)


def shared_slot(first: StatementReading, second: StatementReading) -> str:
    """The slot that both sentences most likely state."""
    shares = {slot: p * second.slots[slot] for slot, p in first.slots.items() if slot != NO_SLOT}
    return max(shares, key=shares.__getitem__)


def pair_features(
    new: StatementReading, new_words: Wording, old: StatementReading, old_words: Wording
) -> dict[str, float]:
    """What speaks for and against the new statement in the place of the old one, by name."""
    aspects, before = new.aspects, old.aspects
    changes = aspects[BEGINS] + aspects[ENDS] + aspects[CORRECTS]
    agreed = agreement(new, old)
    own = (new.subjects[SELF] + new.subjects[WE]) * (old.subjects[SELF] + old.subjects[WE])
    slot = shared_slot(new, old)
    named = bool(new_words.words & old_words.value_words)
    shared = bool(new_words.nouns & old_words.nouns)
    fresh = new_words.values - old_words.values
    english = new_words.language not in LANGUAGES
    of_things = slot in SLOTS_OF_THINGS
    return {
        "agreement": math.log(agreed + _SMALL),
        "sure_agreement": agreed,
        "changes": math.log(changes + _SMALL),
        "real": math.log(changes + aspects[HOLDS] + _SMALL),
        "ends": aspects[ENDS],
        "corrects": aspects[CORRECTS],
        "also": aspects[ALSO],
        "temporary": aspects["temporary"],
        "past": aspects["past"],
        "denied": aspects["denied"],
        "ahead": aspects["plan"] + aspects["wish"] + aspects["unreal"] + aspects["question"],
        "states_nothing": new.slots[NO_SLOT],
        "older_states_nothing": old.slots[NO_SLOT],
        "older_is_state": math.log(before[HOLDS] + before[BEGINS] + before[CORRECTS] + _SMALL),
        "own": math.log(own + _SMALL),
        "of_other": new.subjects[OTHER],
        "older_of_other": old.subjects[OTHER],
        "both_of_other": new.subjects[OTHER] * old.subjects[OTHER],
        "both_of_named": new.subjects[OTHER] * old.subjects[OTHER] * (named or shared),
        "names_value": float(named),
        "names_ended_value": named * aspects[ENDS],
        "ends_unnamed": (not named) * aspects[ENDS],
        "shares_noun": float(shared),
        "has_value": float(bool(fresh)),
        "older_has_value": float(bool(old_words.values)),
        "both_numbers": float(_has_number(fresh) and _has_number(old_words.values)),
        "both_names": float(_has_name(fresh) and _has_name(old_words.values)),
        "of_things": float(of_things),
        "of_same_thing": float(of_things and shared),
        "of_worded_slot": float(slot in WORDED_SLOTS),
        "likeness": float(new.vector @ old.vector),
        "not_plain": float(english and not is_plain_statement(new_words.text)),
        "for_a_while": float(is_for_a_while(new_words.text)),
        "speaks_of_change": float(english and speaks_of_change(new_words.text)),
        "speaks_of_end": float(english and named and speaks_of_end(new_words.text)),
    }


def _has_number(values: frozenset[str]) -> bool:
    return any(value[:1].isdigit() for value in values)


def _has_name(values: frozenset[str]) -> bool:
    return any(not value[:1].isdigit() for value in values)


@cache
def weights() -> Mapping[str, float]:
    """Log odds per feature, and `bias`."""
    text = files("perdure.retain").joinpath(WEIGHTS).read_text(encoding="utf-8")
    return {name: float(value) for name, value in tomllib.loads(text)["log_odds"].items()}


def replacement_probability(features: Mapping[str, float]) -> float:
    """Logistic regression over `pair_features`."""
    own = weights()
    odds = own["bias"] + sum(own[name] * value for name, value in features.items())
    return 1 / (1 + math.exp(-odds)) if odds > -500 else 0.0
