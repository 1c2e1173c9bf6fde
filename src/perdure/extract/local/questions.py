"""Questions, by their mark or by how they begin, and words that say nothing: greetings, thanks, agreement."""

from __future__ import annotations

import re

from perdure.extract.local.words import every_word, word_lists
from perdure.text.sentences import sentences

_MARK = re.compile(r"[?？؟][\"'”’)\]*_\s!?]*\Z|[?？؟]\W*\Z")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_BORDER = re.compile(r"[,;:–—¿…]+\s*|\.{2,}\s*|\s-\s")
_FEWEST_WORDS = 5
"""Words that a statement before a question has at least, to be kept as one."""
_ANY = re.compile(r"\w")
_LONGEST_QUESTION = 200
_SHORT_ANSWER = 7
"""Words up to which an answer is shown with its question."""


def question_start(sentence: str, language: str) -> int | None:
    """Return where in a sentence its question begins, None where it asks nothing.

    "I'm allergic to nuts, what should I eat?" tells something before it asks.
    """
    if _begins_as_question(sentence, language):
        return 0 if not sentence.rstrip().endswith("!") else None
    if _MARK.search(sentence) is None:
        return None
    start = 0
    for border in _BORDER.finditer(sentence):
        if _ANY.search(sentence, border.end()):
            start = border.end()
    if sentence[start - 1 : start] == "¿":
        start -= 1
    return start if len(_WORD.findall(sentence[:start])) >= _FEWEST_WORDS else 0


def _begins_as_question(sentence: str, language: str) -> bool:
    if sentence.startswith("¿"):
        return True
    words = [
        match[0].casefold().replace("’", "'")
        for match, _ in zip(_WORD.finditer(sentence), "ab", strict=False)
    ]
    if len(words) < 2:
        return False
    first, second = words
    subjects = word_lists("subjects").get(language, frozenset())
    if first in word_lists("question_words").get(language, ()):
        return second not in subjects
    return first in word_lists("question_verbs").get(language, ()) and second in subjects


def is_filler(text: str) -> bool:
    """Return whether a statement has no word beyond greetings, thanks and agreement."""
    if any(char.isdigit() for char in text):
        return False
    words = _WORD.findall(text.casefold().replace("’", "'"))
    return all(word in every_word("filler") for word in words)


def last_question(text: str) -> str:
    """Return the question that a text ends with; empty where it asks nothing, or at length."""
    if _MARK.search(text) is None:
        return ""
    *_, (start, end) = sentences(text)
    return text[start:end] if end - start <= _LONGEST_QUESTION else ""


def is_short(text: str) -> bool:
    """Return whether an answer may mean little without its question."""
    return len(_WORD.findall(text)) <= _SHORT_ANSWER


def is_yes_or_no(text: str) -> bool:
    """Return whether a text has a word that answers yes or no."""
    return any(word in every_word("answers") for word in _WORD.findall(text.casefold()))
