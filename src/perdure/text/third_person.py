"""A question in the first person put into the third: "Where do I live?" -> "Where does Kim live?".

Facts are stored in the third person ("Kim lives in Lisbon"), so that is how they are found. English is rewritten; to a
question in German, Spanish or French the name is added, unless the user has none: English words in it mislead the models.
"""

from __future__ import annotations

import re

from perdure.text import verbs
from perdure.text.wordlist import word_set

THE_USER = "the user"
"""How facts name a user without a name."""
_ENGLISH = re.compile(
    r"(?<![\w.])(?:(?:I|we)(?:['’](?:m|ve|d|ll|re))?|my|mine|our|ours|me|us|myself|ourselves)(?![\w])(?!['’]\w)",
    re.IGNORECASE,
)
_COUNTRY = re.compile(r"\bthe US\b|\bUS\b|\bU\.S\.")
_OTHER_LANGUAGES = re.compile(
    r"\b(?:ich|mir|mich|mein(?:e[mnrs]?)?|unser(?:e[mnrs]?)?|wir|yo|mis?|nuestr[oa]s?|tengo|vivo|trabajo|soy|estoy"
    r"|je|j['’](?=\w)|mon|mes|moi|notre|nos)\b",
    re.IGNORECASE,
)
_FOREIGN_WORDS = re.compile(
    r"\b(?:wo|wer|was|wie|wann|welche[rsnm]?|warum|habe|bin|heißt|ist|dónde|quién|qué|cuál(?:es)?|cómo|cuándo|cuánto|es|está"
    r"|où|qui|quels?|quelles?|quand|combien|comment|est|suis|ai)\b|[¿]",
    re.IGNORECASE,
)
_TO_ASKER = re.compile(
    r"\b(?:please\s+)?(?:tell|remind|show|give|let|help)\s+(?:me|us)\b(?:\s+(?:again|know|of|about|to))?",
    re.IGNORECASE,
)
_WORD = re.compile(r"[\w'’-]+|[^\w\s]+|\s+")
_INVERTED = {
    "do": "does", "don't": "doesn't", "am": "is", "are": "is", "aren't": "isn't", "have": "has", "haven't": "hasn't",
    "were": "was", "weren't": "wasn't",
}  # fmt: skip
"""Auxiliary before "I" or "we" -> before a name."""
_AUXILIARIES = verbs.UNCHANGED | word_set("do don't am are aren't have haven't were weren't is does has")
_CONTRACTED = {"m": "is", "re": "is", "ve": "has", "ll": "will", "d": "would"}
_OWNER = word_set("my our mine ours")


def speaks_of_asker(question: str) -> bool:
    """Whether a question is about the one who asks."""
    bare = _COUNTRY.sub(" ", _TO_ASKER.sub(" ", question))
    if _ENGLISH.search(bare) is not None:
        return True
    return _OTHER_LANGUAGES.search(bare) is not None and _FOREIGN_WORDS.search(bare) is not None


def in_third_person(question: str, name: str) -> str:
    """The question about somebody of that name; as it is when it is not in the first person."""
    if not speaks_of_asker(question):
        return question
    bare = _TO_ASKER.sub("", question).strip() or question
    if _FOREIGN_WORDS.search(bare) is not None and _OTHER_LANGUAGES.search(bare) is not None:
        return question if name == THE_USER else f"{question.rstrip()} ({name})"
    pieces = _WORD.findall(_COUNTRY.sub(lambda country: country[0].replace("US", "U.S."), bare))
    words = [index for index, piece in enumerate(pieces) if piece[0].isalnum() or piece[0] == "_"]
    for place, index in enumerate(words):
        pieces[index] = _renamed(pieces, words, place, name)
    return "".join(pieces)


def _renamed(pieces: list[str], words: list[int], place: int, name: str) -> str:
    """The word at this place about the name; the verb that goes with it is put into the third person."""
    index = words[place]
    low = pieces[index].lower().replace("’", "'")
    if low in _OWNER:
        return f"{name}'s"
    if low in ("me", "us", "myself", "ourselves"):
        return name
    subject, _, contracted = low.partition("'")
    if subject not in ("i", "we"):
        return pieces[index]
    if contracted in _CONTRACTED:
        return f"{name} {_CONTRACTED[contracted]}"
    if (
        place
        and pieces[words[place - 1]].lower().replace("’", "'") in _AUXILIARIES
        and _joined(pieces, words, place)
    ):
        before = pieces[words[place - 1]]
        agreeing = _INVERTED.get(before.lower().replace("’", "'"), before)
        pieces[words[place - 1]] = agreeing.capitalize() if before[0].isupper() else agreeing
        return name
    for following in words[place + 1 :]:
        verb = pieces[following].lower().replace("’", "'")
        if verbs.is_adverb(verb):
            continue
        if verb in verbs.AUXILIARY:
            pieces[following] = verbs.AUXILIARY[verb]
        elif verb in verbs.PRESENT and verb not in verbs.PAST_ALIKE:
            pieces[following] = verbs.third_person(verb)
        break
    return name


def _joined(pieces: list[str], words: list[int], place: int) -> bool:
    """Whether only blanks stand between a word and the one before it."""
    return all(piece.isspace() for piece in pieces[words[place - 1] + 1 : words[place]])
