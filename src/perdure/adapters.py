"""The models and other adapters that the settings name. Each is imported when it is chosen: onnxruntime and spaCy take seconds to load."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from perdure.errors import InvalidInput, Unavailable
from perdure.ports.clock import Clock, present
from perdure.ports.embedder import Embedder
from perdure.ports.extractor import Extractor
from perdure.ports.llm import Llm
from perdure.ports.notes import Notes
from perdure.ports.reader import Reader
from perdure.ports.reranker import Reranker
from perdure.ports.store import Store
from perdure.ports.tagger import Tagger
from perdure.ports.telemetry import Telemetry
from perdure.ports.tokens import Tokens
from perdure.settings import Settings

if TYPE_CHECKING:
    from perdure.llm.caller import Caller, Price
    from perdure.models.pydantic_ai_llm import PydanticAiLlm

OWN_LLM = "own"
"""The name of the language model that was passed in."""


def make_embedder(settings: Settings) -> Embedder | None:
    """Return the embedder that the setting names, or None for `none`."""
    if settings.embedder == "none":
        return None
    if settings.embedder == "hashing":
        from perdure.models.hashing import HashingEmbedder

        return HashingEmbedder()
    if settings.embedder == "http":
        from perdure.models.providers import OllamaEmbedder, OpenAIEmbedder

        protocol = OllamaEmbedder if settings.embedding_protocol == "ollama" else OpenAIEmbedder
        return protocol(
            settings.embedding_url,
            settings.embedding_model,
            dimensions=settings.embedding_dimensions,
            key=settings.embedding_key.get_secret_value(),
            timeout=settings.provider_timeout,
        )
    from perdure.models.manifest import USE_FAMILY, find_model
    from perdure.models.onnx_embedder import OnnxEmbedder
    from perdure.models.run_limiter import shared_run_limiter
    from perdure.models.use_embedder import UseEmbedder
    from perdure.models.weights import Places

    spec = find_model(settings.embedder, "embedder")
    places = Places(store=settings.models_folder, allow_download=settings.allow_download)
    kind = UseEmbedder if spec.family == USE_FAMILY else OnnxEmbedder
    return kind(spec, places, limiter=shared_run_limiter(settings.threads))


def make_reader(settings: Settings) -> Reader | None:
    """Return the trained reader, or None if the setting `reranker` is `none`."""
    if settings.reranker == "none":
        return None
    from perdure.models.reader import OnnxReader
    from perdure.models.run_limiter import shared_run_limiter

    return OnnxReader(limiter=shared_run_limiter(settings.threads))


def make_reranker(reader: Reader | None) -> Reranker | None:
    """Return the reader as a reranker of passages without their place."""
    if reader is None:
        return None
    from perdure.models.reader import ReaderReranker

    return ReaderReranker(reader)


def make_tagger(settings: Settings) -> Tagger:
    """Return the tagger that the setting names; `auto` is the best one that is installed."""
    from perdure.models.spacy_tagger import choose_tagger

    return choose_tagger(settings.tagger)


def make_extractor(settings: Settings, llm: Caller | None = None) -> Extractor:
    """Return the extractor that the setting names."""
    if settings.extractor == "verbatim":
        from perdure.extract.verbatim import VerbatimExtractor

        return VerbatimExtractor()
    if settings.extractor in ("llm", "refine") and llm is None:
        expected = f'a language model in `llm` for the extractor "{settings.extractor}", or "local"'
        raise InvalidInput("extractor", expected, settings.extractor)
    local = make_local_extractor(settings)
    if settings.extractor == "llm" and llm is not None:
        from perdure.extract.llm import LlmExtractor

        return LlmExtractor(llm, local)
    return local


def make_local_extractor(settings: Settings) -> Extractor:
    """Return the extractor that needs no language model; with `refine` a model rewrites its facts later."""
    from perdure.extract.local import LocalExtractor
    from perdure.models.rule_tagger import RuleTagger

    # The agent's own turns are long and say little about people: rules are enough for them.
    return LocalExtractor(make_tagger(settings), light=RuleTagger())


def llm_names(settings: Settings, own: str = "") -> dict[str, list[str]]:
    """Return the models that each operation asks, in order, without operations that ask none; `own` is the name of a model passed in."""
    default = own or settings.llm
    first = {
        "retain": settings.llm_retain,
        "refine": settings.llm_retain,
        "consolidate": settings.llm_consolidation,
        "reflect": settings.llm_reflect,
        "mental_model": settings.llm_reflect,
    }
    fallbacks = [name.strip() for name in settings.llm_fallbacks.split(",") if name.strip()]
    return {
        operation: list(dict.fromkeys([model, *fallbacks]))
        for operation, name in first.items()
        if (model := name or default) != "none"
    }


def make_caller(
    settings: Settings,
    own: Llm | None = None,
    *,
    store: Store | None = None,
    clock: Clock = present,
    tokens: Tokens | None = None,
    telemetry: Telemetry | None = None,
) -> Caller | None:
    """Return what asks language models, or None, and import nothing of it, if no model is set."""
    chains = llm_names(settings, OWN_LLM if own is not None else "")
    if not chains:
        return None
    from perdure.domain.llm_call import LlmOperation
    from perdure.llm.caller import Caller
    from perdure.llm.ledger import Ledger
    from perdure.llm.limits import CallRules, DayCaps

    counter = tokens or make_tokens(settings)
    names = dict.fromkeys(name for chain in chains.values() for name in chain)
    opened = {name: make_llm(settings, name, counter) for name in names if name != OWN_LLM}
    models: dict[str, Llm] = dict(opened) if own is None else {**opened, OWN_LLM: own}
    if telemetry is not None:
        from perdure.telemetry.otel import ObservedLlm

        models = {name: ObservedLlm(model, telemetry) for name, model in models.items()}
    rules = CallRules(
        timeout=settings.llm_timeout,
        calls_a_minute=settings.llm_calls_a_minute,
        tokens_a_minute=settings.llm_tokens_a_minute,
        caps=DayCaps(
            calls=settings.llm_calls_a_day, tokens=settings.llm_tokens_a_day, price=settings.llm_price_a_day
        ),
    )
    ledger = None
    if store is not None:
        ledger = Ledger(
            store, clock, caps=rules.caps, log_texts=settings.llm_log_texts, log_days=settings.llm_log_days
        )
    return Caller(
        {LlmOperation(operation): [models[name] for name in chain] for operation, chain in chains.items()},
        rules=rules,
        count_tokens=counter.count,
        ledger=ledger,
        price=price_list(),
        closes=list(opened.values()),
    )


def make_llm(settings: Settings, name: str, tokens: Tokens) -> PydanticAiLlm:
    """Return the language model of a name. The key of the settings is for `llm_url`, or else for the provider of `llm`."""
    if importlib.util.find_spec("pydantic_ai") is None:
        raise Unavailable(f"llm {name}: pip install 'perdure[llm]'")
    from perdure.models.pydantic_ai_llm import BY_URL, PydanticAiLlm, split_name

    def provider(model: str) -> str:
        return split_name(model, settings.llm_url)[0]

    keyed = BY_URL if settings.llm_url else provider(settings.llm) if settings.llm != "none" else ""
    of_url = (BY_URL, "ollama") if settings.llm_url else (keyed,)
    return PydanticAiLlm(
        name,
        tokens=tokens,
        url=settings.llm_url,
        key=settings.llm_key.get_secret_value() if provider(name) in of_url else "",
        window=settings.llm_window,
        reasoning=settings.llm_reasoning,
    )


def price_list() -> Price | None:
    """Return the prices of tokens, or None if the table of prices is not installed."""
    if importlib.util.find_spec("genai_prices") is None:
        return None
    from perdure.models.llm_prices import list_price

    return list_price


def make_tokens(settings: Settings) -> Tokens:
    """Return the token counter that the setting names."""
    from perdure.models.tokens import token_counter

    return token_counter(settings.tokens)


def make_telemetry(settings: Settings) -> Telemetry | None:
    """Return OpenTelemetry if the setting asks for it; otherwise import nothing of it."""
    if not settings.telemetry:
        return None
    from perdure.telemetry.otel import OpenTelemetry

    return OpenTelemetry(content=settings.telemetry_content)


def open_notes(settings: Settings) -> Notes | None:
    """Return the folder of notes, if one is set."""
    if settings.notes_folder is None:
        return None
    from perdure.stores.notes_folder import NotesFolder

    return NotesFolder(settings.notes_folder)
