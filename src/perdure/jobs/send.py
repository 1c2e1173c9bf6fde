"""Sending an event over HTTP, to the address that was checked and to no private one."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import ipaddress
import json
import socket
import ssl
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

from perdure.domain.webhook import Webhook, WebhookDelivery

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve = Callable[[str, int], Sequence[str]]
"""(host, port) -> its addresses as text; raises `OSError` if it has none."""


class AddressRefused(Exception):
    """The host resolves to an address that must not be contacted."""


@dataclass(frozen=True, slots=True)
class Sent:
    """The outcome of an attempt: the status of the response, or why there is none."""

    status: int | None = None
    error: str | None = None
    refused: bool = False
    """Whether a retry would be pointless."""

    @property
    def is_accepted(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


def look_up(host: str, port: int) -> list[str]:
    """Return the addresses of a host, as the system resolves it."""
    return list(
        dict.fromkeys(str(info[4][0]) for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
    )


def is_public(address: Address) -> bool:
    """Return whether an address belongs to the internet: not to this machine or a private network.

    An IPv6 address that represents an IPv4 one (mapped, 6to4, Teredo, NAT64) is judged by that too.
    """
    if isinstance(address, ipaddress.IPv6Address):
        inner = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
        if address in ipaddress.ip_network("64:ff9b::/96"):
            inner.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
        if not all(is_public(one) for one in inner if one is not None):
            return False
        if address.ipv4_mapped is not None:
            return True
        if address.is_site_local:
            return False
    return address.is_global and not address.is_multicast


def pinned_address(url: str, *, allow_private: bool, resolve: Resolve = look_up) -> str:
    """Return the address to connect to. Raise `AddressRefused` if one of the host's is not public."""
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    addresses = resolve(parts.hostname or "", port)
    if not addresses:
        raise OSError("the host has no address")
    if not allow_private and not all(
        is_public(ipaddress.ip_address(one.partition("%")[0])) for one in addresses
    ):
        raise AddressRefused("the host stands for an address that is not public")
    return addresses[0]


def signature(secret: str, body: bytes) -> str:
    """Return `sha256=` and the HMAC-SHA256 of the body, in hexadecimal."""
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


class HttpSender:
    """Sends deliveries. Redirects are never followed."""

    def __init__(self, *, allow_private: bool = False, resolve: Resolve = look_up) -> None:
        self._allow_private, self._resolve = allow_private, resolve
        self._lock = threading.Lock()
        self._connections: set[_PinnedConnection] = set()
        self._closed = False

    def close(self) -> None:
        """Abort running attempts, and make no more."""
        with self._lock:
            self._closed = True
            connections = list(self._connections)
        for connection in connections:
            connection.abort()

    def check(self, url: str) -> None:
        """Raise `AddressRefused` if the host is known to be private; `send` checks again."""
        with suppress(OSError):
            pinned_address(url, allow_private=self._allow_private, resolve=self._resolve)

    def send(self, webhook: Webhook, delivery: WebhookDelivery) -> Sent:
        """Make one attempt, within the webhook's time-out."""
        body = json.dumps(delivery.payload, ensure_ascii=False, separators=(",", ":")).encode()
        headers = {
            **webhook.http.headers,
            "Content-Type": "application/json",
            "User-Agent": "perdure-webhook",
            "X-Hindsight-Event": delivery.event_type,
            "X-Perdure-Delivery": delivery.id,
        }
        if webhook.secret:
            headers["X-Hindsight-Signature"] = signature(webhook.secret, body)
        try:
            address = pinned_address(webhook.url, allow_private=self._allow_private, resolve=self._resolve)
            return Sent(status=self._request(webhook, address, body, headers))
        except AddressRefused as error:
            return Sent(error=str(error), refused=True)
        except (OSError, http.client.HTTPException, ValueError) as error:
            return Sent(error=f"{type(error).__name__}: {error}"[:500])

    def _request(self, webhook: Webhook, address: str, body: bytes, headers: Mapping[str, str]) -> int:
        parts = urlsplit(webhook.url)
        query = "&".join(filter(None, (parts.query, urlencode(webhook.http.params))))
        target = (parts.path or "/") + (f"?{query}" if query else "")
        seconds = float(webhook.http.timeout_seconds)
        is_tls = parts.scheme == "https"
        port = parts.port or (443 if is_tls else 80)
        connection = _PinnedConnection(parts.hostname or "", port, address, seconds, is_tls)
        # A socket's timeout is per read: the timer bounds the whole attempt.
        timer = threading.Timer(seconds, connection.abort)
        timer.daemon = True
        with self._lock:
            if self._closed:
                raise ConnectionAbortedError("nothing is sent any more")
            self._connections.add(connection)
        timer.start()
        try:
            connection.request(webhook.http.method, target, body, dict(headers))
            return connection.getresponse().status
        finally:
            timer.cancel()
            connection.close()
            with self._lock:
                self._connections.discard(connection)


class _PinnedConnection(http.client.HTTPConnection):
    """A connection to one address under the name of its host, which TLS verifies."""

    def __init__(self, host: str, port: int, address: str, seconds: float, is_tls: bool) -> None:
        self.default_port = 443 if is_tls else 80
        super().__init__(host, port, timeout=seconds)
        self._address, self._is_tls, self._aborted = address, is_tls, False

    def connect(self) -> None:
        plain = socket.create_connection((self._address, self.port), self.timeout)
        self.sock = plain
        if self._is_tls:
            self.sock = ssl.create_default_context().wrap_socket(plain, server_hostname=self.host)
        if self._aborted:
            raise TimeoutError("no answer in time")

    def abort(self) -> None:
        """Abort the attempt from another thread."""
        self._aborted = True
        if self.sock is not None:
            with suppress(OSError):
                self.sock.shutdown(socket.SHUT_RDWR)
