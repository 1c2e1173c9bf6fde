"""Who calls: the key and the bank that an endpoint lets them have."""

from __future__ import annotations

from dataclasses import dataclass

from perdure.domain.bank import check_bank_id
from perdure.errors import InvalidInput, Unauthorised
from perdure.surfaces import access
from perdure.surfaces.access import DEFAULT_BANK
from perdure.surfaces.keys import Scope
from perdure.surfaces.workers import Client

CALLER = "perdure.caller"
"""Key of an HTTP request's scope under which the endpoint leaves whom it let in."""


@dataclass(frozen=True, slots=True)
class Caller(access.Caller):
    """A caller of a tool; over stdio there is no key."""

    bank: str | None = None
    """The bank that the endpoint stands for; None lets the tool's argument choose."""
    default_bank: str = DEFAULT_BANK
    """The bank of calls that name none."""
    client: Client | None = None
    """Who waits for the answer; over stdio nobody is told from others."""

    def resolve(self, asked: str | None) -> str:
        """Return the bank that a call means."""
        if self.bank is not None and asked not in (None, self.bank):
            raise InvalidInput("bank", f"{self.bank!r}, the bank of this endpoint", asked)
        chosen = asked if self.bank is None else self.bank
        return check_bank_id(self.only_bank(self.default_bank) if chosen is None else chosen)

    def choose(self, asked: str | None, scope: Scope) -> str:
        """Return the bank to work on; raise unless the caller may use it so."""
        bank = self.resolve(asked)
        if not self.may(scope, bank):
            raise Unauthorised(f"the key has no {scope.value} access to this bank")
        if self.client is not None:
            self.client.bank = bank
        return bank
