"""Noting calls of the servers in the audit log of their bank, after they were answered."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from datetime import datetime
from uuid import uuid4

from perdure.domain.audit import AuditEntry, Transport
from perdure.engine import Perdure
from perdure.errors import PerdureError
from perdure.surfaces.keys import ApiKey
from perdure.surfaces.workers import Workers

ACTION = "perdure.action"
"""Key of a request's scope under which a route says what is done, where its own name does not; empty for what is not noted."""
OFF_SECONDS = 1.0
"""A bank that wanted no log is not asked again for so long."""
MAX_OFF = 10_000
TRANSPORT = "perdure.transport"
"""Key of a request's scope under which stands how a call came that another surface passes on to REST."""
log = logging.getLogger("perdure.audit")


class AuditTrail:
    """Notes calls; everything is called on the event loop's thread."""

    def __init__(self, engine: Perdure, workers: Workers) -> None:
        self._engine, self._workers = engine, workers
        self.names: dict[str, str] = {}
        """Operation -> the action by which it stands in the log; other operations stand there by their own name."""
        self.configuring = {"banks.configure"}
        """Actions that may switch a bank's log on: the bank is asked again after them."""
        self._off: dict[str, float] = {}
        """Bank -> moment (monotonic) until which it is taken to want no log."""

    def now(self) -> datetime:
        """Return the present by the clock of the memory."""
        return self._engine.clock()

    async def note(
        self,
        bank: str,
        action: str,
        transport: Transport,
        *,
        started_at: datetime,
        request: Mapping[str, object],
        response: Mapping[str, object],
        key: ApiKey | None = None,
    ) -> None:
        """Keep an entry if the bank wants a log. One that cannot be written is told in the server's log: the call was answered."""
        if action in self.configuring:
            self._off.pop(bank, None)
        if self._off.get(bank, 0.0) > time.monotonic():
            return
        entry = AuditEntry(
            id=str(uuid4()), bank=bank, action=action, transport=transport, started_at=started_at,
            ended_at=max(self.now(), started_at), request=request, response=response,
            metadata={} if key is None else {"key": key.id},
        )  # fmt: skip
        try:
            if not await self._workers.control(self._engine.audit.record, entry):
                if len(self._off) >= MAX_OFF:
                    self._off.clear()
                self._off[bank] = time.monotonic() + OFF_SECONDS
        except PerdureError as error:
            log.warning("%s of bank %r is not in the audit log: %s", action, bank, error)
