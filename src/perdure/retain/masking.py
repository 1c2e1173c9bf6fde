"""Masking: secrets leave what is retained before anything of it is stored, embedded or sent to a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from perdure.domain.item import Item
from perdure.errors import InvalidInput
from perdure.guard import mask_secrets
from perdure.ports.store import Store
from perdure.retain.request import RetainRequest

MASK_SECRETS = "mask_secrets"
"""Setting of a bank: False stores secrets as they were said."""
_TEXTS = ("content", "title", "context", "original_text", "speaker", "topic")


def masks_secrets(store: Store, bank: str) -> bool:
    """Return whether secrets are masked in this bank, which they are unless it says otherwise."""
    return not any(stored.settings.get(MASK_SECRETS) is False for stored in store.banks([bank]))


def read_mask_setting(settings: Mapping[str, object]) -> None:
    """Raise `InvalidInput` if the setting is neither true nor false."""
    if not isinstance(settings.get(MASK_SECRETS, True), bool):
        raise InvalidInput(f"settings.{MASK_SECRETS}", "true or false", settings[MASK_SECRETS])


def mask_request(store: Store, request: RetainRequest) -> RetainRequest:
    """Return the request without secrets, and with the names of those that were masked."""
    if not masks_secrets(store, request.bank):
        return request
    masked: Counter[str] = Counter(request.masked)
    items = tuple(_mask_item(item, masked) for item in request.items)
    return replace(request, items=items, masked=dict(masked)) if masked != request.masked else request


def _mask_item(item: Item, masked: Counter[str]) -> Item:
    changes: dict[str, object] = {}
    for name in _TEXTS:
        text = getattr(item, name)
        without = _mask(text, masked) if text else text
        if without != text:
            changes[name] = without
    named = {
        "metadata": {_mask(key, masked): _mask(value, masked) for key, value in item.metadata.items()},
        "tags": frozenset(_mask(tag, masked) for tag in item.tags),
        "entities": tuple((_mask(name, masked), kind) for name, kind in item.entities),
        "relations": tuple(
            replace(one, subject=_mask(one.subject, masked), object=_mask(one.object, masked))
            for one in item.relations
        ),
    }
    changes |= {name: value for name, value in named.items() if value != getattr(item, name)}
    return replace(item, **changes) if changes else item  # type: ignore[arg-type]


def _mask(text: str, masked: Counter[str]) -> str:
    without_secrets = mask_secrets(text)
    masked.update(without_secrets.secrets)
    return without_secrets.text
