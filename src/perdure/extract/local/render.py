"""Writing a group of sentences as one narrative fact, without marks that carry no meaning."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from html import unescape
from itertools import groupby
from typing import Literal

from perdure.extract.local.causes import without_connective
from perdure.extract.local.grouping import Group
from perdure.extract.local.persons import Rewritten, has_no_subject
from perdure.extract.local.units import Unit
from perdure.text.voice import Voice

Mode = Literal["told", "said", "asked"]

_ACTION = re.compile(r"\[([a-z]+s)\b(.*)\]$", re.DOTALL)
_CALL = re.compile(
    r"(?:(?:wow|hey|hi|hello|oh|yeah|yes|yep|yup|haha|aww|ah|ok|okay)\b[,! ]+"
    r"|(?:well|thanks|thank you|sure|absolutely|definitely|no)\b[,!][,! ]*)+(?:(?P<name>[A-Z]\w+)[,!]\s+)?(?=[A-Z]\w*|it|that|the|this|they|he|she)",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"(?:(?:and|but|plus|also|oh|well|anyway|anyways|by the way|btw|so(?=[,.…]))\b[,.…]*\s+)+(?=[\w\"“'])",
    re.IGNORECASE,
)
_FRAGMENT = 60
"""Prose shorter than this is told with its heading."""
_CODE = re.compile(r"```|~~~|[{\[]\s*\"")
_FIRST_PERSON = re.compile(r"\b(?:I|I'm|I’m|I've|I’ve|I'd|I'll|my|me)\b")
_SUGGESTING = re.compile(
    r"\b(?:try|consider|recommend|suggest|you (?:can|could|may|might|should)\b(?!['’]t)|make sure|tips?|ideas?|steps?|options?)\b",
    re.IGNORECASE,
)

_TAG = re.compile(
    r"</?(?:a|abbr|article|b|blockquote|body|br|center|code|dd|div|dl|dt|em|font|footer|form|h[1-6]|head|header|hr|html|i|"
    r"img|input|label|li|link|main|meta|nav|ol|option|p|pre|script|section|select|small|span|strong|style|sub|sup|table|"
    r"tbody|td|tfoot|th|thead|title|tr|u|ul)\b[^<>]{0,300}>",
    re.IGNORECASE,
)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z]{2,10});")
_STRONG = re.compile(r"(\*\*|__)(?=\S)(.{1,300}?)(?<=\S)\1")
_EMPHASIS = re.compile(r"(?<![\w*])\*(?=[^\s*])([^*\n]{1,200}?)(?<=[^\s*])\*(?![\w*])")
_LINK = re.compile(r"!?\[([^\[\]\n]{1,300})\]\(([^()\s]{1,500})\)")
_LINE_MARK = re.compile(r"^\s*(?:#{1,6}|>+|[-*+•◦‣–]|\[[ xX]?\])\s+(?:\[[ xX]\]\s+)?", re.MULTILINE)
_SPACE = re.compile(r"\s+")
_PIPES = re.compile(r"\s*\|\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """Who speaks to whom, what was asked before, and how a sentence reads in the third person."""

    speaker: Voice | None
    other: Voice | None
    is_agent: bool
    is_data: bool
    question: str
    """What the turn before asked, when the first sentence is an answer to it."""
    asker: Voice | None
    title: str
    english: bool
    in_third_person: Callable[[Unit], Rewritten]


@dataclass(frozen=True, slots=True)
class _Line:
    mode: Mode
    text: str
    named: bool
    block: int = 0


def write_fact(group: Group, scene: Scene, put_name: Callable[[str], str]) -> str:
    """The fact's text; `put_name` puts a name for the "he" or "she" that its first sentence starts with."""
    heading = _heading(group)
    if scene.speaker is None:
        return _with_title(heading + _joined(group.units), scene.title)
    if scene.is_data:
        return f"{_tool(scene.speaker)} returned: {heading}{_joined(group.units)}"
    if scene.is_agent:
        return _agent_fact(group, scene, heading)
    if scene.question:
        return _answer(_joined(group.units), scene)
    lines = [
        replace(_line(unit, scene, put_name if index == 0 else None), block=unit.block)
        for index, unit in enumerate(group.units)
    ]
    return heading + _told(lines, scene.speaker, scene.other)


def _tool(speaker: Voice) -> str:
    return speaker.at_start if speaker.is_role else f"The tool {speaker.name}"


def _joined(units: Sequence[Unit]) -> str:
    return _join([(unit.text if unit.kind == "code" else plain(unit.text), unit.block) for unit in units])


def _heading(group: Group) -> str:
    first = group.units[0]
    heading = plain(first.heading).rstrip(":")
    is_full_sentence = first.kind == "prose" and len(first.text) >= _FRAGMENT
    return "" if not heading or is_full_sentence or heading in plain(first.text) else f"{heading}: "


def _with_title(text: str, title: str) -> str:
    name = re.sub(r"\s*\([^()]*\)$", "", " ".join(title.split()))
    if not name or name.casefold() in text.casefold():
        return text
    return f"{name}: {text}"


def _agent_fact(group: Group, scene: Scene, heading: str) -> str:
    text = heading + _joined(group.units)
    if scene.question:
        return f"Asked {_quoted(plain(scene.question))}, I said: {_quoted(text)}"
    if _FIRST_PERSON.search(text):
        return text
    if all(unit.is_question for unit in group.units):
        return f"I asked: {text}"
    verb = "suggested" if group.units[0].kind == "item" or _SUGGESTING.search(text) else "said"
    return f"I {verb}: {text}"


def _answer(text: str, scene: Scene) -> str:
    assert scene.speaker is not None
    asked = f"Asked by {scene.asker.name}" if scene.asker is not None and not scene.asker.is_role else "Asked"
    return f"{asked} {_quoted(plain(scene.question))}, {scene.speaker.name} said: {_quoted(text)}"


def _line(unit: Unit, scene: Scene, put_name: Callable[[str], str] | None) -> _Line:
    assert scene.speaker is not None
    action = _ACTION.match(unit.text) if unit.is_aside else None
    if action is not None:
        return _Line("told", plain(f"{scene.speaker.at_start} {action[1]}{action[2]}."), True)
    if unit.kind == "code" or not scene.english:
        return _Line("said", unit.text if unit.kind == "code" else plain(unit.text), True)
    if unit.is_question:
        return _Line("asked", plain(unit.text), True)
    if not unit.restated and has_no_subject(unit):
        return _Line("said", plain(unit.text), True)
    rewritten = scene.in_third_person(unit)
    if not rewritten.safe:
        return _Line("said", plain(unit.text), True)
    text = without_connective(rewritten.text) if unit.tail else _without_call(rewritten.text, scene)
    return _Line("told", plain(put_name(_without_opening(text)) if put_name else text), rewritten.named)


def _without_opening(text: str) -> str:
    """The sentence without the "And" or "By the way" that ties it to talk that the fact does not hold."""
    match = _OPENING.match(text)
    if match is None:
        return text
    rest = text[match.end() :]
    return rest[:1].upper() + rest[1:]


def _without_call(text: str, scene: Scene) -> str:
    """The sentence without a leading "Wow, Caroline, " that calls the other one."""
    match = _CALL.match(text)
    if match is None:
        return text
    called = match["name"]
    if called and scene.other and not scene.other.name.casefold().startswith(called.casefold()[:3]):
        return text
    rest = text[match.end() :]
    return rest[:1].upper() + rest[1:]


def _told(lines: Sequence[_Line], speaker: Voice, other: Voice | None) -> str:
    """Runs of told, quoted and asked sentences, with the speaker named at least once."""
    parts = [
        _spoken(mode, _join([(line.text, line.block) for line in run]), speaker, other)
        for mode, run in groupby(lines, key=lambda line: line.mode)
    ]
    whole = " ".join(parts)
    return whole if any(line.named for line in lines) else f"{speaker.at_start} said: {whole}"


def _spoken(mode: Mode, text: str, speaker: Voice, other: Voice | None) -> str:
    if mode == "told":
        return text
    to_whom = f" {other.name}" if mode == "asked" and other is not None and not other.is_role else ""
    return f"{speaker.at_start} {mode}{to_whom}: {_quoted(text)}"


def _quoted(text: str) -> str:
    """The text in quotes, its own made single; code and JSON keep theirs and get none."""
    if _CODE.search(text):
        return text
    inner = text.replace('"', "'")
    return f'"{inner}"'


def _join(texts: Sequence[tuple[str, int]]) -> str:
    """Sentences of (text, block) side by side; what has no mark at its end gets one where a new one starts."""
    joined, last_block = "", 0
    for text, block in texts:
        if not text:
            continue
        if joined and joined[-1].isalnum() and (block != last_block or not text[:1].islower()):
            joined += ";" if text[:1].islower() else "."
        joined += f" {text}" if joined else text
        last_block = block
    return joined


def plain(text: str) -> str:
    """The text on one line without Markdown marks and HTML tags, its HTML entities as characters."""
    if "<" in text:
        text = _TAG.sub(" ", text)
    if "&" in text:
        text = _ENTITY.sub(lambda entity: unescape(entity[0]), text)
    if "](" in text:
        text = _LINK.sub(r"\1 (\2)", text)
    text = _LINE_MARK.sub("", text)
    if "*" in text or "__" in text:
        text = _EMPHASIS.sub(r"\1", _STRONG.sub(r"\2", text))
    if text.lstrip().startswith("|"):
        text = _PIPES.sub(" | ", text).strip(" |")
    return _SPACE.sub(" ", text).strip()
