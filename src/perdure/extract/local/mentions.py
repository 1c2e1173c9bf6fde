"""Named things in a statement: what the tagger finds, what the caller knows, and what has the form of a name."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import takewhile

from perdure.ports.tagger import Mention
from perdure.text.names import is_given_name, normal_name
from perdure.text.wordlist import word_set

_FORMS: tuple[tuple[str, re.Pattern[str], re.Pattern[str]], ...] = (
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
_COMMON = word_set("mit bei ein eine der die das viel herzlichen gute el la los las un una le les des")
_NO_NAME = word_set("""
i me my mine we us our you your he him his she her it its they them their this that these those here there who what
hey hi hello wow thanks thank yeah yes no ok okay lol haha omg please sorry sure absolutely definitely congrats awesome
amazing great cool nice good monday tuesday wednesday thursday friday saturday sunday january february march april may
june july august september october november december today tomorrow yesterday tonight morning evening afternoon am pm
spring summer autumn fall winter btw fyi asap idk tbh imo imho mr mrs ms dr one two three first second last next
photo image screenshot ai tv pc mon tue tues wed thu thur thurs fri sat sun wanna gonna gotta dude bro guys everyone someone
""")
_LEADING = re.compile(
    r"^(?:(?:hey|hi|hello|oh|wow|thanks|thank you|dear|yeah|yes|no|ok|okay|so|and|but|well|the|a|an|my|our|your|his|her|"
    r"their|this|that|congrats|bye)\b[\s,!]*)+",
    re.IGNORECASE,
)
_TRAILING = re.compile(r"(?:['’]s?|[\s,.;:!?\"”)\]*_-])+$")
_FRAGMENT = re.compile(r"[(){}\[\]=$|<>;\\^~\n]|://|(?:^|\s)--?\w|(?:^|\s)[./~]*/|\w/\w+/|&&")
"""Signs that no name has: brackets, assignments, pipes, options, paths."""
_VOWEL = re.compile(r"(?i)[aeiouyäöü]")
_OPENING = re.compile(r"(?:\A|[.!?…:\n])[\s\"“'*_(\[-]*\Z")
"""What stands before the first word of a sentence."""
_LOCATING = re.compile(r"(?i)\b(?:in|to|from|near|around|outside|towards)\s\Z")
_LETTER = re.compile(r"[^\W\d_]")
_LONGEST = 60
_MOST_WORDS = 5


def find_mentions(
    text: str,
    tagged: Iterable[Mention] = (),
    names: Collection[tuple[str, str]] = (),
    *,
    language: str = "en",
) -> tuple[Mention, ...]:
    """Return the mentions of a text in order and without overlaps; offsets count in `text`.

    `tagged` come from an English tagger with offsets in `text`; `names` are (name, type) pairs to look for, in any case.
    """
    mentions: list[Mention] = []
    for kind, signs, pattern in _FORMS:
        if signs.search(text):
            group = 1 if pattern.groups else 0
            mentions += [Mention(match[group], kind, *match.span(group)) for match in pattern.finditer(text)]
    for name, kind in dict.fromkeys(names):
        mentions += _known(text, name, kind)
    known = [(one.start, one.end) for one in mentions]
    for mention in tagged:
        name = _bare_name(clean_name(mention.text))
        start = text.find(name, mention.start)
        if not name or start < 0 or any(start < last and first < start + len(name) for first, last in known):
            continue
        if _is_name(name, mention.type, text, start, language):
            mentions.append(Mention(name, _type(name, mention.type, text, start), start, start + len(name)))
    return _without_overlaps(mentions)


def _known(text: str, name: str, kind: str) -> list[Mention]:
    if not name.strip():
        return []
    flags = re.IGNORECASE if name.casefold() != name else 0
    found = re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text, flags)
    return [Mention(match[0], kind, *match.span()) for match in found]


def clean_name(name: str) -> str:
    """Return a mention's text without greetings, articles, possessives and marks around it; empty when nothing is left."""
    bare = _TRAILING.sub("", _LEADING.sub("", name.strip("\"“'*_([- \n")))
    if not 1 < len(bare) <= _LONGEST or len(bare.split()) > _MOST_WORDS or not _LETTER.search(bare):
        return ""
    return "" if normal_name(bare) in _NO_NAME or bare.islower() or _FRAGMENT.search(bare) else bare


def _bare_name(name: str) -> str:
    """Return a given name with the names behind it, without the words that follow: "Lena zieht" is Lena."""
    words = name.split()
    if not words or not is_given_name(words[0]):
        return name
    return " ".join(takewhile(lambda word: word[0].isupper(), words)) or name


def _is_name(name: str, tagged: str, text: str, start: int, language: str) -> bool:
    """Return whether what an English tagger took for a name likely is one: no shouted and no common word."""
    words = name.split()
    if name.isupper():
        return len(words) == 1 and _VOWEL.search(name) is None
    if is_given_name(words[0]):
        return True
    capitals = all(word[0].isupper() or word[0].isdigit() for word in words if len(word) > 3)
    if language == "de" or words[0].casefold() in _COMMON or not capitals:
        return False  # Every German noun has a capital.
    if len(words) > 1:
        return True
    lower = re.search(rf"(?<!\w){re.escape(name.casefold())}(?!\w)", text)
    return lower is None and (tagged != "concept" or _OPENING.search(text[:start]) is None)


def _type(name: str, tagged: str, text: str, start: int) -> str:
    """Return person or place where that is nearly sure, else no type: on messy text a tagger's types are often wrong."""
    if is_given_name(name.split()[0]):
        return "person" if tagged != "place" else "concept"
    return "place" if tagged == "place" and _LOCATING.search(text[:start]) else "concept"


def find_aliases(text: str) -> tuple[tuple[str, str], ...]:
    """Return (name, alias) pairs that the text itself states: "Bay Area Rapid Transit (BART)"."""
    pairs = [(match[1], match[2]) for match in _ALIAS.finditer(text) if _abbreviates(match[2], match[1])]
    return tuple(dict.fromkeys((clean_name(name), alias) for name, alias in pairs if clean_name(name)))


def _abbreviates(short: str, long: str) -> bool:
    letters = [char for char in short.casefold() if char.isalpha()]
    rest = iter([word[0].casefold() for word in long.split()])
    return len(letters) >= 2 and all(letter in rest for letter in letters)


def _without_overlaps(mentions: Sequence[Mention]) -> tuple[Mention, ...]:
    """Return the mentions without those that a longer one covers, and one per name."""
    chosen: list[Mention] = []
    seen: set[str] = set()
    for mention in sorted(mentions, key=lambda item: (item.start - item.end, item.start)):
        name = normal_name(mention.text)
        overlaps = any(mention.start < other.end and other.start < mention.end for other in chosen)
        if name and name not in seen and not overlaps:
            chosen.append(mention)
            seen.add(name)
    return tuple(sorted(chosen, key=lambda item: item.start))
