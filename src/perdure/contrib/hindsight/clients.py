"""What depends on which client asks."""

from __future__ import annotations

import re

from fastapi import Depends, Request

from perdure.errors import NotFound
from perdure.surfaces.plugins.rest import Service

_CLIENT = re.compile(r"hindsight-client-\w+/(\d+)\.(\d+)")
STRICT_SINCE = (0, 10)


async def _existing_bank(request: Request, bank_id: str) -> None:
    """Raise NotFound where clients of Hindsight 0.10 and later expect 404; earlier ones expect an empty bank."""
    client = _CLIENT.search(request.headers.get("user-agent", ""))
    if client is None or (int(client[1]), int(client[2])) < STRICT_SINCE:
        return
    service: Service = request.app.state.service
    if await service.workers.run(service.engine.banks.find, bank_id) is None:
        raise NotFound("bank", bank_id)


StrictClients = Depends(_existing_bank)
