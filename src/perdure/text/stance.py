"""Stance: whether a question asks for what is so, for what was so, or for both.

Only its words are read, in English, German, Spanish and French. A sign of the past ("used to", "former", "before Lisbon") outweighs
one of the present ("now", "still"), and that outweighs a plain past tense, which may ask for either.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from perdure.domain.recall import Stance


@dataclass(frozen=True, slots=True)
class TimeAsked:
    """How a question stands to time."""

    stance: Stance = Stance.NOW
    before: str = ""
    """What came afterwards, as worded ("before Lisbon")."""
    earliest: bool = False
    """Whether the first value is asked for ("originally")."""
    plainly_past: bool = False
    """Whether nothing but the tense speaks of the past ("Who was Ann married to?")."""


def read_stance(question: str, *, past_window: bool = False) -> TimeAsked:
    """The stance of a question; `past_window` says that it names a stretch of time that is over."""
    before = _BEFORE.search(question)
    came_before = before is not None and not _AHEAD.search(question)
    earliest = _EARLIEST.search(question) is not None
    if _STILL.search(question):
        stance = Stance.NOW
    elif came_before or _PAST.search(question) or (earliest and _PAST_TENSE.search(question)):
        stance = Stance.PAST
    elif _PRESENT.search(question) or _AHEAD.search(question):
        stance = Stance.NOW
    elif past_window:
        stance = Stance.PAST
    elif _ANY.search(question) or _PAST_TENSE.search(question):
        stance = Stance.ANY
    else:
        stance = Stance.NOW
    plainly_past = stance is Stance.ANY and _ANY.search(question) is None
    named = before["event"].strip() if before is not None and stance is Stance.PAST else ""
    return TimeAsked(stance, named, earliest and stance is not Stance.NOW, plainly_past)


def is_past_tense(question: str) -> bool:
    """Whether a question is in the past tense and asks for nothing ahead."""
    return _PAST_TENSE.search(question) is not None and _AHEAD.search(question) is None


def _words(*patterns: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w'-])(?:{'|'.join(patterns)})(?!\w)", re.IGNORECASE)


_STILL = _words(
    r"still(?! (?:life|water))",
    r"(?:immer )?noch(?! nie)(?= |\?)",
    r"todavía",
    r"aún",
    r"encore",
    r"toujours",
)
_PRESENT = _words(
    r"now", r"nowadays", r"current(?:ly)?", r"these days", r"today", r"at the moment", r"at present", r"presently",
    r"jetzt", r"momentan", r"derzeit", r"zurzeit", r"aktuell\w*", r"gerade", r"heute", r"heutzutage",
    r"ahora", r"actual(?:mente|es)?", r"hoy(?: en día)?",
    r"maintenant", r"actuel(?:le|lement|s|les)?", r"aujourd'hui", r"en ce moment",
)  # fmt: skip
_PAST = _words(
    r"use[d]? to(?! be able)", r"previous(?:ly)?", r"former(?:ly)?", r"ex(?=-| |\?)", r"ex-\w+", r"prior (?!to)", r"one-time", r"erstwhile",
    r"(?:my|your|his|her|our|their|the|whose|\w+'s) old(?!e)", r"back then", r"back when", r"in the past", r"at (?:that|the) time",
    r"no longer", r"earlier", r"once(?= (?:live|work|own|ha[dv]|was|were|drove|date))", r"beforehand", r"until recently", r"before(?=\s*[?.!]*$)",
    r"früher\w*", r"vorher(?:ig\w*)?", r"ehemalig\w*", r"damals", r"damalig\w*", r"zuvor", r"vorig\w*", r"einst(?:ig\w*)?", r"bisherig\w*",
    r"(?:mein|dein|sein|ihr|unser|euer|der|die|das)\w{0,2} alte\w?", r"ex-?freund(?:in)?", r"nicht mehr",
    r"antes", r"anterior(?:es|mente)?", r"sol[íi]a\w*", r"antiguamente", r"antigu[oa]s?", r"entonces", r"previ[oa]s?", r"ya no", r"en el pasado",
    r"ancien(?:ne)?s?", r"auparavant", r"autrefois", r"jadis", r"précédent\w*", r"à l'époque", r"par le passé", r"avant",
)  # fmt: skip
_EARLIEST = _words(
    r"originally", r"initially", r"(?:at )?first", r"to begin with", r"in the beginning", r"original",
    r"ursprünglich\w*", r"zuerst", r"anfangs", r"erste[rsnm]?", r"originalmente", r"al principio", r"primer[oa]?",
    r"à l'origine", r"au début", r"d'abord", r"premi(?:er|ère)",
)  # fmt: skip
_ANY = _words(
    r"ever", r"history", r"all the", r"over the years", r"over time", r"so far", r"how long", r"since when", r"how many (?:times|different)",
    r"(?:has|have|had|'ve|'s)(?: \w+){0,4}? (?:been|lived|worked|owned|dated|moved|changed|switched|tried|used|gone|met|kept|held|driven|studied|played|visited|\w{3,}ed)",
    r"jemals", r"schon (?:ein)?mal", r"seit wann", r"wie lange", r"alle \w+ in denen", r"bisher",
    r"(?:hat|habe|hast|haben|bin|bist|ist|sind)(?: \w+){0,6}? (?:ge\w+(?:t|en)|\w+iert|be\w+t|umgezogen|verlassen)",
    r"alguna vez", r"cuánto tiempo", r"desde cuándo", r"(?:he|has|ha|hemos|han)(?: \w+){0,2}? \w+[aií]do", r"historial",
    r"déjà", r"jamais", r"combien de temps", r"depuis quand", r"(?:ai|as|a|avons|avez|ont)(?:-t)?(?:-\w+)?(?: \w+){0,2}? \w+(?:é|i|u)s?", r"historique",
)  # fmt: skip
_PAST_TENSE = _words(
    r"did", r"didn't", r"was", r"wasn't", r"were", r"weren't", r"had", r"lived", r"worked", r"owned", r"dated", r"drove",
    r"(?:wo|wer|was|wie|wann|welche[rsnm]?|wem|wen|warum)(?: \S+){0,6}? (?:war(?:en|st|t)?|hatten?|hattest|wohnte\w*|lebte\w*|arbeitete\w*|hieß\w*|fuhr\w*)",
    r"(?:dónde|quién|qué|cuál|cuáles|cómo|cuándo|cuánto|por qué)(?: \S+){0,6}? (?:\w+(?:aba|abas|aban|ía|ías|ían|ió|iste|aste|aron|ieron)|era[ns]?|fue(?:ron)?|fuiste)",
    r"(?:où|qui|quels?|quelles?|comment|quand|combien|pourquoi|que|qu'\w+)(?: \S+){0,6}? (?:\w+(?:ait|ais|aient|iez)(?:-\w+)?)",
)  # fmt: skip
_AHEAD = _words(
    r"will", r"won't", r"going to", r"should", r"shall", r"need to", r"have to", r"has to", r"must", r"can", r"next", r"tomorrow", r"upcoming",
    r"werde[nt]?", r"wird", r"soll(?:te)?\w*", r"muss", r"morgen", r"nächste\w*", r"próxim[oa]s?", r"mañana", r"debo", r"voy a", r"prochain\w*", r"demain", r"dois",
)  # fmt: skip
_BEFORE = re.compile(
    r"(?<!\w)(?:before|prior to|bevor|vor(?=\s(?-i:[A-ZÄÖÜ]))|antes de(?: que)?|avant(?: de| d'| que)?)\s+(?P<event>[^?.,;!]{2,60})",
    re.IGNORECASE,
)
