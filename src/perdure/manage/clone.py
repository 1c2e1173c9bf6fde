"""Copying a bank: its memories, its configuration and its logs, each if asked for."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from uuid import uuid4

from perdure.domain.audit import AUDIT
from perdure.domain.bank import Bank
from perdure.domain.llm_call import LLM_CALL
from perdure.domain.webhook import WEBHOOK
from perdure.errors import Conflict, NotFound
from perdure.manage.transfer import export_bank, import_bank
from perdure.ports.store import Store

CONFIGURED = frozenset({"directive", "directive_history"})
"""Kinds of exported records that configure a bank; the others are its memories."""


def clone_bank(
    store: Store,
    bank: str,
    target: str,
    now: datetime,
    *,
    include_data: bool = True,
    include_config: bool = True,
    include_history: bool = False,
) -> int:
    """Copy a bank under an id that no bank has, and return the number of facts."""
    if store.banks([target]):
        raise Conflict(f"bank {target!r} exists already")
    source = next(iter(store.banks([bank])), None)
    if source is None:
        raise NotFound("bank", bank)
    lines = chosen_lines(
        export_bank(store, bank, now), include_data=include_data, include_config=include_config
    )
    facts = import_bank(store, target, lines)
    kinds = (*((WEBHOOK,) if include_config else ()), *((AUDIT, LLM_CALL) if include_history else ()))
    with store.reading(bank) as reading:
        records = [record for kind in kinds for record in reading.records(kind)]
    with store.transaction(target) as tx:
        tx.put_records([replace(one, bank=target, id=str(uuid4()), updated_at=None) for one in records])
    return facts


def chosen_lines(lines: Iterable[str], *, include_data: bool, include_config: bool) -> Iterator[str]:
    """Yield the lines of an export without the memories, or without the configuration."""
    plain = Bank(id="plain")
    for line in lines:
        part = json.loads(line)
        kind = part["kind"]
        if kind == "bank":
            if not include_config:
                part |= {"name": "", "mission": plain.mission, "settings": {}}
                part["disposition"] = {
                    "skepticism": plain.disposition.skepticism, "literalism": plain.disposition.literalism,
                    "empathy": plain.disposition.empathy, "bias_strength": plain.disposition.bias_strength,
                }  # fmt: skip
            yield json.dumps(part)
        elif include_config if kind == "record" and part["record"] in CONFIGURED else include_data:
            yield line
