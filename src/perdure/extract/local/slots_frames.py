"""Frames over a whole sentence that give a slot a value or end one: "Karen is my new boss", "last day at Acme", "life in Turku"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from perdure.extract.local.slots_frame_values import FRAME_PATTERNS, frame_value
from perdure.extract.local.slots_subjects import Cast
from perdure.extract.local.slots_values import CAPITAL
from perdure.text.clauses import clauses, read_noun
from perdure.text.slot_table import read_toml

_PERSON = rf"(?:I|we|he|she|they|you|(?:my|our|his|her|their)(?:\s+(?-i:[a-zà-ÿ][\w-]*)){{1,2}}?(?:\s+(?-i:{CAPITAL}))?|(?-i:{CAPITAL})(?:\s+(?-i:{CAPITAL}))?)"
_START = r"(?:^|(?<=[.!?:;,(]\s)|(?<=\s[—–-]\s)|(?<=\sand\s)|(?<=\sbut\s)|(?<=\sso\s))(?:(?:just|finally|now|so|well|ok|okay|fyi|btw|still|officially|recently)\s+)*"
_HOLES = {
    "who": rf"(?<![\w'])(?P<who>{_PERSON})",
    "who?": rf"(?:(?<![\w'])(?P<who>{_PERSON})\s+|{_START})",
    "whom": rf"(?P<whom>me|us|him|her|them|(?:my|our)\s+(?-i:[a-z][\w-]*)|(?-i:{CAPITAL}))",
    "whose": rf"(?<![\w'])(?P<whose>my|our|his|her|their|(?:my|our)\s+(?-i:[a-z][\w-]*)'s|(?-i:{CAPITAL})'s?)",
    "aux": r"(?:(?:am|is|are|have|has|been|got|just|now|finally|recently|officially|still|already|currently|also|all|both|back)\s+){0,4}",
    "home": r"(?:flat|apartment|house|home|place|studio|room|condo|townhouse|cottage|bungalow|loft|flatshare|maisonette)",
    "poss": r"(?:my|our|your|his|her|their|the|its|that|\w+'s)",
    "old": r"(?:(?!\bto\b)[^,;]){1,40}?",
}
_HOLE = re.compile(r"\{(\w+\??)\}")
_NO_STATEMENT = re.compile(
    r"\b(?:if|unless|whether|would|could|might|(?-i:may)|should|(?-i:will)|shall|gonna|going to|wants?|wanted|wish|wishes|hop(?:e|es|ing)|plan(?:s|ning)?|thinking (?:of|about)|considering|maybe|perhaps"
    r"|possibly|imagine|used to|nearly|almost|pretend|believes?|thinks?|thought|rumou?rs?|heard|gossip|according to|asks?|asked|wonder|interview(?:ed)?|appl(?:y|ied|ying)|trial|trying out|tomorrow|soon"
    r"|next (?:week|month|year|term|spring|summer|autumn|winter|quarter|\w+day)|while|until|during|temporar\w+|borrowed|rental|never|not|nobody|no longer|one day|years ago|back (?:then|in)|as an? (?:child|kid|boy|girl|baby|student|teenager)"
    r"|in my (?:youth|teens|twenties|thirties)|when (?:i|we|he|she) (?:was|were)|once|raised|was born|grew up|except|besides|without|joke|kidding|obviously|absolutely|can not you tell|of course i|(?:i|we|he|she|they) had|as everybody knows|haha|lol|film|movie|book|novel|play|dream"
    r"|for (?:a|the|two|three|\d+|seven|these|one) (?:\w+ )?(?:nights?|days?|weeks?|months?|hours?|weekend|holidays?|summer|semester)|this (?:week|weekend) only|just this (?:week|once)|these two weeks|only this once|holiday|vacation)\b",
    re.I,
)
_UNREAL_FOR_ENDS = re.compile(
    r"\b(?:if|unless|whether|would|could|might|(?-i:may)|should|(?-i:will)|shall|gonna|going to|want|wants|wish|hope|maybe|perhaps|imagine|nearly|almost|have not|has not|did not|does not want|thinking)\b",
    re.I,
)
_BESIDE = re.compile(
    r"\b(?:also|another|as well|in addition|additional|on top of|apart from|next to|second|besides)\b", re.I
)


@dataclass(frozen=True, slots=True)
class FrameStatement:
    """What a frame says: whose slot, which, the value (empty where whatever it was ends)."""

    subject: str
    relation: str
    value: str
    ends: bool
    beside: bool


@dataclass(frozen=True, slots=True)
class _Frame:
    relation: str
    ends: bool
    pattern: re.Pattern[str]


def frame_statements(text: str, cast: Cast) -> Iterator[FrameStatement]:
    """The slots that frames find in a sentence (as `expand` gives it), the first per slot."""
    seen: set[str] = set()
    for frame in _frames():
        if frame.relation in seen:
            continue
        for match in frame.pattern.finditer(text):
            statement = _read(frame, match, text, cast)
            if statement is not None:
                seen.add(frame.relation)
                yield statement
                break


def is_stated(part: str) -> bool:
    """Whether a part of a sentence says how things are: no plan, wish, denial, doubt, or what was or is for a while."""
    return _NO_STATEMENT.search(_without_contrast(part)) is None


def _read(frame: _Frame, match: re.Match[str], text: str, cast: Cast) -> FrameStatement | None:
    part = _part(text, match.start(), match.end())
    if _UNREAL_FOR_ENDS.search(part) if frame.ends else not is_stated(part):
        return None
    subject = _subject(match, part, cast)
    value = frame_value(match)
    if not subject or value is None or value.casefold() == subject.casefold():
        return None
    if frame.relation in _OF_PERSONS and not value and not frame.ends:
        return None
    return FrameStatement(subject, frame.relation, value, frame.ends, bool(_BESIDE.search(part)))


_OF_PERSONS = frozenset({"partner", "reports_to", "lives_with"})


def _part(text: str, start: int, end: int) -> str:
    """The part of the text between full stops that holds the match."""
    left = max(text.rfind(mark, 0, start) for mark in (". ", "! ", "? ", "; "))
    rights = [place for mark in (". ", "! ", "? ", "; ") if (place := text.find(mark, end)) >= 0]
    return text[left + 1 if left >= 0 else 0 : min(rights, default=len(text))]


_CONTRAST = re.compile(
    r"(?:,\s|\sand\s|^)not\s(?!going|yet|any)[^,.;]*|\bno longer [A-Z]\w*|\bsays? hi\b", re.I
)


def _without_contrast(part: str) -> str:
    """The part without the values that it denies: "Linz, not Graz"."""
    return _CONTRAST.sub("", part)


def _subject(match: re.Match[str], part: str, cast: Cast) -> str:
    """Whose slot it is: as the frame says, else the one other person that the part is about, else the speaker."""
    groups = match.groupdict()
    if groups.get("whose"):
        return _owner(groups["whose"], cast)
    who = groups.get("who") or groups.get("whom")
    if who:
        return _person(who, cast)
    others = {cast.person(clause.subject, clause.noun) for clause in clauses(part)} - {"", cast.speaker}
    if not others or re.search(r"\b(?:I|my|me|we|our|us)\b", match[0]):
        return cast.speaker
    return others.pop() if len(others) == 1 else ""


def _owner(words: str, cast: Cast) -> str:
    if words.casefold() in ("my", "our", "his", "her", "their"):
        return cast.owner(words.casefold())
    return _person(re.sub(r"'s?$", "", words), cast)


_OBJECTS = {"me": "i", "us": "we", "him": "he", "her": "she", "them": "they"}


def _person(words: str, cast: Cast) -> str:
    low = _OBJECTS.get(words.casefold(), words.casefold())
    if low in ("i", "we", "you", "he", "she", "they"):
        return cast.person(low, None)
    noun = read_noun(words)
    return cast.person("", noun) if noun is not None else ""


@cache
def _frames() -> tuple[_Frame, ...]:
    return tuple(
        _Frame(relation, key == "ends", re.compile(rf"(?i:{_pattern(frame)})(?![\w'])"))
        for relation, rows in read_toml("slots/en_frames.toml").items()
        for key in ("ends", "says")
        for frame in rows.get(key, ())
    )


def _pattern(frame: str) -> str:
    """A frame as a pattern."""
    parts: list[str] = []
    position = 0
    for number, hole in enumerate(_HOLE.finditer(frame)):
        parts += [_literal(frame[position : hole.start()]), _hole(hole[1], number)]
        position = hole.end()
        if hole[1] in ("who?", "aux") and frame[position : position + 1] == " ":
            position += 1
    parts.append(_literal(frame[position:]))
    pattern = "".join(parts)
    return pattern if pattern.startswith(("^", "(?<!", "(?:(?<!")) else rf"(?<![\w']){pattern}"


def _hole(name: str, number: int) -> str:
    if name in _HOLES:
        return _HOLES[name]
    return rf"(?P<{name}__{number}>(?-i:{FRAME_PATTERNS[name]}))"


def _literal(text: str) -> str:
    return re.sub(r"\((?!\?)", "(?:", text).replace(" ", r"\s+")
