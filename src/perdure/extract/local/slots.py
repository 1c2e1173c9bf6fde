"""Slots that a sentence speaks of: home, job, partner, the date of an appointment, and any attribute that a noun names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from perdure.extract.local.slots_attributes import attribute_statements
from perdure.extract.local.slots_frames import frame_statements
from perdure.extract.local.slots_phrases import SlotPhrase, phrases_without_verb, slot_phrases
from perdure.extract.local.slots_subjects import Cast
from perdure.extract.local.slots_things import note_statements, thing_statements
from perdure.extract.local.slots_values import bare_value
from perdure.extract.local.units import Unit
from perdure.ports.extractor import Triple
from perdure.text.clauses import UNREAL_SENTENCE, Clause, clauses, expand
from perdure.text.relation_table import is_single_valued
from perdure.text.slot_table import ALSO, end_of, ended_slots, nouns_of_slots, slot_family, slots
from perdure.text.voice import Voice

_TEMPORARY = re.compile(
    r"\b(?:for (?:the|a|an|my|our|this|\d+|two|three|four|five|six|ten|a few|a couple of|several)(?: \w+)? ?(?:weekend|nights?|days?|weeks?|holidays?|vacation|summer|conference|trip|wedding|visit|while|semester|meeting|fortnight|hours?)"
    r"|this weekend|for now|until \w+|till \w+|temporarily|on (?:a|our|my) (?:trip|holiday|vacation|business trip)|on (?:holiday|vacation)|visiting|as a guest|for work this week|in the meantime|over (?:christmas|easter|the holidays|the summer|the weekend))\b",
    re.I,
)
_BESIDE = re.compile(
    r"\b(?:also|another|as well|in addition|on the side|additional|besides|as well as|alongside|in parallel|on top of|apart from|next to (?:the|my)|side (?:job|gig|hustle))\b|\b(?:a|an|my|our|her|his) (?:second|third)\b|\btoo\b(?=[,.!]|$| every| on | in )",
    re.I,
)
_LASTING = frozenset({"lives_in", "works_at", "lives_with", "works_as", "drives", "commutes_by"})
_FUTURE_BEHIND = re.compile(
    r"\b(?:next (?:week|month|year|\w+day|spring|summer|autumn|fall|winter)|tomorrow|soon|in (?:two|three|a few|a couple of|\d+) (?:days|weeks|months|years)|from next|starting next)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Statement:
    """A slot of a subject with a value, or without one when a value ends."""

    subject: str
    relation: str
    value: str
    ends: bool = False
    beside: bool = False


def slot_triples(
    unit: Unit, speaker: Voice | None, other: Voice | None, before: Sequence[Triple] = ()
) -> list[Triple]:
    """The slots that a sentence fills or ends; `before` are the triples of the statements just before it."""
    text = expand(_stated_part(unit))
    if not text or UNREAL_SENTENCE.search(text):
        return []
    cast = Cast(speaker, other, before)
    triples: list[Triple] = []
    for clause in clauses(text):
        for statement in _statements(clause, cast, unit):
            if statement.subject and statement.value.casefold() != statement.subject.casefold():
                triples.append(_triple(statement))
        cast.heard(clause.subject, clause.noun)
    if not triples:
        triples = [_triple(statement) for statement in (*_loose(text, cast), *_elliptic(text, cast))]
    if not unit.is_question:
        triples += [_triple(statement) for statement in _framed(text, cast, triples)]
    if not triples and not unit.is_question:
        triples = [_triple(statement) for statement in _of_things(text, cast, unit)]
    if _FOR_A_WHILE.search(text):
        triples = [triple for triple in triples if not triple.single_valued]
    return list(dict.fromkeys(_of_known_products(triples)))


def _of_known_products(triples: Sequence[Triple]) -> list[Triple]:
    """The triples; what is a product of a known kind is no field of study, team or employer by the same words."""
    products = {triple.object for triple in triples if triple.relation.startswith(USES)}
    return [triple for triple in triples if triple.object not in products or triple.relation.startswith(USES)]


USES = "uses_"
_FOR_A_WHILE = re.compile(
    r"(?:^|[.,;:]\s)(?:during|while)\s|\bwhile \w+ (?:is|are)\b|\b(?:just|only) (?:for )?(?:this|these)\b|\bthis (?:week|weekend|month) only\b|\bfor (?:a few|a couple of|lent)\b"
    r"|\bfor the (?:\w+ )?(?:weekend|party|holidays|world cup)\b|\bexchange (?:semester|year|term)\b|\buntil (?:mine|ours|the|my|our)\b|\bon (?:a )?(?:free )?trial\b|\bfor seven days\b",
    re.I,
)
_QUESTION_TAIL = re.compile(
    r"^(?P<said>.{3,}?)[,;:.—–-]+\s+(?:(?:so|and|but|or)\s+)?(?:is|are|am|was|were|do|does|did|can|could|should|would|will|shall|may|might|what|where|when|why|who|how|which|any|right|ok|okay|remember|know)\b[^,;]*\?\W*$",
    re.I,
)


def _stated_part(unit: Unit) -> str:
    """The sentence; of one that ends in a question, what it states before that ("I'm 34, is it too late?")."""
    if not unit.is_question:
        return unit.text
    match = _QUESTION_TAIL.match(unit.text)
    return match["said"] if match is not None and not _ASKS.match(match["said"]) else ""


_ASKS = re.compile(
    r"\s*(?:(?:so|and|but|hey|hi|ok|okay|well|quick \w+)\W+)*(?:is|are|am|was|were|do|does|did|can|could|should|would|will|shall|may|might|what|where|when|why|who|how|which|if)\b",
    re.I,
)


def _framed(text: str, cast: Cast, triples: Sequence[Triple]) -> Iterator[Statement]:
    """What frames over the sentence say of slots that no clause spoke of."""
    spoken = {name for triple in triples for name in _family(triple.relation)}
    for frame in frame_statements(text, cast):
        if not spoken & _family(frame.relation):
            spoken |= _family(frame.relation)
            yield Statement(frame.subject, frame.relation, frame.value, frame.ends, frame.beside)


def _of_things(text: str, cast: Cast, unit: Unit) -> Iterator[Statement]:
    """Notes ("New deadline: 15 March"), and place, state and number of things."""
    if _TEMPORARY.search(text):
        return
    statements = [
        *note_statements(text, cast, unit),
        *(statement for clause in clauses(text) for statement in thing_statements(clause, cast)),
    ]
    for one in statements:
        yield Statement(one.subject, one.relation, one.value, one.ends)


def _family(relation: str) -> frozenset[str]:
    """The slots that a relation speaks of, giving or ending a value."""
    names = ended_slots(relation) or (relation.removeprefix(ALSO),)
    return frozenset(name for one in names for name in slot_family(one))


def _loose(text: str, cast: Cast) -> Iterator[Statement]:
    """Wordings without a clause of their own."""
    if cast.speaker:
        for phrase in phrases_without_verb(text):
            yield Statement(cast.speaker, phrase.relation, phrase.value)


def _elliptic(text: str, cast: Cast) -> Iterator[Statement]:
    """ "Sorry, I meant Thursday": a bare value takes the slot of the last statement with a value of its kind."""
    match = _ELLIPSIS.match(text)
    if match is None or not (match["cue"].strip() or match["after"]):
        return
    value, kind = bare_value(match["value"])
    if not value or _DENIAL.match(value):
        return
    for triple in reversed(cast.before):
        if (
            triple.object
            and triple.object.casefold() != value.casefold()
            and bare_value(triple.object)[1] == kind
        ):
            yield Statement(triple.subject, triple.relation, value)
            return


_DENIAL = re.compile(r"(?:not|no|never|nor)\b", re.IGNORECASE)
_ELLIPSIS = re.compile(
    r"^(?P<cue>\W*(?:(?:sorry|oops|whoops|no|wait|actually|hm+|ah|oh|hang on|hold on|correction|scratch that|strike that|my bad|my mistake|typo|i mean|well|ugh|argh)\b\W*|i just checked[^,.]*\W+|let me correct (?:that|myself)\W+)*"
    r"(?:(?:i meant(?: to (?:say|write|type))?|i mean|make (?:that|it)|it (?:is|was|should be)|that (?:is|should be)|should be|it is actually|the right one is|rather|better)\s)?\s*)(?:actually |really |now |on |at |in )*(?P<value>\S(?:[^,;!?.]|[,.](?=\d))*?)(?P<after>,? (?:sorry|not \S.*|of course|i think|instead|then|please|actually|rather))?(?:[.!]+(?:\s(?-i:[A-Z(]).*)?)?$",
    re.I,
)


def _triple(statement: Statement) -> Triple:
    relation = statement.relation
    if statement.ends:
        relation = end_of(relation)
    elif statement.beside and is_single_valued(relation):
        relation = ALSO + relation
    return Triple(
        subject=statement.subject,
        relation=relation,
        object=statement.value,
        single_valued=is_single_valued(relation),
    )


def _statements(clause: Clause, cast: Cast, unit: Unit) -> Iterator[Statement]:
    person = cast.person(clause.subject, clause.noun)
    if person and clause.noun is not None and _names_a_slot(clause):
        person = ""
    beside = bool(_BESIDE.search(f"{clause.cue} {clause.rest}"))
    if person:
        for phrase in slot_phrases(clause):
            if phrase.relation in _LASTING and phrase.aspect != "ends" and _TEMPORARY.search(clause.rest):
                continue
            if phrase.aspect == "begins" and _FUTURE_BEHIND.search(phrase.behind) and clause.meant != "past":
                continue
            if phrase.kind in ("iorg", "iperson") and not _is_of_kind(phrase, unit):
                continue
            ends = phrase.aspect in ("ends", "none")
            yield Statement(person, phrase.relation, phrase.value, ends, beside and not ends)
    for attribute in attribute_statements(clause, cast, unit):
        yield Statement(
            attribute.subject,
            attribute.relation,
            attribute.value,
            attribute.ends,
            beside and attribute.relation in slots(),
        )


def _names_a_slot(clause: Clause) -> bool:
    """Whether "my boyfriend is called Marcus" says who the boyfriend is, and not what his name is."""
    noun = clause.noun
    if noun is None or noun.name or clause.verb != "be" or not noun.words:
        return False
    is_called = re.match(r"\s*(?:called|named)\s", clause.rest) is not None
    return noun.words[-1].casefold() in nouns_of_slots() and is_called


def _is_of_kind(phrase: SlotPhrase, unit: Unit) -> bool:
    """Whether a bare name is a company or a person, where the wording does not tell ("I'm with ...")."""
    types = {
        mention.type
        for mention in unit.mentions
        if phrase.value.startswith(mention.text) or mention.text.startswith(phrase.value)
    }
    if phrase.kind == "iperson":
        return "person" in types and not _COMPANY.search(f"{phrase.value}{phrase.behind}")
    return bool(_COMPANY.search(f"{phrase.value}{phrase.behind}")) or (
        "organisation" in types and "person" not in types
    )


_COMPANY = re.compile(
    r"\b(?:inc|gmbh|ltd|llc|labs?|group|bank|hospital|clinic|university|college|company|publishers?|partners|consulting|software|systems|energy|motors|airlines?|agency|studio|studios|the (?:publishers?|company|firm|agency|bank|startup|team at))\b|&",
    re.I,
)
