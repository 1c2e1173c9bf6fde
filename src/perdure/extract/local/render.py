"""Writing a group of sentences as one narrative fact."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from perdure.extract.local.causes import without_connective
from perdure.extract.local.facts import Group
from perdure.extract.local.fragments import has_no_subject
from perdure.extract.local.markup import plain
from perdure.extract.local.persons import Rewritten
from perdure.extract.local.units import Unit
from perdure.text.voice import Voice

Mode = Literal["told", "said", "asked"]

_ACTION = re.compile(r"\[([a-z]+s)\b(.*)\]$", re.DOTALL)
_CALL = re.compile(
    r"(?:(?:wow|hey|hi|hello|oh|yeah|yes|yep|yup|haha|aww|ah|well|thanks|thank you|ok|okay|sure|absolutely|definitely|no)\b"
    r"[,! ]+)+(?:(?P<name>[A-Z]\w+)[,!]\s+)?(?=[A-Z]\w*|it|that|the|this|they|he|she)",
    re.IGNORECASE,
)
_CODE = re.compile(r"```|~~~|[{\[]\s*\"")
_FIRST_PERSON = re.compile(r"\b(?:I|I'm|I’m|I've|I’ve|I'd|I'll|my|me)\b")
_SUGGESTING = re.compile(
    r"\b(?:try|consider|recommend|suggest|you (?:can|could|may|might|should)|make sure|tips?|ideas?|steps?|options?)\b",
    re.IGNORECASE,
)


def _as_it_is(unit: Unit) -> Rewritten:
    return Rewritten(unit.text)


@dataclass(frozen=True, slots=True)
class Scene:
    """Who speaks to whom, what was asked before, and how a sentence reads in the third person."""

    speaker: Voice | None
    other: Voice | None = None
    is_agent: bool = False
    question: str = ""
    asker: Voice | None = None
    title: str = ""
    english: bool = True
    tell: Callable[[Unit], Rewritten] = _as_it_is


@dataclass(frozen=True, slots=True)
class _Line:
    mode: Mode
    text: str
    named: bool
    block: int = 0


def write_fact(
    group: Group, scene: Scene, resolve: Callable[[Unit, str], str] = lambda unit, text: text
) -> str:
    """The fact's text; `resolve` puts names for he and she in a sentence that starts a fact."""
    heading = _heading(group)
    if scene.speaker is None:
        return _with_title(heading + _joined(group.units), scene.title)
    if scene.is_agent:
        return _agent_fact(group, scene, heading)
    if scene.question:
        return _answer(_joined(group.units), scene)
    lines = [
        replace(_line(unit, scene, resolve, first=index == 0), block=unit.block)
        for index, unit in enumerate(group.units)
    ]
    return heading + _told(lines, scene.speaker, scene.other)


def _joined(units: Sequence[Unit]) -> str:
    return _join([(unit.text if unit.kind == "code" else plain(unit.text), unit.block) for unit in units])


def _heading(group: Group) -> str:
    first = group.units[0]
    heading = plain(first.heading).rstrip(":")
    if not heading or heading in plain(first.text) or (first.kind == "prose" and not _is_fragment(first)):
        return ""
    return f"{heading}: "


def _is_fragment(unit: Unit) -> bool:
    return len(unit.text) < 60


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


def _line(unit: Unit, scene: Scene, resolve: Callable[[Unit, str], str], *, first: bool) -> _Line:
    assert scene.speaker is not None
    action = _ACTION.match(unit.text) if unit.is_aside else None
    if action is not None:
        return _Line("told", plain(f"{scene.speaker.at_start} {action[1]}{action[2]}."), True)
    if unit.kind == "code" or not scene.english:
        return _Line("said", unit.text if unit.kind == "code" else plain(unit.text), True)
    if unit.is_question:
        return _Line("asked", plain(unit.text), True)
    if has_no_subject(unit):
        return _Line("said", plain(unit.text), True)
    rewritten = scene.tell(unit)
    if not rewritten.safe:
        return _Line("said", plain(unit.text), True)
    text = without_connective(rewritten.text) if unit.tail else _without_call(rewritten.text, scene)
    text = resolve(unit, text) if first else text
    return _Line("told", plain(text), rewritten.named)


def _without_call(text: str, scene: Scene) -> str:
    """The sentence without a leading "Wow, Caroline, " that calls the other one."""
    match = _CALL.match(text)
    if match is None:
        return text
    rest = text[match.end() :]
    called = match["name"]
    if (
        called
        and scene.other is not None
        and not scene.other.name.casefold().startswith(called.casefold()[:3])
    ):
        return text
    return rest[:1].upper() + rest[1:]


def _told(lines: Sequence[_Line], speaker: Voice, other: Voice | None) -> str:
    """Runs of told, quoted and asked sentences, with the speaker named at least once."""
    parts: list[str] = []
    position = 0
    while position < len(lines):
        mode = lines[position].mode
        run_end = position
        while run_end < len(lines) and lines[run_end].mode == mode:
            run_end += 1
        text = _join([(line.text, line.block) for line in lines[position:run_end]])
        parts.append(_spoken(mode, text, speaker, other))
        position = run_end
    whole = " ".join(parts)
    named = any(line.named for line in lines)
    return whole if named else f"{speaker.at_start} said: {whole}"


def _spoken(mode: Mode, text: str, speaker: Voice, other: Voice | None) -> str:
    if mode == "told":
        return text
    verb = (
        "said"
        if mode == "said"
        else f"asked {other.name}"
        if other is not None and not other.is_role
        else "asked"
    )
    return f"{speaker.at_start} {verb}: {_quoted(text)}"


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
