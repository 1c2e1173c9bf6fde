"""What a retain would draw from a text, without storing anything."""

from __future__ import annotations

from dataclasses import replace

from perdure.domain.fact import Fact
from perdure.retain.build import build_facts
from perdure.retain.components import RetainComponents
from perdure.retain.plan import Plan, plan_documents
from perdure.retain.request import RetainRequest


def preview_facts(components: RetainComponents, request: RetainRequest) -> list[Fact]:
    """The facts that the extractor finds, as if none of the text were stored; names are as they stand, not resolved."""
    now = components.clock()
    with components.store.reading(request.bank) as reading:
        plans = [_all_fresh(plan) for plan in plan_documents(reading, request, now)]
    return [
        replace(
            draft.fact, entities=tuple(dict.fromkeys(mention.text for mention in draft.extracted.mentions))
        )
        for step in build_facts(components.extractor, request.bank, plans, now)
        for draft in step
    ]


def _all_fresh(plan: Plan) -> Plan:
    turns = [
        replace(planned, turn=replace(planned.turn, fresh=True))
        for planned in plan.turns
        if planned.item >= 0
    ]
    return replace(plan, turns=turns)
