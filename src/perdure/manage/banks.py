"""The banks of a memory: their settings, copies, exports and imports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from perdure.domain.bank import Bank, Disposition, check_bank_id
from perdure.domain.imported import ImportProgress, ImportReport
from perdure.domain.item import check_tags
from perdure.domain.opinion import read_rates
from perdure.domain.record import LAST_ERASURE
from perdure.domain.verb import ADMIN, READ, WRITE, BankIn, local, verb
from perdure.errors import NotFound
from perdure.jobs.background import Background
from perdure.manage.exporting import ExportReport, export_lines, export_to
from perdure.manage.exports.bank import BankContent
from perdure.manage.importers import AUTO, open_source
from perdure.manage.importing import ImportOptions, import_documents, read_user
from perdure.manage.reembed import reembed
from perdure.manage.transfer import clone_bank, export_bank, import_bank
from perdure.ports.extractor import Extractor
from perdure.ports.import_source import ImportSource
from perdure.ports.store import BankStats
from perdure.ports.telemetry import MemoryOperation, observed
from perdure.recall.staleness import check_stale_after
from perdure.retain.components import RetainComponents
from perdure.retain.masking import read_mask_setting


class Banks:
    """The banks of a memory: `memory.banks`."""

    def __init__(
        self,
        components: RetainComponents,
        background: Background,
        local_extractor: Extractor,
    ) -> None:
        self._components, self._background = components, background
        self._store, self._clock = components.store, components.clock
        self._local_extractor = local_extractor

    @verb(READ)
    def get(self, bank: str) -> Bank:
        """Return a bank. Raise `NotFound` if there is none."""
        stored = self.find(bank)
        if stored is None:
            raise NotFound("bank", bank)
        return stored

    @verb(READ)
    def find(self, bank: str) -> Bank | None:
        """Return a bank, or None if there is none."""
        return next(iter(self._store.banks([check_bank_id(bank)])), None)

    @verb(WRITE, needs_admin=lambda arguments: arguments.get("settings") is not None)
    def configure(
        self,
        bank: str,
        *,
        name: str | None = None,
        mission: str | None = None,
        disposition: Disposition | None = None,
        settings: Mapping[str, object] | None = None,
    ) -> Bank:
        """Create a bank, or change the given fields of an existing one."""
        if settings is not None:
            read_rates(settings)
            read_mask_setting(settings)
            check_stale_after(settings)
        with self._store.transaction(check_bank_id(bank)) as tx, ExitStack() as reporting:
            stored = tx.bank()
            if stored is None:
                telemetry = self._components.telemetry
                reporting.enter_context(observed(telemetry, MemoryOperation.CREATE_BANK, bank))
            current = stored or Bank(id=bank, name=bank)
            changed = replace(
                current,
                name=current.name if name is None else name,
                mission=current.mission if mission is None else mission,
                disposition=disposition or current.disposition,
                settings=current.settings if settings is None else settings,
                updated_at=self._clock(),
            )
            tx.put_bank(changed)
        return self.get(bank)

    @verb(READ)
    def stats(self, bank: str) -> BankStats:
        """Return counts of what the bank contains."""
        with self._store.reading(check_bank_id(bank)) as reading:
            return reading.stats()

    @verb(READ)
    def erased_at(self, bank: str) -> datetime | None:
        """Return when something was last erased. Files made before should be deleted."""
        with self._store.reading(check_bank_id(bank)) as reading:
            records = reading.records(LAST_ERASURE)
        return records[0].updated_at if records else None

    @verb(ADMIN)
    def clone(
        self,
        bank: str,
        target: str,
        *,
        include_data: bool = True,
        include_config: bool = True,
        include_history: bool = False,
    ) -> int:
        """Copy a bank under a new id and return the number of facts copied.

        Configuration: directives and webhooks. History: the audit log and the calls of language models.
        """
        return clone_bank(
            self._store, check_bank_id(bank), check_bank_id(target), self._clock(),
            include_data=include_data, include_config=include_config, include_history=include_history,
        )  # fmt: skip

    @verb(ADMIN)
    def reembed(self, bank: str) -> int:
        """Re-embed the bank with the configured embedder. Return the number of facts."""
        return reembed(self._components, check_bank_id(bank))

    @verb(ADMIN, "read")
    def export(self, bank: str) -> Iterator[str]:
        """Yield the bank as JSON lines, which `restore` reads."""
        self.get(bank)
        return export_bank(self._store, bank, self._clock())

    @verb(ADMIN)
    def restore(self, bank: str, lines: Iterable[str]) -> int:
        """Create a bank under a new id from the lines of an export. Return the number of facts."""
        with observed(self._components.telemetry, MemoryOperation.RETAIN, bank) as operation:
            facts = import_bank(self._store, bank, lines)
            if operation is not None:
                operation.records(facts)
        self._background.build_search_tables_if_due(bank)
        return facts

    @local("use banks.export, or `perdure export` on the server's machine")
    def export_lines(self, bank: str, format: str = "jsonl") -> Iterator[str]:  # noqa: A002
        """Yield the bank as lines for programs: `jsonl` (a fact a line), `dot`, `graphml`, or `perdure`."""
        self.get(bank)
        return export_lines(BankContent(self._store, bank, self._clock()), format)

    @local("it writes files on the server's machine; use banks.export, or `perdure export` there")
    def export_to(
        self,
        bank: str,
        path: str | Path,
        *,
        format: str = "jsonl",  # noqa: A002
        force: bool = False,
    ) -> ExportReport:
        """Write the bank to a file or folder, whole or not at all. `force` replaces what is there.

        Besides the formats of `export_lines` there are `markdown` (a vault with a page per entity) and
        `hindsight` (its transfer archive).
        """
        self.get(bank)
        content = BankContent(self._store, bank, self._clock())
        return export_to(content, Path(path).expanduser(), format, force=force)

    @local("it reads files on the server's machine; run `perdure import` there")
    def import_from(
        self,
        bank: str,
        path: str | Path | ImportSource,
        *,
        source: str = AUTO,
        user: str | None = None,
        tags: Sequence[str] = (),
        split: bool = False,
        dry_run: bool = False,
        key: str = "",
        progress: Callable[[ImportProgress], None] | None = None,
    ) -> ImportReport:
        """Import what another program stores: chats, notes, transcripts, mails, the facts of another memory.

        `source` names the kind of source, which is detected by default. `user` is the name of "user" in
        chats; `split` creates a bank per user, project or group of the source; `key` opens a server.
        Importing again changes only what has changed in the source.
        """
        check_tags(tags)
        options = ImportOptions(user=read_user(user), tags=frozenset(tags), split=split, dry_run=dry_run)
        opened = open_source(path, source, key=key) if isinstance(path, str | Path) else path
        try:
            return import_documents(
                self._components,
                self._local_extractor,
                bank,
                opened,
                options,
                progress=progress,
                retained=self._background.after_retain,
            )
        finally:
            opened.close()

    @verb(READ, bank=BankIn.NOWHERE)
    def list(self) -> list[Bank]:
        """Return all banks, by id."""
        return self._store.banks()
