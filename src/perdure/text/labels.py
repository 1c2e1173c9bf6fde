"""Labels before a colon: whether `Caroline` in `Caroline: ...` can be who speaks, or is a heading as in `Note: ...`."""

from __future__ import annotations

import re
import unicodedata

from perdure.text.names import TITLES, is_given_name
from perdure.text.wordlist import read_words, word_set

_WORDS = read_words("labels.toml")
_HEADINGS, _PARTICLES, _TAGS = map(word_set, (_WORDS["headings"], _WORDS["particles"], _WORDS["tags"]))
_SURE_ROLES = word_set(_WORDS["sure_roles"])
_ROLES = {label: role for role, labels in _WORDS["roles"].items() for label in labels.split()}
_NUMBERED = re.compile(
    r"(?:speaker|person|participant|sprecher|interviewer|caller)[ _]?\d{1,2}", re.IGNORECASE
)
"""Voices that a transcription program could not name."""
_HANDLE = re.compile(r"@?[\w][\w.\-]{1,31}")
_PHONE = re.compile(r"\+?[\d\s()./-]{7,20}")
_WORD = re.compile(r"[^\W\d_](?:[^\W\d_]|['’.\-])*")
_SENTENCE = re.compile(
    r"[.,;]\s|\s(?:is|was|are|were|the|a|an|and|or|of|for|with|has|have|will|to|in|on|at)\s", re.IGNORECASE
)
_SPEAKING = re.compile(
    rf"\b(?:{'|'.join(map(re.escape, _WORDS['speaking'].split()))})\b|[我你您咱]|私|僕|俺|あなた",
    re.IGNORECASE,
)
_OPENER = re.compile(rf"(?:{'|'.join(map(re.escape, _WORDS['openers']))})\b", re.IGNORECASE)
_LIVELY = re.compile(
    r"[?!？！]['\"”’)]*\s*(?:$|[A-Z\U0001F300-\U0001FAFF])|[\U0001F300-\U0001FAFF]|[:;]-?[)D(]"
)
_FULL_SENTENCE = re.compile(r"['\"“]?[^\W\d_a-z].*[.!?…。)\]]['\"”]?\s*$", re.DOTALL)


def is_heading(label: str) -> bool:
    """Return whether a label heads a text (`Note`, `Due date`) rather than naming who says it."""
    words = [word.strip(".,()#*-–—").casefold() for word in label.split()]
    if not words or label.casefold() in _SURE_ROLES:
        return not words
    if len(words) == 1 and is_given_name(words[0]):
        return False
    titled = words[0] in TITLES and len(words) > 1
    return any(word in _HEADINGS for word in (words[1:] if titled else words))


def is_name(label: str) -> bool:
    """Return whether a label looks like a name or a role in a chat: one to four capitalised words, none of a heading."""
    if label.casefold() in _SURE_ROLES or _NUMBERED.fullmatch(label):
        return True
    words = label.split()
    if not 1 <= len(words) <= 4 or len(label) > 40 or is_heading(label):
        return False
    telling = [word for word in words if word.casefold() not in _PARTICLES]
    return bool(telling) and all(_WORD.fullmatch(word) and _is_capitalised(word) for word in telling)


def may_be_name(label: str) -> bool:
    """Return whether a label that a program marked can be a name: also a handle, a number, or a name with signs in it."""
    shown = label.lstrip("~").strip()
    if is_name(shown) or _PHONE.fullmatch(shown):
        return True
    if is_heading(shown) or shown.casefold() in _TAGS or len(shown) > 60 or len(shown.split()) > 5:
        return False
    if _HANDLE.fullmatch(shown):
        return any(character.isalpha() for character in shown)
    letters = any(character.isalpha() for character in shown)
    return letters and not _SENTENCE.search(shown) and (shown[:1].isupper() or not shown[:1].isalpha())


def _is_capitalised(word: str) -> bool:
    """Return whether a word has a capital, or a script without capitals."""
    return word[0].isupper() or unicodedata.category(word[0]) == "Lo"


def role_of_label(label: str, *, alone: bool = True) -> str:
    """Return the role that a label means in a chat, or "" for a name; `Me` and `You` mean the user only if `alone`."""
    role = _ROLES.get(label.casefold(), "")
    return "" if role == "user" and not alone and label.casefold() in ("me", "you") else role


def speaks(text: str) -> bool:
    """Return whether somebody speaks in a text: of themselves, to another, or as people open and end what they say."""
    plain = text.replace("’", "'")
    return bool(_SPEAKING.search(plain) or _OPENER.match(plain) or _LIVELY.search(text))


def speaks_under_date(label: str, text: str) -> bool:
    """Return whether one dated line is said by its label: `Caroline: The group was powerful.`, not `Backup: done in 14 minutes`."""
    words = len(text.split())
    if words < 3 and not speaks(text):
        return False
    sentence = bool(_FULL_SENTENCE.match(text)) and words >= 4
    return is_given_name(label.split()[0]) or speaks(text) or sentence


def speaks_alone(label: str, text: str) -> bool:
    """Return whether one line without a date is said by its label: `Caroline: Hey Mel!`, not `Caroline: I must call her`."""
    first, *rest = label.split()
    known = is_given_name(first) or label.casefold() in _SURE_ROLES
    opens = _OPENER.match(text) and (_LIVELY.search(text) or _SPEAKING.search(text))
    return known and len(rest) < 2 and bool(opens)
