"""The nodes that share a database, which of them this process is, and which of them owns a bank.

There is nothing to agree on: every node has the same list and works out the same owner. Nodes with different lists, as while a
list is being changed, pass a few requests to another one than the rest would; any node answers any bank.
"""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

from perdure.domain.rendezvous import rendezvous
from perdure.errors import InvalidInput
from perdure.settings import Settings

log = logging.getLogger("perdure.nodes")

DNS = "dns://"
"""Begins a name that resolves to the addresses of all nodes."""
DNS_SECONDS = 5.0
"""So long a resolved list is used before the name is resolved again."""
_EXPECTED = "http://HOST:PORT, several of them between commas, or dns://NAME:PORT"
Resolve = Callable[[str, int], Sequence[str]]
"""Name and port -> addresses."""


class Members:
    """A list of nodes, fixed or read from a name."""

    def __init__(
        self, nodes: Sequence[str], own: str | None, read: Callable[[], Sequence[str]] | None = None
    ) -> None:
        """`read` gives the list anew; who I am is then found in it each time."""
        self.nodes = tuple(sorted(nodes))
        self.own = own
        """This process; None while a resolved name does not have it."""
        self._read = read
        self._read_at = time.monotonic()

    def owner(self, bank: str) -> str | None:
        """The node that answers the bank's recalls; None for this one."""
        if not self.nodes:
            return None
        owner = rendezvous(bank, self.nodes)
        return None if owner == self.own else owner

    @property
    def is_old(self) -> bool:
        """Whether the list should be read again."""
        return self._read is not None and time.monotonic() - self._read_at >= DNS_SECONDS

    def refresh(self) -> None:
        """Resolve the name again; a name that does not resolve leaves the list as it is. Blocks."""
        self._read_at = time.monotonic()
        if self._read is None:
            return
        try:
            nodes = tuple(sorted(self._read()))
        except OSError as error:
            log.warning("the list of nodes is as it was: %s", error)
            return
        if nodes != self.nodes:
            log.warning("the nodes are now %s", ", ".join(nodes))
            self.nodes, self.own = nodes, _local(nodes)


def read_members(settings: Settings) -> Members | None:
    """The nodes that the settings name, None for a server on its own.

    Raises InvalidInput for a list without this server, a URL that is none or comes twice, or a database that is no server's.
    """
    listed = [part.strip() for part in settings.nodes.split(",") if part.strip()]
    if not listed:
        if settings.node:
            raise InvalidInput("node", "`nodes` beside it", settings.node)
        return None
    if not settings.database.startswith(("postgresql://", "postgres://")):
        raise InvalidInput("nodes", "PostgreSQL in `database`: nodes share one", settings.shown_database)
    if listed[0].startswith(DNS):
        return _resolved_members(settings, listed)
    nodes = [node_url(part) for part in listed]
    repeated = sorted({node for node in nodes if nodes.count(node) > 1})
    if repeated:
        raise InvalidInput("nodes", "each node once", repeated[0])
    return Members(nodes, _own(settings, nodes))


def node_url(text: str) -> str:
    """A node's URL in its one form: scheme, host and port."""
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise InvalidInput("nodes", _EXPECTED, text) from None
    bare = not (parts.path.strip("/") or parts.query or parts.fragment or parts.username or parts.password)
    if parts.scheme not in ("http", "https") or not parts.hostname or not bare:
        raise InvalidInput("nodes", _EXPECTED, text)
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}:{port or (443 if parts.scheme == 'https' else 80)}"


def resolve(name: str, port: int) -> list[str]:
    """The addresses of a name."""
    addresses = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)
    return sorted({str(address[0]) for *_, address in addresses})


def is_local(address: str) -> bool:
    """Whether an address is one of this machine's: only then can a socket be bound to it."""
    try:
        with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.bind((address, 0))
    except OSError:
        return False
    return True


def _own(settings: Settings, nodes: Sequence[str]) -> str:
    """Which of the nodes this server is: as it was told, or the only one with its port on this machine."""
    if settings.node:
        own = node_url(settings.node)
        if own not in nodes:
            raise InvalidInput("node", f"one of the nodes: {', '.join(nodes)}", own)
        return own
    here = [node for node in nodes if _is_here(node, settings.port)]
    if len(here) != 1:
        told = f"{', '.join(here)} could be this server" if here else "none of `nodes` is this server"
        raise InvalidInput("node", f"this server's own URL of `nodes` ({told}, on port {settings.port})")
    return here[0]


def _is_here(node: str, port: int) -> bool:
    parts = urlsplit(node)
    assert parts.hostname is not None
    if parts.port != port:
        return False
    try:
        return any(is_local(address) for address in resolve(parts.hostname, port))
    except OSError:
        return False  # A node that is not up yet may have no name yet.


def _resolved_members(settings: Settings, listed: Sequence[str]) -> Members:
    """The nodes behind a name; this server need not be among them yet."""
    if len(listed) != 1:
        raise InvalidInput("nodes", f"{DNS} alone, or URLs", ", ".join(listed))
    if settings.node:
        raise InvalidInput("node", f"no value with {DNS}: a node finds itself by its address", settings.node)
    parts = urlsplit(listed[0])
    try:
        name, port = parts.hostname, parts.port or settings.port
    except ValueError:
        raise InvalidInput("nodes", _EXPECTED, listed[0]) from None
    if not name or parts.path.strip("/"):
        raise InvalidInput("nodes", _EXPECTED, listed[0])

    def read() -> list[str]:
        addresses = resolve(name, port)
        return [f"http://[{one}]:{port}" if ":" in one else f"http://{one}:{port}" for one in addresses]

    try:
        nodes = read()
    except OSError as error:
        raise InvalidInput("nodes", f"a name that resolves ({error.strerror})", listed[0]) from error
    own = _local(nodes)
    if own is None:
        log.warning("%s does not have this server yet; other nodes answer for it until it does", listed[0])
    return Members(nodes, own, read)


def _local(nodes: Sequence[str]) -> str | None:
    """The node whose address is this machine's."""
    return next((node for node in nodes if is_local(urlsplit(node).hostname or "")), None)
