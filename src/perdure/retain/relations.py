"""Relations that the caller passes with an item: each one is stored with the statement that tells it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from perdure.domain.fact import GIVEN_RELATION
from perdure.domain.item import Relation
from perdure.domain.time import Window
from perdure.ports.extractor import ExtractedFact, Triple
from perdure.ports.tagger import Mention
from perdure.retain.plan import Plan
from perdure.text.retelling import normal_words

Step = Sequence[tuple[int, ExtractedFact]]


def with_relations(plans: Sequence[Plan], steps: Iterable[Step]) -> Iterator[Step]:
    """Yield the facts with the relations of their items.

    All facts of a document are looked at before one is chosen, so that documents with relations make a single step.
    """
    if not any(item.relations for plan in plans for item in plan.items):
        yield from steps
        return
    facts: list[list[ExtractedFact]] = [[] for _ in plans]
    for step in steps:
        for number, fact in step:
            facts[number].append(fact)
    for number, plan in enumerate(plans):
        yield [(number, fact) for fact in _related(plan, facts[number])]


def _related(plan: Plan, facts: list[ExtractedFact]) -> list[ExtractedFact]:
    """Return a document's facts, each with the relation that it tells best; a relation that none is left for is a fact itself.

    An item may become several statements, and a relation may be passed for several items: of all their
    statements the one that shares most words with it has it, of equal ones the first.
    """
    alone: list[ExtractedFact] = []
    for relation in dict.fromkeys(one for item in plan.items for one in item.relations):
        turns = [
            index
            for index, planned in enumerate(plan.turns)
            if planned.item >= 0 and planned.turn.fresh and relation in plan.items[planned.item].relations
        ]
        own = [place for place, fact in enumerate(facts) if fact.turn in turns]
        best = max(own, key=lambda place: _shared_words(facts[place], relation), default=None)
        if best is not None and facts[best].triple is None:
            facts[best] = _stating(facts[best], relation)
        elif best is not None:
            alone.append(_as_fact(relation, facts[best]))
        elif turns:
            text = plan.turns[turns[0]].turn.text
            alone.append(_as_fact(relation, ExtractedFact(text=text, source_text=text, turn=turns[0])))
    return [*facts, *alone]


def _shared_words(fact: ExtractedFact, relation: Relation) -> int:
    return len({*normal_words(relation.subject), *normal_words(relation.object)} & {*normal_words(fact.text)})


def _stating(fact: ExtractedFact, relation: Relation) -> ExtractedFact:
    """Return the fact with the relation, and with its subject and object among the entities."""
    named = {mention.text.casefold() for mention in fact.mentions}
    new = [name for name in (relation.subject, relation.object) if name.casefold() not in named]
    places = [(name, max(fact.text.find(name), 0)) for name in dict.fromkeys(new)]
    return replace(
        fact,
        triple=Triple(
            subject=relation.subject,
            relation=relation.relation,
            object=relation.object,
            given=Window(relation.valid_from, relation.valid_to),
        ),
        flags=tuple(dict.fromkeys((*fact.flags, GIVEN_RELATION))),
        mentions=(*fact.mentions, *(Mention(name, "concept", at, at + len(name)) for name, at in places)),
    )


def _as_fact(relation: Relation, told: ExtractedFact) -> ExtractedFact:
    """Return the relation as a fact in its own words, from the statement that tells it beside another one."""
    fact = ExtractedFact(
        text=relation.words,
        turn=told.turn,
        source_text=told.source_text,
        start=told.start,
        type=told.type,
        language=told.language,
        topic=told.topic,
        flags=told.flags,
    )
    return _stating(fact, relation)
