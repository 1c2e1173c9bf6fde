"""Who may reach a server: callers with a key; and where no key was ever made, and somebody asked for it, this machine alone."""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from ipaddress import ip_address
from typing import Any

from perdure.engine import Perdure
from perdure.errors import Forbidden, InvalidInput, PerdureError, Unauthorised
from perdure.settings import Settings
from perdure.surfaces.keys import ApiKey, KeySet, Scope, keys_needed, match_key, note_uses, read_keys
from perdure.surfaces.workers import Workers

log = logging.getLogger("perdure.server")
DEFAULT_BANK = "default"
"""The bank of an MCP request that names none."""
FRESH_SECONDS = 1.0
USE_SECONDS = 60.0
"""Between two notes of when keys were used."""
PROXY_HEADERS = (
    b"forwarded", b"via", b"x-forwarded-for", b"x-forwarded-host", b"x-forwarded-port", b"x-forwarded-proto",
    b"x-forwarded-server", b"x-real-ip",
)  # fmt: skip
OWN_SITES = (b"same-origin", b"none")
HEADERS = Sequence[tuple[bytes, bytes]]
"""A request's headers as ASGI has them: names in small letters, one entry each time a header was sent."""


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    name = host.removeprefix("[").removesuffix("]").lower()
    if name == "localhost":
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def check_exposure(engine: Perdure, settings: Settings) -> None:
    """Raise when a server would answer callers without a key, unless that was asked for, for this machine alone."""
    needed = keys_needed(engine)
    if settings.require_keys:
        if not needed:
            raise Unauthorised(
                "there is no API key; create one with `perdure keys create`, "
                "or serve this machine without keys by --open"
            )
        return
    if not is_loopback(settings.host):
        raise Unauthorised(
            f"{settings.host} can be reached from other machines, where --open is not for; "
            "create a key with `perdure keys create`, or bind to 127.0.0.1"
        )
    if needed:
        raise Unauthorised("API keys were made for this memory, so it is not served with --open again")


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

    def only_bank(self, default: str = DEFAULT_BANK) -> str:
        """Return the bank of a request that names none: a key for a single bank need not name it."""
        if self.key is not None and len(self.key.banks) == 1 and not self.key.opens(default):
            return self.key.banks[0]
        return default


class KeyRing:
    """Lets callers in by the keys as the store has them, read again when older than a second.

    Only with `settings.require_keys` off, on a loopback address, and while no key was ever made, callers need none.
    """

    def __init__(self, engine: Perdure, settings: Settings, workers: Workers) -> None:
        self._engine, self._workers = engine, workers
        self._host = settings.host
        self._may_be_open = not settings.require_keys and is_loopback(settings.host)
        self._set = KeySet()
        self._read_at = float("-inf")
        self._reading: asyncio.Task[None] | None = None
        self._uses: dict[str, datetime] = {}
        self._noted_at = time.monotonic()
        self._noting: asyncio.Task[None] | None = None

    async def admit(self, scope: Any) -> ApiKey | None:
        """Return the caller's key, or None for a caller of this machine on an open server. `scope` is the request's, of ASGI.

        Raises Unauthorised without a valid key, Forbidden where an open server must not answer.
        """
        headers: HEADERS = scope["headers"]
        if await self.is_open():
            check_local(headers, self._host, (scope.get("server") or ("", 0))[1])
            return None
        sent = [value for name, value in headers if name == b"authorization"]
        scheme, _, text = (sent[0] if len(sent) == 1 else b"").decode("latin-1").partition(" ")
        key = match_key(self._set.keys, text.strip()) if scheme.lower() == "bearer" else None
        now = datetime.now(UTC)
        if key is None or key.expired(now):
            raise Unauthorised("send `Authorization: Bearer` with a valid key")
        self._uses[key.id] = now
        if self._noting is None and time.monotonic() - self._noted_at >= USE_SECONDS:
            self._noting = asyncio.create_task(self.note_uses())
        return key

    async def is_open(self) -> bool:
        """Whether callers of this machine need no key."""
        await self._refresh()
        return self._may_be_open and not self._set.needed

    async def note_uses(self) -> None:
        """Keep when keys were last used; done once a minute while they are, and at the end."""
        self._noted_at = time.monotonic()
        uses, self._uses = self._uses, {}
        there = {key.id for key in self._set.keys}
        try:
            kept = {key_id: moment for key_id, moment in uses.items() if key_id in there}
            await self._workers.control(note_uses, self._engine, kept)
        except PerdureError as error:
            self._uses = {**uses, **self._uses}
            log.warning("when keys were last used is kept later: %s", error)
        finally:
            self._noting = None

    async def _refresh(self) -> None:
        """Read the keys when they are old; callers that come at once share one reading, on threads that no caller fills."""
        if time.monotonic() - self._read_at < FRESH_SECONDS:
            return
        if self._reading is None:
            self._reading = asyncio.create_task(self._read())
        await asyncio.shield(self._reading)

    async def _read(self) -> None:
        try:
            began = time.monotonic()
            self._set = await self._workers.control(read_keys, self._engine)
            self._read_at = began
        finally:
            self._reading = None


def check_local(headers: HEADERS, host: str, port: int) -> None:
    """Raise Forbidden unless a request to an open server comes from this machine and means it.

    Refused are requests that a proxy passed on, that name another host (a web page's name that points here) or port, and
    those that a page of another origin makes. Names are compared letter by letter: nothing is parsed, decoded or trimmed.
    """
    sent: dict[bytes, list[bytes]] = {}
    for name, value in headers:
        sent.setdefault(name, []).append(value)
    if any(name in sent for name in PROXY_HEADERS):
        raise Forbidden("a server without keys does not answer through a proxy")
    names = own_names(host, port)
    hosts = sent.get(b"host", [])
    if len(hosts) != 1 or hosts[0].lower() not in names:
        raise Forbidden("a server without keys answers only as localhost")
    if any(origin.lower() not in {b"http://" + name for name in names} for origin in sent.get(b"origin", [])):
        raise Forbidden("a server without keys answers no page of another origin")
    if any(site not in OWN_SITES for site in sent.get(b"sec-fetch-site", [])):
        raise Forbidden("a server without keys answers no page of another site")


def own_names(host: str, port: int) -> set[bytes]:
    """Return the names by which a request may address a server on the loopback address; only port 80 is left out."""
    bound = host.lower() if ":" not in host or host.startswith("[") else f"[{host.lower()}]"
    names = {"localhost", "127.0.0.1", "[::1]", bound}
    with_port = {f"{name}:{port}".encode() for name in names}
    return with_port | {name.encode() for name in names} if port == 80 else with_port
