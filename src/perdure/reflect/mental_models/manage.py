"""Mental models as their owner handles them: create, change, clear, delete."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime
from uuid import uuid4

from perdure.domain.filter import TagsMatch, read_tags
from perdure.domain.mental_model import MentalModel, RefreshTrigger
from perdure.errors import Conflict, InvalidInput
from perdure.ports.store import Rows, Store, Transaction
from perdure.reflect.mental_models.record import (
    MENTAL_MODEL,
    VECTOR,
    delete_models,
    every_model,
    find_model,
    put_model,
)

CHANGEABLE = ("name", "source_query", "max_tokens", "tags", "trigger")
STRICT = {TagsMatch.ANY: TagsMatch.ANY_STRICT, TagsMatch.ALL: TagsMatch.ALL_STRICT}
"""A listing by tags holds what carries them; a recall also what carries none."""


def new_model(bank: str, fields: Mapping[str, object], now: datetime) -> MentalModel:
    """A model that was never refreshed; without an id of the caller's it gets one."""
    chosen = dict(fields)
    model_id = chosen.pop("id", None) or f"mm-{uuid4().hex}"
    trigger = RefreshTrigger.read(chosen.pop("trigger", None))  # type: ignore[arg-type]
    return MentalModel(id=model_id, bank=bank, trigger=trigger, created_at=now, updated_at=now, **chosen)  # type: ignore[arg-type]


def insert_model(tx: Transaction, model: MentalModel) -> None:
    """Keep a new model; an id that is taken is a Conflict."""
    if tx.records(MENTAL_MODEL, [model.id]):
        raise Conflict(f"mental model {model.id!r} exists")
    put_model(tx, model)


def changed_model(model: MentalModel, changes: Mapping[str, object], now: datetime) -> MentalModel:
    """The model with other settings; its content stays until it is refreshed. A trigger is replaced whole."""
    unknown = next((name for name in changes if name not in CHANGEABLE), None)
    if unknown is not None:
        raise InvalidInput(unknown[:80], "one of " + ", ".join(CHANGEABLE))
    values = dict(changes)
    if "trigger" in values:
        values["trigger"] = RefreshTrigger.read(values["trigger"])  # type: ignore[arg-type]
    return replace(model, **values, updated_at=now)  # type: ignore[arg-type]


def update_model(
    store: Store, bank: str, model_id: str, changes: Mapping[str, object], now: datetime
) -> MentalModel:
    """Change settings of a model."""
    with store.transaction(bank) as tx:
        changed = changed_model(find_model(tx, model_id), changes, now)
        put_model(tx, changed)
    return changed


def clear_model(store: Store, bank: str, model_id: str, now: datetime) -> MentalModel:
    """Empty a model's document, so that its next refresh is a full one; the history gets no entry."""
    with store.transaction(bank) as tx:
        cleared = replace(
            find_model(tx, model_id),
            sections=(),
            generated=True,
            retracted=False,
            last_query=None,
            structured_output=None,
            structured_fact_ids=(),
            trace=None,
            updated_at=now,
        )
        put_model(tx, cleared)
        tx.delete_records(VECTOR, [model_id])
    return cleared


def delete_model(tx: Transaction, model_id: str) -> None:
    """Delete a model with its history."""
    find_model(tx, model_id)
    delete_models(tx, [model_id])


def list_models(
    rows: Rows, tags: Collection[str] = (), tags_match: TagsMatch | str = TagsMatch.ANY
) -> list[MentalModel]:
    """Models, newest refresh first: all, or those that carry the tags."""
    if not tags:
        return every_model(rows)
    (tag_filter,) = read_tags(tags, STRICT.get(TagsMatch(tags_match), TagsMatch(tags_match)))
    return [model for model in every_model(rows) if tag_filter.admits(model.tags)]
