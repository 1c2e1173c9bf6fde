"""Named things in a fact: the tagger's, and what rules find."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from perdure.extract.local.code_names import (
    KEYWORDS,
    begins_instruction,
    code_spans,
    is_within,
    named_type,
    without_verb,
)
from perdure.ports.tagger import Mention
from perdure.text.names import normal_name
from perdure.text.wordlist import word_set

_RULES: tuple[tuple[str, re.Pattern[str], re.Pattern[str]], ...] = (
    ("url", re.compile("://|www"), re.compile(r"https?://[^\s<>\"')\]]+[^\s<>\"')\].,;:!?]|\bwww\.[a-z0-9-]+\.[^\s<>\"')\]]*[a-z0-9/]")),
    ("handle", re.compile("@"), re.compile(r"\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}\b|(?<![\w@/.])[@][A-Za-z_]\w{1,38}\b")),
    ("concept", re.compile("[-#]"), re.compile(r"\b[A-Z]{2,10}-\d{1,8}\b|(?<!\w)#[A-Za-z]\w{2,40}\b")),
    ("concept", re.compile("`"), re.compile(r"`([^`\n]{2,80})`")),
    ("concept", re.compile("[a-z0-9][A-Z]|_"), re.compile(r"\b[a-z]+(?:_[a-z0-9]+)+\b|\b[a-z][a-z0-9]*(?:[A-Z][a-z0-9]+)+\b|\b(?:[A-Z][a-z0-9]+){2,}\b")),
    ("concept", re.compile("[./]"), re.compile(
        r"(?<![\w./-])(?:\w[\w-]{0,60}/){1,12}[\w-]{1,80}\.[a-z]{1,5}\b"
        r"|(?<![\w-])[\w-]{2,40}\.(?:py|js|ts|go|rs|md|toml|yaml|yml|json|sql|csv|txt|pdf|sh)\b"
    )),
)  # fmt: skip
"""(type, signs, pattern): every match of the pattern contains one of the signs, which are quick to look for."""
_ALIAS = re.compile(
    r"\b((?:[A-Z][\w&'-]*)(?:\s+(?:of|for|and|the|de|[A-Z][\w&'-]*)){1,7})\s+\(([A-Z][A-Za-z0-9&.-]{1,9})\)"
)
_AKA = re.compile(
    r"\b([A-Z][\w'-]*(?:\s+[A-Z][\w'-]*){0,3}),?\s+(?:\(?(?:aka|a\.k\.a\.|also known as|better known as|nicknamed|goes by))\s+"
    r"[\"“']?([A-Z][\w'-]*(?:\s+[A-Z][\w'-]*){0,3})"
)
_KIN = re.compile(
    r"\b((?:[A-Z][\w-]{0,40}|[Tt]he user|[Tt]he customer)(?:\s[A-Z][\w-]{0,40})?'s\s(?:(?:older|younger|little|big|twin|best|ex-?)\s?)?"
    r"(?:mom|mother|mum|dad|father|sister|brother|son|daughter|wife|husband|partner|fianc[eé]e?|girlfriend|boyfriend|"
    r"grandma|grandmother|grandpa|grandfather|aunt|uncle|cousin|niece|nephew|boss|manager|roommate|friend|therapist|"
    r"doctor|dog|cat|puppy|kitten|team|company))\b"
)
_KIN_TYPES = {
    **dict.fromkeys(("team", "company"), "organisation"),
    **dict.fromkeys(("dog", "cat", "puppy", "kitten"), "concept"),
}
_LEADING = re.compile(
    r"^(?:(?:hey|hi|hello|oh|wow|thanks|thank you|dear|yeah|yes|no|ok|okay|so|and|but|well|the|a|an|my|our|your|his|her|"
    r"their|this|that|congrats|congratulations|bye|haha|absolutely)\b[\s,!]*)+",
    re.IGNORECASE,
)
_TRAILING = re.compile(r"(?:['’]s?|[\s,.;:!?\"”)\]*_-])+$")
_NO_NAME = word_set("""
i me my mine we us our you your he him his she her it its they them their this that these those here there who what
hey hi hello wow thanks thank yeah yes no ok okay lol haha omg please sorry sure absolutely definitely congrats awesome
amazing great cool nice good monday tuesday wednesday thursday friday saturday sunday january february march april may
june july august september october november december today tomorrow yesterday tonight morning evening afternoon am pm
spring summer autumn fall winter btw fyi asap idk tbh imo imho mr mrs ms dr one two three first second last next
photo image screenshot ai tv pc mon tue tues wed thu thur thurs fri sat sun wanna gonna gotta dude bro guys everyone someone
""")
_ACRONYM = re.compile(r"(?<![\w#@/.-])[A-Z][A-Z0-9]{1,5}\b(?![@/-])")
_NO_ACRONYM = word_set(
    "OK LOL OMG TV PC AM PM ID US UK EU AI IT FYI BTW ASAP TBH IMO IMHO IDK DIY FAQ PS RE FW CEO CFO CTO HR PR VIP ETA NB "
    "AND THE NOT BUT FOR YOU ALL SO NO YES TO OF IN ON DO MY ME WE BE IS I'M WOW HEY TLC RIP MVP USD GBP EUR TODO NOTE"
)
_CAPITALISED = frozenset({"person", "place", "organisation"})
"""Types whose names a tagger may not find in lower case elsewhere: "enum" is not the Enum it took for somebody."""
_HAS_LETTER = re.compile(r"[^\W\d_]")
_LONGEST = 80
_MORE_THAN_CASE = frozenset("İıſ\u212a")
"""Signs that are the same as a plain letter when case is ignored."""


def clean_name(name: str) -> str:
    """A mention's text without greetings, articles, possessives and marks around it; empty when nothing is left."""
    bare = _TRAILING.sub("", _LEADING.sub("", " ".join(name.split()).strip("\"“'*_([-")))
    if not 1 < len(bare) <= _LONGEST or not _HAS_LETTER.search(bare):
        return ""
    return "" if normal_name(bare) in _NO_NAME or bare.islower() else bare


def find_mentions(
    text: str, tagged: Iterable[Mention], names: Collection[tuple[str, str]] = ()
) -> tuple[Mention, ...]:
    """The mentions of a fact's text, in order and without overlaps; offsets count in `text`.

    `tagged` come from the tagger and may be worded a little differently; `names` are (name, type) pairs to look for.
    """
    mentions: list[Mention] = []
    for kind, signs, pattern in _RULES:
        if signs.search(text):
            group = 1 if pattern.groups else 0
            mentions += [Mention(match[group], kind, *match.span(group)) for match in pattern.finditer(text)]
    if not text.isupper():
        mentions += [
            Mention(match[0], "concept", *match.span())
            for match in _ACRONYM.finditer(text)
            if match[0] not in _NO_ACRONYM and match[0] not in KEYWORDS
        ]
    for match in _KIN.finditer(text):
        kind = _KIN_TYPES.get(match[1].rsplit(None, 1)[-1], "person")
        mentions.append(Mention(match[1], kind, *match.span(1)))
    spans = code_spans(text)
    for name, kind in dict.fromkeys([*names, *_from_tagger(tagged)]):
        is_typed = (name, kind) in names
        start = _word_at(text, name) if name else -1
        while start >= 0:
            end = start + len(name)
            seen = text[start:end]
            is_code = is_within(start, spans) or begins_instruction(text, start, end)
            if is_typed or not (is_code or (seen.islower() and kind in _CAPITALISED)):
                mentions.append(Mention(seen, kind, start, end))
            start = _word_at(text, name, end)
    return _without_overlaps(mentions)


def _from_tagger(tagged: Iterable[Mention]) -> Iterator[tuple[str, str]]:
    """(name, type) of what a tagger takes for names, without fragments of code."""
    for mention in tagged:
        name = clean_name(without_verb(clean_name(mention.text)))
        kind = named_type(name, mention.type) if name else ""
        if kind:
            yield name, kind


def find_aliases(text: str) -> tuple[tuple[str, str], ...]:
    """(name, alias) pairs that the text itself states: "Bay Area Rapid Transit (BART)", "Bob, aka Robert"."""
    pairs = [(match[1], match[2]) for match in _ALIAS.finditer(text) if _abbreviates(match[2], match[1])]
    pairs += [(match[1], match[2]) for match in _AKA.finditer(text)]
    return tuple(dict.fromkeys((clean_name(name), alias) for name, alias in pairs if clean_name(name)))


def _abbreviates(short: str, long: str) -> bool:
    letters = [char for char in short.casefold() if char.isalpha()]
    firsts = [word[0].casefold() for word in long.split()]
    rest = iter(firsts)
    return len(letters) >= 2 and (all(letter in rest for letter in letters))


def _word_at(text: str, name: str, after: int = 0) -> int:
    """Where the name next stands as a word of its own, in any case unless it is in lower case; -1 when nowhere."""
    any_case = name.casefold() != name
    if any_case and not (name.isascii() and _MORE_THAN_CASE.isdisjoint(text)):
        match = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE).search(text, after)
        return match.start() if match else -1
    searched, word = (text.lower(), name.lower()) if any_case else (text, name)
    start = searched.find(word, after)
    while start >= 0 and (_is_word(text, start - 1) or _is_word(text, start + len(name))):
        start = searched.find(word, start + 1)
    return start


def _is_word(text: str, place: int) -> bool:
    return 0 <= place < len(text) and (text[place].isalnum() or text[place] == "_")


def _without_overlaps(mentions: list[Mention]) -> tuple[Mention, ...]:
    """Longer mentions win over those they cover; one mention per name."""
    kept: list[Mention] = []
    seen: set[str] = set()
    for mention in sorted(mentions, key=lambda item: (item.start - item.end, item.start)):
        name = normal_name(mention.text)
        overlaps = any(mention.start < other.end and other.start < mention.end for other in kept)
        if name and name not in seen and not overlaps:
            kept.append(mention)
            seen.add(name)
    return tuple(sorted(kept, key=lambda item: item.start))
