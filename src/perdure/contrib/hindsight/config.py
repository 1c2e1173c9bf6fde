"""A bank's configuration: Hindsight's names, which of them act here and what they default to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from perdure import Perdure
from perdure.contrib.hindsight.bodies import MOST_TOKENS, Body
from perdure.contrib.hindsight.clients import StrictClients
from perdure.domain.bank import Bank, Disposition
from perdure.domain.mental_model import MAX_COUNT
from perdure.domain.opinion import ConfidenceRates
from perdure.errors import InvalidInput
from perdure.surfaces.plugins.rest import AdminBank, ReadBank, Resource, Serving

router = Resource("Configuration", "/v1")
_CONFIG = "/default/banks/{bank_id}/config"
ENVIRONMENT_PREFIX = "HINDSIGHT_API_"
STORED_ONLY = frozenset(
    """
    consolidation_llm_batch_size consolidation_llm_parallelism
    consolidation_max_memories_per_round consolidation_source_facts_max_tokens
    consolidation_source_facts_max_tokens_per_observation consolidation_strategies
    consolidation_use_decision_model entities_allow_free_form entity_labels knowledge_page_default_trigger
    llm_gemini_safety_settings llm_output_language max_observations_per_scope mcp_enabled_tools
    memory_defense mental_model_delta_use_decision_model
    mental_model_refresh_use_decision_model observation_scope_limits observations_mission
    recall_budget_adaptive_high recall_budget_adaptive_low recall_budget_adaptive_mid
    recall_budget_fixed_high recall_budget_fixed_low recall_budget_fixed_mid recall_budget_function
    recall_budget_max recall_budget_min reflect_default_options reflect_source_facts_max_tokens
    reflect_use_decision_model retain_chunk_batch_size retain_chunk_size retain_custom_instructions
    retain_default_strategy retain_extract_causal_links retain_extraction_mode
    retain_max_attachments_per_chunk retain_mission retain_strategies retain_structured_chunk_size
    store_document_text
    """.split()
)
"""Names that are accepted and given back, and have no effect: they steer language models or other parts."""
OF_EXTRACTION = frozenset({"retain_mission", "retain_custom_instructions"})
"""Those of them that act where a language model words the facts."""
TRAITS = ("skepticism", "literalism", "empathy")


class Acting(BaseModel):
    """The names that act, with their defaults."""

    model_config = ConfigDict(extra="forbid")

    recall_max_tokens: int = Field(4096, ge=0, le=MOST_TOKENS)
    recall_include_chunks: bool = False
    recall_chunks_max_tokens: int = Field(8192, ge=0, le=MOST_TOKENS)
    recall_prefer_observations: bool = False
    enable_text_search: bool = True
    enable_temporal_retrieval: bool = True
    enable_graph_retrieval: bool = True
    enable_reranking: bool = True
    mental_model_min_refresh_interval_seconds: int = Field(0, ge=0, le=MAX_COUNT)
    opinion_alpha: float = Field(ConfidenceRates().alpha, ge=0, le=1)
    opinion_delta: float = Field(ConfidenceRates().delta, ge=0, le=1)
    opinion_gamma: float = Field(ConfidenceRates().gamma, ge=0, le=1)
    enable_observations: bool = True
    enable_auto_consolidation: bool | None = None
    default_observation_scopes: (
        Literal["per_tag", "combined", "all_combinations", "shared"] | list[list[str]] | None
    ) = None
    observation_min_facts: int = Field(3, ge=1)
    observation_max_tokens: int = Field(80, ge=16)
    audit_log_enabled: bool = False


class Profile(BaseModel):
    """The names that are kept as the bank's mission and disposition."""

    model_config = ConfigDict(extra="forbid")

    reflect_mission: str | None = None
    disposition_skepticism: int | None = Field(None, ge=1, le=5)
    disposition_literalism: int | None = Field(None, ge=1, le=5)
    disposition_empathy: int | None = Field(None, ge=1, le=5)


class BankConfigUpdate(Body):
    """Overrides by name; a null takes one back."""

    updates: dict[str, Any]


class BankConfigResponse(BaseModel):
    """A bank's configuration, and what of it is its own."""

    bank_id: str
    config: dict[str, Any]
    overrides: dict[str, Any]
    inactive: list[str] = Field([], description="Overrides that have no effect on this server")


@router.get(_CONFIG, operation_id="get_bank_config", dependencies=[StrictClients])
def get_config(service: Serving, bank: ReadBank) -> BankConfigResponse:
    """Return the configuration in force, and what of it is the bank's own."""
    return _config(service.engine, service.engine.banks.find(bank) or Bank(id=bank))


@router.patch(_CONFIG, operation_id="update_bank_config")
def update_config(service: Serving, bank: AdminBank, body: BankConfigUpdate) -> BankConfigResponse:
    """Set overrides by name; a null takes one back."""
    return _config(service.engine, apply_updates(service.engine, bank, body.updates))


@router.delete(_CONFIG, operation_id="reset_bank_config")
def reset_config(service: Serving, bank: AdminBank) -> BankConfigResponse:
    """Take all overrides back."""
    current = service.engine.banks.get(bank)
    own = overrides(current)
    kept = {key: value for key, value in current.settings.items() if key not in own}
    changed = service.engine.banks.configure(bank, mission="", disposition=Disposition(), settings=kept)
    return _config(service.engine, changed)


def _config(engine: Perdure, bank: Bank) -> BankConfigResponse:
    settings = engine.settings
    in_force = {
        **Acting().model_dump(),
        "reflect_mission": bank.mission,
        **{f"disposition_{trait}": getattr(bank.disposition, trait) for trait in TRAITS},
        "recall_budget_function": settings.budget_function,
        "recall_budget_fixed_low": settings.budget_low,
        "recall_budget_fixed_mid": settings.budget_mid,
        "recall_budget_fixed_high": settings.budget_high,
        **overrides(bank),
    }
    return BankConfigResponse(
        bank_id=bank.id, config=in_force, overrides=overrides(bank), inactive=inactive(engine, bank)
    )


def acting(engine: Perdure, bank_id: str) -> Acting:
    """Return what a bank's settings make of a recall; the defaults where there is no such bank."""
    bank = engine.banks.find(bank_id)
    own = bank.settings if bank is not None else {}
    return Acting.model_validate({name: own[name] for name in Acting.model_fields if name in own})


def inactive(engine: Perdure, bank: Bank) -> list[str]:
    """Return the bank's settings that have no effect."""
    acting = OF_EXTRACTION if engine.settings.extractor in ("llm", "refine") else frozenset()
    return sorted(name for name in bank.settings if name in STORED_ONLY - acting)


def overrides(bank: Bank) -> dict[str, Any]:
    """Return what the bank sets for itself."""
    own: dict[str, Any] = {
        name: value
        for name, value in bank.settings.items()
        if name in STORED_ONLY or name in Acting.model_fields
    }
    if bank.mission:
        own["reflect_mission"] = bank.mission
    default = Disposition()
    for trait in TRAITS:
        if getattr(bank.disposition, trait) != getattr(default, trait):
            own[f"disposition_{trait}"] = getattr(bank.disposition, trait)
    return own


def read_updates(updates: Mapping[str, Any]) -> dict[str, Any]:
    """Names as Python fields, values checked; None takes an override back."""
    read: dict[str, Any] = {}
    for key, value in updates.items():
        name = key.removeprefix(ENVIRONMENT_PREFIX).lower() if key.isupper() else key
        if name not in STORED_ONLY and name not in Acting.model_fields and name not in Profile.model_fields:
            raise InvalidInput(key[:80], "the name of a bank setting")
        _check_storable(name, value)
        read[name] = value
    for kind in (Acting, Profile):
        chosen = {
            name: value for name, value in read.items() if name in kind.model_fields and value is not None
        }
        try:
            read.update(kind.model_validate(chosen).model_dump(exclude_unset=True))
        except ValidationError as error:
            first = error.errors()[0]
            raise InvalidInput(str(first["loc"][0]), first["msg"]) from error
    return read


def _check_storable(name: str, value: object) -> None:
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except ValueError as error:
        raise InvalidInput(name, "a value without lone surrogates, NaN and infinities") from error


def apply_updates(engine: Perdure, bank_id: str, updates: Mapping[str, Any], name: str | None = None) -> Bank:
    """Change the bank, made if missing; returns it as it is then."""
    read = read_updates(updates)
    current = engine.banks.find(bank_id)
    settings = dict(current.settings) if current is not None else {}
    for key, value in read.items():
        if key in Profile.model_fields:
            continue
        if value is None:
            settings.pop(key, None)
        else:
            settings[key] = value
    mission = read["reflect_mission"] or "" if "reflect_mission" in read else None
    return engine.banks.configure(
        bank_id,
        name=name,
        mission=mission,
        disposition=_disposition(current.disposition if current else Disposition(), read),
        settings=settings,
    )


def _disposition(current: Disposition, read: Mapping[str, Any]) -> Disposition:
    default = Disposition()
    changes: dict[str, Any] = {}
    for trait in TRAITS:
        key = f"disposition_{trait}"
        if key in read:
            changes[trait] = getattr(default, trait) if read[key] is None else read[key]
    return replace(current, **changes)


def restore_profile(engine: Perdure, bank: Bank) -> None:
    """Give a bank that was emptied or read anew its name, mission, disposition and settings back."""
    engine.banks.configure(
        bank.id, name=bank.name, mission=bank.mission, disposition=bank.disposition, settings=bank.settings
    )
