"""Retain in the background: items are stored as steps of a few items each, dated when they were submitted."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import blake2b
from typing import Any

from perdure.domain.item import Item, RetainResult, UpdateMode
from perdure.domain.plain import to_plain
from perdure.jobs.kind import JobPlan, Step
from perdure.jobs.records import PlannedStep
from perdure.ports.store import Transaction
from perdure.retain.commit import CommitReceipt, Within
from perdure.retain.identity import new_hash_key
from perdure.retain.plan import group_items
from perdure.retain.request import RetainRequest

ITEMS_PER_STEP = 32
CHARACTERS_PER_STEP = 500_000
"""A step with this much text is full, however few its items are."""


class RetainJob:
    """Retains submitted items, a step per transaction."""

    name = "retain"

    def __init__(
        self,
        retain: Callable[[RetainRequest, Within], RetainResult],
        announce: Callable[[Transaction, CommitReceipt, str], None] | None = None,
    ) -> None:
        self._retain = retain
        self._announce = announce
        """Called in the transaction of each step, with the operation's id."""

    def plan(self, request: RetainRequest, now: datetime, key: str | None = None) -> JobPlan:
        """Plan a request; the time of items that have none is now."""
        documents = {item.document_id for item in request.items}
        return JobPlan(
            kind=self.name,
            steps=list(plan_steps(request, now, key or new_hash_key())),
            total=len(request.items),
            digest=request_digest(request),
            document_id=documents.pop() if len(documents) == 1 else None,
        )

    def run_step(self, step: Step) -> Mapping[str, object]:
        body: Mapping[str, Any] = step.body
        items = tuple(Item(**item) for item in body["items"])
        if not items:
            return {"facts": 0}  # They were erased while they waited.
        request = RetainRequest(bank=step.bank, items=items, mode=UpdateMode(body["mode"]))

        def commit(tx: Transaction, receipt: CommitReceipt) -> None:
            step.commit(tx, _told(receipt))
            if self._announce is not None:
                self._announce(tx, receipt, step.operation_id)

        result = self._retain(request, commit)
        return {"facts": len(result.fact_ids)}


def _told(receipt: CommitReceipt) -> dict[str, object]:
    """Return the result of a step, with the turns that were read without the language model."""
    told: dict[str, object] = {"facts": len(receipt.inserted)}
    if receipt.fell_back:
        told["fell_back_turns"] = sum(one.turns for one in receipt.fell_back)
        told["fell_back_because"] = receipt.fell_back[-1].reason
    return told


def plan_steps(request: RetainRequest, now: datetime, key: str) -> Iterator[PlannedStep]:
    """Yield steps of items; every item gets the document and the time that it would have now.

    A document that began in an earlier step is appended to.
    """
    step: list[dict[str, object]] = []
    step_mode = request.mode
    for document_id, items in group_items(key, request.items, now).items():
        mode = request.mode
        for item in items:
            if step and (_is_full(step) or mode is not step_mode):
                yield _planned(step, step_mode)
                if step[-1]["document_id"] == document_id:
                    mode = UpdateMode.APPEND
                step = []
            encoded = encode_item(item) | {"document_id": document_id}
            if item.timestamp is None and not item.timeless:
                encoded["timestamp"] = now.isoformat()
            step.append(encoded)
            step_mode = mode
    yield _planned(step, step_mode)


def _is_full(step: Sequence[Mapping[str, object]]) -> bool:
    characters = sum(len(str(item["content"])) for item in step)
    return len(step) >= ITEMS_PER_STEP or characters >= CHARACTERS_PER_STEP


def _planned(items: Sequence[Mapping[str, object]], mode: UpdateMode) -> PlannedStep:
    return PlannedStep({"mode": mode.value, "items": items}, len(items))


def request_digest(request: RetainRequest) -> str:
    """Return a digest that is equal for equal requests, whenever they are submitted."""
    digest = blake2b(request.mode.value.encode(), digest_size=16)
    for item in request.items:
        digest.update(b"\n" + json.dumps(encode_item(item), sort_keys=True).encode())
    return digest.hexdigest()


def encode_item(item: Item) -> dict[str, object]:
    """Return the fields of an item that differ from the defaults, as a JSON object that `Item` reads."""
    encoded: dict[str, object] = to_plain({"content": item.content, **item.given()})
    if item.entities:
        encoded["entities"] = [{"text": text, "type": kind} for text, kind in item.entities]
    return encoded
