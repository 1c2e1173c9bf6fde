"""Values that a sentence itself names as over: "switched from Slack to Teams", "Jenkins is gone", "Felix and I broke up"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from perdure.text.clauses import UNREAL_SENTENCE, Clause, clauses, expand

SPEAKER = "I"
"""Whose value ended where the sentence speaks of the speaker, or of nobody."""

ANYBODY = ""
"""Whose value ended where the sentence does not say: of whom it speaks, or the speaker."""

_NP = r"(?P<value>(?:(?:the|my|our|his|her|their|an?|that|this)\s+)?[\w'&.+/@-]+(?:\s+(?!(?:and|but|so|because|for|to|in|on|at|with|from|after|before|when|as|last|this|now|yesterday|today|ago|since|by|over|too|instead|into|of|during|or|which|who|that)\b)[\w'&.+/@-]+){0,4}(?:\s+of\s+[\w'-]+)?)"
_OBJECT_VERBS = {
    "give": rf"up\s+(?:on\s+)?(?:\w+ing\s+)?{_NP}",
    "quit": rf"(?:\w+ing\s+)?(?:at\s+|in\s+)?{_NP}",
    "stop": rf"\w+ing\s+(?:at\s+|in\s+|on\s+|with\s+|for\s+|to\s+)?{_NP}",
    "drop": _NP,
    "ditch": _NP,
    "abandon": _NP,
    "dump": _NP,
    "cancel": rf"(?:at\s+|with\s+)?{_NP}",
    "scrap": _NP,
    "sell": _NP,
    "retire": _NP,
    "replace": _NP,
    "swap": rf"(?:out\s+)?{_NP}",
    "trade": rf"(?:in\s+|up\s+)?{_NP}",
    "exchange": _NP,
    "leave": _NP,
    "get": rf"(?:rid\s+of|off)\s+{_NP}",
    "shut": rf"(?:down\s+)?{_NP}",
    "turn": rf"off\s+{_NP}",
    "phase": rf"out\s+{_NP}",
    "say": rf"goodbye\s+to\s+{_NP}",
    "part": rf"(?:with|ways\s+with)\s+{_NP}",
    "break": rf"up\s+with\s+{_NP}",
    "split": rf"(?:up\s+)?(?:with|from)\s+{_NP}",
    "divorce": _NP,
    "lose": _NP,
    "switch": rf"(?:\w+\s+){{0,3}}?(?:away\s+)?from\s+{_NP}",
    "move": rf"(?:\w+\s+){{0,3}}?(?:away\s+|on\s+|over\s+)?from\s+{_NP}",
    "change": rf"(?:\w+\s+){{0,3}}?from\s+{_NP}",
    "migrate": rf"(?:\w+\s+){{0,3}}?(?:(?:away\s+)?from|off)\s+{_NP}",
    "go": rf"(?:from|off)\s+{_NP}",
    "upgrade": rf"(?:\w+\s+){{0,3}}?from\s+{_NP}",
    "convert": rf"from\s+{_NP}",
    "transfer": rf"from\s+{_NP}",
    "take": rf"over\s+(?:\w+\s+){{0,4}}from\s+{_NP}",
    "be": rf"(?:(?:done|finished|through|over)\s+with|over|off)\s+{_NP}",
    "have": rf"to\s+(?:say\s+goodbye\s+to|give\s+up|sell|let\s+go\s+of|part\s+with|quit|drop|put\s+down)\s+{_NP}",
    "outgrow": _NP,
    "unsubscribe": rf"from\s+{_NP}",
    "delete": _NP,
    "uninstall": _NP,
    "close": rf"(?:down\s+)?{_NP}",
}
"""Verb -> what stands behind it where its object is over."""
_OBJECTS = {verb: re.compile(rf"\s*(?:{pattern})", re.I) for verb, pattern in _OBJECT_VERBS.items()}
_SUBJECT_GONE = re.compile(
    r"^\s*(?:(?:now|just|finally|sadly|officially|all|been|also)\s+)*(?:gone\b|dead\b|history\b|over\b|no more\b|off the table|discontinued|closed (?:down|for good)|out of business|shut down|no longer (?:with us|around|an option|in use)|retired\b|done\b(?!\s+with)|out\b(?!\s+(?:of|with|for|in|on|now|today|there)))",
    re.I,
)
_WE_ENDED = re.compile(
    r"^(?:and (?:I|me)|& I)\s+(?:(?:have|has|are|were|had|just|finally|recently|officially|decided to|both|actually|sadly)\s+)*(?:broke up|broken up|break up|split(?: up)?|separated|divorced|got divorced|done\b|over\b|parted ways|called it quits|no longer (?:together|a couple|dating|friends)|not together any ?more|history\b|finished\b|went our separate ways|ended things|called it off)",
    re.I,
)
_PAIR = re.compile(r"(?P<value>[A-ZÀ-Ö][\w'-]+)\s+(?P<rest>(?:and|&) (?:I|me)\s+.*)")
_LET_GO = re.compile(
    r"(?P<value>[A-Z][\w'&.-]*(?:\s+[A-Z&][\w'&.-]*)*)\s+(?:has\s+|have\s+|just\s+)*(?:laid (?:me|us) off|let (?:me|us) go|fired (?:me|us)|sacked (?:me|us)|made (?:me|us) redundant|dumped me|left me|broke up with me|divorced me|ended (?:things|it) with me|(?:laid off|fired|let go)[^.]{0,40}\b(?:me included|including me|myself included))"
)
_INSTEAD = re.compile(
    rf"\b(?:instead of|in place of|rather than|as opposed to|no more|not|used to (?:be|use|have|drive|like|prefer|love|drink|eat|take|play|support|bank with|go to|live in|work (?:at|for|in))(?: an?)?)\s+{_NP}",
    re.I,
)
_TOOK_PLACE = re.compile(rf"^(?:over\s+)?(?:from\s+)?{_NP}")
_RETIRES = frozenset({"retire", "leave", "quit", "resign", "move", "die", "pass"})


@dataclass(frozen=True, slots=True)
class EndedValue:
    """A value that is over; `owner` is the subject as written, or SPEAKER."""

    value: str
    owner: str = SPEAKER
    of_person: bool = False
    """Whether the value is a person who went, which ends living or working together and no more."""


@lru_cache(maxsize=4096)
def ended_values(text: str) -> tuple[EndedValue, ...]:
    """The values that a sentence says are over, in its own words."""
    plain = expand(text)
    if plain.endswith("?") or UNREAL_SENTENCE.search(plain):
        return ()
    ended = [*_let_go(plain), *_pairs(plain), *_instead(plain)]
    for clause in clauses(plain):
        if clause.meant not in ("unreal", "planned", "denied", "progressive"):
            ended += _in_clause(clause)
    return tuple(dict.fromkeys(item for item in ended if item.value))


def _in_clause(clause: Clause) -> Iterator[EndedValue]:
    owner = _owner(clause)
    rest = clause.rest
    if clause.meant in ("over", "former"):
        match = re.match(rf"(?:(?:at|for|in|with|on|to|as)\s+)?{_NP}", rest)
        if match is not None:
            yield EndedValue(_clean(match["value"]), owner)
        return
    if clause.meant in ("past", "perfect") or (clause.verb == "be" and clause.meant == "fact"):
        pattern = _OBJECTS.get(clause.verb)
        match = pattern.match(rest) if pattern is not None else None
        if match is not None:
            yield EndedValue(_clean(match["value"]), owner)
        if clause.verb in ("replace", "succeed") and clause.noun is not None:
            match = _TOOK_PLACE.match(rest)
            if match is not None:
                yield EndedValue(_clean(match["value"]), SPEAKER)
        if (
            clause.verb == "take"
            and clause.noun is not None
            and (match := re.match(rf"over\s+from\s+{_NP}", rest)) is not None
        ):
            yield EndedValue(_clean(match["value"]), SPEAKER)
    if clause.noun is not None:
        subject = " ".join(clause.noun.words)
        if clause.verb == "be" and clause.form != "was" and _SUBJECT_GONE.match(rest):
            yield EndedValue(_clean(subject), SPEAKER)
        elif clause.meant in ("past", "perfect") and clause.noun.owner in ("", "my", "our") and _went(clause):
            yield EndedValue(_clean(clause.noun.name or subject), SPEAKER, of_person=True)


def _went(clause: Clause) -> bool:
    """Whether the subject is a person who is no longer there: "Petra moved out", "Dr Osei retired"."""
    rest = clause.rest.strip()
    if clause.verb == "move":
        return rest.startswith("out") and not rest.startswith(("out to", "out of his", "out of her"))
    if clause.verb == "leave":
        return re.match(r"(?:the (?:company|team|firm|flat|band|practice)|us\b)", rest) is not None
    if clause.verb in ("retire", "resign", "quit", "die"):
        return True
    return clause.verb == "pass" and rest.startswith("away")


def _owner(clause: Clause) -> str:
    if clause.noun is None:
        return SPEAKER if clause.subject in ("i", "we", "they", "it", "that") else ""
    if clause.noun.name:
        return clause.noun.name
    words = " ".join(clause.noun.words)
    return words if clause.noun.owner == "" else f"{clause.noun.owner} {words}"


def _instead(text: str) -> Iterator[EndedValue]:
    """ "Zed instead of Sublime", "walnuts, not almonds"."""
    for match in _INSTEAD.finditer(text):
        before = text[: match.start()]
        if match[0].casefold().startswith("not ") and not before.rstrip().endswith((",", "—", "-", "(")):
            continue
        if not _UNSURE.search(before):
            yield EndedValue(_clean(match["value"]), ANYBODY)


_UNSURE = re.compile(
    r"\b(?:if|would|could|might|may|should|will|want|wants|wish|hope|maybe|perhaps|going to|prefer to|try|trying|let us|let's|please|can|must)\b",
    re.I,
)


def _pairs(text: str) -> Iterator[EndedValue]:
    for match in _PAIR.finditer(text):
        if _WE_ENDED.match(match["rest"]):
            yield EndedValue(_clean(match["value"]))


def _let_go(text: str) -> Iterator[EndedValue]:
    for match in _LET_GO.finditer(text):
        yield EndedValue(_clean(match["value"]))


_ARTICLE = re.compile(r"^(?:(?:the|my|our|his|her|their|an?|that|this|old|dear|poor)\s+)+(?=\S)", re.I)


def _clean(value: str) -> str:
    return _ARTICLE.sub("", value.strip(" .,;:!?'")).strip(" .,;:!?")
