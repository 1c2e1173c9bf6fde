"""Who may reach a server: keys as the store has them, or this machine alone while there are none."""

from __future__ import annotations

import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address

from perdure.engine import Perdure
from perdure.errors import InvalidInput, Unauthorised
from perdure.surfaces.keys import ApiKey, Scope, list_keys, match_key
from perdure.surfaces.workers import Workers

FRESH_SECONDS = 1.0
ONLY_LOCAL = "a server without keys answers only as localhost"


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    name = host.strip("[]").lower()
    if name == "localhost":
        return True
    try:
        return ip_address(name.split("%")[0]).is_loopback
    except ValueError:
        return False


def check_exposure(engine: Perdure, host: str) -> None:
    """Raise when other machines could reach a server that asks nobody for a key."""
    if not is_loopback(host) and not list_keys(engine):
        raise Unauthorised(
            f"{host} can be reached from other machines and there is no API key; "
            "create one with `perdure keys create`, or bind to 127.0.0.1"
        )


def check_port(host: str, port: int) -> None:
    """Raise when a server could not listen there."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host.strip("[]"), port))
        except OSError as error:
            raise InvalidInput("port", f"one to listen on at {host} ({error.strerror})", port) from error


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody who was let in; without a key everything is open."""

    key: ApiKey | None = None

    def may(self, scope: Scope, bank: str) -> bool:
        """Whether the caller may do this with that bank."""
        return self.key is None or (self.key.allows(scope) and self.key.opens(bank))


class KeyRing:
    """The keys as the store has them, read again when older than a second."""

    def __init__(self, engine: Perdure, *, may_be_open: bool) -> None:
        self._engine, self._may_be_open = engine, may_be_open
        self._keys: list[ApiKey] = []
        self._read_at = float("-inf")

    async def admit(self, headers: Mapping[str, str], workers: Workers) -> ApiKey | None:
        """The caller's key; None while there are no keys on a server that only this machine can reach.

        Raises Unauthorised without a valid key; whether an open server may answer is for `is_local` to say.
        """
        if time.monotonic() - self._read_at >= FRESH_SECONDS:
            self._keys = await workers.run(list_keys, self._engine)
            self._read_at = time.monotonic()
        if not self._keys and self._may_be_open:
            return None
        scheme, _, text = headers.get("authorization", "").partition(" ")
        key = match_key(self._keys, text.strip()) if scheme.lower() == "bearer" else None
        if key is None:
            raise Unauthorised("send `Authorization: Bearer` with a valid key")
        return key


def is_local(headers: Mapping[str, str]) -> bool:
    """Whether an open server may answer: not when a web page's name points here, or a page of another origin calls."""
    names = [headers.get("host", "")]
    if "origin" in headers:
        names.append(headers["origin"].partition("://")[2])
    return all(is_loopback(_without_port(name)) for name in names)


def _without_port(name: str) -> str:
    return name.partition("]")[0] if name.startswith("[") else name.partition(":")[0]
