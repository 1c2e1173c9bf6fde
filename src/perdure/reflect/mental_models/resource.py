"""The mental models of a bank: documents that answer standing questions, as their owner handles them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Unpack
from uuid import uuid4

from perdure.arguments import MentalModelArguments, MentalModelChangeArguments
from perdure.domain.bank import check_bank_id
from perdure.domain.filter import TagsMatch, read_tags
from perdure.domain.mental_model import (
    MentalModel,
    MentalModelChanges,
    MentalModelMatch,
    MentalModelOptions,
    MentalModelVersion,
    RefreshMode,
    RefreshPreview,
)
from perdure.domain.operation import Operation
from perdure.domain.verb import READ, WRITE, BankIn, verb
from perdure.errors import Conflict, InvalidInput
from perdure.ports.store import Transaction
from perdure.reflect.components import ReflectComponents
from perdure.reflect.mental_models.due import due_by_schedule
from perdure.reflect.mental_models.record import (
    MENTAL_MODEL,
    delete_models,
    every_model,
    find_model,
    put_model,
    read_history,
)
from perdure.reflect.mental_models.refresh import preview_refresh
from perdure.reflect.mental_models.scope import is_stale
from perdure.reflect.mental_models.search import match_mental_models

SubmitRefresh = Callable[[str, str, RefreshMode | None, datetime | None], Operation]
"""Submit a refresh of a bank's model in a mode, at the earliest at a moment."""
STRICT = {TagsMatch.ANY: TagsMatch.ANY_STRICT, TagsMatch.ALL: TagsMatch.ALL_STRICT}
"""A listing by tags holds what carries them; a recall also what carries none."""


class MentalModels:
    """The mental models of a memory: `memory.models`."""

    def __init__(
        self,
        components: ReflectComponents,
        submit_refresh: SubmitRefresh,
    ) -> None:
        self._components = components
        self._store, self._clock = components.store, components.clock
        self._submit_refresh = submit_refresh

    @verb(READ)
    def get(self, bank: str, model_id: str) -> MentalModel:
        """Return a model."""
        with self._store.reading(check_bank_id(bank)) as reading:
            return find_model(reading, model_id)

    @verb(READ)
    def history(self, bank: str, model_id: str) -> list[MentalModelVersion]:
        """Return what a model said before, newest first."""
        with self._store.reading(check_bank_id(bank)) as reading:
            find_model(reading, model_id)
            return read_history(reading, model_id)

    @verb(READ)
    def stale(self, bank: str, model_ids: Sequence[str] | None = None) -> frozenset[str]:
        """Return the ids of models, of all or of those given, whose facts are no longer what memory contains."""
        with self._store.reading(check_bank_id(bank)) as reading:
            models = [model for model in every_model(reading) if model_ids is None or model.id in model_ids]
            return frozenset(model.id for model in models if is_stale(reading, model, self._clock()))

    @verb(READ, "recall")
    def search(
        self, bank: str, query: str, *, tags: Sequence[str] = (), limit: int = 10
    ) -> list[MentalModelMatch]:
        """Return the models that bear on a question, best first: words and vectors, fused by reciprocal rank."""
        scope = read_tags(tags, TagsMatch.ANY_STRICT)
        return match_mental_models(self._components, check_bank_id(bank), query, limit=limit, tags=scope)

    @verb(READ, "recall")
    def preview(self, bank: str, model_id: str, *, mode: RefreshMode | str | None = None) -> RefreshPreview:
        """Return the result of a refresh without writing anything."""
        return preview_refresh(self._components, check_bank_id(bank), model_id, _read_mode(mode))

    @verb(WRITE)
    def create(
        self,
        bank: str,
        name: str,
        source_query: str,
        *,
        model_id: str | None = None,
        **options: Unpack[MentalModelArguments],
    ) -> tuple[MentalModel, Operation]:
        """Create a document that answers a standing question from memory; the operation writes it for the first time."""
        fields = {"id": model_id, "name": name, "source_query": source_query}
        fields |= MentalModelOptions.read(options).given()
        model = new_model(check_bank_id(bank), fields, self._clock())
        with self._store.transaction(bank) as tx:
            insert_model(tx, model)
        return model, self.refresh(bank, model.id)

    @verb(WRITE)
    def update(self, bank: str, model_id: str, **changes: Unpack[MentalModelChangeArguments]) -> MentalModel:
        """Change settings of a model. A trigger is replaced whole; a new question waits for the next refresh."""
        with self._store.transaction(check_bank_id(bank)) as tx:
            changed = changed_model(find_model(tx, model_id), changes, self._clock())
            put_model(tx, changed)
        return changed

    @verb(WRITE)
    def clear(self, bank: str, model_id: str) -> MentalModel:
        """Empty a model's document, so that its next refresh is a full one; the history gets no entry."""
        with self._store.transaction(check_bank_id(bank)) as tx:
            cleared = replace(
                find_model(tx, model_id),
                sections=(),
                generated=True,
                retracted=False,
                last_query=None,
                structured_output=None,
                structured_fact_ids=(),
                trace=None,
                updated_at=self._clock(),
            )
            put_model(tx, cleared)
        return cleared

    @verb(WRITE)
    def delete(self, bank: str, model_id: str) -> None:
        """Delete a model with its history and the page that shows it."""
        with self._store.transaction(check_bank_id(bank)) as tx:
            find_model(tx, model_id)
            delete_models(tx, [model_id])

    @verb(WRITE)
    def refresh(self, bank: str, model_id: str, *, mode: RefreshMode | str | None = None) -> Operation:
        """Rewrite a model in the background, or return the refresh that waits already."""
        self.get(bank, model_id)
        return self._submit_refresh(bank, model_id, _read_mode(mode), None)

    @verb(WRITE, bank=BankIn.OPTIONAL)
    def refresh_due(self, bank: str | None = None) -> list[Operation]:
        """Submit a refresh of each stale model whose schedule is due, in one bank or in all.

        `perdure serve` calls this twice a minute. A library runs nothing on a schedule: call it as often as you like.
        """
        banks = self._store.banks_with_records(MENTAL_MODEL) if bank is None else [check_bank_id(bank)]
        return [
            self._submit_refresh(due.model.bank, due.model.id, None, due.not_before)
            for bank_id in banks
            for due in due_by_schedule(self._store, bank_id, self._clock())
        ]

    @verb(READ)
    def list(
        self, bank: str, *, tags: Sequence[str] = (), tags_match: TagsMatch | str = TagsMatch.ANY
    ) -> list[MentalModel]:
        """Return the bank's models, newest refresh first: all, or those that carry the tags."""
        with self._store.reading(check_bank_id(bank)) as reading:
            models = every_model(reading)
        if not tags:
            return models
        (tag_filter,) = read_tags(tags, STRICT.get(TagsMatch(tags_match), TagsMatch(tags_match)))
        return [model for model in models if tag_filter.admits(model.tags)]


def new_model(bank: str, fields: Mapping[str, object], now: datetime) -> MentalModel:
    """Return a model that was never refreshed; without an id of the caller's it gets one."""
    chosen = dict(fields)
    model_id = chosen.pop("id", None) or f"mm-{uuid4().hex}"
    return MentalModel(id=model_id, bank=bank, created_at=now, updated_at=now, **chosen)  # type: ignore[arg-type]


def insert_model(tx: Transaction, model: MentalModel) -> None:
    """Store a new model. Raise `Conflict` if its id is taken."""
    if tx.records(MENTAL_MODEL, [model.id]):
        raise Conflict(f"mental model {model.id!r} exists")
    put_model(tx, model)


def changed_model(model: MentalModel, changes: Mapping[str, object], now: datetime) -> MentalModel:
    """Return the model with other settings; its content stays until it is refreshed. A trigger is replaced whole."""
    return replace(model, **MentalModelChanges.read_changes(changes), updated_at=now)


def _read_mode(mode: RefreshMode | str | None) -> RefreshMode | None:
    if mode is not None and mode not in set(RefreshMode):
        raise InvalidInput("mode", "full or delta", mode)
    return None if mode is None else RefreshMode(mode)
