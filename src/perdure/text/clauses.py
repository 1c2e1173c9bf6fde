"""A sentence's clauses for reading slots: who or what each is about, how it is meant, and its verb."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from perdure.text import verbs
from perdure.text.sentence import folded
from perdure.text.wordlist import phrase_set, word_set

Meant = Literal["fact", "past", "former", "perfect", "progressive", "planned", "denied", "over", "unreal"]

_QUOTED = re.compile(r"\"[^\"\n]*\"|“[^”\n]*”|‘[^’\n]*’(?!\w)|(?<=[:,] )'[^'\n]{2,200}'(?=[\s,.!?]|$)")
_TITLE = re.compile(r"\b(Dr|Mr|Mrs|Ms|Prof|St|Sr|Jr|Mt)\.(?=\s)")
_CONTRACTED = (
    (re.compile(r"\bcan['’]?\s?(?:no)?t (?:stand|bear)\b", re.I), "hate"),
    (re.compile(r"\b(?:won['’]t|wont)\b", re.I), "will not"),
    (re.compile(r"\b(?:can['’]t|cannot)\b", re.I), "can not"),
    (re.compile(r"\bain['’]t\b", re.I), "is not"),
    (re.compile(r"n['’]t\b", re.I), " not"),
    (re.compile(r"\b(I)['’]m\b", re.I), r"\1 am"),
    (re.compile(r"\bim\b"), "I am"),
    (re.compile(r"\b(I|we|you|they)['’]ve\b", re.I), r"\1 have"),
    (re.compile(r"\bive\b"), "I have"),
    (re.compile(r"\b(we|you|they)['’]re\b", re.I), r"\1 are"),
    (re.compile(r"\b(\w+)['’]ll\b", re.I), r"\1 will"),
    (re.compile(r"\b(I|we|you|they|he|she|it)['’]d\b", re.I), r"\1 would"),
    (re.compile(r"\b(dont|didnt|doesnt|isnt|wasnt|havent|hasnt)\b", re.I), lambda m: f"{m[0][:-2]} not"),
)  # fmt: skip
_IS_OR_HAS = re.compile(r"\b(it|he|she|that|there|here|what|who|where)['’]s\b(?=\s+(\w+))", re.I)
_NAME_IS = re.compile(
    r"\b(\w+)['’]s\b(?=\s+(now|not|no longer|been|just|moved|started|joined|left|got|gone|a|an|at|in|on|the|my|our|his|her"
    r"|working|living|dating|seeing|still|back|finally|already|vegan|vegetarian|married|engaged|divorced|single|retired|done|off|over|up|down|with|called|named|with|seeing|learning|driving|studying|broken|closed|open|ready|\d[\d.,:-]*)(?!\w))"
)
_ATTRIBUTE_IS = re.compile(
    r"\b(name|number|code|password|address|provider|supplier|team|phone|mobile|mail|email|boss|manager|doctor|dentist|birthday|job|title|colour|color|favourite|plate|pin)['’]s\b(?=\s+(?!name\b|number\b|birthday\b|office\b|wife\b|husband\b|phone\b)\S)",
    re.I,
)
_PARTICIPLE = re.compile(
    r"(?:been|got|gotten|become|gone|taken|moved|changed|left|started|switched|\w+ed|just|now been)$"
)
_LEAD = re.compile(
    r"""(?:and|but|so|well|oh|ah|ok|okay|yes|yeah|yep|yup|no|nope|nah|hey|hi|hello|huh|wow|ugh|actually|anyway|anyways|also|btw|fyi|then
    |by\ the\ way|update|quick\ update|small\ update|life\ update|news|big\ news|good\ news|bad\ news|sad\ news|great\ news|the\ news\ is|breaking
    |(?:it\ )?turns\ out(?:\ that)?|as\ it\ turns\ out|it\ turned\ out(?:\ that)?|guess\ what|finally|sadly|unfortunately|luckily|happily|thankfully|fortunately
    |recently|lately|now|right\ now|today|these\ days|nowadays|currently|meanwhile|honestly|basically|officially|technically|thing\ is|the\ thing\ is|long\ story\ short|to\ be\ honest|tbh
    |in\ fact|as\ a\ matter\ of\ fact|in\ the\ end|after\ all|in\ other\ news|of\ course|for\ the\ record|just\ so\ you\ know|for\ your\ information|heads\ up|heads-up
    |just|still|instead|remember(?:\ that)?|please\ remember(?:\ that)?|note(?:\ that)?|please\ note(?:\ that)?|reminder|correction|sorry|my\ bad|oops|whoops|scratch\ that|strike\ that|wait|hold\ on|hang\ on|i\ mean|i\ misspoke|let\ me\ correct\ (?:that|myself)|no\ wait
    |did\ i\ (?:tell|mention)(?:\ you|\ to\ you)?(?:\ that)?|i\ (?:should|have\ to|must|can|forgot\ to|wanted\ to|want\ to|need\ to|just\ wanted\ to)\ (?:say|tell\ you|mention|admit|let\ you\ know|report|add|correct)(?:\ that|:|\ the\ following)?
    |i\ (?:just\ )?(?:found\ out|learned|learnt|realised|realized|noticed|remembered|checked\ and|confirmed)(?:\ that)?|i\ (?:think|believe|guess|am\ (?:happy|glad|sad|proud|pleased|excited|thrilled|sorry)\ to\ (?:say|report|tell\ you|announce))(?:\ that)?
    |you\ should\ know(?:\ that)?|save(?:\ that)?|store(?:\ that)?|know\ that|now\ that
    |since\ then|ever\ since|from\ now\ on|going\ forward|as\ of|starting|effective|since|after|before|in|on|at|last|this|earlier|late|early|yesterday|a\ (?:week|month|year|day|few\ \w+|couple\ of\ \w+)\ ago|two\ \w+\ ago|\w+\ (?:weeks|months|years|days)\ ago|over)
    (?=[\s,:;.!—–-])""",
    re.I | re.X,
)
_TIMED_WORD = r"(?!\b(?:I|we|my|our|the\s\w+\s(?:is|was))\b)[\w'’-]++"
_TIME_LEAD = re.compile(
    r"(?:as of|starting|effective|since|after|before|in|on|at|last|this|earlier|late|early|over|for)\s+"
    rf"(?P<time>{_TIMED_WORD}(?:\s+{_TIMED_WORD}){{0,4}}?)(?:\s*,|(?=\s(?:I|we|my|our|he|she|they)\s))",
    re.I,
)
_TIME_WORD = re.compile(
    r"(?:(?:the|a|an|last|next|this|past|few|couple|of|early|late|mid|end|beginning|start|today|yesterday|now|then|that|all|many|"
    r"ago|first|second|third|\d++|one|two|three|four|five|six|seven|eight|nine|ten|twelve|almost|nearly|over|about|"
    r"days?|weeks?|months?|years?|spring|summer|autumn|fall|winter|weekend|morning|evening|night|afternoon|decade|time|lot|back|and|forth|"
    r"january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|"
    r"monday|tuesday|wednesday|thursday|friday|saturday|sunday|thinking|consideration|break-?up|divorce|wedding|holidays|christmas|easter|new|graduation|college|university|birth)"
    r"(?:['’]s|st|nd|rd|th)?){1,3}|\w+ing(?:['’]s)?",
    re.I,
)
"""A word of an expression of time, alone or joined to others: "June", "2nd", "midsummer's"; and whatever goes on: "thinking"."""
_SEPARATOR = re.compile(
    r"[.;:!?—–]+\s+|\s+[—–-]{1,2}\s+|,\s+(?:and|but|so|yet|then)\s+|,\s+|\s+(?:and|but|so|yet|because|cause|as)\s+(?=\S)|\.{2,}\s*|…\s*"
)
_UNREAL_BEFORE = re.compile(
    r"\b(?:if|unless|whether|when|whenever|once|before|until|till|wish|hope|hoping|imagine|imagining|pretend|suppose|supposing|say|says|said|claims?|claimed|thinks|thought"
    r"|believes|dreams?|dreamt|dreamed|would|could|might|may|should|maybe|perhaps|possibly|like|as though|as if|in case|ask(?:s|ed)?|asking|wonder(?:s|ed|ing)?"
    r"|rumou?rs?|gossip|joke[sd]?|joking|kidding|assuming|provided|what if|want(?:s|ed)?|not that|it is not that|than|where|which|who|that)\b",
    re.I,
)
UNREAL_SENTENCE = re.compile(
    r"\b(?:just kidding|only kidding|jk|just joking|yeah right|in my dreams|i wish|as if|hypothetically|theoretically|for example|for instance|"
    r"april fools|let['’]s (?:say|pretend|imagine)|imagine|suppose|pretend(?:ing)?|role-?play|what if|"
    r"in (?:the|this|that|my|a|her|his) (?:\w+ )?(?:book|novel|movie|film|game|story|series|show|dreams?|play|video ?game|nightmare|campaign|fanfic|song|screenplay|script|simulation|sims)|"
    r"(?:my|the|her|his) (?:character|protagonist|hero|heroine|main character|narrator|avatar)|i (?:dreamt|dreamed|had a dream|dream)|fiction(?:al)?|"
    r"once upon a time|would be (?:nice|great|cool|lovely)|would love to|would like to|if only|wishful|fake news|supposedly|allegedly|rumou?r has it|oh sure|sure, (?:and|because)|"
    r"as (?:everybody|everyone) knows|as the (?:book|song|saying|joke|story) goes|according to (?:my|the) (?:kids|cat|dog|wife|husband|horoscope)|contrary to|praise the|, obviously|"
    r"and (?:i['’]m|i am) the (?:queen|king|pope|president)|when pigs fly|not really|almost|nearly|on (?:vacation|holiday)|/s)(?![\w-])",
    re.I,
)
"""What makes a whole sentence no statement of how things are: jokes, dreams, fiction, wishes, near misses."""

_AUXILIARIES = word_set(
    "am is are was were be been being have has had do does did will would could might may should can must shall wanna gonna"
)
_HEDGES = word_set("would could might may should can must shall")
_BETWEEN = verbs.ADVERBS | word_set(
    "now not no longer never just recently currently finally officially actually really also still already even only both all been "
    "apparently basically probably lately today yesterday then so definitely gladly happily sadly soon again at last ever these days "
    "voluntarily permanently temporarily myself herself himself ourselves themselves later since initially meanwhile"
)
_PLANS = phrase_set(
    "going to; gonna; about to; planning to; hoping to; looking to; thinking of; thinking about; considering; want to; wants to; wanna; need to; needs to; "
    "plan to; plans to; hope to; hopes to; intend to; intends to; expect to; expects to; have to; has to; got to; set to; due to; supposed to; "
    "trying to; try to; tried to; wanted to; hoped to; planned to; meant to; like to; love to; loves to; likes to; decided to; agreed to; promised to; able to; "
    "scheduled to; likely to; bound to; ready to; keen to; tempted to; happy to; willing to; excited to; afraid to; looking for; planning on; wish to; used to be able to; refuse to; refused to; forgot to; failed to"
)  # fmt: skip
_FORMER = ("used to",)
_STARTED = re.compile(
    r"(?:(?:have|has|had)\s+to|started\s+to|begun\s+to|began\s+to|get\s+to|ended\s+up|managed\s+to|got\s+to)\s+$",
    re.I,
)
_PRONOUNS = word_set("i we you he she they it that this")
_POSSESSIVES = word_set("my our your his her their its")
_NO_NOUN = word_set(
    "who which that what where when why how if because although though while there here i we you he she they it him them us me not "
    "and but or so very really just also than then as too never always to of for with from by in on at"
)
_IN_NOUN = word_set("of for with from in on at to by and")
_IRREGULAR = {
    "became": "become", "began": "begin", "begun": "begin", "bought": "buy", "broke": "break", "broken": "break", "brought": "bring", "built": "build", "rewrote": "rewrite", "rewritten": "rewrite", "rebuilt": "rebuild",
    "came": "come", "chose": "choose", "chosen": "choose", "cut": "cut", "did": "do", "done": "do", "drank": "drink", "drove": "drive",
    "driven": "drive", "ate": "eat", "eaten": "eat", "fell": "fall", "fallen": "fall", "found": "find", "gave": "give", "given": "give",
    "got": "get", "gotten": "get", "went": "go", "gone": "go", "grew": "grow", "grown": "grow", "had": "have", "has": "have", "held": "hold",
    "kept": "keep", "knew": "know", "left": "leave", "lost": "lose", "made": "make", "met": "meet", "paid": "pay", "put": "put",
    "quit": "quit", "ran": "run", "rose": "rise", "risen": "rise", "said": "say", "saw": "see", "seen": "see", "sold": "sell", "set": "set",
    "shut": "shut", "spent": "spend", "split": "split", "stood": "stand", "stuck": "stick", "swore": "swear", "took": "take", "taken": "take",
    "taught": "teach", "told": "tell", "thought": "think", "threw": "throw", "wore": "wear", "won": "win", "wrote": "write", "written": "write",
    "outgrew": "outgrow", "outgrown": "outgrow", "led": "lead", "was": "be", "were": "be", "been": "be", "am": "be",
    "is": "be", "are": "be", "being": "be", "rode": "ride", "ridden": "ride", "sent": "send",
    "shrank": "shrink", "shrunk": "shrink", "hung": "hang", "spoke": "speak", "spoken": "speak", "hid": "hide", "hidden": "hide", "lent": "lend",
    "overtook": "overtake", "overtaken": "overtake", "slid": "slide", "sang": "sing", "felt": "feel", "meant": "mean", "died": "die", "dies": "die", "dying": "die", "tied": "tie", "bade": "bid", "forsook": "forsake",
}  # fmt: skip
_PAST_ONLY = frozenset(
    "became began broke came chose did drank drove ate fell gave went grew knew ran rose saw swore took threw wore wrote was were outgrew".split()
)


@dataclass(frozen=True, slots=True)
class Noun:
    """A noun phrase: whose it is, its words, and a name that goes with it ("my brother Tom")."""

    owner: str
    """ "my", "our", "the", "" or an owner's name."""
    words: tuple[str, ...]
    """Its words without articles and possessives, as written."""
    name: str = ""
    rest: str = ""
    """What stands behind it: "of Apollo", "with Ben"."""

    @property
    def head(self) -> str:
        return self.words[-1].casefold() if self.words else ""


@dataclass(frozen=True, slots=True)
class Clause:
    """A subject, how the clause is meant, its verb, and what stands behind that."""

    subject: str
    """A pronoun in lower case or a name; empty where `noun` is the subject."""
    noun: Noun | None
    meant: Meant
    verb: str
    """The base form."""
    rest: str
    before: str
    """What the sentence says before the clause."""
    cue: str
    """The adverbs between subject and verb."""
    passive: bool = False
    form: str = ""


def expand(text: str) -> str:
    """The sentence with contractions written out and other people's quoted words taken away; empty when it is too long to be read."""
    text = _QUOTED.sub(_unquoted, folded(text).replace("’", "'"))
    text = _TITLE.sub(r"\1", text)
    for pattern, plain in _CONTRACTED:
        text = pattern.sub(plain, text)
    text = _IS_OR_HAS.sub(lambda m: f"{m[1]} {'has' if _PARTICIPLE.match(m[2]) else 'is'}", text)
    text = _ATTRIBUTE_IS.sub(r"\1 is", text)
    text = _NAME_IS.sub(
        lambda m: (
            m[0]
            if m[1].casefold() in ("let", "one")
            else f"{m[1]} {'has' if _PARTICIPLE.match(m[2]) else 'is'}"
        ),
        text,
    )
    return " ".join(text.split())


def _unquoted(quote: re.Match[str]) -> str:
    """A quoted name or word is what is talked about; a quoted sentence is somebody's."""
    inside = quote[0].strip("\"“”'‘’")
    return inside if len(inside.split()) <= 3 and not re.search(r"\b(?:I|we|my)\b", inside) else "…"


def clauses(text: str) -> Iterator[Clause]:
    """The clauses of a sentence (as `expand` gives it) that a subject and a verb of their own begin."""
    starts = [0, *(match.end() for match in _SEPARATOR.finditer(text))]
    seen: set[int] = set()
    previous: Clause | None = None
    for start in starts:
        place = _behind_lead(text, start)
        if place in seen:
            continue
        seen.add(place)
        clause = _shared_subject(text, place, previous) or _clause(text, place)
        if clause is not None:
            previous = clause
            yield clause


_JOINED = re.compile(r"(?:\band|\bbut|\bthen)\s+(?:\w+ly\s+|now\s+|also\s+|then\s+|just\s+)?$", re.I)


def _shared_subject(text: str, start: int, previous: Clause | None) -> Clause | None:
    """ "Tom sold his flat and moved to Lima": a verb behind "and" without a subject has that of the clause before."""
    if (
        previous is None
        or previous.subject in ("i", "we", "it", "that", "this")
        or _JOINED.search(text[:start]) is None
    ):
        return None
    words = text[start : _clause_end(text, start)].rstrip().split(" ")
    if len(words) < 2 or not is_verb_form(words[0].casefold()):
        return None
    return _with_verb(text[:start], previous.subject, previous.noun, ["", *words], 1)


def _behind_lead(text: str, start: int) -> int:
    """Where the subject may begin, behind words such as "actually" and "as of Monday"."""
    place = start
    for _ in range(6):
        while place < len(text) and not (text[place].isalnum() or text[place] in "+("):
            place += 1
        timed = _TIME_LEAD.match(text, place)
        if timed is not None and all(map(_TIME_WORD.fullmatch, timed["time"].split())):
            place = timed.end()
            continue
        lead = _LEAD.match(text, place)
        if lead is None or lead[0].casefold() in (
            "since",
            "after",
            "before",
            "in",
            "on",
            "at",
            "last",
            "this",
            "over",
            "starting",
            "as of",
            "effective",
        ):
            return place
        place = lead.end()
    return place


def _clause(text: str, start: int) -> Clause | None:
    end = _clause_end(text, start)
    body = text[start:end].rstrip()
    words = body.split(" ")
    if len(words) < 2 and words[0].casefold() not in ("moved", "quit"):
        return None
    low = words[0].casefold().strip(",")
    if low in _PRONOUNS:
        return _with_verb(text[:start], low, None, words, 1)
    subject_end = _noun_end(words)
    if subject_end is None:
        return _dropped_subject(text[:start], words)
    noun = read_noun(" ".join(words[:subject_end]))
    if noun is None:
        return None
    return _with_verb(text[:start], "", noun, words, subject_end)


def _dropped_subject(before: str, words: list[str]) -> Clause | None:
    """ "Moved to Lisbon last week": a past form without a subject at the start is about the speaker."""
    first = words[0].casefold().strip(",.!")
    if before.strip() and not re.search(
        r"[.!?;:—–,]\s*$|\b(?:and|but|then|just|finally|now)\s*$", before, re.I
    ):
        return None
    if first in ("just", "finally", "recently", "now", "also", "not", "no") and len(words) > 1:
        first = words[1].casefold().strip(",.!")
    if first in ("been", "got") or (
        verbs.is_past(first) and first not in ("based", "used", "born", "called", "named", "red", "need")
    ):
        return _with_verb(before, "i", None, ["I", *words], 1)
    if re.match(r"(?:no longer|not) \w+", " ".join(words), re.I):
        return _with_verb(before, "i", None, ["I", *words], 1)
    return None


def _clause_end(text: str, start: int) -> int:
    """Before the next clause that has a subject of its own, else the end of the sentence."""
    for match in _CLAUSE_END.finditer(text, start):
        return match.start()
    return len(text)


_CLAUSE_END = re.compile(
    r"[;!?—–]|:\s|\.(?=\s|$)|\s-{1,2}\s|…|\.\.\."
    r"|,?\s(?:and|but|so|because|cause|since|while|although|though|which|who|when|where|as)\s(?=(?:I|we|he|she|they|it|you|my|our|now|the)\b)"
    r"|,\s(?=(?:I|we|he|she|they|it|my|our|which|who|so|and|but|because|not|instead|since)\b)",
    re.I,
)


def _noun_end(words: list[str]) -> int | None:
    """The index of the verb behind a noun phrase that begins the words; None without one."""
    for index, word in enumerate(words[:10]):
        low = word.casefold().strip(",")
        if index == 0:
            if low in _NO_NOUN or (low in _AUXILIARIES and low != "may"):
                return None
            continue
        if low in _AUXILIARIES:
            return index
        previous = words[index - 1].casefold()
        if previous in _POSSESSIVES or previous in ("the", "a", "an", "this"):
            continue
        if is_verb_form(low) and not _is_noun_there(words, index):
            return index
        if low in verbs.ADVERBS or low in ("now", "no", "never", "not"):
            following = next(
                (w.casefold() for w in words[index + 1 : index + 3] if w.casefold() not in _BETWEEN), ""
            )
            if following in _AUXILIARIES or is_verb_form(following):
                return index
        if low in _NO_NOUN and low not in _IN_NOUN:
            return None
    return None


def _is_noun_there(words: list[str], index: int) -> bool:
    """Whether an inflected word is part of the noun phrase: "my used car is", "our moving date is"."""
    low = words[index].casefold()
    if low.endswith("ing"):
        return True
    following = words[index + 1].casefold() if index + 1 < len(words) else ""
    if (
        low.endswith("s")
        and low not in _IRREGULAR
        and (
            following in _AUXILIARIES
            or following in _IN_NOUN - {"in", "on", "at", "for", "to", "with"}
            or following in verbs.PAST
            or following.endswith("ed")
        )
    ):
        return True
    return (
        low in ("used", "leased", "rented", "left", "shared", "set", "cut", "put")
        and following not in ("to", "for", "from", "by", "my", "the", "her", "his", "our", "")
        and not following[:1].isupper()
    )


@lru_cache(maxsize=4096)
def is_verb_form(word: str) -> bool:
    """Whether a word is an inflected verb: a past form, or the third person of the present."""
    if word in _IRREGULAR or word in verbs.PAST or word in verbs.PAST_ALIKE:
        return True
    if word.endswith("ed") and len(word) > 3:
        return verbs.is_past(word)
    base = lemma_of(word)
    return word.endswith("s") and (base in _THIRD_PERSON or base in _STEMS or base in verbs.PRESENT)


_THIRD_PERSON = word_set(
    "live work move drive study own use support earn weigh report manage lead handle run teach play take have go get make pay bank commute "
    "attend date marry eat drink smoke learn speak prefer like love hate enjoy need want start join leave belong cost last begin begin end "
    "happen fall sit stand reside practise practice know see come do plan coach train sing write paint turn become remain stay say think "
    "change switch host serve depend rely require"
)


@lru_cache(maxsize=8192)
def lemma_of(word: str) -> str:
    """The base form that a word may be a form of, by its ending."""
    low = word.casefold()
    if low in _IRREGULAR:
        return _IRREGULAR[low]
    for ending, base in (("ies", "y"), ("ied", "y"), ("ying", "y")):
        if low.endswith(ending) and len(low) > len(ending) + 1:
            return low[: -len(ending)] + base
    if low.endswith("ing") and len(low) > 5:
        return _base(low[:-3])
    if low.endswith("ed") and len(low) > 4:
        return _base(low[:-2])
    if low.endswith("es") and low[:-2].endswith(("ss", "x", "z", "ch", "sh", "o")):
        return low[:-2]
    if low.endswith("s") and not low.endswith("ss") and len(low) > 3:
        return low[:-1]
    return low


def _base(stem: str) -> str:
    if stem in verbs.PRESENT or stem in _STEMS:
        return stem
    if stem + "e" in verbs.PRESENT or stem + "e" in _STEMS:
        return stem + "e"
    if len(stem) > 2 and stem[-1] == stem[-2] and (stem[-1] not in "ls" or stem[:-1] in _STEMS):
        return stem[:-1]
    return stem


_STEMS = word_set(
    "hop defect onboard unpack step scale graduate clear wrap carry operate follow baptise baptize confirm pack kick throw finish overtake rip divorce dump separate enrol enroll reside relocate emigrate immigrate resign retire adopt foster rehome scrap wreck total crash junk convert "
    "replace swap trade exchange upgrade downgrade ditch migrate transfer sack hire commute practise date weigh elope graduate rescue purchase lease "
    "inherit order reschedule postpone delay extend rename raise lower assign reassign delegate hand pass cancel scrap shelve resettle dwell recruit "
    "promote demote appoint elect name retrain qualify requalify develop matriculate bump double reduce shift bring drop increase decrease rise climb "
    "settle marry swear root cheer answer bank stand earn support smoke manage"
)


def read_noun(text: str) -> Noun | None:
    """A noun phrase: owner, words, name, and what hangs on it; None for what is none."""
    text = text.strip(" ,")
    match = _NOUN.match(text)
    if match is None:
        return None
    owner = (match["owner"] or "").casefold() if match["owner"] else (match["person"] or "")
    words = match["words"].split()
    rest = (match["rest"] or "").strip()
    name = ""
    if match["apposition"]:
        name = match["apposition"].strip(" ,")
    elif (
        owner not in ("", "the", "this", "a", "an")
        and len(words) > 1
        and words[-1][:1].isupper()
        and words[0][:1].islower()
    ):
        cut = next(index for index, word in enumerate(words) if word[:1].isupper())
        name, words = " ".join(words[cut:]), words[:cut]
    return Noun(owner, tuple(words), name.rstrip(","), rest)


_CAP = r"[A-ZÀ-ÖØ-Þ][\w'&.-]*"
_NOUN = re.compile(
    rf"(?:(?P<owner>my|our|your|his|her|their|the|this|a|an)\s+|(?P<person>(?:[Tt]he\s+\w+|{_CAP}(?:\s+{_CAP})?))'s?\s+)?"
    rf"(?P<words>(?:(?!(?:of|for|with|from|in|on|at|to|by|and)\b)[^\W_][\w'&./+-]*)(?:\s+(?!(?:of|for|with|from|in|on|at|to|by|and)\b)[^\W_][\w'&./+-]*){{0,6}})"
    rf"(?P<apposition>,\s+{_CAP}(?:\s+{_CAP})*,?)?"
    r"(?P<rest>\s+(?:of|for|with|from|in|on|at|to|by|and)\s+.+)?$",
    re.I,
)


def _with_verb(before: str, subject: str, noun: Noun | None, words: list[str], place: int) -> Clause | None:
    """The clause from the word behind the subject on: auxiliaries and adverbs, then the verb."""
    auxiliaries: list[str] = []
    cues: list[str] = []
    denied = over = former = planned = hedged = False
    while place < len(words):
        low = words[place].casefold().strip(",")
        pair = f"{low} {words[place + 1].casefold()}" if place + 1 < len(words) else low
        if pair in _FORMER:
            former, place = True, place + 2
        elif pair == "had to":
            auxiliaries.append("did")
            place += 2
        elif pair in _PLANS or low == "gonna":
            if pair in ("going to", "looking for") and not _is_base_verb(words, place + 2):
                break
            planned, place = True, place + (1 if low == "gonna" else 2)
        elif pair == "no longer":
            over, place = True, place + 2
        elif low in ("not", "never"):
            denied, place = True, place + 1
        elif low in _AUXILIARIES and not _is_main(words, place):
            auxiliaries.append(low)
            hedged = hedged or low in _HEDGES
            planned = planned or low == "will"
            place += 1
        elif (low in _BETWEEN or verbs.is_adverb(low)) and place + 1 < len(words):
            cues.append(low)
            place += 1
        else:
            break
    if place >= len(words):
        return None
    form = words[place].casefold().strip(",.")
    rest = " ".join(words[place + 1 :])
    verb = lemma_of(form)
    if verb == "be" and (leading := _LEADING_DENIAL.match(rest)) is not None:
        over, denied = (
            over or "longer" in leading[0].casefold(),
            denied or "longer" not in leading[0].casefold(),
        )
        rest = rest[leading.end() :]
    if re.search(r"\b(?:any ?more|any longer|anymore)\b", rest, re.I) and denied:
        over, denied = True, False
    if _UNREAL_BEFORE.search(_governing(before)):
        hedged = True
    passive = (
        bool(auxiliaries)
        and lemma_of(auxiliaries[-1]) == "be"
        and form not in _PAST_ONLY
        and _is_participle(form)
    )
    meant = _meant(
        auxiliaries, form, subject, denied=denied, over=over, former=former, planned=planned, hedged=hedged
    )
    return Clause(subject, noun, meant, verb, rest, before, " ".join(cues), passive, form)


_LEADING_DENIAL = re.compile(
    r"\s*(?:(?:now|just|really|actually|currently|officially|sadly)\s+)?(?:no longer|not|never)\s+", re.I
)


def _governing(before: str) -> str:
    """The part of the sentence that may still govern a clause behind it."""
    cut = max(before.rfind(mark) for mark in (".", ";", "!", "?", "—", "–", " but "))
    part = before[cut + 1 :].strip()
    lead = _behind_lead(part, 0)
    return part[lead:] if lead < len(part) else ""


def _is_main(words: list[str], place: int) -> bool:
    """Whether a form of be, have or do is the clause's own verb."""
    low = words[place].casefold().strip(",")
    following = [w.casefold().strip(",.") for w in words[place + 1 : place + 4]]
    following = [
        w
        for w in following
        if (w not in _BETWEEN or w == "been") and not (verbs.is_adverb(w) and w != "family")
    ]
    if not following:
        return True
    after = following[0]
    if lemma_of(low) == "be":
        return (
            not (
                after.endswith("ing")
                and lemma_of(after) != after
                and after not in ("morning", "evening", "king")
            )
            and not (_is_participle(after) and after not in _ADJECTIVES and low != "be")
            and after not in ("been", "going", "being")
            and f"{after} {following[1] if len(following) > 1 else ''}" not in _PLANS
        )
    if lemma_of(low) == "have":
        return not (
            _is_participle(after)
            or after in ("been", "to", "had", "become", "come", "run", "put", "cut", "set")
        )
    if lemma_of(low) == "do":
        return not (_is_base_verb(words, place + 1) or after in verbs.PRESENT)
    return False


_ADJECTIVES = word_set(
    "married engaged divorced separated retired based allergic located settled employed self-employed interested enrolled widowed unemployed laid fired let "
    "sacked made dismissed terminated hired recruited promoted named appointed elected demoted prescribed put started taken dumped called born accepted admitted "
    "canned axed poached headhunted managed reassigned moved bumped left gone apprenticed done"
)
"""Participles that the table of phrases writes behind "be"."""


def _is_participle(word: str) -> bool:
    if word in _PAST_ONLY or not word:
        return False
    return (
        (
            word in verbs.PARTICIPLES
            and word not in ("always", "ever", "never", "just", "already", "also", "only")
        )
        or (word.endswith("ed") and len(word) > 4)
        or (word in _IRREGULAR and word not in _AUXILIARIES and word != lemma_of(word))
    )


def _is_base_verb(words: list[str], place: int) -> bool:
    if place >= len(words):
        return False
    low = words[place].casefold().strip(",.")
    return (
        low in verbs.PRESENT
        or low in _STEMS
        or low in ("be", "have", "do", "quit", "put", "set", "cut", "split", "marry", "buy", "sell")
    )


def _meant(
    auxiliaries: list[str],
    form: str,
    subject: str,
    *,
    denied: bool,
    over: bool,
    former: bool,
    planned: bool,
    hedged: bool,
) -> Meant:
    if hedged:
        return "unreal"
    if denied:
        return "denied"
    if over:
        return "over"
    if former:
        return "former"
    if planned:
        return "planned"
    bases = [lemma_of(word) for word in auxiliaries]
    progressive = "be" in bases and form.endswith("ing")
    if "have" in bases:
        return "past" if "had" in auxiliaries else "perfect"
    if progressive:
        return "past" if {"was", "were"} & set(auxiliaries) else "progressive"
    if {"was", "were", "did"} & set(auxiliaries):
        return "past"
    if auxiliaries and auxiliaries[-1] in ("am", "is", "are") and _is_participle(form):
        return "fact"
    is_past = (
        form in ("was", "were")
        or (form not in ("am", "is", "are", "has", "been") and verbs.is_past(form))
        or form in _PAST_ONLY
        or (
            form in _IRREGULAR
            and form != _IRREGULAR[form]
            and form not in ("am", "is", "are", "has", "being", "dies", "dying")
        )
    )
    return "past" if is_past else "fact"
