"""Who calls and what the caller may do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, HTTPException, Path, Request

from perdure.surfaces.access import ONLY_LOCAL, is_local
from perdure.surfaces.keys import ApiKey, Scope


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody who was let in; no key means that everything is open."""

    key: ApiKey | None

    def may(self, scope: Scope, bank: str) -> bool:
        """Whether the caller may do this with that bank."""
        return self.key is None or (self.key.allows(scope) and self.key.opens(bank))

    def require(self, scope: Scope, bank: str) -> None:
        """Raise unless the caller may."""
        if not self.may(scope, bank):
            raise HTTPException(403, f"the key has no {scope.value} access to this bank")


async def identify(request: Request) -> Caller:
    """The caller of a request."""
    service = request.app.state.service
    key = await service.keys.admit(request.headers, service.workers)
    if key is None and not is_local(request.headers):
        raise HTTPException(403, ONLY_LOCAL)
    return Caller(key)


Known = Annotated[Caller, Depends(identify)]
_EDGE, _INNER = r"[^\x00-\x20\x7f/\\]", r"[^\x00-\x1f\x7f/\\]"
BankId = Annotated[str, Path(max_length=128, pattern=f"^{_EDGE}({_INNER}*{_EDGE})?$")]


async def _reader(bank_id: BankId, caller: Known) -> str:
    caller.require(Scope.READ, bank_id)
    return bank_id


async def _writer(bank_id: BankId, caller: Known) -> str:
    caller.require(Scope.WRITE, bank_id)
    return bank_id


async def _admin(bank_id: BankId, caller: Known) -> str:
    caller.require(Scope.ADMIN, bank_id)
    return bank_id


ReadBank = Annotated[str, Depends(_reader)]
WriteBank = Annotated[str, Depends(_writer)]
AdminBank = Annotated[str, Depends(_admin)]
