"""Identity: names made from content, the same wherever and whenever they are made."""

from __future__ import annotations

from hashlib import blake2b


def digest(*parts: str) -> str:
    """A stable 128-bit hash in the form of a UUID."""
    joined = "\x1f".join(parts).encode("utf-8")
    value = blake2b(joined, digest_size=16).hexdigest()
    return f"{value[:8]}-{value[8:12]}-{value[12:16]}-{value[16:20]}-{value[20:]}"
