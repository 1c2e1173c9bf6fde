"""A tagger without a model: sentences by punctuation, names by capitals."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from perdure.models.tagging import (
    PLAIN_WORDS,
    Gazetteer,
    find_marked,
    without_overlaps,
)
from perdure.ports.tagger import Mention
from perdure.text.sentences import sentences
from perdure.text.surrogates import without_surrogates

_CAPITAL = r"[A-Z\u00C0-\u00DE\u0100-\u024F\u0391-\u03A9\u0410-\u042F][\w'’&-]*"
_NAME = re.compile(
    rf"(?<![\w@#/]){_CAPITAL}(?:(?:\s(?:of|the|de|la|van|von|der|al|bin|du|del|and|&)){{0,2}}\s{_CAPITAL}){{0,5}}"
)
_OPENING = re.compile(r"[\W_]*\Z")
_TAIL = re.compile(r"['’]s?\Z|[-&]+\Z")
_WORDS = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_BEFORE_NAMES = frozenset({"new", "old", "great", "good", "first", "second", "may"})
_PLACE_CUE = re.compile(r"\b(?:in|at|to|from|near|visit(?:ed|ing)?|around|outside)\s\Z")
_ORGANISATION = re.compile(
    r"\b(?:Inc|Ltd|LLC|GmbH|Corp|Company|University|College|School|Institute|Bank|Hospital|Foundation|Museum|Committee|"
    r"Association|Agency|Department|Ministry|Church|Club|Labs?|Technologies|Systems|Group|Airlines|Press)(?:\.?\Z|\sof\s)"
)
_PLACE = re.compile(
    r"\b(?:City|Street|Avenue|Road|Park|Lake|River|Island|Islands|Mountain|Mountains|Beach|Bay|County|Valley|Airport|Station|Square|"
    r"Forest|Bridge|Canyon|Desert|Ocean|Sea)\Z|\A(?:Mount|Lake|North|South|East|West|New|San|Santa|Los|Las)\s[A-Z]"
)
_TITLED = re.compile(
    r"\b(?:Mr|Mrs|Ms|Mx|Dr|Prof|Professor|Sir|Aunt|Uncle|Grandma|Grandpa|President)\.?\s(?:\Z|(?=[A-Z]))"
)
_ACTS = re.compile(
    r"\A(?:['’]s)?\s(?:said|says|told|asked|thinks|thought|loves?|likes?|wants?|went|goes|married|works?|worked|lives?|lived|moved|"
    r"called|wrote|bought|is (?:my|his|her|our|their)|and I)\b"
)

_SIGN = re.compile(
    r"['’]s\s|,?\s(?:is|was|has|had|will|would|can|could|does|did|and\s[A-Z]|just|also|really|always|never)\b|\s\w+(?:ed|s)\s"
)
"""Follows a name more often than any other first word of a sentence."""
_INNER = re.compile(r"(?<=[a-z,;]\s)[A-Z][\w-]+")


class RuleTagger:
    """Sentences and mentions without a model; sentences have no tokens."""

    @property
    def name(self) -> str:
        return "rules"

    def tag(self, texts: Sequence[str], names: Collection[str] = ()) -> list[list[Mention]]:
        known = Gazetteer(names)
        return [_tag(without_surrogates(text), known) for text in texts]


def _tag(text: str, known: Gazetteer) -> list[Mention]:
    lower, inner = _lower_words(text), frozenset(_INNER.findall(text))
    capitalised = _same_type_per_name(
        [mention for span in sentences(text) for mention in _names(text, span, lower, inner)]
    )
    return without_overlaps(known.find(text), find_marked(text), capitalised)


def _same_type_per_name(mentions: Sequence[Mention]) -> list[Mention]:
    """Give each name one type: the first that is not concept."""
    types = {mention.text: mention.type for mention in reversed(mentions) if mention.type != "concept"}
    return [replace(mention, type=types.get(mention.text, mention.type)) for mention in mentions]


def _names(
    text: str, span: tuple[int, int], lower: frozenset[str], inner: frozenset[str]
) -> Iterator[Mention]:
    """Yield runs of capitalised words; a single word at a sentence's start needs evidence that it is a name."""
    start, end = span
    shouted = text[start:end].isupper()
    for match in _NAME.finditer(text, start, end):
        if shouted:
            return
        first = _OPENING.match(text, start, match.start()) is not None
        name, at = _trim(match.group(), match.start(), first, lower)
        opens = first and at == match.start() and " " not in name
        if name and (not opens or name in inner or _SIGN.match(text, at + len(name), end)):
            yield Mention(name, _type(text, at, at + len(name), name), at, at + len(name))


def _trim(name: str, at: int, first: bool, lower: frozenset[str]) -> tuple[str, int]:
    """Remove plain words from the ends of the run."""
    while name:
        word = name.split(maxsplit=1)[0]
        bare = word.lower().replace("’", "'").strip("-&")
        if bare in _BEFORE_NAMES and " " in name:
            break
        if (
            bare not in PLAIN_WORDS
            and bare.removesuffix("'s") not in PLAIN_WORDS
            and not (first and bare in lower)
        ):
            break
        rest = name[len(word) :].lstrip()
        at += len(name) - len(rest)
        name, first = rest, False
    words = name.split()
    while words and (words[-1].lower() in PLAIN_WORDS or words[-1][0].islower()):
        words.pop()
    name = name[: name.rfind(words[-1]) + len(words[-1])] if words else ""
    name = _TAIL.sub("", name)
    return (name, at) if len(name) > 1 else ("", at)


def _type(text: str, start: int, end: int, name: str) -> str:
    before, after = text[max(0, start - 24) : start], text[end : end + 24]
    if _ORGANISATION.search(name):
        return "organisation"
    if _TITLED.search(before) or _TITLED.match(name):
        return "person"
    if _PLACE.search(name):
        return "place"
    if _ACTS.match(after):
        return "person"
    return "place" if _PLACE_CUE.search(before) and not name.isupper() else "concept"


def _lower_words(text: str) -> frozenset[str]:
    """Return words that the text also writes in lower case: no names at the beginning of a sentence."""
    return frozenset(match.group() for match in _WORDS.finditer(text) if match.group().islower())
