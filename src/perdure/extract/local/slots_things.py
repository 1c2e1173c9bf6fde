"""What is said of things: where they are, what state they are in, how many there are, and "noun: value" notes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from perdure.extract.local.slots_attributes import Attribute, noun_attribute
from perdure.extract.local.slots_subjects import Cast
from perdure.extract.local.slots_values import CAPITAL, bare
from perdure.extract.local.units import Unit
from perdure.text.clauses import Clause, Noun, is_verb_form, read_noun
from perdure.text.kin import PERSONS
from perdure.text.slot_table import nouns_of_slots
from perdure.text.wordlist import word_set

_END = r"(?=\s*(?:[,;!?()]|\.(?:\s|$)|$)|\s+(?:now|these days|nowadays|because|since|but|and|instead|as of|again|so|anymore|any more|from|as)\b)"
_WHERE = re.compile(
    r"^\s*(?:(?:now|currently|still|right|just|back|always|stored|kept|parked|located|hidden|sitting|lying|hanging|standing|up|down|over|out|based|hosted)\s+)*"
    rf"(?P<where>(?:in|on|at(?! (?:\d|one\b|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|noon))|under|behind|beside|next to|above|below|inside|across from|opposite|near|between|outside|by)\s+(?P<place>(?:the|my|our|his|her|a|an)\s+[^,.;!?]{{2,50}}?|{CAPITAL}(?:\s+[\w'-]+){{0,3}}?|(?:room|hall|box|drawer|building|floor)\s+\w+)){_END}",
    re.I,
)
_IS_PLACED = word_set("be stand sit lie hang live stay")
_PLACES_IT = word_set("put move keep store park hide leave place hang stow")
_PLACED = re.compile(
    r"^\s*(?P<thing>(?:the|my|our|his|her)\s+[\w' -]{2,40}?)\s+(?:over\s+|back\s+|away\s+|down\s+)?(?:from\s+[^,;]{1,30}?\s+)?"
    rf"(?P<prep>in|into|to|on|onto|under|behind|at|next to)\s+(?P<place>(?:the|my|our|his|her)\s+[^,.;!?]{{2,40}}?){_END}",
    re.I,
)
_NO_PLACES = re.compile(
    r"\b(?:side|charge|time|way|end|moment|mood|love|trouble|pain|rain|sun|phone|news|day|week|month|year|morning|evening|night|bed|beginning|middle|case|point|table|dark|air|hands|mind|head|heart|works|making|meantime|hurry|rush|mess|shape|radio|tv|wrong \w+|verge|edge|fence|house)$",
    re.I,
)
_STATES = re.compile(
    r"^\s*(?:(?:now|finally|currently|still|officially|all|back|completely|half|fully|almost)\s+)*(?P<state>"
    r"(?:half |not yet |nearly )?(?:finished|done|complete|completed)|broken(?: down)?|fixed|repaired|out of (?:order|service|stock)|in (?:review|progress|production|beta|testing|draft|the shop|repair)|on hold|paused|stalled|frozen|blocked|delayed|live|green|red|offline|online|down|up and running|running(?: again)?|closed(?: for good)?|open(?: again)?|reopened|shut(?: down)?|cancelled|canceled|accepted(?: with revisions)?|rejected|approved|signed|merged|deployed|released|shipped|archived|flooded|sold out|sold|finali[sz]ed|postponed|under (?:construction|review|repair)|ready|overdue|paid|unpaid|expired|abandoned|discontinued|deprecated|functional|working(?: again)?)"
    + _END,
    re.I,
)
_WORKS_AGAIN = re.compile(r"^\s*(?:again|fine again|once more|properly again)\b", re.I)
_BREAKS = {"pack": "up", "break": "down", "conk": "out"}
_GOES = re.compile(r"^\s*(?P<state>live|offline|down|online|bankrupt|into production)\b", re.I)
_OVER = re.compile(
    r"^\s*(?:now\s+|finally\s+|officially\s+|been\s+|just\s+)*(?:over|gone|off|no more|history|cancell?ed|scrapped|dropped|expired|discontinued|abolished|lifted|deleted|closed|out)"
    + _END,
    re.I,
)
_NUMBER = r"(?:\d[\d.,']*|(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|zero)(?:[ -](?:one|two|three|four|five|six|seven|eight|nine|hundred|thousand|million))*)"
_COUNTED = re.compile(
    rf"^\s*(?:(?:now|just|about|around|over|exactly|only|currently|already|up|down|out|back)\s+)*(?:(?:to|at)\s+)?(?P<number>{_NUMBER})(?:\s+(?P<unit>(?!(?:percent|euros?|dollars?|pounds|am|pm|o'clock|years|days|weeks|months|hours|minutes|km|kg|times|more|of)\b)[a-z][a-z-]*(?:\s(?!now\b)[a-z-]+)?))?{_END}",
    re.I,
)
_COUNTS = word_set("have hold count contain comprise serve employ number total reach pass hit")
_CHANGED_COUNT = word_set("shrink grow rise fall drop climb")
_NOTE = re.compile(
    rf"^(?:(?:ok|okay|fyi|btw|update|note|oh|hey|so|also|just|reminder|ps)\b[\s,:!-]*)*(?P<noun>(?:(?:my|our|the|his|her|new|current|{CAPITAL}'s)\s+){{0,3}}[^\W\d_][\w'-]*(?:\s+[^\W\d_][\w'-]*){{0,3}}?(?:\s+(?:of|for)\s+(?:the\s+|my\s+|our\s+)?[\w'-]+(?:\s[\w'-]+)?)?)"
    r"(?:\s+(?:since|from|as of|starting)\s+[\w ]{3,20})?\s*(?::|\s=|\s->)\s+(?P<value>\S.*)$"
)
_NO_NOTES = word_set(
    "news update correction reminder note mistake question fact thing things result plan todo idea summary sorry edit joke warning tip spoiler verdict conclusion me you it this that change day addiction round camps time me diet"
)
_NEW_NOUN = re.compile(
    rf"^(?P<who>I|we|my\s+[a-z]+|{CAPITAL}(?:\s{CAPITAL})?)\s+(?:(?:have|has|got|just|now|finally|is|am|are|with|go|goes|see|sees|picked|chose|took|to|by)\s+){{1,4}}a\s+(?:brand[- ]new|new|different)\s+(?P<noun>[a-z][\w-]*(?:\s+[a-z][\w-]*)?)(?:\s+(?:at|on|for|in)\s+[\w ]{{2,25}}?)?\s*(?:,|:|;|called|named|-|–|—)+\s*(?:(?:it|he|she|his|her|the)\s+(?:name\s+)?(?:is|'s)\s+)?(?:(?:called|named)\s+)?(?P<value>\S.*)$"
)


def thing_statements(clause: Clause, cast: Cast) -> Iterator[Attribute]:
    """Place, state and number of the thing that a clause is about, or that somebody puts somewhere."""
    if clause.meant in ("unreal", "planned", "former") or not cast.speaker:
        return
    if clause.noun is None:
        if clause.verb in _PLACES_IT and clause.meant in ("past", "perfect", "fact"):
            yield from _placed(clause)
        return
    thing = _thing(clause.noun, cast)
    if not thing:
        return
    if clause.meant in ("denied", "over"):
        if (
            clause.meant == "over"
            and clause.verb == "be"
            and (match := _WHERE.match(clause.rest)) is not None
        ):
            yield Attribute(thing, "location", bare(match["place"]), ends=True)
        return
    is_now = clause.meant in ("fact", "perfect", "progressive")
    states = list(_state(clause, thing, is_now=is_now))
    if states:
        yield from states
        return
    if is_now and clause.form not in ("was", "were") and clause.verb in _IS_PLACED:
        match = _WHERE.match(clause.rest)
        if match is not None and not _NO_PLACES.search(match["place"]):
            yield Attribute(thing, "location", bare(match["place"]))
            return
    yield from _count(clause, thing, is_now=is_now)


def _placed(clause: Clause) -> Iterator[Attribute]:
    match = _PLACED.match(clause.rest)
    if match is None or _NO_PLACES.search(match["place"]):
        return
    noun = read_noun(match["thing"])
    if noun is not None and noun.words and noun.head not in PERSONS:
        yield Attribute(f"the {' '.join(noun.words).casefold()}", "location", bare(match["place"]))


def _state(clause: Clause, thing: str, *, is_now: bool) -> Iterator[Attribute]:
    rest = clause.rest
    if clause.verb == "be" and is_now and clause.form not in ("was", "were"):
        match = _STATES.match(rest)
        if match is not None:
            yield Attribute(thing, "status", match["state"].casefold())
    elif (
        clause.passive
        and (match := _STATES.match(f"{clause.form} {rest}")) is not None
        and clause.meant != "past"
    ):
        yield Attribute(thing, "status", match["state"].casefold())
    elif clause.verb == "work" and _WORKS_AGAIN.match(rest):
        yield Attribute(thing, "status", "working")
    elif clause.verb in _BREAKS and rest.casefold().startswith(_BREAKS[clause.verb]):
        yield Attribute(thing, "status", "broken")
    elif (
        clause.verb == "go"
        and clause.meant in ("past", "perfect")
        and (match := _GOES.match(rest)) is not None
    ):
        yield Attribute(thing, "status", match["state"].casefold())


def _count(clause: Clause, thing: str, *, is_now: bool) -> Iterator[Attribute]:
    rest = clause.rest
    if clause.verb in _COUNTS and (is_now or clause.verb in ("reach", "pass", "hit")):
        match = _COUNTED.match(rest)
        if match is not None and match["unit"]:
            yield Attribute(thing, _counting(match["unit"]), match["number"])
    elif clause.verb in _CHANGED_COUNT or (
        clause.verb == "be" and is_now and re.match(r"\s*(?:now\s+)?(?:up|down)\s+to\s", rest)
    ):
        match = _COUNTED.match(rest)
        if match is not None:
            yield Attribute(thing, _counting(match["unit"] or ""), match["number"])


def _counting(unit: str) -> str:
    return f"number_of_{re.sub(r'[^a-z]+', '_', unit.casefold())}" if unit else "size"


def _thing(noun: Noun, cast: Cast) -> str:
    """The thing as a subject, "the washing machine"; empty for persons and what is no definite thing."""
    if not noun.words or noun.owner in ("a", "an") or noun.name or cast.person("", noun):
        return ""
    words = [
        word.removesuffix("'s") if index == len(noun.words) - 1 else word
        for index, word in enumerate(noun.words)
    ]
    low = [word.casefold() for word in words]
    if (
        low[0] in _PREPOSITIONS
        or is_verb_form(low[0])
        or low[-1] in PERSONS
        or low[-1] in _NO_THINGS
        or low[0] in ("what", "how", "all", "some", "people", "everybody", "everyone")
    ):
        return ""
    if noun.owner == "" and not (
        words[0][:1].isupper() or low[-1].endswith("s") or re.search(r"\d", words[-1]) or len(words) > 1
    ):
        return ""
    rest = f" {noun.rest}" if noun.rest and len(noun.rest) < 30 else ""
    return f"the {' '.join(low)}{rest.casefold()}"


_PREPOSITIONS = word_set(
    "after before during since with without in on at for from by as like besides apart while because of to about"
)
_NO_THINGS = word_set(
    "thing things it this that day week month year time weather food dinner lunch breakfast coffee concert film movie game match party train bus sky sun moon night morning evening one ones "
    "couple priest doctor waiter teacher teachers neighbours people guests world life love money news story song door window parrot fox cat dog cats dogs bees sheep"
)


def note_statements(text: str, cast: Cast, unit: Unit) -> Iterator[Attribute]:
    """ "New deadline: 15 March", "Viola has a new login, vromano2"."""
    if not cast.speaker:
        return
    match = _NOTE.match(text)
    if match is not None:
        noun = read_noun(re.sub(r"^(?:new|current)\s+", "", match["noun"], flags=re.I))
        if (
            noun is not None
            and noun.words
            and noun.head not in _NO_NOTES
            and noun.head not in PERSONS - _OF_ONE
        ):
            owner = noun.owner or ("my" if noun.head in nouns_of_slots() or noun.head in _OF_ONE else "the")
            yield from noun_attribute(Noun(owner, noun.words, "", noun.rest), match["value"], cast, unit)
            return
    match = _NEW_NOUN.match(text)
    if match is not None and match["noun"].split()[-1] not in _NO_NOTES:
        who = match["who"]
        owner = "my" if who in ("I", "we", "We") else who
        subject = read_noun(who)
        if owner != "my" and subject is not None:
            owner = cast.person("", subject)
        if owner:
            yield from noun_attribute(Noun(owner, tuple(match["noun"].split())), match["value"], cast, unit)


_OF_ONE = word_set(
    "dentist doctor gp therapist lawyer accountant landlord landlady hairdresser barber trainer coach tutor mentor boss manager supervisor roommate flatmate housemate vet physio psychologist cardiologist paediatrician"
)
