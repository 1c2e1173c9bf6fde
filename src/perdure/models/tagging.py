"""Rules that both taggers share: splitting text into pieces and sentences, and finding names by patterns."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from perdure.ports.tagger import Mention
from perdure.text.wordlist import word_set

Span = tuple[int, int]

MAX_PIECE = 2000
"""The maximum length of sentences and of pieces given to a model."""

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

_BREAK = re.compile(
    r"\n[ \t]*\n\s*|\n(?=[ \t]*(?:[-*+•◦‣▪–—]|\d{1,3}[.)]|#{1,6}|>|\|)[ \t])|(?<=[.!?:;…。！？])[ \t]*\n|\n{1,}(?=```)|\r\n?"
)
_END = re.compile(
    r"(?:[.!?…]+[\"'”’)\]*_]*(?=\s|$)|[。！？]+[」』”]?)(?:\s*[\U0001F300-\U0001FAFF☀-➿️‍]+)?\s*"
)
_ABBREVIATIONS = word_set(
    "mr mrs ms dr prof st sr jr vs etc e.g i.e eg ie approx no fig al inc ltd co corp dept est mt ave blvd rd gen sen rep "
    "jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri a.m p.m u.s u.k ph.d"
)
_LAST_WORD = re.compile(r"[\w.]+$")

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


def pieces(text: str, limit: int = MAX_PIECE) -> Iterator[Span]:
    """Yield the text's paragraphs, list items and lines that end like sentences, none longer than `limit`."""
    start = 0
    for gap in _BREAK.finditer(text):
        yield from _cut_long(text, start, gap.start(), limit)
        start = gap.end()
    yield from _cut_long(text, start, len(text), limit)


def sentences(text: str) -> Iterator[Span]:
    """Yield the text's sentences, without surrounding white space, in linear time."""
    for start, end in pieces(text):
        begin = start
        for stop in _END.finditer(text, start, end):
            if stop.end() < end and not _ends_sentence(text, begin, stop):
                continue
            yield from _trimmed(text, begin, stop.end())
            begin = stop.end()
        yield from _trimmed(text, begin, end)


def _ends_sentence(text: str, start: int, stop: re.Match[str]) -> bool:
    """Return whether a stop before more text ends the sentence: not an abbreviation, an initial or a list's number."""
    if not stop.group().startswith((".", "…")):
        return True
    if stop.group().startswith(("..", "…")):
        return not text[stop.end() : stop.end() + 1].islower()
    match = _LAST_WORD.search(text, max(start, stop.start() - 20), stop.start())
    if match is None:
        return True
    word = match.group()
    if len(word) == 1 and word.isupper() and word != "I":
        return False
    return word.lower() not in _ABBREVIATIONS and not (word.isdigit() and match.start() == start)


def _cut_long(text: str, start: int, end: int, limit: int) -> Iterator[Span]:
    while end - start > limit:
        cut = start + limit
        for mark in (". ", "? ", "! ", "; ", ", ", " "):
            place = text.rfind(mark, start + limit // 2, start + limit)
            if place >= 0:
                cut = place + len(mark)
                break
        yield from _trimmed(text, start, cut)
        start = cut
    yield from _trimmed(text, start, end)


def _trimmed(text: str, start: int, end: int) -> Iterator[Span]:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    if start < end:
        yield start, end


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


def mentions_by_span(mentions: Sequence[Mention], spans: Sequence[Span]) -> list[tuple[Mention, ...]]:
    """Return the mentions within each span; both in text order."""
    inside: list[list[Mention]] = [[] for _ in spans]
    at = 0
    for mention in mentions:
        while at < len(spans) and spans[at][1] <= mention.start:
            at += 1
        if at < len(spans) and spans[at][0] <= mention.start and mention.end <= spans[at][1]:
            inside[at].append(mention)
    return [tuple(group) for group in inside]
