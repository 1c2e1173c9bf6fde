"""Imports: read everything once -> compare with earlier imports -> retain what is new or changed."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import blake2b

from perdure.domain.bank import check_bank_id
from perdure.domain.imported import (
    IMPORTED_DOCUMENT,
    MOST_SKIPPED,
    ImportedDocument,
    ImportProgress,
    ImportReport,
    SkippedPart,
)
from perdure.domain.item import UNFINISHED_DOCUMENT, USER_ROLES, Item, RetainResult
from perdure.domain.plain import to_plain
from perdure.domain.record import Record
from perdure.errors import InvalidInput
from perdure.manage.curation import retag_document
from perdure.ports.extractor import Extractor
from perdure.ports.import_source import ImportSource
from perdure.ports.store import Transaction
from perdure.retain.commit import CommitReceipt
from perdure.retain.components import RetainComponents
from perdure.retain.pipeline import retain
from perdure.retain.ready import ReadyExtractor
from perdure.retain.request import RetainRequest

BATCH_ITEMS, BATCH_CHARACTERS = 64, 100_000
"""Of documents that are retained in one transaction; a longer document goes by itself."""
LOOKED_UP = 500
"""Documents that are compared with the store at once."""
_NOT_IN_BANK_IDS = re.compile(r"[^\w.@+-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """Options of an import."""

    user: str = ""
    """The user's name, if the source says only "user" or "human"."""
    tags: frozenset[str] = frozenset()
    """Added to everything."""
    split: bool = False
    """Create a bank per user, project or group of the source."""
    dry_run: bool = False


@dataclass(slots=True)
class _Tally:
    """Running counts."""

    counts: Counter[str] = field(default_factory=Counter)
    """By the names that they have in the report."""
    earliest: datetime | None = None
    latest: datetime | None = None
    skipped: list[SkippedPart] = field(default_factory=list)
    banks: dict[str, None] = field(default_factory=dict)

    def skip(self, part: SkippedPart) -> None:
        self.counts["skipped_total"] += 1
        if len(self.skipped) < MOST_SKIPPED:
            self.skipped.append(part)

    def count(self, document: ImportedDocument, bank: str) -> None:
        self.counts.update(documents=1, turns=len(document.items))
        self.banks[bank] = None
        for moment in [item.timestamp for item in document.items if item.timestamp is not None]:
            self.earliest = min(self.earliest or moment, moment)
            self.latest = max(self.latest or moment, moment)


@dataclass(frozen=True, slots=True)
class _Changed:
    """A new or changed document, with the digest of its content."""

    document: ImportedDocument
    digest: str
    stored: bool
    retagged: bool


def import_documents(
    components: RetainComponents,
    reader: Extractor,
    bank: str,
    source: ImportSource,
    options: ImportOptions,
    *,
    progress: Callable[[ImportProgress], None] | None = None,
    retained: Callable[[RetainResult], object] = lambda _: None,
) -> ImportReport:
    """Import a source. All of it is read before the first write, so that a bad file changes nothing.

    Each batch is written whole or not at all. A document whose digest is stored is skipped, so that a second
    run changes nothing and an interrupted one continues. A document that is gone from the source stays.
    """
    check_bank_id(bank)
    tally = _Tally()
    seen: dict[str, str] = {}
    for part in source.read():
        if isinstance(part, SkippedPart):
            tally.skip(part)
            continue
        if part.id in seen:
            tally.skip(SkippedPart(path=part.id, reason="the source has a document of this id before it"))
            continue
        seen[part.id] = ""
        tally.count(part, _bank_of(bank, part, options))
        _tell(progress, "reading", tally.counts["documents"], None, part.id)
    done = 0
    for target, documents in _by_bank(source, bank, options):
        changed = _compare(components, target, documents, tally)
        for batch in [] if options.dry_run else _batches(changed):
            result = _write(components, reader, target, source.name, batch)
            retained(result)
            tally.counts.update(
                facts=len(result.fact_ids), merged=len(result.merged), retired=len(result.retired)
            )
            _tell(progress, "writing", done + len(batch), tally.counts["documents"], batch[-1].document.id)
        done += len(documents)
        _tell(progress, "writing", done, tally.counts["documents"], documents[-1].id)
    return _report(source.name, options, tally)


def _tell(
    progress: Callable[[ImportProgress], None] | None, stage: str, done: int, total: int | None, name: str
) -> None:
    if progress is not None:
        progress(ImportProgress(stage=stage, documents=done, total=total, document_id=name))


def _report(source: str, options: ImportOptions, tally: _Tally) -> ImportReport:
    return ImportReport(
        source=source, dry_run=options.dry_run, banks=tuple(sorted(tally.banks)), skipped=tuple(tally.skipped),
        earliest=tally.earliest, latest=tally.latest, **tally.counts,
    )  # fmt: skip


def _bank_of(bank: str, document: ImportedDocument, options: ImportOptions) -> str:
    """Return the bank of a document: with `split` it is `BANK.SCOPE`."""
    if not options.split or not document.scope:
        return bank
    scope = _NOT_IN_BANK_IDS.sub("-", document.scope).strip("-.")
    return check_bank_id(f"{bank}.{scope}") if scope else bank


def _by_bank(
    source: ImportSource, bank: str, options: ImportOptions
) -> Iterator[tuple[str, list[ImportedDocument]]]:
    """Yield the documents to write, each id once, in groups of one bank that are compared at once."""
    groups: dict[str, list[ImportedDocument]] = {}
    seen: set[str] = set()
    sizes: dict[str, int] = {}
    for part in source.read():
        if isinstance(part, SkippedPart) or part.id in seen:
            continue
        seen.add(part.id)
        target = _bank_of(bank, part, options)
        group = groups.setdefault(target, [])
        group.append(_as_asked(part, options))
        sizes[target] = sizes.get(target, 0) + part.characters
        if len(group) >= LOOKED_UP or sizes[target] >= 10 * BATCH_CHARACTERS:
            yield target, groups.pop(target)
            sizes[target] = 0
    yield from groups.items()


def _as_asked(document: ImportedDocument, options: ImportOptions) -> ImportedDocument:
    """Return the document with the caller's tags, and its user by name."""
    if not options.user and not options.tags:
        return document
    items = tuple(
        replace(
            item,
            speaker=_named(item.speaker, options),
            role=item.role or ("user" if _is_user(item.speaker, options) else ""),
            tags=item.tags | options.tags,
        )
        for item in document.items
    )
    if document.facts is None:
        return replace(document, items=items)
    facts = tuple(replace(fact, speaker=_named(fact.speaker, options)) for fact in document.facts)
    return replace(document, items=items, facts=facts)


def _is_user(speaker: str, options: ImportOptions) -> bool:
    return bool(options.user) and speaker.casefold() in (*USER_ROLES, options.user.casefold())


def _named(speaker: str, options: ImportOptions) -> str:
    return options.user if options.user and speaker.casefold() in USER_ROLES else speaker


def _compare(
    components: RetainComponents, bank: str, documents: Sequence[ImportedDocument], tally: _Tally
) -> list[_Changed]:
    """Return the documents that differ from what is stored."""
    ids = [document.id for document in documents]
    with components.store.reading(bank) as reading:
        stored = {document.id: document for document in reading.documents(ids)}
        records = {record.id: record for record in reading.records(IMPORTED_DOCUMENT, ids)}
    changed = []
    for document in documents:
        digest = document_digest(document)
        before = stored.get(document.id)
        record = records.get(document.id)
        if before is not None and record is not None and record.body.get("digest") == digest:
            tally.counts["unchanged"] += 1
            continue
        tally.counts["added" if before is None else "updated"] += 1
        tags: frozenset[str] = frozenset().union(*(item.tags for item in document.items))
        retagged = before is not None and document.facts is None and before.tags != tags
        changed.append(_Changed(document, digest, before is not None, retagged))
    return changed


def document_digest(document: ImportedDocument) -> str:
    """Return a digest of what a document says, with times, speakers and fields."""
    plain = json.dumps(to_plain(document), sort_keys=True, ensure_ascii=True)
    return blake2b(plain.encode("ascii"), digest_size=16).hexdigest()


def _batches(changed: Sequence[_Changed]) -> Iterator[list[_Changed]]:
    """Yield neighbours to retain at once: all with ready facts, or none."""
    batch: list[_Changed] = []
    items = characters = 0
    for one in changed:
        document = one.document
        full = (
            items + len(document.items) > BATCH_ITEMS or characters + document.characters > BATCH_CHARACTERS
        )
        other = bool(batch) and (batch[-1].document.facts is None) != (document.facts is None)
        if batch and (full or other):
            yield batch
            batch, items, characters = [], 0, 0
        batch.append(one)
        items += len(document.items)
        characters += document.characters
    if batch:
        yield batch


def _write(
    components: RetainComponents, reader: Extractor, bank: str, source: str, batch: Sequence[_Changed]
) -> RetainResult:
    """Retain the documents of a batch and record their digests in one transaction."""
    ready = batch[0].document.facts is not None
    if ready:
        _read_anew(components, bank, [one.document.id for one in batch if one.stored])
        documents = [one.document for one in batch]
        components = replace(components, extractor=ReadyExtractor(documents, reader))
    request = RetainRequest(bank=bank, items=tuple(_items(batch)))

    def note(tx: Transaction, receipt: CommitReceipt) -> None:
        tx.put_records([_record(bank, source, one) for one in batch])

    for one in batch:
        if one.retagged:
            tags = sorted(frozenset().union(*(item.tags for item in one.document.items)))
            retag_document(components, bank, one.document.id, tags)
    return retain(components, request, within=note)


def _items(batch: Sequence[_Changed]) -> Iterator[Item]:
    for one in batch:
        for item in one.document.items:
            yield replace(item, document_id=one.document.id)


def _record(bank: str, source: str, one: _Changed) -> Record:
    body: Mapping[str, object] = {"source": source, "digest": one.digest}
    return Record(kind=IMPORTED_DOCUMENT, id=one.document.id, bank=bank, body=body)


def _read_anew(components: RetainComponents, bank: str, document_ids: Sequence[str]) -> None:
    """Mark documents so that unchanged text is read too: the source's own facts may have changed alone."""
    if not document_ids:
        return
    reason = {"reason": "it is being imported again"}
    with components.store.transaction(bank) as tx:
        tx.put_records(
            [Record(kind=UNFINISHED_DOCUMENT, id=one, bank=bank, body=reason) for one in document_ids]
        )


def read_user(user: str | None) -> str:
    """Return the user's name; raise `InvalidInput` if it is blank."""
    if user is not None and not user.strip():
        raise InvalidInput("user", "a name that is not blank", user)
    return user or ""
