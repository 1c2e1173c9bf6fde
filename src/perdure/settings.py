"""All settings, and the only reader of the environment and of perdure.toml."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import AliasChoices, Field, SecretStr, ValidationError
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from perdure.errors import InvalidInput

MASK = "********"
_PASSWORD = re.compile(r"(://[^/@:?]*:|[?&]password=)(?:(?<=:).*(?=@)|[^&]*)")
"""Matches up to the last @, since a password may contain one, or slashes, by mistake."""


def _also(name: str, *others: str) -> AliasChoices:
    """Return the setting's own name in the environment, and its names in other systems."""
    return AliasChoices(f"PERDURE_{name.upper()}", *others)


def _hindsight(name: str) -> str:
    return f"HINDSIGHT_API_{name}"


class Settings(BaseSettings):
    """Settings from arguments, PERDURE_ variables, perdure.toml and defaults, in that order."""

    model_config = SettingsConfigDict(
        env_prefix="PERDURE_", toml_file="perdure.toml", extra="ignore", populate_by_name=True
    )

    # Where memory lives
    database: str = Field(
        "perdure.db",
        description="A SQLite file, or postgresql://USER:PASSWORD@HOST/DATABASE, or several of these between spaces",
    )
    notes_folder: Path | None = Field(None, description="Folder with daily, weekly and quarterly notes")
    synchronous: Literal["normal", "full"] = "normal"
    busy_timeout_ms: int = Field(5000, ge=0)
    index_memory_mb: int = Field(1024, ge=16)
    database_connections: int = Field(16, ge=2, description="PostgreSQL: connections per process, at most")
    database_timeout: float = Field(60.0, ge=1, description="PostgreSQL: seconds for a statement")
    database_patience: float = Field(
        10.0, ge=0, description="PostgreSQL: seconds to wait for a primary that is away"
    )
    database_prepared: bool = Field(
        True, description="PostgreSQL: false behind a pooler that prepares nothing"
    )

    large_bank_facts: int = Field(
        300_000, ge=0, description="PostgreSQL: facts above which a bank is searched in SQL, not in memory"
    )

    encrypt_content: bool = Field(
        False, description="PostgreSQL: encrypt the content of new banks, so that destroying keys erases it"
    )

    # Models
    embedder: str = Field("e5-small-v2", description="Manifest name, `http`, `hashing` or `none`")
    reranker: Literal["reader", "none"] = Field(
        "reader", description="The model that reads the best candidates"
    )
    tagger: Literal["auto", "spacy", "rules"] = "auto"
    extractor: Literal["local", "verbatim", "llm", "refine"] = "local"
    tokens: Literal["cl100k", "o200k", "approximate"] = "cl100k"
    models_folder: Path | None = Field(None, description="Folder with model files, looked at first")
    allow_download: bool = False
    threads: int = Field(0, ge=0, description="Model runs at once; 0 takes the number of cores")
    embedding_url: str = ""
    embedding_model: str = ""
    embedding_dimensions: int = Field(0, ge=0)
    embedding_protocol: Literal["openai", "ollama"] = "openai"
    embedding_key: SecretStr = SecretStr("")
    llm: str = Field("none", description="Language model, `provider:model`; `none`")
    llm_retain: str = Field("", description="Another one for retain, or `none`; empty: `llm`")
    llm_consolidation: str = Field("", description="Another one for consolidation, or `none`; empty: `llm`")
    llm_reflect: str = Field(
        "", description="Another one for reflect and mental models, or `none`; empty: `llm`"
    )
    llm_fallbacks: str = Field("", description="Models to ask in turn when one fails, between commas")
    llm_url: str = Field("", description="A server that speaks OpenAI's protocol, or Ollama's URL")
    llm_key: SecretStr = SecretStr("")
    llm_window: int = Field(
        0, ge=0, description="Tokens of a request and its reply; 0: as the model is known"
    )
    llm_reasoning: Literal["", "off", "minimal", "low", "medium", "high"] = Field(
        "", description="How much a model thinks before it answers; empty: as it does by itself"
    )
    llm_timeout: float = Field(60.0, gt=0)
    llm_calls_a_minute: int | None = Field(None, ge=1, description="Per model and process")
    llm_tokens_a_minute: int | None = Field(None, ge=1, description="Per model and process")
    llm_calls_a_day: int | None = Field(None, ge=0, description="Per bank and operation")
    llm_tokens_a_day: int | None = Field(None, ge=0, description="Per bank and operation")
    llm_price_a_day: float | None = Field(None, ge=0, description="US dollars, per bank and operation")
    llm_log_texts: bool = Field(False, description="Keep the texts of requests and replies")
    llm_log_days: int = Field(30, ge=1, description="Days for which single calls are kept; sums stay")
    provider_timeout: float = Field(30.0, gt=0)

    # Recall
    recipe: str = "default"
    budget_function: Literal["fixed", "adaptive"] = Field(
        "fixed", validation_alias=_also("budget_function", _hindsight("RECALL_BUDGET_FUNCTION"))
    )
    budget_low: int = Field(
        100, ge=1, validation_alias=_also("budget_low", _hindsight("RECALL_BUDGET_FIXED_LOW"))
    )
    budget_mid: int = Field(
        300, ge=1, validation_alias=_also("budget_mid", _hindsight("RECALL_BUDGET_FIXED_MID"))
    )
    budget_high: int = Field(
        1000, ge=1, validation_alias=_also("budget_high", _hindsight("RECALL_BUDGET_FIXED_HIGH"))
    )
    adaptive_low: float = Field(
        0.025, gt=0, validation_alias=_also("adaptive_low", _hindsight("RECALL_BUDGET_ADAPTIVE_LOW"))
    )
    adaptive_mid: float = Field(
        0.075, gt=0, validation_alias=_also("adaptive_mid", _hindsight("RECALL_BUDGET_ADAPTIVE_MID"))
    )
    adaptive_high: float = Field(
        0.25, gt=0, validation_alias=_also("adaptive_high", _hindsight("RECALL_BUDGET_ADAPTIVE_HIGH"))
    )
    budget_min: int = Field(20, ge=1, validation_alias=_also("budget_min", _hindsight("RECALL_BUDGET_MIN")))
    budget_max: int = Field(2000, ge=1, validation_alias=_also("budget_max", _hindsight("RECALL_BUDGET_MAX")))
    rerank_pool: int | None = Field(
        None, ge=1, validation_alias=_also("rerank_pool", _hindsight("RERANKER_MAX_CANDIDATES"))
    )
    channel_timeout: float = Field(10.0, gt=0)
    similarity_floor: float = Field(
        0.5, validation_alias=_also("similarity_floor", "EMBEDDING_SIMILARITY_THRESHOLD")
    )
    decay_days: float = Field(365.0, gt=0, validation_alias=_also("decay_days", "RECALL_DECAY_DAYS"))
    decay_floor: float = Field(0.3, ge=0, le=1, validation_alias=_also("decay_floor", "RECALL_DECAY_FLOOR"))
    decay_emotion: float = Field(0.1, ge=0, validation_alias=_also("decay_emotion", "RECALL_EMOTION_BOOST"))

    refine_after: float | None = Field(
        60.0,
        ge=0,
        description="Seconds after the last retain until `refine` rewrites facts; empty: when asked for",
    )

    # Thinking
    consolidate_after: float | None = Field(
        None,
        ge=0,
        description="Seconds after the last retain until a bank is consolidated; empty: when asked for",
    )

    llm_unsupported: Literal["remove", "mark"] = Field(
        "remove", description="What becomes of a model's sentence that its sources do not support"
    )
    llm_reflect_seconds: float = Field(
        90.0, gt=0, description="Seconds after which reflect answers without the language model"
    )

    # Coding assistants
    assistant_folder: str = Field("~/.perdure", description="Hooks read it from the environment only")
    assistant_bank: str = Field("", description="One bank for all projects; empty: one per project")
    assistant_user: str = Field("", description="Name of who speaks to assistants")
    assistant_idle_minutes: float = Field(30.0, gt=0, description="Then the warm process ends")

    # Events
    webhook_allow_private: bool = Field(
        False, description="Let webhooks reach addresses of this machine and its network"
    )

    # Server
    host: str = "127.0.0.1"
    port: int = Field(8888, ge=0, le=65535)
    require_keys: bool = Field(
        True, description="False serves this machine without keys, until a key is made"
    )
    max_concurrent_recalls: int = Field(32, ge=1, description="Per key and bank, waiting ones included")
    max_concurrent_retains: int = Field(16, ge=1, description="Per key and bank, waiting ones included")
    max_wait: float = Field(8.0, gt=0, description="Seconds to an answer, as far as waiting goes; else 429")
    max_request_bytes: int = Field(20_000_000, ge=1024)
    request_timeout: float = Field(120.0, gt=0)
    receive_timeout: float = Field(
        10.0, gt=0, description="Seconds for a request's headers; for its body too, and one more per 32 KB"
    )
    max_connections: int = Field(512, ge=1)
    log_level: Literal["debug", "info", "warning", "error"] = "warning"
    telemetry: bool = Field(False, description="Tell OpenTelemetry of operations (extra `otel`)")
    telemetry_content: bool = Field(False, description="Tell it questions and remembered texts too")

    @property
    def shown_database(self) -> str:
        """Return the database without its password."""
        return without_password(self.database)

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        for name, value in super().__repr_args__():
            yield name, self.shown_database if name == "database" else value

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Let arguments win over the environment, and the environment over the file."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)


def without_password(url: str) -> str:
    """Return a URL with its password masked; other texts are unchanged."""
    return _PASSWORD.sub(lambda match: f"{match[1]}{MASK}", url) if "://" in url else url


def service_manager() -> str:
    """Return the socket of the service manager that started this process; not a setting: systemd sets it itself."""
    return os.environ.get("NOTIFY_SOCKET", "")


def setting_origins() -> dict[str, str]:
    """Return setting -> the environment variable or file that sets it; the others have their defaults."""
    environment = EnvSettingsSource(Settings)
    origins = dict.fromkeys(TomlConfigSettingsSource(Settings)(), "perdure.toml")
    for name, field in Settings.model_fields.items():
        value, key, _ = environment.get_field_value(field, name)
        if value is not None:
            origins[name] = f"PERDURE_{name.upper()}" if key == name else key
    return origins


def read_settings(settings: Settings | None, overrides: Mapping[str, Any]) -> Settings:
    """Return settings with changes; a wrong value or an unknown name raises `InvalidInput`."""
    unknown = sorted(overrides.keys() - Settings.model_fields.keys())
    if unknown:
        raise InvalidInput(unknown[0], "the name of a setting (docs/settings.md)", overrides[unknown[0]])
    try:
        return Settings(**{**(settings.model_dump() if settings is not None else {}), **overrides})
    except ValidationError as error:
        first = error.errors()[0]
        raise InvalidInput(
            ".".join(str(part) for part in first["loc"]), first["msg"], first.get("input")
        ) from error
