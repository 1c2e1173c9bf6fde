"""An assistant's filler: praise, sympathy, offers and closings that tell nothing that was done, found or advised."""

from __future__ import annotations

import re
from dataclasses import dataclass

from perdure.extract.local.units import Unit
from perdure.text.terms import index_terms
from perdure.text.wordlist import word_set

_OPENER = re.compile(
    r"(?:(?:oh|wow|ah|aw+|ha(?:ha)*|hey|hi|hello|yes|yeah|yep|no|ok|okay|well|sure|certainly|absolutely|definitely|of course|"
    r"understood|great|nice|perfect|awesome|excellent|wonderful|amazing|fantastic|got it|no problem|no worries|thanks|thank you|"
    r"you(?:'re| are) (?:very |most )?welcome|congratulations|congrats|good|cool|lovely|brilliant|right|and|but|so|alright)\b"
    r"(?:[\s,!.:;–—-]+(?:[A-Z]\w+[,!.]\s+)?|$))+",
    re.IGNORECASE,
)
_NICE = (
    r"(?:great|good|wonderful|amazing|fantastic|exciting|lovely|awesome|excellent|nice|beautiful|impressive|thoughtful|solid|smart|"
    r"interesting|fun|cool|perfect|brilliant|delightful|terrific|superb|incredible|inspiring|delicious|tough|hard|difficult|"
    r"frustrating|stressful|sad|rough|challenging|understandable|special|sweet|cute|clever|wise|fascinating|"
    r"admirable|commendable|remarkable|touching|heartwarming|relaxing|refreshing|rewarding|huge|big|fair|valid|tricky|"
    r"cozy|charming|memorable|classic|popular|reasonable|adorable|magical|lively|unique|creative|disappointing|exhausting|scary)"
)
_FILLER = re.compile(
    rf"""(?:
    (?:that|this|it|those|these|they|what\ you\S*|your\ \w+(?:\ \w+)?|the\ \w+)?\s*
        (?:(?:'s|\ is|\ are|'re|\ was|\ were|\ must\ (?:be|feel|have\ been)|\ can\ be|\ could\ be|\ will\ be)\s+(?:\w+ly\ |so\ |such\ |quite\ |very\ |too\ |a\ |an\ |the\ |all\ |pretty\ )*{_NICE}\b
        | \s?(?:sounds?|looks?|seems?|feels?)\ (?:\w+ly\ |so\ |like\ |such\ |quite\ |very\ |pretty\ |a\ |an\ |the\ )*{_NICE}\b)
    | (?:what|such)\ an?\ (?:\w+\ )?{_NICE}\b | how\ (?:\w+ly\ )?{_NICE}\b
    | {_NICE}\ (?:question|choice|idea|point|to\ hear|to\ know|news|job|work|start|plan|thinking|decision|catch|pick|call|thought|stuff|one|trade|taste|progress|luck|morning|evening|afternoon|day)\b
    | (?:sounds|looks|seems)\ (?:like|good|great|fun|lovely|perfect|wonderful)\b
    | congrat\w+ | happy\ (?:birthday|anniversary|holidays|new\ year|cooking|baking|reading|coding|travels|to\ \w+|for\ you) | well\ done | way\ to\ go
    | (?:i(?:'m|\ am)|i(?:'d|\ would)\ be|i(?:'ll|\ will)\ be|i\ was)?\s*(?:really\ |so\ |very\ |always\ |truly\ |more\ than\ |deeply\ |just\ |also\ |glad\ and\ )*
        (?:glad|happy|sorry|thrilled|pleased|delighted|excited|honou?red|here)\ (?:to|that|you|for|about|if|whenever|it)\b
    | i(?:'m|\ am)\ (?:so\ |very\ |really\ )?(?:sorry|glad|happy\ for\ you)\b
    | i\ (?:really\ |totally\ |completely\ |can\ |certainly\ |do\ |fully\ )*(?:hope|understand|see|imagine|get\ it|appreciate|apologi[sz]e|love\ (?:that|the\ idea|your|how)|agree|wish\ you)\b
    | (?:i\ )?hope\ (?:you|this|that|it|everything|your|the) | hopefully
    | (?:my|our)\ (?:sincere\ |deepest\ )?(?:apologies|pleasure|condolences)
    | (?:please\ |just\ |and\ |so\ )*(?:let\ me\ know|feel\ free|do(?:n't|\ not)\ hesitate|keep\ me\ (?:posted|updated)|tell\ me\ (?:more|about|what|if|how|which)|reach\ out)
    | if\ you(?:'d|\ would|\ have|'ve|\ need|\ want|\ like|\ ever|\ run)\b.{{0,80}}?(?:let\ me\ know|feel\ free|just\ (?:ask|say|tell|let)|i(?:'m|\ am|'d\ be|'ll\ be|\ can)\b|don't\ hesitate|happy\ to|give\ me)
    | (?:and\ )?i\ (?:can|could)\ (?:also\ |certainly\ |definitely\ |absolutely\ |of\ course\ |easily\ )?
        (?:help|assist|draft|write|suggest|look|find|prepare|make|give|share|send|create|set|put|show|walk|explain|add|start|plan|do|offer|remind|check|recommend|provide)\b
    | (?:i(?:'d|\ would)\ (?:love|like|be\ happy)\ to) | (?:i(?:'ll|\ will)\ (?:keep|remember|make\ a\ note|note|bear)\ (?:that|this|it|of)\b)
    | (?:enjoy|have)\ (?:a|an|your|the|it|fun|every|some|yourself|safe|his|her|their|those|this|that)\b | best\ of\ luck | good\ luck | fingers\ crossed | take\ care | safe\ travels | cheers
    | (?:thanks|thank\ you)\b | you(?:'re|\ are)\ (?:very\ |so\ |most\ |always\ )?welcome | welcome\ back | my\ pleasure | any\ ?time
    | you(?:'re|\ are)\ (?:absolutely\ |totally\ |completely\ |quite\ )?(?:right|doing\ (?:a\ )?(?:great|well|amazing))\b | you(?:'ve|\ have)\ got\ this | you\ (?:should|must)\ (?:be|feel)\ (?:so\ |very\ |really\ )?proud
    | keep\ (?:up|it\ up|going|me) | noted\b | understood\b | got\ it\b | makes\ sense | that\ makes\ (?:\w+\ )?sense | fair\ (?:enough|point) | no\ (?:worries|problem|rush)
    | (?:i|we)\ look\ forward | looking\ forward | can't\ wait
    | i(?:'ve|\ have)\ (?:also\ )?(?:noted|made\ a\ note|remembered) | (?:.{{0,60}},\ )?you\ must\ (?:be|feel|have\ been)\b
    | \w+ing\b.{{0,60}}\b(?:can\ be|is\ (?:always|such|so|never|no))\ (?:\w+ly\ |so\ |such\ |quite\ |a\ |an\ |really\ )*{_NICE}\b
    | by\ all\ means | of\ course | absolutely | certainly | sure\ (?:thing|!) | talk\ (?:soon|to\ you)
    )""",
    re.IGNORECASE | re.VERBOSE,
)  # fmt: skip
_DISCLAIMER = re.compile(
    r"(?:as|i am|i'm|being) (?:just )?an? (?:ai|artificial|(?:large )?language)\b", re.IGNORECASE
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_TELLING = re.compile(r"\d|https?://|`|\"|“|\b(?:because|since|however|instead|recommend|suggest|try|consider|make sure|booked|sent|changed|found|added|created|updated|"
                      r"scheduled|ordered|set|opened|moved|fixed|removed|checked|reserved|saved|cancell?ed)\b", re.IGNORECASE)  # fmt: skip
_JOINT = re.compile(r"(?<=[,;])\s+|\s+(?:and|but|so)\s+|\s*[–—:]\s+|\s-\s")
_REQUEST = re.compile(
    r"\b(?:please|(?:can|could|would|will) you|remind me|help me|tell me|give me|show me|send me|suggest|recommend|explain|correct me|"
    r"write|draft|translate|find|book|list|let's|i need|i want|i'd like|how (?:do|can|should)|what(?:'s| is| are| do)|why)\b",
    re.IGNORECASE,
)
_DEED = re.compile(
    r"\bi(?:'ve|'ll|'d| have| will| would| did| just| also)?(?: just| now| also| already| have)? (?!know|see|think|love|like|agree|imagine|bet|"
    r"wonder|hope|guess|feel|understand|appreciate|can\b|could\b|am\b|was\b|do\b|get\b|say\b|have\b|'m)[a-z]+\b|\bdone\b|\bi will\b",
    re.IGNORECASE,
)
_ADVICE = re.compile(
    r"\b(?:should|shouldn't|could|may|might|must|need to|have to|don't|avoid|never|always|would help|will help|works? (?:well|best)|better to|"
    r"make|use|get|keep|add|check|start|stop|take|wait|go|ask|remember|be)\b.*\w",
    re.IGNORECASE,
)
_DONE_WORD = re.compile(
    r"\W*(?:changed|corrected|noted|saved|updated|done|fixed|removed|added|deleted|understood)\W*",
    re.IGNORECASE,
)
_LONGEST_REMARK = 10
_LONGEST = 30
_LONG_TELLING = 14
_NEW_WORDS = 2
_EMPTY = word_set("""
a an the and or but so to of in on at for with from by as is are was were be been it its it's that that's this these those you your you're
i i'm my me we our have has had do does did will would can could should really very just also too more all new now about how what
""")

_ACKNOWLEDGED = frozenset(
    index_terms(
        "sure okay noted got course done updated saved changed recorded remember added understood great thanks now goes"
    )
)


@dataclass(frozen=True, slots=True)
class Heard:
    """What the assistant replies to."""

    words: frozenset[str] = frozenset()
    terms: frozenset[str] = frozenset()
    """Stems of the words that mean something."""
    asks: bool = True
    """Whether it asks for something."""


def hear(text: str, is_question: bool) -> Heard:
    """What a turn says to the assistant; `is_question` tells whether one of its sentences is a question."""
    asks = is_question or _REQUEST.search(text) is not None
    return Heard(words_of(text), frozenset(index_terms(text)), asks)


def is_filler(unit: Unit, to: Heard) -> bool:
    """Whether an assistant's sentence says nothing that was done, found, advised or told."""
    return (
        _is_frame(unit, to.words) or _is_echo(unit, to.terms) or (not to.asks and _is_remark(unit, to.words))
    )


def _is_echo(unit: Unit, heard: frozenset[str]) -> bool:
    """Whether it only says again, in other forms of the same words, what was just said to the assistant."""
    terms = frozenset(index_terms(unit.text)) - _ACKNOWLEDGED
    return unit.kind == "prose" and len(terms) > 1 and terms <= heard


def _is_remark(unit: Unit, heard: frozenset[str]) -> bool:
    """Whether it is a short comment on what somebody told: no name, number, advice, or deed of the assistant."""
    if unit.kind != "prose" or unit.text.rstrip("*_ ").endswith(":"):
        return False
    text = unit.text.replace("’", "'")
    words = _WORD.findall(text)
    if len(words) > _LONGEST_REMARK or _TELLING.search(text) or _DEED.search(text) or _ADVICE.search(text):
        return False
    if unit.tokens and unit.tokens[0].tag == "VB":
        return False
    return not any(
        mention.type != "concept" and not words_of(mention.text) <= heard for mention in unit.mentions
    )


def _is_frame(unit: Unit, heard: frozenset[str]) -> bool:
    """Whether a sentence is praise, sympathy, an offer, a closing or a question."""
    if unit.kind != "prose":
        return False
    if unit.is_question:
        return True
    text = unit.text.replace("’", "'").strip(" *_")
    if text.endswith(":") or _leads_to_content(text):
        return False
    opening = _OPENER.match(text)
    rest = text[opening.end() :] if opening else text
    if not _WORD.search(rest) or _DISCLAIMER.match(rest):
        return True
    words = words_of(text)
    if len(words) > _LONGEST:
        return False
    added = words - heard - _EMPTY
    if not added and len(words - _EMPTY) > 1:
        return True
    is_framed = any(_FILLER.match(part) for part in (text, rest) if part)
    if not is_framed:
        return False
    if _TELLING.search(rest) is None:
        return _adds_little(rest, heard)
    return len(added) <= 3 and len(words) <= _LONG_TELLING


def words_of(text: str) -> frozenset[str]:
    """The words of a text in lower case."""
    return frozenset(_WORD.findall(text.casefold().replace("’", "'")))


def _leads_to_content(text: str) -> bool:
    """Whether a list or a piece of code follows: "Here are some ideas"."""
    return re.match(r"here(?:'s| is| are)\b", text, re.IGNORECASE) is not None


def _adds_little(text: str, heard: frozenset[str]) -> bool:
    """Whether no later clause of the sentence tells something new."""
    parts = [part for part in _JOINT.split(text) if _WORD.search(part)]
    return all(
        _FILLER.match(part)
        or _DONE_WORD.fullmatch(part)
        or len(words_of(part) - heard - _EMPTY) <= _NEW_WORDS
        for part in parts[1:]
    )
