"""Supersession: which older statement a new one ends, and on which axis of time.

A new value of a slot ends the older one (a change), or takes it back (a correction). Some statements end a value without
giving another. Whatever is not sure ends nothing: two open values are a conflict, which recall shows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from perdure.domain.fact import CORRECTION, INSTRUCTION, PLANNED, UNSURE_DATE, Fact
from perdure.domain.filter import Filter
from perdure.ports.extractor import Replacement
from perdure.ports.reranker import Reranker
from perdure.ports.statements import StatementClassifier
from perdure.ports.store import NewFact, Reading, Selection
from perdure.retain.commit import Closure
from perdure.retain.judged_changes import changing, judged_changes
from perdure.retain.learned_changes import learned_changes, may_tell_change, telling_change
from perdure.retain.slot_match import (
    SlotPlace,
    ends_value,
    mentions_value,
    place_of,
    same_apart_from_numbers,
    same_place,
    same_subject,
    same_value,
)
from perdure.text.assertion import is_for_a_while, speaks_of_change, takes_effect
from perdure.text.correction import is_correction
from perdure.text.ended_values import ANYBODY, SPEAKER, EndedValue, ended_values
from perdure.text.names import normal_name
from perdure.text.relation_table import is_single_valued
from perdure.text.slot_table import ALSO, ended_slots, is_time, slot_family, slots
from perdure.text.supposition import is_supposed
from perdure.text.voice import voice_of
from perdure.text.worded_endings import worded_endings
from perdure.text.wordings import LANGUAGES

CURRENT_VALUES = 50
"""Values of one subject and relation that are looked at, the newest first."""
RECENT_FACTS = 200
"""A speaker's or subject's newest facts, among which a value or thing is looked for that the new fact names otherwise."""
AHEAD = timedelta(days=1)
"""What was said or holds from further ahead than this closes nothing: clocks and dates go wrong."""
CORRECTED_WITHIN = timedelta(days=30)
"""What was said longer ago is not taken back any more: it changed, whatever the words."""
ONE_STATEMENT = 200
"""Characters up to which a source is read as the statement itself, rather than as one of several."""
SAME_BREATH = timedelta(hours=2)
"""Who says otherwise so soon, and speaks of no change, corrects themself."""
NEWS = timedelta(days=92)
"""A change as recent as this is told because it is new."""
_UNATTACHED = frozenset({"single", "divorced", "widowed", "separated"})
_TOGETHER = frozenset({"lives_with", "reports_to", "owner", "has_pet"})
"""Slots whose value is over when the person goes."""
_FIRST_PERSON = re.compile(r"\b(?:me|my|us|our)\b", re.IGNORECASE)
_START_OF_TIME = datetime.min.replace(tzinfo=UTC)


def find_closures(
    reading: Reading,
    added: Sequence[NewFact],
    now: datetime,
    reranker: Reranker | None = None,
    classifier: StatementClassifier | None = None,
    *,
    proposals: Mapping[str, Sequence[Replacement]] | None = None,
) -> list[Closure]:
    """The ends that the new facts put to older ones, stored or new themselves; `proposals` are an extractor's, by new fact."""
    everything = Filter(include_closed=True, include_expired=True).at(now)
    new = [one.fact for one in added]
    old: dict[str, Fact] = {}
    for selection in _selections(new, everything):
        old.update((fact.id, fact) for fact in reading.browse(selection).facts if _is_open(fact))
    told = closures(new, list(old.values()), now)
    told += _proposed(reading, new, proposals or {}, told, now)
    told += _judged(reading, added, told, now, reranker)
    return [*told, *_learned(reading, added, told, now, classifier)] if classifier is not None else told


def _proposed(
    reading: Reading,
    new: Sequence[Fact],
    proposals: Mapping[str, Sequence[Replacement]],
    told: Sequence[Closure],
    now: datetime,
) -> Iterator[Closure]:
    """The ends that an extractor proposes: it pairs two statements of one thing, which is later is decided here."""
    closed = {closure.fact_id for closure in told}
    named = dict.fromkeys(one.fact_id for own in proposals.values() for one in own)
    stored = {fact.id: fact for fact in reading.facts(list(named)) if _is_open(fact)} if named else {}
    for fact in new:
        for proposal in proposals.get(fact.id, ()):
            other = stored.get(proposal.fact_id)
            if other is None or not _is_usable(fact, now) or not _is_usable(other, now):
                continue
            earlier, later = (other, fact) if _said(other) <= _said(fact) else (fact, other)
            if earlier.id in closed or _is_ahead_of_clock(other, now) or not _may_replace(later, earlier):
                continue
            closed.add(earlier.id)
            yield _close(
                earlier, later, now, corrects=later is fact and _takes_back(proposal, later, earlier)
            )


def _said(fact: Fact) -> datetime:
    return fact.mentioned_at or fact.recorded_at or _START_OF_TIME


def _may_replace(later: Fact, earlier: Fact) -> bool:
    """Whether a later statement that is said to replace an earlier one has the standing to: plainly said, by the same person.

    One that only tells of a time long before the earlier one was said does not.
    """
    if later.speaker != earlier.speaker and earlier.speaker:
        return False
    source = later.source_text if len(later.source_text) <= ONE_STATEMENT else ""
    texts = (later.text, source)
    if any(text.rstrip().endswith("?") or is_supposed(text) or is_for_a_while(text) for text in texts):
        return False
    over = later.occurred_end if UNSURE_DATE not in later.flags else None
    if over is not None and over < _said(earlier) - CORRECTED_WITHIN:
        return False
    return _may_close(later, earlier)


def _takes_back(proposal: Replacement, later: Fact, earlier: Fact) -> bool:
    """Whether a proposed correction is one by its words or by how soon it was said; else it is taken for a change."""
    if not proposal.corrects:
        return False
    return is_correction(later.source_text or later.text) or _is_correction(earlier, later)


def _learned(
    reading: Reading,
    added: Sequence[NewFact],
    told: Sequence[Closure],
    now: datetime,
    classifier: StatementClassifier,
) -> Iterator[Closure]:
    """The ends that a trained model reads, for statements that closed nothing yet."""
    closing = {closure.superseded_by for closure in told}
    closed = {closure.fact_id for closure in told}
    usable = [one.fact for one in added if _is_usable(one.fact, now)]
    undecided = [fact for fact in usable if fact.id not in closing and may_tell_change(fact)]
    new_vectors = {
        one.fact.id: one.features.vectors["fact"] for one in added if "fact" in one.features.vectors
    }
    everything = Filter(include_closed=True, include_expired=True).at(now)
    telling = telling_change(undecided, classifier)
    for speaker in sorted({fact.speaker for fact in telling}):
        page = reading.browse(Selection(where=everything, speaker=speaker, limit=RECENT_FACTS))
        earlier = [*page.facts, *(other for other in usable if other.speaker == speaker)]
        features = reading.features([other.id for other in page.facts if _is_open(other)])
        vectors = {fact_id: own.vectors["fact"] for fact_id, own in features.items() if "fact" in own.vectors}
        for fact in telling:
            if fact.speaker != speaker:
                continue
            candidates = [other for other in earlier if _is_open(other) and other.id not in closed]
            for judged in learned_changes(fact, candidates, {**vectors, **new_vectors}, classifier):
                if _since(judged.old) <= _since(judged.new) and _may_close(judged.new, judged.old):
                    closed.add(judged.old.id)
                    yield _close(judged.old, judged.new, now)


def _judged(
    reading: Reading,
    added: Sequence[NewFact],
    told: Sequence[Closure],
    now: datetime,
    reranker: Reranker | None,
) -> Iterator[Closure]:
    """The ends that no wording tells, of facts by the same speakers; for statements that closed nothing yet."""
    closing = {closure.superseded_by for closure in told}
    closed = {closure.fact_id for closure in told}
    told_of = changing([one.fact for one in added if _is_usable(one.fact, now)])
    undecided = [fact for fact in told_of if fact.id not in closing]
    new_vectors = {
        one.fact.id: one.features.vectors["fact"] for one in added if "fact" in one.features.vectors
    }
    everything = Filter(include_closed=True, include_expired=True).at(now)
    for speaker in sorted({fact.speaker for fact in undecided}):
        of_speaker = [fact for fact in undecided if fact.speaker == speaker]
        page = reading.browse(Selection(where=everything, speaker=speaker, limit=RECENT_FACTS))
        stored = [
            fact for fact in page.facts if _is_open(fact) and _is_usable(fact, now) and fact.id not in closed
        ]
        if not stored:
            continue
        features = reading.features([fact.id for fact in stored])
        vectors = {fact_id: own.vectors["fact"] for fact_id, own in features.items() if "fact" in own.vectors}
        for judged in judged_changes(of_speaker, stored, {**vectors, **new_vectors}, reranker):
            if _since(judged.old) <= _since(judged.new) and _may_close(judged.new, judged.old):
                yield _close(judged.old, judged.new, now)


def _selections(new: Sequence[Fact], everything: Filter) -> Iterator[Selection]:
    """Where the older statements are looked for; each place once."""
    for subject, relation in sorted(contested_pairs(new)):
        yield Selection(where=everything, subject=subject, relation=relation, limit=CURRENT_VALUES)
    for speaker in sorted({fact.speaker for fact in new if fact.speaker and _looks_around(fact)}):
        yield Selection(where=everything, speaker=speaker, limit=RECENT_FACTS)
    for relation in sorted({fact.relation for fact in new if fact.relation and _is_of_kin(fact)}):
        yield Selection(where=everything, relation=relation, limit=RECENT_FACTS)


def _looks_around(fact: Fact) -> bool:
    """Whether older statements may be worded with other subjects or relations."""
    place = place_of(fact)
    return bool(place is not None and place.is_open) or bool(_ended(fact))


def _is_of_kin(fact: Fact) -> bool:
    """Whether the subject is somebody who may be named otherwise: "Ann's brother" and "Tom"."""
    if not fact.subject or not fact.relation or not is_single_valued(fact.relation):
        return False
    own = voice_of(fact.speaker)
    return own is None or normal_name(fact.subject) != normal_name(own.name)


def _ended(fact: Fact) -> tuple[EndedValue, ...]:
    if INSTRUCTION in fact.flags or PLANNED in fact.flags:
        return ()
    text = fact.source_text or fact.text
    return tuple(worded_endings(text, fact.language)) if fact.language in LANGUAGES else ended_values(text)


def contested_pairs(facts: Iterable[Fact]) -> set[tuple[str, str]]:
    """(subject, relation) pairs whose older facts `closures` needs to see, subjects as worded."""
    pairs = set()
    for fact in facts:
        if not fact.subject or not fact.relation or INSTRUCTION in fact.flags:
            continue
        for relation in _contested(fact.relation):
            pairs.add((fact.subject, relation))
    return pairs


def _contested(relation: str) -> frozenset[str]:
    """The relations whose facts a statement of this one may close."""
    if is_single_valued(relation):
        more = (
            {"marital_status"}
            if "partner" in slot_family(relation)
            else slot_family("partner")
            if relation == "marital_status"
            else set()
        )
        more = more | ({"works_at"} if relation == "works_as" else set())
        return (
            slot_family(relation)
            | more
            | ({"date", "time", "value"} if is_time(relation) or relation == "value" else set())
        )
    ended = ended_slots(relation)
    if ended:
        families = frozenset(name for slot in ended for name in slot_family(slot))
        return families | {ALSO + name for name in families}
    if relation in slots():
        slot = slots()[relation]
        return frozenset({relation, slot.opposite} if slot.opposite else {relation})
    return frozenset()


def closures(
    new: Sequence[Fact],
    old: Sequence[Fact],
    now: datetime,
    *,
    single_valued: Callable[[str], bool] = is_single_valued,
) -> list[Closure]:
    """The ends that the new facts put to older ones.

    `old` are current facts of the same subjects. Statements of one slot are put in the order in which they began to
    hold: each closes the one before it that says something else. A new fact that began before what is known already is
    closed itself. What somebody said of themselves is not closed by others, nor what is more trusted by what is less.
    """
    first: dict[str, Closure] = {}
    fresh = {fact.id for fact in new}
    present = [fact for fact in new if _is_usable(fact, now)]
    stored = [
        fact for fact in old if _is_open(fact) and _is_usable(fact, now) and not _is_ahead_of_clock(fact, now)
    ]
    for closure in (
        *_chains(present, stored, fresh, now, single_valued),
        *_endings(present, stored, now),
        *_named_endings(present, stored, now),
        *_of_several(present, stored, now),
        *_roles_at_work(present, stored, now),
    ):
        first.setdefault(closure.fact_id, closure)
    return list(first.values())


def _is_open(fact: Fact) -> bool:
    return fact.retired_at is None and fact.superseded_by is None and fact.valid_to is None


def _is_usable(fact: Fact, now: datetime) -> bool:
    """Not an order to the agent, and not said or true from far ahead."""
    moments = [moment for moment in (fact.mentioned_at, fact.valid_from) if moment is not None]
    return INSTRUCTION not in fact.flags and all(moment <= now + AHEAD for moment in moments)


def _is_ahead_of_clock(fact: Fact, now: datetime) -> bool:
    """Whether the fact was recorded later than now: the clock was set back, and nothing is sure."""
    return fact.recorded_at is not None and fact.recorded_at > now + AHEAD


def _chains(
    new: Sequence[Fact],
    old: Sequence[Fact],
    fresh: set[str],
    now: datetime,
    single_valued: Callable[[str], bool],
) -> Iterator[Closure]:
    """Slots with one value at a time."""
    groups: list[tuple[SlotPlace, list[Fact]]] = []
    for fact in new:
        place = place_of(fact)
        if place is None or not fact.object or not single_valued(fact.relation or ""):
            continue
        group = next((facts for other, facts in groups if other == place), None)
        if group is None:
            groups.append((place, [fact]))
        else:
            group.append(fact)
    for place, facts in groups:
        same = [
            (fact, old_place)
            for fact in old
            if (old_place := place_of(fact)) is not None
            and fact.object
            and same_place(facts[0], place, fact, old_place)
        ]
        exact = [fact for fact, old_place in same if old_place.label == place.label]
        others = {old_place.label for _, old_place in same}
        if exact or len(others) <= 1:
            yield from _chain([*facts, *(exact or [fact for fact, _ in same])], fresh, now)


def _chain(facts: Sequence[Fact], fresh: set[str], now: datetime) -> Iterator[Closure]:
    """Each statement that a later one contradicts, closed by the first that does.

    What somebody said without a date was so when it was said. Who says later that it had changed before that means the
    change ("I live in Oslo", then "I moved to Lisbon last week"); in one breath only where the change is news ("I live in
    Oslo. I moved to Norway in 2010.").
    """
    since = {fact.id: _since(fact) for fact in facts}
    for place, fact in enumerate(facts):
        undated = [
            other
            for other_place, other in enumerate(facts)
            if other.valid_from in (None, other.mentioned_at)
            and other.speaker == fact.speaker
            and (
                _is_said_before(other, fact, fresh) or (other_place < place and _is_news_beside(fact, other))
            )
        ]
        since[fact.id] = max([since[fact.id], *(since[other.id] for other in undated)])
    ordered = sorted(facts, key=lambda fact: (since[fact.id], fact.id in fresh, fact.ordinal, fact.id))
    for index, fact in enumerate(ordered):
        later = next((other for other in ordered[index + 1 :] if _replaces(other, fact)), None)
        if later is not None and (later.id in fresh or fact.id in fresh):
            yield _close(fact, later, now)


def _is_said_before(other: Fact, fact: Fact, fresh: set[str]) -> bool:
    """Whether the other was said earlier, or at the same time and is stored already."""
    if other.mentioned_at is None or fact.mentioned_at is None:
        return False
    stored_first = other.id not in fresh and fact.id in fresh
    return other.mentioned_at < fact.mentioned_at or (
        other.mentioned_at == fact.mentioned_at and stored_first
    )


def _is_news_beside(fact: Fact, other: Fact) -> bool:
    """Whether a change was said together with the other, and is so recent that the other must be what was before."""
    if fact.mentioned_at is None or fact.mentioned_at != other.mentioned_at or fact.valid_from is None:
        return False
    return fact.mentioned_at - NEWS < fact.valid_from < fact.mentioned_at


def _replaces(later: Fact, earlier: Fact) -> bool:
    return not same_value(later.object or "", earlier.object or "") and _may_close(later, earlier)


def _may_close(later: Fact, earlier: Fact) -> bool:
    """Whether the later statement has the standing to end the earlier one."""
    if later.trust < earlier.trust or _is_still_ahead(later):
        return False
    subject = normal_name(earlier.subject or "")
    return not (_said_by(earlier, subject) and not _said_by(later, subject))


def _is_still_ahead(fact: Fact) -> bool:
    """Whether a statement only says what is planned; the date of something may be ahead, and "as of Monday" is so."""
    return (
        PLANNED in fact.flags and not _is_about_time(fact) and not takes_effect(fact.source_text or fact.text)
    )


def _is_about_time(fact: Fact) -> bool:
    place = place_of(fact)
    return place is not None and (place.is_open or is_time(fact.relation or ""))


def _said_by(fact: Fact, subject: str) -> bool:
    voice = voice_of(fact.speaker)
    return voice is not None and normal_name(voice.name) == subject


def _endings(new: Sequence[Fact], old: Sequence[Fact], now: datetime) -> Iterator[Closure]:
    """ "Left Google" ends "works at Google"; "we broke up" ends whatever partner there was."""
    for fact in new:
        slots_ended = _ended_by(fact)
        for other in old:
            relation = (other.relation or "").removeprefix(ALSO)
            if relation not in slots_ended or not same_subject(fact, other) or _since(other) > _since(fact):
                continue
            if relation == "marital_status" and (other.object or "").casefold() in _UNATTACHED:
                continue
            over = "" if fact.relation == "marital_status" else fact.object or ""
            if ends_value(over, other.object or "", single=is_single_valued(relation)) and _may_close(
                fact, other
            ):
                yield _close(other, fact, now)


def _ended_by(fact: Fact) -> frozenset[str]:
    """The slots of which a statement ends a value."""
    relation = fact.relation or ""
    if relation == "marital_status":
        return slot_family("partner") if (fact.object or "").casefold() in _UNATTACHED else frozenset()
    return frozenset(name for slot in ended_slots(relation) for name in slot_family(slot))


def _named_endings(new: Sequence[Fact], old: Sequence[Fact], now: datetime) -> Iterator[Closure]:
    """Values that the new statement itself names as over."""
    for fact in new:
        for ended in _ended(fact):
            matching = [
                other
                for other in old
                if other.object
                and other.relation
                and not ended_slots(other.relation)
                and (
                    is_single_valued(other.relation)
                    or other.relation.removeprefix(ALSO) in slots()
                    or _is_habit(other.relation)
                )
                and mentions_value(ended.value, other.object)
                and _is_owner(ended, fact, other)
                and (not ended.of_person or other.relation in _TOGETHER or other.relation not in slots())
                and _since(other) <= _since(fact)
                and _may_close(fact, other)
                and other.id != fact.id
            ]
            for other in matching:
                yield _close(other, fact, now)


def _is_habit(relation: str) -> bool:
    """Whether the relation is a verb in the present: what somebody does until they stop."""
    return relation.partition("_")[0].endswith("s") and not relation.endswith("_of")


def _is_owner(ended: EndedValue, fact: Fact, other: Fact) -> bool:
    """Whether the ended value belonged to the older fact's subject."""
    voice = voice_of(fact.speaker)
    own = normal_name(voice.name) if voice is not None else ""
    subject = normal_name(other.subject or "")
    if ended.owner == SPEAKER:
        return (
            subject == own
            or (bool(fact.subject) and subject == normal_name(fact.subject or ""))
            or _is_thing(other)
        )
    if ended.owner == ANYBODY:
        return subject == own or subject == normal_name(fact.subject or "") or _is_thing(other)
    if ended.owner.startswith(("my ", "our ", "the ")) and subject == own:
        return _FIRST_PERSON.search(fact.source_text) is not None
    return subject == normal_name(ended.owner) or bool(
        fact.subject and same_subject(fact, other) and normal_name(fact.subject) != own
    )


def _is_thing(fact: Fact) -> bool:
    return (fact.subject or "").startswith("the ") and fact.subject != "the user"


def _of_several(new: Sequence[Fact], old: Sequence[Fact], now: datetime) -> Iterator[Closure]:
    """Slots with several values: the opposite of the same object, the same but for a number, the other of two alternatives."""
    for fact in new:
        slot = slots().get(fact.relation or "")
        if slot is None or slot.one or not fact.object:
            continue
        for other in old:
            if (
                not other.object
                or not same_subject(fact, other)
                or _since(other) > _since(fact)
                or not _may_close(fact, other)
            ):
                continue
            opposed = (
                bool(slot.opposite)
                and other.relation == slot.opposite
                and same_value(fact.object, other.object)
            )
            revised = other.relation == slot.name and same_apart_from_numbers(fact.object, other.object)
            other_way = slot.name == "prefers" == other.relation and _is_alternative(fact, other)
            if opposed or revised or other_way:
                yield _close(other, fact, now)


_ROLE_AT = re.compile(
    r"\b(?:am|['’]m|is|as)\s+(?:an?\s+|the\s+)?(?P<role>[\w -]{3,40}?)\s+(?:at|for|with)\b", re.IGNORECASE
)


def _roles_at_work(new: Sequence[Fact], old: Sequence[Fact], now: datetime) -> Iterator[Closure]:
    """A new role ends "I'm a clerk at Acme", which as a whole is no longer so."""
    for fact in new:
        if fact.relation != "works_as" or not fact.object:
            continue
        for other in old:
            match = _ROLE_AT.search(other.source_text) if other.relation == "works_at" else None
            if match is None or same_value(match["role"], fact.object) or not same_subject(fact, other):
                continue
            if _since(other) <= _since(fact) and _may_close(fact, other):
                yield _close(other, fact, now)


def _is_alternative(fact: Fact, other: Fact) -> bool:
    """Whether two preferences are between the same things: each names the other's, or both are kinds of one."""
    if same_value(fact.object or "", other.object or ""):
        return False
    words = (fact.object or "").casefold().split(), (other.object or "").casefold().split()
    named = mentions_value(other.object or "", fact.source_text) or mentions_value(
        fact.object or "", other.source_text
    )
    return named or (min(map(len, words)) > 1 and words[0][-1] == words[1][-1])


def _close(fact: Fact, by: Fact, now: datetime, *, corrects: bool | None = None) -> Closure:
    """A change ends the fact when the other began to hold; a correction takes it back from now on.

    Which of both it is the two facts tell, unless `corrects` does.
    """
    if _is_correction(fact, by) if corrects is None else corrects:
        return Closure(fact_id=fact.id, retired_at=max(now, fact.recorded_at or now), superseded_by=by.id)
    end = (None if _is_about_time(by) else by.valid_from or by.occurred_start) or by.mentioned_at or now
    start = fact.valid_from
    return Closure(
        fact_id=fact.id,
        retired_at=None,
        valid_to=max(end, start) if start is not None else end,
        superseded_by=by.id,
    )


def _is_correction(fact: Fact, by: Fact) -> bool:
    """Whether the other takes back what was said not long ago, or says otherwise in the same breath, of no change."""
    if fact.mentioned_at is None or by.mentioned_at is None:
        return CORRECTION in by.flags
    apart = abs(by.mentioned_at - fact.mentioned_at)
    if CORRECTION in by.flags:
        return apart <= CORRECTED_WITHIN
    return (
        apart <= SAME_BREATH
        and by.speaker == fact.speaker
        and not speaks_of_change(by.source_text or by.text)
    )


def _since(fact: Fact) -> datetime:
    """When the statement began to hold; a date that is the value itself does not tell."""
    if _is_about_time(fact):
        return fact.mentioned_at or fact.recorded_at or _START_OF_TIME
    return fact.valid_from or fact.mentioned_at or fact.recorded_at or _START_OF_TIME
