"""CrewAI: its `Memory` on a bank of Perdure, with no model, embedder or vector store of the framework behind it.

What is remembered is kept twice: verbatim as a record, which listings, updates and scopes go by, and as a document of facts,
which recall goes by. Facts that came to the bank in another way are recalled too.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import wait
from datetime import UTC, datetime
from typing import Any, Literal, Self
from uuid import NAMESPACE_OID, uuid5

from perdure import AsyncPerdure, Perdure
from perdure.contrib.frameworks.agent_memory import (
    DEADLINE,
    MAX_TOKENS,
    AgentMemory,
    BankSource,
    resolve_bank,
)
from perdure.contrib.frameworks.turns import ASSISTANT, USER
from perdure.contrib.frameworks.versions import require
from perdure.domain.filter import Filter, TagLeaf
from perdure.domain.recall import Precision, Recollection
from perdure.domain.record import Record
from perdure.domain.rendering import marked, quoted
from perdure.errors import NotFound, Unavailable

require("crewai", "1.15", "crewai")

from crewai.events.event_bus import crewai_event_bus  # noqa: E402
from crewai.events.types.memory_events import (  # noqa: E402
    MemoryQueryCompletedEvent,
    MemoryQueryStartedEvent,
)
from crewai.memory.types import MemoryMatch, MemoryRecord, ScopeInfo  # noqa: E402
from crewai.memory.unified_memory import Memory  # noqa: E402
from crewai.memory.utils import join_scope_paths, normalize_scope_path  # noqa: E402

if not hasattr(Memory, "_encode_batch"):
    raise Unavailable("this version of crewai saves memories in a way that the adapter was not written for")

log = logging.getLogger(__name__)

KIND = "crewai.memory"
"""Kind of the records that hold what was remembered, verbatim."""
WHOLE = 500
"""Characters up to which a match shows a memory as it was saved; of a longer one the facts that match."""
_FRAME = re.compile(r"(Task|Input): (?P<input>.*?)\nAgent: .*?\nResult: (?P<result>.*)", re.DOTALL)
"""What the framework puts around the result of a task, or around an agent's input and result."""
_WORKING = re.compile(r"\A.*^\s*Final Answer:\s*", re.DOTALL | re.MULTILINE)
"""What an agent without function calls writes before its answer, by the framework's own instructions."""


class Said(str):
    """A text to remember, with the role of who said it."""

    __slots__ = ("role",)
    role: str

    @classmethod
    def by(cls, role: str, text: str) -> Self:
        """Return the text as this role's words."""
        said = cls(text)
        said.role = role
        return said


class BankStorage:
    """A bank as a storage backend: records and documents side by side."""

    def __init__(self, agent: AgentMemory, engine: Perdure, bank: BankSource) -> None:
        self.agent = agent
        self.engine = engine
        self._bank = bank

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return the storage itself: crews copy their memories, and the engine behind is one."""
        return self

    @property
    def bank(self) -> str:
        """The bank's id."""
        return resolve_bank(self._bank)

    def save(self, records: list[MemoryRecord]) -> None:
        """Insert or replace records and the facts of each."""
        for record in records:
            fields: dict[str, Any] = {"document_id": _document_id(record.id), "tags": _tags(record)}
            role = getattr(record.content, "role", None)
            content = [{"role": role, "content": str(record.content)}] if role else record.content
            self.engine.retain(self.bank, content, **fields)
            body = record.model_dump(mode="json")
            self.engine.records.save(Record(kind=KIND, id=record.id, bank=self.bank, body=body))

    def update(self, record: MemoryRecord) -> None:
        """Replace a record."""
        self.save([record])

    def search(self, query_embedding: list[float], **filters: object) -> list[tuple[MemoryRecord, float]]:
        """Unavailable: a vector of another model is no question. `PerdureMemory.recall` asks with words."""
        raise Unavailable("this storage is searched with words, through PerdureMemory")

    def find(
        self,
        query: str,
        scope: str | None,
        categories: Sequence[str] | None,
        limit: int,
        precision: Precision,
    ) -> list[tuple[MemoryRecord, float]]:
        """Return the memories nearest to a question, best first, each with the probability that it helps."""
        tags = [TagLeaf(frozenset({_scope_tag(scope)}))] if _below_root(scope) else []
        if categories:
            tags.append(TagLeaf(frozenset(map(_category_tag, categories))))
        result = self.engine.recall(
            self.bank, query, limit=limit, max_tokens=self.agent.max_tokens, precision=precision,
            where=Filter(tags=tuple(tags)),
        )  # fmt: skip
        facts: dict[str, list[Recollection]] = {}
        for recollection in result:
            facts.setdefault(recollection.fact.document_id or recollection.fact.id, []).append(recollection)
        ids = [name.removeprefix(f"{KIND}/") for name in facts]
        records = {record.id: record for record in self._read(ids)}
        return [
            (_shown(records.get(ident), matching), matching[0].relevance)
            for ident, matching in zip(ids, facts.values(), strict=True)
        ]

    def get_record(self, record_id: str) -> MemoryRecord | None:
        """One record, or None."""
        return next(iter(self._read([record_id])), None)

    def list_records(
        self, scope_prefix: str | None = None, limit: int = 200, offset: int = 0
    ) -> list[MemoryRecord]:
        """Return the records of a scope and those below it, newest first."""
        return self._within(scope_prefix)[offset : offset + limit]

    def delete(
        self,
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        record_ids: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
    ) -> int:
        """Erase records that meet all conditions, with their facts; how many there were."""
        chosen = [
            record
            for record in self._within(scope_prefix)
            if (not record_ids or record.id in record_ids)
            and (not categories or set(categories) & set(record.categories))
            and (older_than is None or _utc(record.created_at) < _utc(older_than))
            and all(record.metadata.get(key) == value for key, value in (metadata_filter or {}).items())
        ]
        for record in chosen:
            self.engine.forget(self.bank, document_id=_document_id(record.id))
            self.engine.records.delete(KIND, record.id, bank=self.bank)
        others = set(record_ids or ()) - {record.id for record in chosen}
        facts = [one for one in others if not (scope_prefix or categories or older_than or metadata_filter)]
        return len(chosen) + sum(self._forget_fact(fact_id) for fact_id in facts)

    def _forget_fact(self, fact_id: str) -> bool:
        try:
            return self.engine.forget(self.bank, fact_id=fact_id).existed
        except NotFound:
            return False

    def reset(self, scope_prefix: str | None = None) -> None:
        """Erase what crews remembered in a scope, or everywhere; other facts of the bank stay."""
        self.delete(scope_prefix)

    def count(self, scope_prefix: str | None = None) -> int:
        """Return the number of records of a scope."""
        return len(self._within(scope_prefix))

    def list_scopes(self, parent: str = "/") -> list[str]:
        """Return the scopes right below one."""
        above = parent.rstrip("/") + "/"
        below = {
            record.scope[len(above) :].split("/", 1)[0]
            for record in self._within(parent)
            if record.scope.startswith(above)
        }
        return sorted(above + name for name in below if name)

    def list_categories(self, scope_prefix: str | None = None) -> dict[str, int]:
        """How many records each category has."""
        counts: dict[str, int] = {}
        for record in self._within(scope_prefix):
            for category in record.categories:
                counts[category] = counts.get(category, 0) + 1
        return counts

    def get_scope_info(self, scope: str) -> ScopeInfo:
        """Return a summary of a scope."""
        records = self._within(scope)
        return ScopeInfo(
            path=scope.rstrip("/") or "/",
            record_count=len(records),
            categories=sorted(self.list_categories(scope)),
            oldest_record=min((record.created_at for record in records), default=None),
            newest_record=max((record.created_at for record in records), default=None),
            child_scopes=self.list_scopes(scope),
        )

    async def asave(self, records: list[MemoryRecord]) -> None:
        """As `save`."""
        await self.agent.run_async(lambda: self.save(records), self.agent.tool_deadline)

    async def asearch(
        self, query_embedding: list[float], **filters: object
    ) -> list[tuple[MemoryRecord, float]]:
        """As `search`."""
        return self.search(query_embedding, **filters)

    async def adelete(self, **conditions: Any) -> int:
        """As `delete`."""
        return await self.agent.run_async(lambda: self.delete(**conditions), self.agent.tool_deadline)

    def _read(self, ids: Sequence[str] | None = None) -> list[MemoryRecord]:
        return [
            MemoryRecord.model_validate(record.body)
            for record in self.engine.records.list(KIND, bank=self.bank, ids=ids)
        ]

    def _within(self, scope: str | None) -> list[MemoryRecord]:
        records = self._read()
        if _below_root(scope):
            above = normalize_scope_path(str(scope))
            records = [one for one in records if one.scope == above or one.scope.startswith(f"{above}/")]
        return sorted(records, key=lambda record: _utc(record.created_at), reverse=True)


class PerdureMemory(Memory):
    """`Crew(memory=PerdureMemory(memory, bank="shop.ann"))`, or the memory of one agent or flow."""

    precision: str = "inject"
    """`inject` recalls only what probably helps, `search` whatever is nearest."""

    def __init__(
        self,
        memory: Perdure | AsyncPerdure,
        *,
        bank: BankSource,
        max_tokens: int = MAX_TOKENS,
        deadline: float = DEADLINE,
        **options: Any,
    ) -> None:
        agent = AgentMemory(memory, max_tokens=max_tokens, deadline=deadline)
        engine = memory.engine if isinstance(memory, AsyncPerdure) else memory
        super().__init__(storage=BankStorage(agent, engine, bank), **options)

    @property
    def bank_storage(self) -> BankStorage:
        """The storage, as what it is."""
        storage = self.storage
        assert isinstance(storage, BankStorage)
        return storage

    def drain_writes(self) -> None:
        """Wait for saves that are under way, for 30 s at most: a crew ends too where memory hangs."""
        with self._pending_lock:
            pending = list(self._pending_saves)
        late = wait(pending, timeout=self.bank_storage.agent.tool_deadline).not_done
        if late:
            log.warning("%d saves of a crew's memory are not waited for any longer", len(late))

    def extract_memories(self, content: str) -> list[str]:
        """Return what is worth remembering of a run: its answer, and what a user said to an agent; no tasks, no thoughts."""
        framed = _FRAME.fullmatch(content.strip())
        if framed is None:
            return [content] if content.strip() else []
        said = [Said.by(ASSISTANT, _WORKING.sub("", framed["result"], count=1))]
        if framed[1] == "Input":
            said.insert(0, Said.by(USER, framed["input"]))
        return [text for text in said if text.strip()]

    def _encode_batch(
        self,
        contents: list[str],
        scope: str | None = None,
        categories: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        importance: float | None = None,
        source: str | None = None,
        private: bool = False,
        root_scope: str | None = None,
    ) -> list[MemoryRecord]:
        """Store texts without asking a model about them; where the framework would have one choose, the scope is the root."""
        records: dict[str, MemoryRecord] = {}
        path = join_scope_paths(root_scope, scope)
        for content in filter(str.strip, contents):
            record_id = _record_id(path, source, private, content)
            saved = records.get(record_id) or self.bank_storage.get_record(record_id)
            if saved is None:
                saved = MemoryRecord(
                    id=record_id,
                    content=str(content),
                    scope=path,
                    categories=categories or [],
                    metadata={**(metadata or {}), **_spoken_by(content)},
                    importance=self.default_importance if importance is None else importance,
                    source=source,
                    private=private,
                )
                self.bank_storage.save([saved.model_copy(update={"content": content})])
            records[record_id] = saved
        return list(records.values())

    def recall(
        self,
        query: str,
        scope: str | None = None,
        categories: list[str] | None = None,
        limit: int = 10,
        depth: Literal["shallow", "deep"] = "deep",
        source: str | None = None,
        include_private: bool = False,
    ) -> list[MemoryMatch]:
        """Memories that help with a question, best first; none where memory fails or is late. `depth` changes nothing."""
        storage = self.bank_storage
        where = join_scope_paths(self.root_scope, scope) if self.root_scope else scope

        def find() -> list[MemoryMatch]:
            self.drain_writes()
            if not query.strip():
                return []
            nearest = storage.find(query, where, categories, limit, Precision(self.precision))
            return [
                MemoryMatch(record=record, score=min(max(score, 0.0), 1.0), match_reasons=["semantic"])
                for record, score in nearest
                if include_private or not record.private or (source is not None and record.source == source)
            ]

        _emit(self, lambda: MemoryQueryStartedEvent(query=query, limit=limit, source_type="unified_memory"))
        begun = datetime.now(UTC)
        nothing: list[MemoryMatch] = []
        matches = storage.agent.in_time(find, nothing, "recall")
        took = (datetime.now(UTC) - begun).total_seconds() * 1000
        _emit(
            self,
            lambda: MemoryQueryCompletedEvent(
                query=query, results=matches, limit=limit, query_time_ms=took, source_type="unified_memory"
            ),
        )
        return matches


def _emit(source: object, event: Callable[[], object]) -> None:
    crewai_event_bus.emit(source, event())


def _document_id(record_id: str) -> str:
    return f"{KIND}/{record_id}"


def _spoken_by(content: str) -> dict[str, str]:
    return {"role": content.role} if isinstance(content, Said) else {}


def _record_id(scope: str, source: str | None, private: bool, content: str) -> str:
    """Return an id that is equal for the same text in the same place, so that what is said again is remembered once."""
    return str(uuid5(NAMESPACE_OID, json.dumps([scope, source, private, content])))


def _below_root(scope: str | None) -> bool:
    return bool(scope and scope.strip("/"))


def _scope_tag(scope: str | None) -> str:
    return f"scope:{normalize_scope_path(scope or '/')}"


def _category_tag(category: str) -> str:
    return f"category:{category}"


def _tags(record: MemoryRecord) -> list[str]:
    """Return a tag for the scope and each scope above it, so that a prefix is one tag, and one for each category."""
    names = [name for name in record.scope.split("/") if name]
    scopes = ["/" + "/".join(names[:depth]) for depth in range(len(names) + 1)]
    return [*map(_scope_tag, scopes), *map(_category_tag, record.categories)]


def _shown(record: MemoryRecord | None, matching: Iterable[Recollection]) -> MemoryRecord:
    """Return the record as saved where it is short and not in the user's own "I", else with the facts that match.

    A fact that came another way is a record of its own. Texts are inert: agents read them without a fence.
    """
    facts = [recollection.fact for recollection in matching]
    text = " ".join(quoted(fact, fact.text) for fact in facts)
    if record is None:
        said = facts[0].mentioned_at
        times = {} if said is None else {"created_at": said, "last_accessed": said}
        return MemoryRecord(id=facts[0].id, content=text, **times)
    whole = len(record.content) <= WHOLE and record.metadata.get("role") != USER
    return record.model_copy(update={"content": marked(record.content) if whole else text})


def _utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
