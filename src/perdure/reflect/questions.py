"""Questions to the user: a conflict that nothing decides is asked once, and the answer is remembered.

A conflict is two open values of one single-valued relation of one subject, stated by sources of the same standing. The record
of a question names the facts and quotes none: what it shows is read from them, so nothing of it outlives them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from perdure.domain.bank import check_bank_id
from perdure.domain.fact import INSTRUCTION, PLANNED, Fact, FactType
from perdure.domain.filter import Filter, is_current
from perdure.domain.observation import is_synthesised
from perdure.domain.plain import from_plain, readable
from perdure.domain.question import BOTH, QUESTION_RECORD, Question, QuestionOption
from perdure.domain.record import Record
from perdure.domain.rendering import one_line
from perdure.domain.verb import READ, WRITE, verb
from perdure.errors import Conflict, InvalidInput, NotFound
from perdure.history import mark_changed
from perdure.ports.store import NewFact, Reading, Rows, Selection, Store, Transaction
from perdure.recall.staleness import MOST_MONTHS, StaleFact, is_months, stale_facts
from perdure.reflect.components import ReflectComponents
from perdure.retain.commit import Closure, FactChanges, apply_changes
from perdure.retain.features import features_of_edited
from perdure.retain.identity import digest, new_fact_id
from perdure.text.names import normal_name
from perdure.text.relations import is_single_valued, same_value

MOST_VALUES = 50
"""Facts of one subject and relation that are compared, the newest."""


class Questions:
    """The questions of a memory: `memory.questions`."""

    def __init__(self, components: ReflectComponents) -> None:
        self._components = components
        self._store, self._clock = components.store, components.clock

    @verb(WRITE)
    def answer(self, bank: str, question_id: str, answer: str) -> Question:
        """Decide a question by the id of one of its facts, or by a value, which takes the others back; or keep all by `both`.

        A value that no fact of the question states is remembered as a new fact. When the chosen fact goes, the others hold
        again.
        """
        components, now = self._components, self._clock()
        check_bank_id(bank)
        if not isinstance(answer, str) or not answer.strip():
            raise InvalidInput("answer", "both, the id of a fact, or a value", answer)
        with self._store.reading(bank) as reading:
            record = _record(reading, question_id)
            facts = reading.facts(read_fact_ids(record))
        new = _new_statement(components, facts, answer, now) if _needs_statement(facts, answer) else None
        with self._store.transaction(bank) as tx:
            record = _record(tx, question_id)
            facts = tx.facts(read_fact_ids(record))
            if not facts:
                raise Conflict(f"the facts of question {question_id!r} were forgotten")
            chosen = BOTH if answer == BOTH else _decide(tx, components, bank, facts, answer, new, now)
            named = dict.fromkeys([*read_fact_ids(record), *([chosen] if chosen != BOTH else ())])
            body = {"fact_ids": list(named), "answer": chosen, "answered_at": now.isoformat()}
            tx.put_records([replace(record, body=body, updated_at=now)])
            mark_changed(tx, facts)
        return next(one for one in self.list(bank, answered=True) if one.id == question_id)

    @verb(READ)
    def stale(self, bank: str, *, months: int | None = None, limit: int = 20) -> Sequence[StaleFact]:
        """Return what should be asked again: statements that nobody mentioned for some months, longest ago first.

        Without `months` the bank's setting `stale_after_months` counts, which is 12 unless set; 0 turns it off.
        """
        now = self._clock()
        if months is not None and not is_months(months):
            raise InvalidInput("months", f"an integer from 0 to {MOST_MONTHS}", months)
        if isinstance(limit, bool) or not isinstance(limit, int) or limit < 0:
            raise InvalidInput("limit", "an integer of at least 0", limit)
        reader = self._components.recall.reader
        with self._store.reading(check_bank_id(bank)) as reading:
            return stale_facts(reading, now, months=months, limit=limit, reader=reader)

    @verb(READ)
    def list(self, bank: str, *, answered: bool = False) -> list[Question]:
        """Return the conflicts that nothing decides, oldest first; with `answered` also those that were answered."""
        return list_questions(self._store, check_bank_id(bank), self._clock(), answered=answered)


def find_conflicts(reading: Reading, facts: Iterable[Fact], now: datetime) -> list[list[Fact]]:
    """Return the undecided conflicts that facts take part in, each as the facts that contradict each other, oldest first."""
    slots = {
        (normal_name(fact.subject), fact.relation): fact
        for fact in facts
        if fact.subject and fact.relation and fact.object and _may_conflict(fact)
    }
    conflicts = []
    for fact in slots.values():
        selection = Selection(
            where=Filter().at(now), subject=fact.subject, relation=fact.relation, limit=MOST_VALUES
        )
        conflict = undecided(reading.browse(selection).facts)
        if conflict:
            conflicts.append(conflict)
    return conflicts


def undecided(facts: Sequence[Fact]) -> list[Fact]:
    """Of current statements of one slot those of the highest standing, when their values differ; else nothing."""
    statements = [fact for fact in facts if fact.is_open and fact.object and _may_conflict(fact)]
    standing = defaultdict(list)
    for fact in statements:
        standing[_standing(fact)].append(fact)
    if not standing:
        return []
    highest = sorted(standing[max(standing)], key=lambda fact: (fact.mentioned_at is None, fact.id))
    return highest if len(_distinct(highest)) > 1 else []


def _may_conflict(fact: Fact) -> bool:
    return (
        not is_synthesised(fact)
        and is_single_valued(fact.relation or "")
        and not {INSTRUCTION, PLANNED}.intersection(fact.flags)
    )


def _standing(fact: Fact) -> tuple[int, bool]:
    """Return how much a statement counts against another: trust, then whether its subject said it."""
    own = bool(fact.speaker) and normal_name(fact.speaker) == normal_name(fact.subject or "")
    return fact.trust, own


def _distinct(facts: Iterable[Fact]) -> list[Fact]:
    """One fact of each value."""
    values: list[Fact] = []
    for fact in facts:
        if not any(same_value(fact.object or "", other.object or "") for other in values):
            values.append(fact)
    return values


def put_questions(tx: Transaction, bank: str, conflicts: Sequence[Sequence[Fact]], now: datetime) -> int:
    """Ask what is not asked yet; a conflict that was answered is asked again only when a fact came to it."""
    asked = 0
    for conflict in conflicts:
        facts = tx.facts([fact.id for fact in conflict])
        if len(_distinct(undecided(facts))) < 2:
            continue
        question_id = _question_id(bank, facts[0])
        ids = [fact.id for fact in facts]
        stored = tx.records(QUESTION_RECORD, [question_id])
        if stored and set(ids) <= set(read_fact_ids(stored[0])):
            continue
        body = {"fact_ids": ids, "answer": None, "answered_at": None}
        tx.put_records([Record(kind=QUESTION_RECORD, id=question_id, bank=bank, body=body, created_at=now)])
        asked += 1
    return asked


def _question_id(bank: str, fact: Fact) -> str:
    return digest(bank, "question", normal_name(fact.subject or ""), fact.relation or "")


def read_fact_ids(record: Record) -> list[str]:
    """Return the ids of the facts that a question is about."""
    return from_plain(list[str], record.body["fact_ids"])


def list_questions(store: Store, bank: str, now: datetime, *, answered: bool = False) -> list[Question]:
    """Return the open questions, oldest first; with `answered` those that were answered too."""
    with store.reading(bank) as reading:
        read = list(readable(reading.records(QUESTION_RECORD), lambda record: _read(reading, record, now)))
    return [question for question in read if question is not None and (answered or question.answer is None)]


def _read(rows: Rows, record: Record, now: datetime) -> Question | None:
    """Return the question as its facts stand; None when they no longer contradict each other and nobody answered."""
    answer = record.body["answer"]
    facts = rows.facts(read_fact_ids(record))
    here = Filter().at(now)
    open_facts = [fact for fact in facts if is_current(fact, here)]
    shown = facts if answer is not None else _distinct(undecided(open_facts))
    if not shown or (answer is None and len(shown) < 2):
        return None
    answered_at = record.body["answered_at"]
    return Question(
        id=record.id,
        bank=record.bank,
        subject=shown[0].subject or "",
        relation=shown[0].relation or "",
        options=tuple(_option(fact) for fact in shown),
        asked_at=record.created_at,
        answer=None if answer is None else str(answer),
        answered_at=None if answered_at is None else datetime.fromisoformat(str(answered_at)),
    )


def _option(fact: Fact) -> QuestionOption:
    return QuestionOption(
        fact_id=fact.id,
        value=one_line(fact.object or ""),
        text=fact.text,
        speaker=fact.speaker,
        said_at=fact.mentioned_at,
    )


def _record(rows: Rows, question_id: str) -> Record:
    for record in rows.records(QUESTION_RECORD, [question_id]):
        return record
    raise NotFound("question", question_id)


def _needs_statement(facts: Sequence[Fact], answer: str) -> bool:
    return answer != BOTH and _chosen(facts, answer) is None


def _chosen(facts: Sequence[Fact], answer: str) -> Fact | None:
    """Return the fact that an answer names by its id or its value, of equal values the newest."""
    for fact in facts:
        if fact.id == answer:
            return fact
    return next((fact for fact in reversed(facts) if same_value(fact.object or "", answer)), None)


def _decide(
    tx: Transaction,
    components: ReflectComponents,
    bank: str,
    facts: Sequence[Fact],
    answer: str,
    new: NewFact | None,
    now: datetime,
) -> str:
    """Take the other values back; returns the fact that was chosen."""
    chosen = _chosen(facts, answer)
    if chosen is None and new is None:
        raise Conflict("the facts of the question changed meanwhile: ask for it again")
    value = answer if chosen is None else chosen.object or ""
    chosen_id = new.fact.id if chosen is None and new is not None else chosen.id if chosen else ""
    others = [
        fact for fact in facts
        if fact.id != chosen_id and fact.is_open and not same_value(fact.object or "", value)
    ]  # fmt: skip
    embedder = components.retain.embedder
    receipt = apply_changes(
        tx,
        FactChanges(
            bank=bank,
            now=now,
            model=embedder.model if embedder is not None else None,
            facts=[new] if chosen is None and new is not None else [],
            closures=[Closure(fact_id=fact.id, retired_at=now, superseded_by=chosen_id) for fact in others],
        ),
    )
    return receipt.merged.get(chosen_id, chosen_id)


def _new_statement(
    components: ReflectComponents, facts: Sequence[Fact], answer: str, now: datetime
) -> NewFact | None:
    """Return what the answer states, as a fact of the same subject and relation."""
    if not facts:
        return None
    like = facts[-1]
    value = one_line(answer)
    text = f"{like.subject} {(like.relation or '').replace('_', ' ')} {value}."
    same = [
        pair
        for pair in zip(like.entities, like.entity_ids, strict=False)
        if normal_name(pair[0]) == normal_name(like.subject or "")
    ]
    fact = Fact(
        id=new_fact_id(now, 0, like.bank, "answer", text),
        bank=like.bank,
        text=text,
        type=FactType.WORLD,
        context="answer to a question of memory",
        mentioned_at=now,
        recorded_at=now,
        subject=like.subject,
        relation=like.relation,
        object=value,
        entities=tuple(name for name, _ in same),
        entity_ids=tuple(entity_id for _, entity_id in same),
        tags=like.tags,
        trust=max(one.trust for one in facts),
        classification=max(one.classification for one in facts),
        language=like.language,
    )
    retain = components.retain
    return NewFact(fact, features_of_edited(fact, retain.embedder))


def scrub_questions(tx: Transaction, erased: Mapping[str, Fact]) -> bool:
    """Take erased facts out of questions; one with fewer than two facts left goes, with its answer."""
    scrubbed = False
    for record in tx.records(QUESTION_RECORD):
        ids = read_fact_ids(record)
        kept = [fact_id for fact_id in ids if fact_id not in erased]
        if len(kept) == len(ids):
            continue
        scrubbed = True
        if len(kept) < 2 or record.body.get("answer") in erased:
            tx.delete_records(QUESTION_RECORD, [record.id])
        else:
            tx.put_records([replace(record, body={**record.body, "fact_ids": kept})])
    return scrubbed
