"""Slots that a sentence in German, Spanish or French fills, by the wordings of `text/slots/`.

A sentence is cut into clauses; each is matched against the wordings of its language. What is asked, wished, planned,
imagined, told by others or only for a while fills no slot. "No longer" turns a wording into the end of its value, and
a clause that leaves out subject and verb ("now in Bonn", "sondern in Bonn") takes them from the clause before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from perdure.extract.local.slots_values import thing_kind
from perdure.extract.local.units import Unit
from perdure.ports.extractor import Triple
from perdure.text.slot_table import ALSO
from perdure.text.voice import Voice
from perdure.text.wording_clause import Clause
from perdure.text.wording_match import Match, Owned, Subject, find
from perdure.text.wording_sentence import clauses_of, hits, is_denied, is_said_as_fact, trips
from perdure.text.wordings import LANGUAGES, Aspect, Slot, Value, Who, Wording, Wordings, wordings

_TIME_OF_DAY = re.compile(
    r"(?:(?:halb|viertel \w+) )?\d{1,2}(?:[:.h]\d\d|h)?(?:$| ?(?:uhr|heures?|h|horas?|y media|y cuarto|et demie|de la \w+|du \w+|früh|\w+s)\b)",
    re.IGNORECASE,
)
_ADDED_KINDS = ("name", "amount", "when", "person", "product", "phone_brand")
"""Kinds that a wording of an attribute may itself ask for, whatever its noun has."""
_LOOKS = ("mail", "phone", "when", "amount", "number", "street", "person", "name")
"""Kinds that a value shows by its looks, the narrowest first."""
_DAY_BY_DAY = frozenset(
    ("works_at", "works_as", "works_from", "works_hours", "diet", "commutes_by", "drives")
)
"""Slots of which a value may hold for one day only."""
_DATED_KINDS = frozenset(("when",))


def worded_slots(
    unit: Unit, language: str, speaker: Voice | None, before: Sequence[Triple] = ()
) -> list[Triple]:
    """The slots that a sentence fills or ends, single-valued ones first; none in a language without wordings.

    `before` are the triples of what the same speaker said just before, the last one last: "he", "she" and the bare
    value of a correction ("no, Tuesday") lean on them.
    """
    if language not in LANGUAGES or unit.is_question or unit.kind == "code" or unit.is_aside:
        return []
    return _Sentence(unit.text, wordings(language), speaker, before).triples()


@dataclass(frozen=True, slots=True)
class _Statement:
    """What a clause said of a slot, as far as the next clause may lean on it."""

    slot: Slot
    subject: Subject
    wording: Wording
    owned: Owned | None = None
    triples: tuple[Triple, ...] = ()


class _Sentence:
    """Reads the clauses of a sentence in order."""

    def __init__(self, text: str, table: Wordings, speaker: Voice | None, before: Sequence[Triple]) -> None:
        self._table = table
        self._speaker = speaker
        self._before = before
        self._text = text
        self._clauses = clauses_of(text, table)

    def triples(self) -> list[Triple]:
        if not is_said_as_fact(self._text, self._table):
            return []
        corrects = any(trips(clause, "correction") for clause in self._clauses)
        triples = self._stated()
        if not triples and (corrects or any(trips(clause, "soft_correction") for clause in self._clauses)):
            corrects = True
            triples = [triple for clause in self._clauses for triple in self._corrected(clause)][:1]
        return [
            replace(triple, corrects=corrects)
            for triple in dict.fromkeys(_surest_first(triples, self._table))
        ]

    def _stated(self) -> list[Triple]:
        triples: list[Triple] = []
        before: list[_Statement] = []
        subject: Subject | None = None
        announced: Owned | None = None
        for clause in self._clauses:
            statements = list(self._statements(clause, subject))
            if announced is not None and not statements:
                triples += self._announced_value(clause, announced)
            announced = _announced(clause)
            if not statements:
                statements = list(self._elliptical(clause, before))
            named = _named_relative(clause)
            if named is not None:
                subject = named
            elif statements:
                subject = statements[0].subject
            if statements:
                before = statements
                triples += [triple for statement in statements for triple in statement.triples]
            else:
                subject = named or next(iter(_leading_subject(clause)), subject)
                triples[-1:] = [self._by_its_name(triple, clause) for triple in triples[-1:]]
        nameless = self._table.choices["partner_word"]
        return [t for t in triples if t.relation != "partner" or t.object.casefold() not in nameless]

    def _statements(self, clause: Clause, carried: Subject | None) -> Iterator[_Statement]:
        words = clause.words
        for slot in self._table.slots:
            for wording in slot.wordings:
                statement = self._slot(clause, slot, wording, carried) if wording.may_match(words) else None
                if statement is not None:
                    yield statement
                    break
        for adds, wording in self._table.attributes:
            statement = self._attribute(clause, wording, adds) if wording.may_match(words) else None
            if statement is not None:
                yield statement
                break

    def _slot(
        self, clause: Clause, slot: Slot, wording: Wording, carried: Subject | None
    ) -> _Statement | None:
        for match in find(clause, wording.nodes):
            subject = _subject_of(match, carried)
            if subject is not None:
                statement = _Statement(slot, subject, wording)
                return replace(statement, triples=tuple(self._told(clause, match, statement)))
        return None

    def _attribute(self, clause: Clause, wording: Wording, adds: str) -> _Statement | None:
        for match in find(clause, wording.nodes):
            owned = match.owned
            if owned is None or not match.values or match.values[-1][0] not in (owned.kind, *_ADDED_KINDS):
                continue
            if match.value_first and (owned.relation == "partner" or owned.kind == "typed"):
                continue  # "Tom ist mein Freund" need not be a partner, nor "heute hab ich den Ausweis" a date.
            relation = f"{owned.relation}_{adds}" if adds else owned.relation
            if match.values[-1][0] == "phone_brand":
                relation = "phone_model"
            if match.values[-1][0] == "when" and _TIME_OF_DAY.match(match.values[-1][1]):
                relation = f"{relation}_time"
            owner = owned.owner
            product = thing_kind(match.values[-1][1])
            if product and match.values[-1][0] in ("name", "product"):
                relation, owner = (
                    f"uses_{product}",
                    Subject("3s", name=f"the {owned.relation.replace('_', ' ')}"),
                )
            elif adds == "owner":
                relation, owner = adds, Subject("3s", name=f"the {owned.relation.replace('_', ' ')}")
            slot = Slot(relation, "", f"no_longer_{relation}", True, (), "")
            statement = _Statement(slot, owner, wording, owned)
            return replace(statement, triples=tuple(self._told(clause, match, statement)))
        return None

    def _elliptical(self, clause: Clause, before: Sequence[_Statement]) -> Iterator[_Statement]:
        """ "Früher wohnte ich in Köln, jetzt IN BONN": the value alone, behind a word that says it is so now."""
        start = self._behind_lead(clause, before)
        if start == 0:
            return
        for statement in before:
            if not statement.wording.tail:
                continue
            for match in find(clause, statement.wording.tail, (start,), statement.owned):
                if match.values and not _is_longer(clause, match.end):
                    wording = replace(statement.wording, aspect=Aspect.HOLDS)
                    said = replace(statement, wording=wording)
                    yield replace(said, triples=tuple(self._told(clause, match, said)))
                    break

    def _announced_value(self, clause: Clause, owned: Owned) -> list[Triple]:
        """ "I have a new boss: SANDRA", "we changed the password, it is now PALME88"."""
        words = self._table.words
        skipped = words["now"] | words["copulas"] | words["third_persons"] | words["joints"] | words["naming"]
        start = 0
        while clause.has(start, skipped):
            start += 1
        who = self._name(owned.owner)
        for match in find(clause, (Value(owned.kind),), range(start, min(start + 5, len(clause.tokens)))):
            if who and not _is_longer(clause, match.end) and not is_denied(clause, match):
                value = match.values[-1][1]
                return [Triple(subject=who, relation=owned.relation, object=value, single_valued=True)]
        return []

    def _behind_lead(self, clause: Clause, before: Sequence[_Statement]) -> int:
        """The place behind "now" or "but"; behind a mere "it is" only where the value before was denied."""
        words = self._table.words
        denied = any(
            not statement.triples or statement.triples[0].relation == statement.slot.ended
            for statement in before
        )
        start, is_lead = 0, False
        while clause.has(start, words["now"] | words["joints"] | words["copulas"]):
            is_lead = (
                is_lead or clause.has(start, words["now"]) or (denied and clause.has(start, words["copulas"]))
            )
            start += 1
        return start if is_lead else 0

    def _by_its_name(self, triple: Triple, clause: Clause) -> Triple:
        """ "We have a cat, her name is Minka": a pet or partner with the name that the next clause gives."""
        for phrase in self._table.guards["is_called"] if triple.relation in ("has_pet", "partner") else ():
            for match in find(clause, phrase.nodes, (0,)):
                if match.values and not _is_longer(clause, match.end):
                    name = match.values[-1][1]
                    return replace(
                        triple, object=name if triple.relation == "partner" else f"{triple.object} {name}"
                    )
        return triple

    def _corrected(self, clause: Clause) -> Iterator[Triple]:
        """The value that a correction puts in the place of the one said last."""
        last = next((triple for triple in reversed(self._before) if triple.object), None)
        for kind in self._kinds_like(last) if last is not None else ():
            for match in find(clause, (Value(kind),)):
                value = match.values[-1][1]
                if last is not None and value.casefold() != last.object.casefold():
                    yield replace(last, object=value)
                    return

    def _kinds_like(self, triple: Triple) -> list[str]:
        """The kinds of value that the slot of a triple has; else those that its object has by its looks."""
        kinds = sorted(self._table.kinds_of(triple.relation))
        if kinds:
            return kinds
        for clause in clauses_of(triple.object, self._table)[:1]:
            return [kind for kind in _LOOKS if _is_whole(clause, kind)][:1]
        return []

    def _told(self, clause: Clause, match: Match, statement: _Statement) -> Iterator[Triple]:
        """The statement as relations; none where it is denied, planned, or nobody's."""
        slot = statement.slot
        aspect = _aspect(clause, match, statement.wording.aspect)
        who = self._name(statement.subject)
        if aspect is None or not who or _is_unreal(clause, match, aspect):
            return
        if aspect is Aspect.HOLDS and slot.relation in _DAY_BY_DAY and _is_just_today(clause):
            return
        value = match.values[-1][1] if match.values else slot.value
        if aspect is Aspect.PAST:
            if slot.past and value:
                yield Triple(subject=who, relation=slot.past, object=value)
        elif aspect is Aspect.ENDS:
            yield Triple(subject=who, relation=slot.ended, object=value)
        elif value:
            old = _replaced_value(clause, match)
            if old and not slot.single:
                yield Triple(subject=who, relation=slot.ended, object=old)
            product = thing_kind(value) if slot.relation == "uses" else ""
            if product:
                slot = replace(slot, relation=f"uses_{product}", single=True)
            goes_on = aspect is Aspect.HOLDS and trips(clause, "still")
            beside = slot.single and (
                goes_on or trips(clause, "beside") or _may_be_the_same(clause, slot, value, aspect)
            )
            relation = f"{ALSO}{slot.relation}" if beside else slot.relation
            yield Triple(
                subject=who, relation=relation, object=value, single_valued=slot.single and not beside
            )

    def _name(self, subject: Subject) -> str:
        if subject.name:
            return subject.name
        if subject.is_pronoun:
            own = self._speaker.name if self._speaker is not None else ""
            return next((triple.subject for triple in reversed(self._before) if triple.subject != own), "")
        if self._speaker is None:
            return ""
        return f"{self._speaker.possessive} {subject.kin}" if subject.kin else self._speaker.name


def _surest_first(triples: Sequence[Triple], table: Wordings) -> list[Triple]:
    """Those of slots with one value first: they say what is true now."""
    return sorted(triples, key=lambda triple: (not triple.single_valued, _minor(triple, table)))


def _minor(triple: Triple, table: Wordings) -> int:
    """How far a statement stands behind another of its sentence: an employer without a name behind the role."""
    if triple.relation == "department":
        return 2
    return int(triple.relation == "works_at" and _is_nameless(triple.object, table))


def _is_nameless(organisation: str, table: Wordings) -> bool:
    return organisation.casefold().split()[-1] in table.choices["institution"]


def _may_be_the_same(clause: Clause, slot: Slot, value: str, aspect: Aspect) -> bool:
    """Whether a home is the one said before, told more or less exactly: a quarter of the town, the country."""
    if slot.relation != "lives_in" or aspect is not Aspect.HOLDS:
        return False
    words = clause.wordings.words
    is_new = any(token.low in words["now"] or token.low in words["since"] for token in clause.tokens)
    return trips(clause, "more_exact") or (value.casefold() in words["countries"] and not is_new)


def _replaced_value(clause: Clause, match: Match) -> str:
    """The value that the statement names as replaced: the first of two, or one behind "instead of"."""
    if len(match.values) > 1 and match.values[0][0] == match.values[-1][0]:
        return match.values[0][1]
    kind = match.values[-1][0] if match.values else ""
    for phrase in clause.wordings.guards["instead"] if kind else ():
        for other in find(clause, (*phrase.nodes, Value(kind))):
            if other.values[-1] != match.values[-1]:
                return other.values[-1][1]
    return ""


def _named_relative(clause: Clause) -> Subject | None:
    """ "My son is called Ben": what follows is about Ben."""
    for phrase in clause.wordings.guards["named"]:
        for match in find(clause, phrase.nodes) if phrase.may_match(clause.words) else ():
            if match.subject is not None and match.subject.kin:
                return Subject("3s", name=match.values[-1][1])
    return None


def _is_whole(clause: Clause, kind: str) -> bool:
    """Whether the whole clause is a value of the kind."""
    return any(match.end == len(clause.tokens) for match in find(clause, (Value(kind),), (0,)))


def _announced(clause: Clause) -> Owned | None:
    """What a clause says is new or changed, without saying what it is now."""
    if any(trips(clause, guard) for guard in ("wish", "ahead", "temporary")):
        return None
    is_new = not clause.wordings.words["new"].isdisjoint(token.low for token in clause.tokens)
    guards = clause.wordings.guards
    for phrase in (*guards["announces"], *(guards["announces_new"] if is_new else ())):
        if phrase.may_match(clause.words):
            for match in find(clause, phrase.nodes):
                if match.owned is not None and not is_denied(clause, match):
                    other = match.subject
                    if other is not None and (other.name or other.kin):
                        return replace(match.owned, owner=other)
                    return match.owned
    return None


def _subject_of(match: Match, carried: Subject | None) -> Subject | None:
    """Who it is about: the words of the clause, the verb's ending, or the subject of the clause before."""
    if match.subject is None:
        return Subject("1s")
    if match.subject.is_pronoun and carried is not None and (carried.name or carried.kin):
        return carried
    if match.subject.person:
        return match.subject
    if carried is not None and carried.agrees(match.persons):
        return carried
    return next((Subject(person) for person in ("1s", "1p") if person in match.persons), None)


def _aspect(clause: Clause, match: Match, aspect: Aspect) -> Aspect | None:
    """The aspect after negations: "no longer" ends, a plain "not" says nothing."""
    if aspect in (Aspect.ENDS, Aspect.BEGINS):
        return None if is_denied(clause, match) else aspect
    if any(_says_over(clause, hit, match) for hit in hits(clause, "no_longer")):
        return Aspect.ENDS if aspect is Aspect.HOLDS else None
    if is_denied(clause, match):
        return None
    return aspect


def _says_over(clause: Clause, hit: Match, match: Match) -> bool:
    """Whether "no longer" stands beside the wording, and is no part of it as in "isst kein Fleisch mehr"."""
    over = clause.wordings.words["over"]
    return not any(clause.tokens[place].low in over for place in hit.literal & match.literal)


def _is_unreal(clause: Clause, match: Match, aspect: Aspect) -> bool:
    """Planned, wished or only for a while; a date to come is no plan but the value itself."""
    if trips(clause, "wish"):
        return True
    if any(kind in _DATED_KINDS for kind, _ in match.values):
        return False
    if aspect in (Aspect.BEGINS, Aspect.ENDS) and trips(clause, "earlier"):
        return True
    is_over = any(token.low in clause.wordings.words["past_cues"] for token in clause.tokens)
    is_ahead = aspect is not Aspect.PAST and not is_over and trips(clause, "ahead")
    return trips(clause, "temporary") or is_ahead


def _is_just_today(clause: Clause) -> bool:
    """ "Heute esse ich vegan", but not "seit heute"."""
    words = clause.wordings.words
    return any(
        token.low in words["today"] and not clause.has(place - 1, words["time_prepositions"])
        for place, token in enumerate(clause.tokens)
    )


def _is_longer(clause: Clause, end: int) -> bool:
    """Whether more than a few words follow, so that the clause is no mere value."""
    return len(clause.tokens) - end > 3


def _leading_subject(clause: Clause) -> Iterator[Subject]:
    """Who the clause begins with."""
    for match in find(clause, (Who(may_be_left_out=False),), (0, 1)):
        if match.subject is not None:
            yield match.subject
