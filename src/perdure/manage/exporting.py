"""Exports by format: to a file or folder, whole or not at all, or as lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from perdure.domain.plain import to_plain
from perdure.errors import InvalidInput, NotFound
from perdure.manage.exports.bank import BankContent, state_of
from perdure.manage.exports.graph import write_dot, write_graphml
from perdure.manage.exports.hindsight import write_archive
from perdure.manage.exports.private import open_private, writing_to
from perdure.manage.exports.vault import write_vault
from perdure.manage.transfer import export_bank, json_line

OWN, JSONL, MARKDOWN, HINDSIGHT, DOT, GRAPHML = "perdure", "jsonl", "markdown", "hindsight", "dot", "graphml"
FORMATS = (OWN, JSONL, MARKDOWN, HINDSIGHT, DOT, GRAPHML)
_LINES: Mapping[str, Callable[[BankContent], Iterator[str]]] = {
    OWN: lambda bank: export_bank(bank.store, bank.id, bank.now),
    JSONL: lambda bank: _facts(bank),
    DOT: write_dot,
    GRAPHML: write_graphml,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportReport:
    """The result of an export."""

    bank: str
    format: str
    path: Path
    written: int
    """Lines; pages of a vault; facts of an archive."""


def _facts(bank: BankContent) -> Iterator[str]:
    """Yield every fact that the bank ever had, with all fields and its state, without guessed dates."""
    for page in bank.facts():
        for fact in page:
            is_sure = not fact.has_unsure_date
            shown = fact if is_sure else replace(fact, occurred_start=None, occurred_end=None)
            yield json_line({**to_plain(shown), "state": state_of(fact, bank.now)})


def check_format(form: str) -> str:
    if form not in FORMATS:
        raise InvalidInput("format", "one of " + ", ".join(FORMATS), form)
    return form


def export_lines(bank: BankContent, form: str) -> Iterator[str]:
    """Yield a bank as lines of text; vaults and archives have none."""
    if check_format(form) not in _LINES:
        raise InvalidInput("format", "one that is a text, or a path to write to", form)
    return _LINES[form](bank)


def export_to(bank: BankContent, path: Path, form: str, *, force: bool) -> ExportReport:
    """Write a bank; an existing file is replaced only with `force`, and only when the new one is complete."""
    check_format(form)
    if not path.parent.is_dir():
        raise NotFound("folder", str(path.parent))
    if form == MARKDOWN:
        with writing_to(path):
            written = write_vault(bank, path, force=force)
        return ExportReport(bank=bank.id, format=form, path=path, written=written)
    if path.is_dir() or (path.exists() and not force):
        raise InvalidInput("file", "a new file, or force", str(path))
    partial = path.with_name(path.name + ".part")
    with writing_to(path):
        try:
            partial.unlink(missing_ok=True)
            written = _write_file(bank, partial, form)
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
    return ExportReport(bank=bank.id, format=form, path=path, written=written)


def _write_file(bank: BankContent, file: Path, form: str) -> int:
    written = 0
    with open_private(file) as lines:
        if form == HINDSIGHT:
            return write_archive(bank, file)
        for line in export_lines(bank, form):
            lines.write(line + "\n")
            written += 1
    return written
