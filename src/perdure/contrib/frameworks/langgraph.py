"""LangGraph: a store that gives values back as they were put, and finds them by meaning with Perdure's recall.

A value is kept as a record, verbatim, and its texts are retained as a document, so that `search(query=...)` is a recall within
the namespace. One bank for the whole store, or one per leading labels of the namespace.
"""

from __future__ import annotations

import asyncio
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from perdure import AsyncPerdure, Perdure
from perdure.contrib.frameworks.versions import require
from perdure.domain.bank import check_bank_id
from perdure.domain.item import Item as RetainItem
from perdure.domain.record import Record
from perdure.errors import InvalidInput

require("langgraph-checkpoint", "4.3", "langchain")

from langgraph.store.base import (  # noqa: E402 - after the check of its version
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    get_text_at_path,
    tokenize_path,
    validate_op_namespace,
)
from langgraph.store.base.batch import AsyncBatchedBaseStore  # noqa: E402

__all__ = ["AsyncPerdureStore", "PerdureStore"]

ITEM = "langgraph.item"
"""Kind of the records that hold the values of a store."""
WHOLE = "$"
"""The path of the whole value: all of its texts are retained."""
SEARCH_TOKENS = 20_000
"""Tokens of facts that a search reads at most."""
_TEXT_KEYS = frozenset({"content", "text", "memory", "value", "data"})
"""Keys that say nothing about the text below them."""

_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "$eq": operator.eq,
    "$ne": operator.ne,
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}


class _Items:
    """The items of a memory, as a store's operations see them; `batch` is all that a store is."""

    def __init__(self, memory: Perdure, bank: str, bank_labels: int, fields: Sequence[str]) -> None:
        if isinstance(bank_labels, bool) or not isinstance(bank_labels, int) or bank_labels < 0:
            raise InvalidInput("bank_labels", "a number from 0 on", bank_labels)
        if isinstance(fields, str):
            raise InvalidInput("fields", "a list of paths", fields)
        self._memory = memory
        self._bank = check_bank_id(bank)
        self._bank_labels = bank_labels
        self._fields = tuple(fields)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations. Reads see what was there before the batch; of two puts of one key the last one counts."""
        todo = list(ops)
        for op in todo:
            validate_op_namespace(op)
        stored: dict[str, list[Record]] = {}
        results = [self._read(op, stored) for op in todo]
        puts = {(op.namespace, op.key): op for op in todo if isinstance(op, PutOp)}
        self._put([op for op in puts.values() if op.value is not None])
        for op in puts.values():
            if op.value is None:
                self._delete(op)
        return results

    def _read(self, op: Op, stored: dict[str, list[Record]]) -> Result:
        if isinstance(op, GetOp):
            bank = self._bank_of(op.namespace)
            records = self._memory.records.list(ITEM, bank=bank, ids=[_item_id(op.namespace, op.key)])
            return _item(records[0]) if records else None
        if isinstance(op, SearchOp):
            return self._search(op, stored)
        if isinstance(op, ListNamespacesOp):
            return self._namespaces(op, stored)
        if isinstance(op, PutOp):
            return None
        raise InvalidInput("ops", "get, put, search and list operations", op)

    # Reading

    def _search(self, op: SearchOp, stored: dict[str, list[Record]]) -> list[SearchItem]:
        records = [
            record
            for record in self._records(op.namespace_prefix, stored)
            if _starts_with(_namespace(record), op.namespace_prefix) and _passes(record, op.filter)
        ]
        scores = self._scores(op) if op.query and op.query.strip() and self._fields else None
        records.sort(key=lambda record: str(record.body["updated_at"]), reverse=True)
        if scores is None:
            chosen = records[op.offset : op.offset + op.limit]
            return [_search_item(record, None) for record in chosen]
        ranked = sorted(records, key=lambda record: _order(record, scores))
        chosen = ranked[op.offset : op.offset + op.limit]
        return [
            _search_item(
                record, scores.get((record.bank, record.id), 0.0) if record.body["indexed"] else None
            )
            for record in chosen
        ]

    def _scores(self, op: SearchOp) -> dict[tuple[str, str], float]:
        """(bank, item id) -> relevance of the best fact that the question recalls of it."""
        scores: dict[tuple[str, str], float] = {}
        tags = [_tag(op.namespace_prefix)] if op.namespace_prefix else None
        for bank in self._banks(op.namespace_prefix):
            for one in self._memory.recall(bank, op.query or "", max_tokens=SEARCH_TOKENS, tags=tags):
                key = (bank, one.fact.document_id or "")
                scores[key] = max(scores.get(key, 0.0), one.relevance)
        return scores

    def _namespaces(self, op: ListNamespacesOp, stored: dict[str, list[Record]]) -> list[tuple[str, ...]]:
        conditions = op.match_conditions or ()
        prefix = next((one.path for one in conditions if one.match_type == "prefix"), ())
        fixed = prefix[: prefix.index("*")] if "*" in prefix else prefix
        namespaces = {_namespace(record) for record in self._records(fixed, stored)}
        matching = {one for one in namespaces if all(_matches(one, condition) for condition in conditions)}
        depth = op.max_depth
        shown = sorted({one[:depth] if depth is not None else one for one in matching})
        return shown[op.offset : op.offset + op.limit]

    def _records(self, prefix: Sequence[str], stored: dict[str, list[Record]]) -> list[Record]:
        """Return the items of all banks that a namespace with this prefix may be in, read once per batch."""
        for bank in self._banks(prefix):
            if bank not in stored:
                stored[bank] = self._memory.records.list(ITEM, bank=bank)
        return [record for bank in self._banks(prefix) for record in stored[bank]]

    def _bank_of(self, namespace: Sequence[str]) -> str:
        return check_bank_id(".".join([self._bank, *namespace[: self._bank_labels]]))

    def _banks(self, prefix: Sequence[str]) -> list[str]:
        """Return the bank of a prefix that names it, else all that begin with its labels."""
        start = self._bank_of(prefix)
        if len(prefix) >= self._bank_labels:
            return [start]
        return [
            bank.id
            for bank in self._memory.banks.list()
            if bank.id == start or bank.id.startswith(f"{start}.")
        ]

    # Writing

    def _put(self, ops: Sequence[PutOp]) -> None:
        now = datetime.now(UTC).isoformat()
        retained: dict[str, list[RetainItem]] = {}
        for op in ops:
            bank, item_id = self._bank_of(op.namespace), _item_id(op.namespace, op.key)
            earlier = self._memory.records.list(ITEM, bank=bank, ids=[item_id])
            texts = self._texts(op)
            body = {
                "namespace": list(op.namespace),
                "key": op.key,
                "value": op.value,
                "created_at": earlier[0].body["created_at"] if earlier else now,
                "updated_at": now,
                "indexed": bool(texts),
            }
            self._memory.records.save(Record(kind=ITEM, id=item_id, bank=bank, body=body))
            if texts:
                retained.setdefault(bank, []).append(_document(item_id, op.namespace, texts))
            elif earlier and earlier[0].body["indexed"]:
                self._memory.forget(bank, document_id=item_id)
        for bank, items in retained.items():
            self._memory.retain(bank, items)

    def _delete(self, op: PutOp) -> None:
        bank, item_id = self._bank_of(op.namespace), _item_id(op.namespace, op.key)
        if self._memory.records.list(ITEM, bank=bank, ids=[item_id]):
            self._memory.forget(bank, document_id=item_id)
            self._memory.records.delete(ITEM, item_id, bank=bank)

    def _texts(self, op: PutOp) -> list[str]:
        """Return the texts of a value that are retained: those at the paths of the put, else of the store."""
        if op.index is False:
            return []
        paths = self._fields if op.index is None else (op.index if self._fields else ())
        texts: list[str] = []
        for path in paths:
            if path == WHOLE:
                texts += _all_texts(op.value or {})
            else:
                texts += [text for text in get_text_at_path(op.value, tokenize_path(path)) if text.strip()]
        return texts


class PerdureStore(BaseStore):
    """A LangGraph store in a Perdure memory: `create_agent(..., store=PerdureStore(memory, bank="shop"))`.

    `bank_labels` of a namespace's first labels are part of the bank, so that the memory of a user whose id is such a label can
    be forgotten as a whole. `fields` are the paths whose texts are found by meaning, all unless given; none for a plain store.
    Reading without a question goes through all items of the banks that the namespace may be in.
    """

    supports_ttl = False

    def __init__(
        self,
        memory: Perdure | AsyncPerdure,
        bank: str,
        *,
        bank_labels: int = 0,
        fields: Sequence[str] = (WHOLE,),
    ) -> None:
        engine = memory.engine if isinstance(memory, AsyncPerdure) else memory
        self._items = _Items(engine, bank, bank_labels, fields)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations; their results in the same order."""
        return self._items.batch(ops)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """As `batch`, on a worker thread."""
        return await asyncio.to_thread(self._items.batch, list(ops))


class AsyncPerdureStore(AsyncBatchedBaseStore):
    """The same for programs with one event loop, where it must be made: calls at the same time become one batch."""

    supports_ttl = False

    def __init__(
        self,
        memory: Perdure | AsyncPerdure,
        bank: str,
        *,
        bank_labels: int = 0,
        fields: Sequence[str] = (WHOLE,),
    ) -> None:
        super().__init__()
        engine = memory.engine if isinstance(memory, AsyncPerdure) else memory
        self._items = _Items(engine, bank, bank_labels, fields)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations from another thread than the event loop's, where it would wait for itself."""
        if _running_loop() is self._loop:
            raise asyncio.InvalidStateError(
                "a blocking call on the event loop of the store; await abatch, aget, aput, asearch or adelete instead"
            )
        todo = list(ops)
        for op in todo:
            validate_op_namespace(op)
        return asyncio.run_coroutine_threadsafe(self.abatch(todo), self._loop).result()

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations on a worker thread; their results in the same order."""
        return await asyncio.to_thread(self._items.batch, list(ops))


def _running_loop() -> asyncio.AbstractEventLoop | None:
    """Return the event loop of this thread, None where none runs."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _item_id(namespace: Sequence[str], key: str) -> str:
    """`users/ann/key`: the id of an item's record and of its document."""
    return "/".join(quote(part, safe="") for part in (*namespace, key))


def _document(item_id: str, namespace: Sequence[str], texts: Sequence[str]) -> RetainItem:
    prefixes = (namespace[:end] for end in range(1, len(namespace) + 1))
    return RetainItem(content="\n".join(texts), document_id=item_id, tags=frozenset(map(_tag, prefixes)))


def _tag(namespace: Sequence[str]) -> str:
    """Return the tag of everything in a namespace; labels have no dots, so a prefix ends where a label does."""
    return "namespace:" + ".".join(quote(label, safe="") for label in namespace)


def _all_texts(value: object, key: str = "") -> list[str]:
    """Return the texts in a value, each after its key where that says something about it."""
    if isinstance(value, str):
        said = value.strip()
        return [f"{key}: {said}" if key and key not in _TEXT_KEYS else said] if said else []
    if isinstance(value, Mapping):
        return [text for name, inner in value.items() for text in _all_texts(inner, str(name))]
    if isinstance(value, Sequence):
        return [text for inner in value for text in _all_texts(inner, key)]
    return []


def _namespace(record: Record) -> tuple[str, ...]:
    labels: Any = record.body["namespace"]
    return tuple(labels)


def _item(record: Record) -> Item:
    body: Mapping[str, Any] = record.body
    return Item(
        value=body["value"],
        key=body["key"],
        namespace=_namespace(record),
        created_at=datetime.fromisoformat(body["created_at"]),
        updated_at=datetime.fromisoformat(body["updated_at"]),
    )


def _search_item(record: Record, score: float | None) -> SearchItem:
    body: Mapping[str, Any] = record.body
    return SearchItem(
        namespace=_namespace(record),
        key=body["key"],
        value=body["value"],
        created_at=datetime.fromisoformat(body["created_at"]),
        updated_at=datetime.fromisoformat(body["updated_at"]),
        score=score,
    )


def _order(record: Record, scores: Mapping[tuple[str, str], float]) -> tuple[bool, float]:
    """Best first; what is not indexed last."""
    return (not record.body["indexed"], -scores.get((record.bank, record.id), 0.0))


def _starts_with(namespace: Sequence[str], prefix: Sequence[str]) -> bool:
    return tuple(namespace[: len(prefix)]) == tuple(prefix)


def _matches(namespace: Sequence[str], condition: MatchCondition) -> bool:
    """Whether a namespace begins or ends with a path, in which `*` is any one label."""
    path = tuple(condition.path)
    if condition.match_type not in ("prefix", "suffix"):
        raise InvalidInput("match_type", "prefix or suffix", condition.match_type)
    if len(path) > len(namespace):
        return False
    part = (
        namespace[: len(path)]
        if condition.match_type == "prefix"
        else namespace[len(namespace) - len(path) :]
    )
    return all(label in ("*", own) for label, own in zip(path, part, strict=True))


def _passes(record: Record, conditions: Mapping[str, Any] | None) -> bool:
    value: Any = record.body["value"]
    return all(_meets(_at(value, path), condition) for path, condition in (conditions or {}).items())


_ABSENT = object()


def _at(value: object, path: str) -> object:
    """Return the value at a key, or at a path with dots where there is no such key."""
    if isinstance(value, Mapping) and path in value:
        return value[path]
    for name in path.split("."):
        if not isinstance(value, Mapping) or name not in value:
            return _ABSENT
        value = value[name]
    return value


def _meets(value: object, condition: object) -> bool:
    """Whether a value equals what a filter says, or meets all of its comparisons (`{"$gt": 3}`)."""
    if isinstance(condition, Mapping) and any(str(name).startswith("$") for name in condition):
        return all(_compares(value, str(name), other) for name, other in condition.items())
    return value is not _ABSENT and bool(value == condition)


def _compares(value: object, name: str, other: object) -> bool:
    compare = _COMPARISONS.get(name)
    if compare is None:
        raise InvalidInput("filter", "one of " + ", ".join(_COMPARISONS), name)
    if value is _ABSENT:
        return name == "$ne"
    try:
        return bool(compare(value, other))
    except TypeError:
        return False
