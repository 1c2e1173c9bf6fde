"""Transcripts: texts that carry their speakers and dates, as chats, logs and mails are pasted and exported.

A wrong speaker is worse than none: a text is read as a transcript only where stamps, brackets, or the way in which names and
turns come back show that it is one. `Note: buy milk` has no speaker.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from enum import IntEnum
from io import StringIO
from itertools import islice

from perdure.text.labels import is_name, may_be_name, role_of_label, speaks, speaks_alone, speaks_under_date
from perdure.text.stamps import DATE_PATTERN, STAMP_PATTERN, DayOrder, Stamp, decide_day_order, read_stamp

_INVISIBLE = re.compile("[\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_SPACES = re.compile("[\u00a0\u202f\u2007\u2009]")
_LABEL = r"(?P<label>[^\n:<>\[\]{}=;|\"?!\\/]{1,60}?)"
_STAMP = f"(?P<stamp>{STAMP_PATTERN})"

_STAMPED = re.compile(rf"[\[(]\s*{_STAMP}\s*[\])]\s*[-–—:]?\s*(?P<rest>\S.*)", re.IGNORECASE)
_STAMPED_DASH = re.compile(rf"{_STAMP}\s+[-–—|]\s+(?P<rest>\S.*)", re.IGNORECASE)
_STAMPED_BARE = re.compile(rf"{_STAMP}:?\s+(?P<rest>\S.*)", re.IGNORECASE)
_NAME_STAMPED = re.compile(
    rf"{_LABEL}\s*,?\s*(?:[\[(]\s*{_STAMP}\s*[\])]|[,–—-]\s*(?P<loose>{STAMP_PATTERN}))\s*:\s+(?P<text>\S.*)",
    re.IGNORECASE,
)
_HEADER = re.compile(
    rf"{_LABEL}(?:\s*,?\s*[\[(]\s*{_STAMP}\s*[\])]|(?:\s+|\s*[-–—•·|,]\s*)(?:at\s+|on\s+)?(?P<loose>{STAMP_PATTERN}))\s*:?",
    re.IGNORECASE,
)
_SAID = re.compile(rf"{_LABEL}\s+said:", re.IGNORECASE)
_NICK = re.compile(r"<\s*[@+%&~]?(?P<label>[^\s<>/=\"]{1,40})>\s+(?P<text>\S.*)")
_PLAIN = re.compile(rf"(?:\*\*|__)?{_LABEL}(?:\*\*|__)?\s?[:：](?:\*\*|__)?(?:\s+(?P<text>\S.*)|\s*)")
_ROLE = re.compile(
    r"\[(?P<label>user|human|assistant|ai|model|system|developer|tool|function)\]:?(?:\s+(?P<text>\S.*))?",
    re.IGNORECASE,
)
"""`[assistant]` before a turn or on a line above it, as programs write messages out."""
_ROLES_OF_PROGRAMS = {"human": "user", "ai": "assistant", "model": "assistant"}
_SETTING = re.compile(r"[\w.\-]+\s*=.*")
"""A line of a file of settings, whose sections look like roles: `[user]`, then `name = Ann`."""
_ADDRESSED = re.compile(r"(?:From\s+)(?P<label>.+?)(?:\s+to\s+.+)?", re.IGNORECASE)
_DAY_LINE = re.compile(
    rf"[\W_]*(?:conversation\s+(?:on|of)\s+|chat\s+(?:on|of)\s+|date:\s*)?(?P<stamp>{DATE_PATTERN})[\W_]*",
    re.IGNORECASE,
)

_PLACEHOLDER = re.compile(
    r"<?(?:media|image|photo|video|audio|sticker|gif|document|contact card|voice message|bild|foto|sprachnachricht|medien)\s+"
    r"(?:omitted|not included|weggelassen|ausgeschlossen)>?"
    r"|<(?:media omitted|medien ausgeschlossen|multimedia omitido|médias omis)>"
    r"|(?:this message was deleted|you deleted this message|diese nachricht wurde gelöscht|null)\.?"
    r"|messages and calls are end-to-end encrypted.*|nachrichten und anrufe sind ende-zu-ende-verschlüsselt.*"
    r"|missed (?:voice|video|group)(?: video| voice)? call.*",
    re.IGNORECASE,
)
_EDITED = re.compile(r"\s*(?:<this message was edited>|\(edited\)|\(bearbeitet\))\s*$", re.IGNORECASE)
_CODE = re.compile(
    r"^\s*(?:```|~~~|import \w|from \w+ import|def \w+\(|class \w+|function \w*\(|const \w|#include|</|<\?|[{}]\s*$|---\s*$|- \w+:)",
    re.MULTILINE,
)
_MAY_BEGIN_TURN = re.compile(r"[^\n]{0,120}?[:：>\])]")
_LONGEST_HEADER = 80
_LONGEST_PREAMBLE = 3
"""Lines before the first turn, at most; a text that comes to its dialogue later is about something else."""
_FEWEST_STARTS = 0.25
"""Share of the lines that must begin a turn where nothing but names tells turns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpokenTurn:
    """One turn of a transcript."""

    text: str
    speaker: str = ""
    role: str = ""
    said_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """The turns of a text, the lines that nobody said, and dates that could be read in two ways."""

    turns: tuple[SpokenTurn, ...]
    omitted: tuple[tuple[int, str], ...] = ()
    """(line, what it holds) of placeholders such as `<Media omitted>`."""
    unread_dates: tuple[tuple[int, str], ...] = ()


class _Form(IntEnum):
    """How a line begins a turn; of the forms in a text the strongest counts, the others are ordinary lines."""

    PLAIN = 1
    NICK = 2
    HEADER = 3
    STAMPED = 4
    ROLE = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """A line as what it may be."""

    source: int
    """Which of the texts it stands in."""
    number: int
    text: str
    form: _Form | None = None
    label: str = ""
    said: str = ""
    stamp: Stamp | None = None
    bracketed: bool = False
    """The stamp or the name stands in brackets or before a dash, as programs write them."""
    is_day: bool = False
    after_blank: bool = False


def read_transcripts(texts: Sequence[str]) -> list[Transcript | None]:
    """Return the texts as transcripts; None for those that are none.

    Texts that all begin with a speaker are judged as one conversation, and dates by what all of them show.
    """
    lines = [line for source, text in enumerate(texts) if _may_be(text) for line in _lines(text, source)]
    stamps = [line.stamp for line in lines if line.stamp is not None]
    order = decide_day_order(stamps)
    by_source: list[list[_Line]] = [[] for _ in texts]
    for line in lines:
        by_source[line.source].append(line)
    together = len(texts) > 1 and all(own and own[0].form is not None for own in by_source)
    if together:
        form = _form_of_dialogue(lines)
        if form is not None and all(own[0].form == form and _is_speaker(own[0]) for own in by_source):
            return [_transcript(own, form, order) for own in by_source]
    judged = [_form_of_dialogue(own) for own in by_source]
    return [
        None if form is None else _transcript(own, form, order)
        for own, form in zip(by_source, judged, strict=True)
    ]


def read_transcript(text: str) -> Transcript | None:
    """One text as a transcript, or None."""
    return read_transcripts([text])[0]


def _may_be(text: str) -> bool:
    """Return a quick look at the beginning: without a turn there the rest need not be read."""
    return any(line.form is not None for line in islice(_lines(text, 0), _LONGEST_PREAMBLE + 1))


def _lines(text: str, source: int) -> Iterator[_Line]:
    after_blank = False
    for number, raw in enumerate(StringIO(text), start=1):
        written = _SPACES.sub(" ", _INVISIBLE.sub("", raw)).strip()
        if written:
            line = _Line(source=source, number=number, text=raw.strip(), after_blank=after_blank)
            yield _classify(line, written)
        after_blank = not written


def _classify(line: _Line, written: str) -> _Line:
    if len(written) > _LONGEST_HEADER and not _MAY_BEGIN_TURN.match(written):
        return line
    if (
        len(written) <= _LONGEST_HEADER
        and (day := _DAY_LINE.fullmatch(written))
        and (stamp := read_stamp(day["stamp"]))
    ):
        return replace(line, stamp=stamp, is_day=True)
    for pattern, bracketed in ((_STAMPED, True), (_STAMPED_DASH, True), (_STAMPED_BARE, False)):
        match = pattern.fullmatch(written)
        stamp = read_stamp(match["stamp"]) if match else None
        if match and stamp is not None:
            return _stamped(line, stamp, match["rest"], bracketed)
    if (match := _NAME_STAMPED.fullmatch(written)) and (stamp := _either_stamp(match)):
        return replace(
            line, form=_Form.STAMPED, label=match["label"].strip(), said=match["text"], stamp=stamp,
            bracketed=match["stamp"] is not None,
        )  # fmt: skip
    if match := _ROLE.fullmatch(written):
        label = match["label"].casefold()
        return replace(line, form=_Form.ROLE, label=label, said=match["text"] or "", bracketed=True)
    if match := _NICK.fullmatch(written):
        return replace(line, form=_Form.NICK, label=match["label"], said=match["text"], bracketed=True)
    if match := _SAID.fullmatch(written):
        return replace(line, form=_Form.HEADER, label=match["label"].strip())
    if (match := _HEADER.fullmatch(written)) and (stamp := _either_stamp(match)) and stamp.clock is not None:
        return replace(
            line, form=_Form.HEADER, label=match["label"].strip(" ,-–—•·|"), stamp=stamp,
            bracketed=match["stamp"] is not None,
        )  # fmt: skip
    if match := _PLAIN.fullmatch(written):
        return replace(line, form=_Form.PLAIN, label=match["label"].strip(" *_"), said=match["text"] or "")
    return line


def _either_stamp(match: re.Match[str]) -> Stamp | None:
    return read_stamp(match["stamp"] or match["loose"])


def _stamped(line: _Line, stamp: Stamp, rest: str, bracketed: bool) -> _Line:
    """Return a line after its stamp: a speaker and words, a speaker whose words follow, or a notice of the program."""
    begun = replace(line, form=_Form.STAMPED, stamp=stamp, bracketed=bracketed, said=rest)
    if nick := _NICK.fullmatch(rest):
        return replace(begun, label=nick["label"], said=nick["text"], bracketed=True)
    if spoken := _PLAIN.fullmatch(rest):
        label = spoken["label"].strip(" *_")
        addressed = _ADDRESSED.fullmatch(label)
        return replace(begun, label=addressed["label"] if addressed else label, said=spoken["text"] or "")
    if bracketed and is_name(rest):
        return replace(begun, label=rest, said="")
    return begun if bracketed else replace(line, stamp=None)


def _is_speaker(line: _Line) -> bool:
    """Return whether a line's label can be who says it; the better a program marked it, the more may be a name."""
    if not line.label or line.form is _Form.ROLE:
        return bool(line.label)
    if line.form is _Form.NICK or line.bracketed:
        return may_be_name(line.label)
    return is_name(line.label)


def _form_of_dialogue(lines: Sequence[_Line]) -> _Form | None:
    """By which form the text's turns begin; None for what is no transcript."""
    forms = {line.form for line in lines if line.form is not None}
    for form, is_dialogue in (
        (_Form.ROLE, _is_dialogue_of_roles),
        (_Form.STAMPED, _is_stamped_dialogue),
        (_Form.HEADER, _is_headed_dialogue),
        (_Form.NICK, _is_nick_dialogue),
        (_Form.PLAIN, _is_plain_dialogue),
    ):
        if form in forms and is_dialogue(lines):
            return form
    return None


def _starts(lines: Sequence[_Line], form: _Form) -> list[_Line]:
    return [line for line in lines if line.form is form and _is_speaker(line)]


def _begins_early(lines: Sequence[_Line], first: _Line) -> bool:
    return lines.index(first) <= _LONGEST_PREAMBLE


def _is_dialogue_of_roles(lines: Sequence[_Line]) -> bool:
    """Messages under their roles from the first line on; one alone must read as said, and settings are none."""
    starts = _starts(lines, _Form.ROLE)
    if not starts or starts[0] is not lines[0]:
        return False
    rest = [line.text for line in lines if line.form is not _Form.ROLE]
    if any(_SETTING.fullmatch(text) for text in rest[:1]):
        return False
    return len({line.label for line in starts}) > 1 or any(map(speaks, _said_by(lines, starts)))


def _is_stamped_dialogue(lines: Sequence[_Line]) -> bool:
    """Dates beside names are enough, but a single short line may be an entry of a diary: `[8 May 2023] Dentist: Dr. Osei`."""
    starts = _starts(lines, _Form.STAMPED)
    others = [line for line in lines if line.form is _Form.STAMPED and line.label and not _is_speaker(line)]
    if not starts or len(others) > len(starts) or not _begins_early(lines, starts[0]):
        return False
    if len(starts) > 1:
        return _comes_back(starts) or any(speaks(line.said) for line in starts)
    only = starts[0]
    said = "\n".join([only.said, *(line.text for line in lines if line.number > only.number)]).strip()
    if only.stamp is not None and not only.stamp.has_date and not only.bracketed:
        return only is lines[0] and speaks(said)
    return speaks_under_date(only.label, said)


def _is_headed_dialogue(lines: Sequence[_Line]) -> bool:
    """Return a name and a time on a line of their own, with words below, more than once unless a program marked it."""
    starts = _starts(lines, _Form.HEADER)
    if not starts or not _begins_early(lines, starts[0]) or lines[-1] is starts[-1]:
        return False
    if len(starts) == 1:
        return starts[0].bracketed
    bodies = _said_by(lines, starts)
    return all(bodies) and (_comes_back(starts) or all(speaks(text) for text in bodies))


def _is_nick_dialogue(lines: Sequence[_Line]) -> bool:
    """`<ann> hello`; a name of a tag or a closing tag is a sign of markup."""
    starts = _starts(lines, _Form.NICK)
    if (
        not starts
        or starts[0] is not lines[0]
        or any("</" in line.text or "/>" in line.text for line in lines)
    ):
        return False
    return len(starts) > 1 or speaks(starts[0].said)


def _is_plain_dialogue(lines: Sequence[_Line]) -> bool:
    """Names alone: speakers who come back and speak as people do, or one line in which somebody speaks."""
    starts = _starts(lines, _Form.PLAIN)
    labelled = [line for line in lines if line.form is _Form.PLAIN]
    text = "\n".join(line.text for line in lines)
    if not starts or len(starts) < 0.8 * len(labelled) or _CODE.search(text):
        return False
    if len(lines) == 1:
        return speaks_alone(starts[0].label, starts[0].said)
    at_once = starts[0] is lines[0] or lines[0].is_day
    if len(starts) < max(2, _FEWEST_STARTS * len(lines)) or not _begins_early(lines, starts[0]):
        return False
    if not at_once and not all(line.said or line.label.isupper() for line in starts):
        return False
    bodies = _said_by(lines, starts)
    speaking = sum(map(speaks, bodies)) / len(bodies)
    if len({line.label for line in starts}) > 1 and _comes_back(starts):
        return speaking >= 1 / 3 and all(bodies)
    return at_once and speaking == 1.0


def _comes_back(starts: Sequence[_Line]) -> bool:
    """Return whether a speaker speaks more than once."""
    return len({line.label.casefold() for line in starts}) < len(starts)


def _bodies(lines: Sequence[_Line], starts: Iterable[_Line]) -> list[tuple[_Line, str]]:
    """Each start with all that is said until the next; lines before the first start by themselves."""
    begins = set(map(id, starts))
    bodies: list[tuple[_Line, list[str]]] = []
    for line in lines:
        if id(line) in begins:
            bodies.append((line, [line.said] if line.said else []))
        elif bodies and id(bodies[-1][0]) in begins:
            bodies[-1][1].append(f"\n{line.text}" if line.after_blank and bodies[-1][1] else line.text)
        else:
            bodies.append((line, [line.text]))
    return [(line, "\n".join(texts)) for line, texts in bodies]


def _said_by(lines: Sequence[_Line], starts: Sequence[_Line]) -> list[str]:
    """Return what is said from each start on."""
    begins = set(map(id, starts))
    return [text for line, text in _bodies(lines, starts) if id(line) in begins]


def _transcript(lines: Sequence[_Line], form: _Form, order: DayOrder) -> Transcript | None:
    """Return the turns by this form, each dated by its stamp or by the last day that stood on a line of its own."""
    starts = {
        id(line)
        for line in lines
        if line.form is form and (_is_speaker(line) or (form is _Form.STAMPED and line.bracketed))
    }
    day: date | None = None
    turns: list[SpokenTurn] = []
    omitted: list[tuple[int, str]] = []
    unread: list[tuple[int, str]] = []
    names = {line.label.casefold() for line in lines if id(line) in starts}
    for line, body in _bodies(lines, [line for line in lines if id(line) in starts or line.is_day]):
        if line.is_day and line.stamp is not None:
            moment = line.stamp.moment(order)
            day = moment.date() if moment else None
            if moment is None:
                unread.append((line.number, line.stamp.text))
            if body and turns:
                turns[-1] = replace(turns[-1], text=f"{turns[-1].text}\n{body}")
            continue
        text = _unedited(body)
        if not text or _PLACEHOLDER.fullmatch(text):
            omitted.append((line.number, text or "a turn without words"))
            continue
        is_start = id(line) in starts
        stamp = line.stamp if is_start and line.stamp is not None else Stamp(text="")
        moment = stamp.moment(order, None if stamp.has_date else day)
        if stamp.has_date and moment is None:
            unread.append((line.number, stamp.text))
        speaker, role = _speaker(line, names) if is_start and _is_speaker(line) else ("", "")
        if is_start and line.label and not speaker:
            text = f"{line.label}: {text}"
        turns.append(SpokenTurn(text=text, speaker=speaker, role=role, said_at=moment))
    return (
        Transcript(turns=tuple(turns), omitted=tuple(omitted), unread_dates=tuple(unread)) if turns else None
    )


def _unedited(body: str) -> str:
    """Return the words without the program's mark that they were edited."""
    near_end = max(len(body) - 60, 0)
    return (body[:near_end] + _EDITED.sub("", body[near_end:])).strip()


def _speaker(line: _Line, names: set[str]) -> tuple[str, str]:
    """Return the speaker's name and role; `Me` and `You` are the user, unless both speak."""
    if line.form is _Form.ROLE:
        role = _ROLES_OF_PROGRAMS.get(line.label, line.label)
        return role, role
    label = line.label.lstrip("~").strip()
    role = role_of_label(label, alone=not {"me", "you"} <= names)
    if role == "user":
        return "user", "user"
    return (role, role) if role and label.casefold() in (role, "ai", "bot", "model") else (label, role)
