"""Prices of a model's tokens, from the table of genai-prices."""

from __future__ import annotations

from genai_prices import Usage, calc_price

from perdure.ports.llm import TokenUsage


def list_price(model: str, usage: TokenUsage) -> float | None:
    """Return US dollars at list price; None for a model that the table lacks."""
    provider, _, name = model.partition(":")
    priced = Usage(input_tokens=usage.input, output_tokens=usage.output)
    try:
        return float(calc_price(priced, name, provider_id=provider).total_price)
    except (LookupError, ValueError):
        return None
