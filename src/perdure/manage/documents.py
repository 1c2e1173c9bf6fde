"""The documents of a bank: what was retained, in chunks, and reading it anew."""

from __future__ import annotations

from collections.abc import Sequence

from perdure.domain.bank import check_bank_id
from perdure.domain.fact import Chunk, Document
from perdure.domain.item import ReprocessPreview
from perdure.domain.operation import Operation
from perdure.domain.verb import READ, WRITE, verb
from perdure.errors import NotFound
from perdure.jobs.background import Background
from perdure.jobs.reprocess_job import outdated_documents, preview_reprocess
from perdure.manage.curation import retag_document
from perdure.manage.document_history import DocumentEvent, document_history
from perdure.retain.components import RetainComponents


class Documents:
    """The documents of a memory: `memory.documents`."""

    def __init__(self, components: RetainComponents, background: Background) -> None:
        self._components, self._background = components, background
        self._store = components.store

    @verb(READ)
    def get(self, bank: str, document_id: str) -> Document:
        """Return a document."""
        for document in self.list(bank, [document_id]):
            return document
        raise NotFound("document", document_id)

    @verb(READ)
    def chunks(
        self, bank: str, *, document_id: str | None = None, ids: Sequence[str] | None = None
    ) -> list[Chunk]:
        """Return the chunks of a document, or those of these ids."""
        with self._store.reading(check_bank_id(bank)) as reading:
            return reading.chunks(ids=ids, document_id=document_id)

    @verb(READ)
    def history(self, bank: str, document_id: str) -> list[DocumentEvent]:
        """Return what happened to a document, newest first, without what was erased."""
        with self._store.reading(check_bank_id(bank)) as reading:
            return document_history(reading, document_id)

    @verb(WRITE)
    def reprocess(self, bank: str, document_id: str | None = None) -> Operation:
        """Extract a stored document anew in the background; facts not found again are retired.

        Without a document, read every one anew that has facts of an earlier extractor; what a user corrected stays.
        """
        return self._background.reprocess(check_bank_id(bank), document_id)

    @verb(READ)
    def outdated(self, bank: str) -> Sequence[str]:
        """Return the ids of the documents that have facts of an earlier extractor, oldest first."""
        with self._store.reading(check_bank_id(bank)) as reading:
            return outdated_documents(reading)

    @verb(READ)
    def preview_reprocess(self, bank: str) -> ReprocessPreview:
        """Return what reading the documents of an earlier extractor anew would change."""
        return preview_reprocess(self._components, check_bank_id(bank))

    @verb(WRITE)
    def refine(self, bank: str) -> Operation:
        """Reword in the background, with a language model, the facts that no model has worded yet.

        Return the run that is under way, if there is one. Raise `InvalidInput` if no model is set.
        """
        return self._background.refine(check_bank_id(bank))

    @verb(WRITE)
    def retag(self, bank: str, document_id: str, tags: Sequence[str]) -> Document:
        """Replace the tags of a document and of the facts extracted from it."""
        return retag_document(self._components, check_bank_id(bank), document_id, tags)

    @verb(READ)
    def list(self, bank: str, ids: Sequence[str] | None = None) -> list[Document]:
        """Return the documents of a bank, newest first, or those of `ids`."""
        with self._store.reading(check_bank_id(bank)) as reading:
            return reading.documents(ids)
