"""Labelled data files: banks of items and queries with the items that answer them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from perdure.errors import InvalidInput, NotFound

CACHE = Path.home() / ".cache" / "perdure" / "eval"
"""Where retained banks and the results of evaluations are kept."""
UNTYPED = "untyped"
"""The type of a query that names none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledItem:
    """A turn of a conversation, or a passage with a title."""

    id: str
    text: str
    session: str | None = None
    date: str | None = None
    speaker: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledQuery:
    """A question with the items (and sessions) that answer it."""

    id: str
    text: str
    type: str
    evidence: frozenset[str]
    evidence_sessions: frozenset[str]
    date: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledBank:
    """Items and questions that belong together."""

    id: str
    items: Sequence[LabelledItem]
    queries: Sequence[LabelledQuery]

    def digest(self) -> str:
        """Return a digest of the items."""
        joined = json.dumps([[i.id, i.text, i.session, i.date, i.speaker, i.title] for i in self.items])
        return blake2b(joined.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def load_banks(path: Path) -> list[LabelledBank]:
    """Return all banks of a data file; errors name the position."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise NotFound("file", str(path)) from error
    except UnicodeDecodeError as error:
        raise InvalidInput("data", f"UTF-8 text ({error.reason})", str(path)) from error
    except OSError as error:
        raise InvalidInput("data", f"a readable file ({error.strerror})", str(path)) from error
    except json.JSONDecodeError as error:
        raise InvalidInput("data", f"JSON ({error})", str(path)) from error
    if not isinstance(raw, list):
        raise InvalidInput("data", "a list of banks", type(raw).__name__)
    if not raw:
        raise InvalidInput("data", "at least one bank", raw)
    return [_bank(part, f"banks[{i}]") for i, part in enumerate(raw)]


def _bank(raw: Any, path: str) -> LabelledBank:
    for name in ("bank", "items", "queries"):
        if not isinstance(raw, Mapping) or name not in raw:
            raise InvalidInput(f"{path}.{name}", "bank, items and queries in every bank")
        if name != "bank" and not isinstance(raw[name], list):
            raise InvalidInput(f"{path}.{name}", "a list", type(raw[name]).__name__)
    items = [_item(part, f"{path}.items[{i}]") for i, part in enumerate(raw["items"])]
    session_of = {item.id: item.session or item.id for item in items}
    queries = [_query(part, session_of, f"{path}.queries[{i}]") for i, part in enumerate(raw["queries"])]
    return LabelledBank(id=str(raw["bank"]), items=items, queries=queries)


def _item(raw: Any, path: str) -> LabelledItem:
    if not isinstance(raw, Mapping) or "id" not in raw or "text" not in raw:
        raise InvalidInput(path, "an id and a text")
    return LabelledItem(
        id=str(raw["id"]),
        text=str(raw["text"]),
        session=raw.get("session"),
        date=raw.get("date"),
        speaker=str(raw.get("speaker") or ""),
        title=str(raw.get("title") or ""),
    )


def _query(raw: Any, session_of: Mapping[str, str], path: str) -> LabelledQuery:
    if not isinstance(raw, Mapping) or "id" not in raw or "query" not in raw:
        raise InvalidInput(path, "an id and a query")
    for name in ("evidence", "evidence_sessions"):
        if not isinstance(raw.get(name) or [], list):
            raise InvalidInput(f"{path}.{name}", "a list of ids", raw[name])
    evidence = frozenset(str(item) for item in raw.get("evidence") or ())
    sessions = raw.get("evidence_sessions") or {session_of[item] for item in evidence if item in session_of}
    return LabelledQuery(
        id=str(raw["id"]),
        text=str(raw["query"]),
        type=str(raw.get("type") or UNTYPED),
        evidence=evidence,
        evidence_sessions=frozenset(sessions),
        date=raw.get("date"),
    )
