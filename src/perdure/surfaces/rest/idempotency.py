"""Idempotency-Key: the same call sent again gets the same answer and does nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from pydantic import BaseModel

from perdure.domain.record import Record
from perdure.engine import Perdure
from perdure.errors import Conflict

KIND = "idempotency"
KEPT = timedelta(hours=24)
SWEEP = "00"
"""One call in 256 looks for answers that are too old."""
_STRIPES = tuple(threading.Lock() for _ in range(64))


def once(engine: Perdure, bank: str, key: str, body: BaseModel, work: Callable[[], BaseModel]) -> str:
    """The answer as JSON: of this call, or of the first one with the key; raises Conflict for another body."""
    ident = sha256(key.encode("utf-8", "surrogateescape")).hexdigest()
    request = sha256(body.model_dump_json().encode()).hexdigest()
    with _STRIPES[int(ident[:4], 16) % len(_STRIPES)]:
        now = datetime.now(UTC)
        for record in engine.records(KIND, bank=bank, ids=[ident]):
            if record.created_at is not None and now - record.created_at < KEPT:
                if record.body["request"] != request:
                    raise Conflict("this Idempotency-Key was used with another request")
                return str(record.body["answer"])
        answer = work().model_dump_json(by_alias=True)
        engine.save_record(
            Record(
                kind=KIND,
                id=ident,
                bank=bank,
                body={"request": request, "answer": answer},
                created_at=now,
                updated_at=now,
            )
        )
        if ident.startswith(SWEEP):
            _drop_old(engine, bank, now)
        return answer


def _drop_old(engine: Perdure, bank: str, now: datetime) -> None:
    for record in engine.records(KIND, bank=bank):
        if record.created_at is None or now - record.created_at < KEPT:
            return
        engine.forget_record(KIND, record.id, bank=bank)
