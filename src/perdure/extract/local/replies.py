"""What a reply to a question says: yes, no, or a value, and what is left of it beside that."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from perdure.text.wordlist import phrase_set

Polarity = Literal["yes", "no"]

_YES = phrase_set("""
yes; yeah; yep; yup; yea; yess; aye; yes sir; yes indeed; yes of course; yes please; of course; sure; sure do; sure did
sure thing; sure am; definitely; absolutely; indeed; correct; exactly; right; that's right; that is right; that's correct
totally; certainly; you bet; i do; i did; i am; i have; i was; i will; i can; i sure do; i sure did; we do; we did; we are
we have; we will; he does; he did; he is; he has; he was; he will; she does; she did; she is; she has; she was; she will
they do; they did; they are; they have; they were; they will; it is; it does; it did; it was; it has; there is; there are
i'm afraid so; afraid so; unfortunately yes; sadly yes; yes unfortunately; yes sadly; always have; always will; yes always
""")
_NO = phrase_set("""
no; nope; nah; no sir; not at all; of course not; absolutely not; definitely not; certainly not; unfortunately not
sadly not; sadly no; unfortunately no; i'm afraid not; afraid not; no way; i don't; i do not; i didn't; i did not
i'm not; i am not; i haven't; i have not; i wasn't; i won't; i can't; we don't; we didn't; we aren't; we're not; we haven't
we won't; he doesn't; he didn't; he isn't; he's not; he hasn't; he wasn't; he won't; she doesn't; she didn't; she isn't
she's not; she hasn't; she wasn't; she won't; they don't; they didn't; they aren't; they're not; they haven't
they weren't; they won't; it isn't; it's not; it doesn't; it didn't; it wasn't; there isn't; there aren't
""")
_NOT_YET = phrase_set(
    "not yet; no not yet; nope not yet; unfortunately not yet; sadly not yet; not so far; still not"
)
_NO_LONGER = phrase_set(
    "not anymore; not any more; no longer; no not anymore; no not any more; nope not anymore; not these days"
)
_NEVER = phrase_set(
    "never; no never; nope never; never ever; never have; never did; i never did; i never have"
)
_NOT_REALLY = phrase_set("not really; no not really; nope not really; not particularly; not exactly")
_UNSURE = re.compile(
    r"(?:yes|yeah|yep|no|nope|well|sure)?\W*(?:and no\b|or no\b|i (?:think|guess|suppose|hope|believe|doubt)\b|maybe|perhaps|"
    r"probably|possibly|kind of|kinda|sort of|sorta|hopefully|not sure|no idea|no clue|no problem|no worries|no one|no matter|"
    r"it depends|depends|who knows|ask me|why\b|if\b|unless\b|almost|nearly|supposedly|apparently)",
    re.IGNORECASE,
)
_MOODS = phrase_set("""
sadly; unfortunately; luckily; thankfully; fortunately; finally; actually; still; indeed; definitely; absolutely; totally
certainly; of course; sure; really; thanks; thank you; thank god; haha; lol; please; sorry; man; dude; honestly; at last
very much; very much so; big time; for sure; why; as always; like always; so far; as of now; actually yes; all good
i am; i do; i did; i have; i was; i will; i can; we are; we do; we did; we have; he is; he does; he did; he has; she is
she does; she did; she has; they are; they do; they did; they have; it is; it does; it did; it was; there is; there are
i'm not; i don't; i didn't; i haven't; i am not; i do not; i did not; i have not; i wasn't; i won't; i can't; we don't
we didn't; we haven't; we aren't; he isn't; he doesn't; he didn't; he hasn't; she isn't; she doesn't; she didn't
she hasn't; they aren't; they don't; they didn't; they haven't; it isn't; it's not; it doesn't; not at all; not yet
not anymore; not any more; never; thanks for asking; believe it or not; i promise; i swear; thank goodness
""")
_OPENERS = re.compile(
    r"(?:(?:oh|ah|aw|aww|wow|haha|hah|lol|well|hmm|um|uh|ha|hey|hi|so)\b[\s,.!…-]*)+(?=\w)", re.IGNORECASE
)
_PIECE_END = re.compile(r"\s*(?:[,;:!.…?]+|\s[-–—]+|[-–—]{2,}|—)\s*|\s*$")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Reply:
    """A yes or a no; `rest` is where what else was said begins in the text, its length when there is nothing more."""

    polarity: Polarity
    rest: int
    adverb: Literal["", "yet", "no longer", "never", "really"] = ""


def read_reply(text: str) -> Reply | None:
    """The yes or no that a sentence is or begins with; None when it is neither, or hedged."""
    opening = _OPENERS.match(text)
    start = opening.end() if opening else 0
    if _UNSURE.match(text, start):
        return None
    piece = _piece(text, start)
    reply = _polarity(_words(text[start : piece[0]]))
    if reply is None:
        return None
    polarity, adverb = reply
    rest = piece[1]
    while rest < len(text):
        if _UNSURE.match(text, rest):
            return None
        end, after = _piece(text, rest)
        words = _words(text[rest:end])
        further = _polarity(words)
        if further is not None and further[0] == polarity:
            adverb = adverb or further[1]
        elif words and words not in _MOODS:
            break
        rest = after
    return Reply(polarity, min(rest, len(text)), adverb)


def _polarity(words: str) -> tuple[Polarity, Literal["", "yet", "no longer", "never", "really"]] | None:
    if words in _YES:
        return "yes", ""
    if words in _NOT_YET:
        return "no", "yet"
    if words in _NO_LONGER:
        return "no", "no longer"
    if words in _NEVER:
        return "no", "never"
    if words in _NOT_REALLY:
        return "no", "really"
    return ("no", "") if words in _NO else None


def _piece(text: str, start: int) -> tuple[int, int]:
    """(end of the words up to the next mark, start of what follows)."""
    match = _PIECE_END.search(text, start)
    assert match is not None
    return match.start(), max(match.end(), match.start() + 1)


def _words(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold().replace("’", "'")))
