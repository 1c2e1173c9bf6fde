"""Rules that both taggers share: splitting text into pieces and sentences, and finding names by patterns."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from perdure.ports.tagger import Mention
from perdure.text.wordlist import word_set

PLAIN_WORDS = word_set("""
i i'm i've i'd i'll a an the and but or so if then than because as at by for from in into of on to with without about after before
during since until while when where who whom whose what which why how he she it we you they me him her us them my your his
its our their mine this that these those there here is are was were be been being am do does did have has had can could will
would shall should may might must not no nor yes yeah yep ok okay oh wow hey hi hello bye thanks thank please sorry sure
well also just maybe perhaps really very too both either neither each every all any some many much more most other another
such only own same it's that's there's he's she's we're you're they're let's don't didn't can't won't isn't aren't wasn't
what's who's where's how's absolutely definitely totally exactly congrats congratulations awesome amazing great cool nice
good glad happy love looking last next first second one two three today tomorrow yesterday tonight monday tuesday wednesday
thursday friday saturday sunday january february march april may june july august september october november december
mon tue wed thu fri sat sun jan feb mar apr jun jul aug sep sept oct nov dec spring summer autumn fall winter am pm
mr mrs ms mx dr prof new old now never always often sometimes once later soon still even though although however anyway btw lol omg
haha hmm yup nope right left take make get got go going see look know think say said tell ask try use used add run set
""")
"""Words that are not names, even with a capital at the beginning of a sentence."""

_URL = re.compile(r"\b(?:https?://|www\.)[^\s<>\"']+[^\s<>\"'.,;:!?)\]}…]")
_EMAIL = re.compile(r"\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}\b")
_HANDLE = re.compile(r"(?<![\w@/.])@[A-Za-z_]\w{1,38}\b")
_IDENTIFIER = re.compile(
    r"\b[A-Z]{2,10}-\d{1,8}\b"
    r"|\b[a-z]+(?:_[a-z0-9]+)+\b"
    r"|\b[a-z]+(?:[A-Z][a-z0-9]+)+\b|\b(?:[A-Z][a-z0-9]+){2,6}\b"
    r"|(?<!\w)#[A-Za-z]\w{2,40}\b"
)
_RULES = (
    ("url", _URL, re.compile(r"http|www\.")),
    ("handle", _EMAIL, re.compile("@")),
    ("handle", _HANDLE, re.compile("@")),
    ("concept", _IDENTIFIER, re.compile(r"[a-z0-9][A-Z]|[-_#]")),
)
"""(type, pattern, sign): every match of the pattern contains the sign, which is quick to search for."""


class Gazetteer:
    """Names known to the caller, found in any case."""

    def __init__(self, names: Collection[str]) -> None:
        longest_first = sorted(
            {" ".join(name.split()) for name in names if len(name.strip()) > 1}, key=len, reverse=True
        )
        pattern = "|".join(re.escape(name).replace(r"\ ", r"\s+") for name in longest_first)
        self._pattern = (
            re.compile(rf"(?<![\w@])(?:{pattern})(?!\w)", re.IGNORECASE) if longest_first else None
        )

    def find(self, text: str) -> list[Mention]:
        """Return each occurrence of a name, as a person."""
        if self._pattern is None:
            return []
        return [Mention(match.group(), "person", *match.span()) for match in self._pattern.finditer(text)]


def find_marked(text: str) -> list[Mention]:
    """Return URLs, e-mail addresses, handles, hashtags and identifiers such as PROJ-12, snake_case or CamelCase."""
    return [
        Mention(match.group(), kind, *match.span())
        for kind, pattern, sign in _RULES
        if sign.search(text)
        for match in pattern.finditer(text)
    ]


def without_overlaps(*groups: Iterable[Mention]) -> list[Mention]:
    """Return the mentions in text order; of two that overlap the longer stays, of equal ones that of the earlier group."""
    ranked = sorted(
        ((mention, rank) for rank, group in enumerate(groups) for mention in group),
        key=lambda item: (item[0].start - item[0].end, item[1], item[0].start),
    )
    kept: list[Mention] = []
    covered = bytearray()
    for mention, _ in ranked:
        if len(covered) < mention.end:
            covered.extend(bytes(mention.end - len(covered)))
        if not any(covered[mention.start : mention.end]):
            covered[mention.start : mention.end] = b"\1" * (mention.end - mention.start)
            kept.append(mention)
    return sorted(kept, key=lambda mention: mention.start)
