"""A bank's setup as a template: its configuration, mental models and directives, out and in again."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import Body as RawBody
from fastapi import HTTPException, Query
from pydantic import BaseModel, Field, ValidationError

from perdure import Perdure
from perdure.contrib.hindsight.bodies import Body, fields_of, sparse
from perdure.contrib.hindsight.config import apply_updates, overrides, read_updates
from perdure.contrib.hindsight.mental_models import MentalModelTrigger, trigger_view
from perdure.domain.directive import Directive
from perdure.domain.mental_model import DEFAULT_TOKENS, MAX_TOKENS, MIN_TOKENS, MentalModel, read_trigger
from perdure.errors import InvalidInput
from perdure.surfaces.plugins.rest import AdminBank, ReadBank, Resource, Serving

router = Resource("Configuration", "/v1")
_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


class BankTemplateMentalModel(Body):
    """A mental model of a template, matched by its id."""

    id: str
    name: str
    source_query: str
    tags: list[str] = []
    max_tokens: int = Field(DEFAULT_TOKENS, ge=MIN_TOKENS, le=MAX_TOKENS)
    trigger: MentalModelTrigger = Field(default_factory=MentalModelTrigger)


class BankTemplateDirective(Body):
    """A directive of a template, matched by its name."""

    name: str
    content: str
    priority: int = 0
    is_active: bool = True
    tags: list[str] = []


class BankTemplateManifest(Body):
    """A bank's setup, to be made again elsewhere."""

    version: Literal["1"]
    bank: dict[str, Any] | None = None
    mental_models: list[BankTemplateMentalModel] | None = None
    directives: list[BankTemplateDirective] | None = None


class BankTemplateImportResponse(BaseModel):
    """What an import of a template did, or would do."""

    bank_id: str
    config_applied: bool
    mental_models_created: list[str] = []
    mental_models_updated: list[str] = []
    directives_created: list[str] = []
    directives_updated: list[str] = []
    operation_ids: list[str] = []
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class ReadTemplate:
    """A template that can be applied."""

    settings: Mapping[str, Any]
    models: Sequence[MentalModel]
    directives: Sequence[Directive]


@router.get(
    "/default/banks/{bank_id}/export",
    operation_id="export_bank_template",
    response_model=BankTemplateManifest,
)
def export_template(service: Serving, bank: ReadBank) -> Mapping[str, object]:
    """Return the bank's setup, without its memories."""
    engine = service.engine
    setup: dict[str, object] = {"version": "1", "bank": overrides(engine.banks.get(bank))}
    models = sorted(engine.models.list(bank), key=lambda model: model.id)
    directives = engine.directives.list(bank, active_only=False)
    if models:
        setup["mental_models"] = [_model_view(model) for model in models]
    if directives:
        names = BankTemplateDirective.model_fields
        setup["directives"] = [fields_of(directive, names) for directive in directives]
    return setup


@router.post("/default/banks/{bank_id}/import", operation_id="import_bank_template")
def import_template(
    service: Serving,
    bank: AdminBank,
    manifest: Annotated[Any, RawBody(description="A template, as the export gives it")],
    dry_run: bool = Query(False, description="Check only"),
) -> BankTemplateImportResponse:
    """Set a bank up as a template says; made if missing. What exists is changed, the rest is made."""
    try:
        template = read_template(bank, manifest)
    except InvalidInput as error:
        raise HTTPException(400, str(error)) from error
    engine = service.engine
    if not dry_run:
        apply_updates(engine, bank, template.settings)
    done = BankTemplateImportResponse(
        bank_id=bank, config_applied=bool(template.settings) and not dry_run, dry_run=dry_run
    )
    _apply_models(engine, template.models, done)
    _apply_directives(engine, bank, template.directives, done)
    return done


@router.get("/bank-template-schema", operation_id="get_bank_template_schema")
async def template_schema() -> dict[str, Any]:
    """Return the JSON Schema of a template."""
    return BankTemplateManifest.model_json_schema()


def read_template(bank: str, manifest: object) -> ReadTemplate:
    """Return a template, checked as a whole before anything is made; InvalidInput names its first fault."""
    try:
        read = BankTemplateManifest.model_validate(manifest)
    except ValidationError as error:
        first = error.errors()[0]
        raise InvalidInput(".".join(map(str, first["loc"])) or "template", first["msg"]) from error
    settings = {name: value for name, value in (read.bank or {}).items() if value is not None}
    read_updates(settings)
    models = [_read_model(bank, one) for one in read.mental_models or ()]
    _check_distinct("mental_models", [model.id for model in models])
    directives = [
        Directive(id="", bank=bank, **{**one.model_dump(), "tags": frozenset(one.tags)})
        for one in read.directives or ()
    ]
    _check_distinct("directives", [directive.name for directive in directives])
    return ReadTemplate(settings, models, directives)


def _read_model(bank: str, model: BankTemplateMentalModel) -> MentalModel:
    if not _ID.fullmatch(model.id):
        raise InvalidInput("mental_models.id", "lower case letters and digits, parted by hyphens", model.id)
    fields = model.model_dump(include={"id", "name", "source_query", "max_tokens"})
    trigger = read_trigger(model.trigger.named())
    return MentalModel(bank=bank, tags=frozenset(model.tags), trigger=trigger, **fields)


def _check_distinct(field: str, names: Sequence[str]) -> None:
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise InvalidInput(field, "each of them once", twice)


def _apply_models(engine: Perdure, models: Sequence[MentalModel], done: BankTemplateImportResponse) -> None:
    stored = {model.id: model for model in engine.models.list(models[0].bank)} if models else {}
    for model in models:
        fields = {"name": model.name, "source_query": model.source_query, "max_tokens": model.max_tokens}
        before = stored.get(model.id)
        if before is None:
            done.mental_models_created.append(model.id)
            if not done.dry_run:
                _, operation = engine.models.create(
                    model.bank, model.name, model.source_query, model_id=model.id, tags=sorted(model.tags),
                    max_tokens=model.max_tokens, trigger=model.trigger,
                )  # fmt: skip
                done.operation_ids.append(operation.id)
            continue
        done.mental_models_updated.append(model.id)
        changed = (model.tags, model.trigger) != (before.tags, before.trigger) or any(
            getattr(before, name) != value for name, value in fields.items()
        )
        if changed and not done.dry_run:
            engine.models.update(
                model.bank, model.id, name=model.name, source_query=model.source_query,
                max_tokens=model.max_tokens, tags=sorted(model.tags), trigger=model.trigger,
            )  # fmt: skip
            done.operation_ids.append(engine.models.refresh(model.bank, model.id).id)


def _apply_directives(
    engine: Perdure, bank: str, directives: Sequence[Directive], done: BankTemplateImportResponse
) -> None:
    exists = directives and engine.banks.find(bank) is not None
    stored = {one.name: one for one in engine.directives.list(bank, active_only=False)} if exists else {}
    for directive in directives:
        before = stored.get(directive.name)
        if before is None:
            done.directives_created.append(directive.name)
            if not done.dry_run:
                engine.directives.create(
                    bank, directive.name, directive.content, priority=directive.priority,
                    is_active=directive.is_active, tags=sorted(directive.tags),
                )  # fmt: skip
            continue
        done.directives_updated.append(directive.name)
        if not done.dry_run:
            engine.directives.update(
                bank, before.id, content=directive.content, priority=directive.priority,
                is_active=directive.is_active, tags=sorted(directive.tags),
            )  # fmt: skip


def _model_view(model: MentalModel) -> dict[str, Any]:
    shown = BankTemplateMentalModel.model_construct(
        id=model.id,
        name=model.name,
        source_query=model.source_query,
        tags=sorted(model.tags),
        max_tokens=model.max_tokens,
    )
    return {**sparse(shown), "trigger": trigger_view(model.trigger)}
