"""Remembered text made safe to quote in a prompt: visible, on one line, without the prompt's own marks.

The store keeps every text verbatim; only what is sent to a model is changed here.
"""

from __future__ import annotations

import re
import unicodedata

NOTHING_VISIBLE = "(nothing visible)"
"""Replaces a text without visible characters."""
_CONTROLS = {code: None for code in (*range(0x20), 0x7F) if not chr(code).isspace()}
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
"""Invisible categories: controls, formats, surrogates, private use, unassigned."""
_FILLERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0")
"""Letters and marks that are invisible."""
_JOINERS, _PRESENTATION = "\u200c\u200d", "\ufe0e\ufe0f"
_KEYCAP = "\u20e3"
_JOINING_SCRIPTS = re.compile(r"[\u0600-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u17ff]")
"""Arabic, Indic scripts, Burmese and Khmer, whose spelling needs joiners."""
MAX_MARKS = 4
"""Marks on one letter; more of them overlap the lines around."""

_BRACKETS = str.maketrans(
    "<＜﹤⟨〈〈ᐸ˂❬❮⧼⦑⟪>＞﹥⟩〉〉ᐳ˃❭❯⧽⦒⟫",
    "‹" * 13 + "›" * 13,
)
_ENTITIES = re.compile(r"&(?:(lt|#0*60|#x0*3c)|gt|#0*62|#x0*3e);", re.IGNORECASE)
_FENCE_NAME = re.compile(r"recalled[_\W]{0,3}memory", re.IGNORECASE)
_OPEN, _CLOSE = r"[\[［【〔⟦〚❲〘〖﹝⁅⦋]", r"[\]］】〕⟧〛❳〙〗﹞⁆⦌]"
_CITATION = re.compile(
    rf"{_OPEN}(?!\d{{4}}-\d\d-\d\d)(\s*[\^#№]?\s*\d{{1,4}}(?:\s*[,;/–—-]\s*[\^#№]?\s*\d{{1,4}})*\s*){_CLOSE}"
)
_ROLE = re.compile(
    rf"{_OPEN}(\s*/?\s*(?:inst|sys|system|assistant|user|developer|tool|human)\b[^\[\]\n]{{0,24}}){_CLOSE}",
    re.IGNORECASE,
)
_DETAIL = re.compile(
    r"[(（](?=\s*(?:id |source |said \d|valid (?:from|…|\.\.\.|\d)|opinion, confidence))", re.IGNORECASE
)
_WARNING = re.compile("⚠\ufe0f?")
_CODE_FENCE = re.compile(r"(`|~)\1{2,}")
_LINK = re.compile(r"\](?=[(:]\s*‹?\s*(?:[a-z][\w+.-]*:|//))|!(?=\[)", re.IGNORECASE)
"""What makes a link or an image of Markdown: whoever shows an answer would load it."""


def inert(text: str) -> str:
    """Return the text on one line, without hidden characters, fences, citations and other marks.

    Angle brackets and their lookalikes become ‹ ›, like those of `[1]` and `[INST]`; links and images of
    Markdown get a space that undoes them. Other text stays as it is. The function is idempotent.
    """
    seen = " ".join(visible(_WARNING.sub("!", text.translate(_BRACKETS))).split())
    seen = _ENTITIES.sub(lambda match: "‹" if match[1] else "›", seen)
    seen = _FENCE_NAME.sub("recalled memory", seen)
    seen = _CITATION.sub(r"‹\1›", seen)
    seen = _ROLE.sub(r"‹\1›", seen)
    seen = _DETAIL.sub("‹", seen)
    seen = _LINK.sub(r"\g<0> ", seen)
    return _CODE_FENCE.sub(r"\1", seen)


def inert_lines(text: str) -> str:
    """Apply `inert` to each line of a text; runs of empty lines become one."""
    lines = [inert(line) for line in text.splitlines()]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")


def visible(text: str) -> str:
    """Remove invisible characters; joiners stay where a script or an emoji needs one."""
    if text.isascii():
        return text.translate(_CONTROLS)
    shown: list[str] = []
    marks = 0
    for position, character in enumerate(text):
        category = unicodedata.category(character)
        marks = marks + 1 if category == "Mn" else 0
        if character.isspace():
            shown.append(character)
        elif character == "\u2800":
            shown.append(" ")
        elif character in _JOINERS:
            if shown and _joins(shown[-1], text[position + 1 : position + 2]):
                shown.append(character)
        elif character in _PRESENTATION:
            if shown and (_is_symbol(shown[-1]) or text[position + 1 : position + 2] == _KEYCAP):
                shown.append(character)
        elif (
            category in _UNSEEN
            or character in _FILLERS
            or "\ufe00" <= character <= "\ufe0d"
            or "\U000e0100" <= character <= "\U000e01ef"
            or marks > MAX_MARKS
        ):
            continue
        else:
            shown.append(character)
    return "".join(shown)


def _joins(before: str, after: str) -> bool:
    """Return whether a joiner between the two belongs to their spelling."""
    if not after:
        return False
    if before in _PRESENTATION or _is_symbol(before):
        return _is_symbol(after)
    return bool(_JOINING_SCRIPTS.match(before) and _JOINING_SCRIPTS.match(after))


def _is_symbol(character: str) -> bool:
    return unicodedata.category(character) in ("So", "Sk", "Sm")
