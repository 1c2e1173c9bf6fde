"""What a retain would draw from a text, without storing anything."""

from __future__ import annotations

import logging
from dataclasses import replace

from perdure.domain.fact import Fact
from perdure.ports.extractor import LocalFallback
from perdure.retain.build import build_facts
from perdure.retain.components import RetainComponents
from perdure.retain.masking import mask_request
from perdure.retain.offer import bank_context
from perdure.retain.plan import Plan, plan_documents
from perdure.retain.request import RetainRequest

log = logging.getLogger(__name__)


def preview_facts(components: RetainComponents, request: RetainRequest) -> list[Fact]:
    """Return the facts that the extractor finds, as if none of the text were stored; names are as they stand, not resolved."""
    request = mask_request(components.store, request)
    now = components.clock()
    with components.store.reading(request.bank) as reading:
        plans = [_all_fresh(plan) for plan in plan_documents(reading, request, now)]
        context = bank_context(reading, request.bank, now, components.embedder, _tell)
        return [
            replace(
                draft.fact,
                entities=tuple(dict.fromkeys(mention.text for mention in draft.extracted.mentions)),
            )
            for step in build_facts(components.extractor, plans, context, now)
            for draft in step
        ]


def _tell(fallback: LocalFallback) -> None:
    """Log that a model failed; the facts of the local extractor have no `made_by`."""
    log.warning("a preview was made without the language model: %s", fallback.reason)


def _all_fresh(plan: Plan) -> Plan:
    turns = [
        replace(planned, turn=replace(planned.turn, fresh=True))
        for planned in plan.turns
        if planned.item >= 0
    ]
    return replace(plan, turns=turns)
