"""A vault of Markdown for Obsidian: a page per entity with its facts and links to other entities."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from perdure.domain.fact import Document, Entity, Fact, FactType
from perdure.errors import InvalidInput
from perdure.manage.exports.bank import BankContent, state_of, sure_time
from perdure.manage.exports.private import make_private_folder, open_private

MARKER = ".perdure-vault"
"""The file that marks a vault, which may be overwritten."""
ENTITIES, OTHER, INDEX = "Entities", "Other facts.md", "index.md"
LONGEST_NAME = 120
DERIVED = (FactType.OPINION, FactType.OBSERVATION)
"""Types of facts that nobody said as they are."""
_UNSAFE = re.compile(r"[\x00-\x1f\x7f\\/:*?\"<>|#^\[\]]+")
_WINDOWS = frozenset(
    {"con", "prn", "aux", "nul", *(f"com{n}" for n in range(1, 10)), *(f"lpt{n}" for n in range(1, 10))}
)


def write_vault(bank: BankContent, folder: Path, *, force: bool) -> int:
    """Write the vault, whole or not at all. Return the number of pages. `force` replaces a vault."""
    if folder.exists() and not (force and (folder / MARKER).is_file()):
        expected = "a folder that does not exist, or a vault that was exported before, with force"
        raise InvalidInput("file", expected, str(folder))
    partial, before = folder.with_name(folder.name + ".part"), folder.with_name(folder.name + ".before")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        pages = _write(bank, partial)
        if folder.exists():
            shutil.rmtree(before, ignore_errors=True)
            folder.rename(before)
        partial.rename(folder)
        shutil.rmtree(before, ignore_errors=True)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return pages


def _write(bank: BankContent, folder: Path) -> int:
    make_private_folder(folder / ENTITIES)
    with open_private(folder / MARKER) as marker:
        marker.write(json.dumps({"bank": bank.id}) + "\n")
    entities = bank.entities()
    names = page_names(entities)
    documents = {document.id: document for document in bank.documents()}
    for entity in entities:
        with open_private(folder / ENTITIES / f"{names[entity.id]}.md") as page:
            page.writelines(line + "\n" for line in _page(bank, entity, names, documents))
    with open_private(folder / OTHER) as page:
        page.write("# Other facts\n\nThey mention nothing that has a page.\n\n")
        for facts in bank.facts():
            for fact in facts:
                if fact.retired_at is None and not set(fact.entity_ids) & names.keys():
                    page.write(_bullet(fact, names, bank, documents) + "\n")
    with open_private(folder / INDEX) as page:
        page.write(f"# {_inline(bank.id)}\n\n| entity | type | mentions |\n| --- | --- | ---: |\n")
        for entity in entities:
            link = _link(names[entity.id], entity.name, in_table=True)
            page.write(f"| {link} | {_inline(entity.type)} | {entity.mentions} |\n")
    return len(entities) + 2


def page_names(entities: Sequence[Entity]) -> dict[str, str]:
    """Return entity -> file name, valid on every file system and unique in any case."""
    names: dict[str, str] = {}
    taken = {INDEX.removesuffix(".md"), OTHER.removesuffix(".md").casefold()}
    for entity in entities:
        plain = (
            " ".join(_UNSAFE.sub(" ", entity.name).split()).strip(". ")[:LONGEST_NAME].strip() or "unnamed"
        )
        if plain.casefold() in _WINDOWS:
            plain = f"{plain} page"
        name, number = plain, 1
        while name.casefold() in taken:
            number += 1
            name = f"{plain} ({number})"
        taken.add(name.casefold())
        names[entity.id] = name
    return names


def _page(
    bank: BankContent, entity: Entity, names: Mapping[str, str], documents: Mapping[str, Document]
) -> Iterator[str]:
    facts = [fact for fact in bank.facts_of(entity_id=entity.id) if fact.retired_at is None]
    yield "---"
    yield f"type: {json.dumps(entity.type, ensure_ascii=False)}"
    if entity.aliases:
        yield "aliases:"
        yield from (f"  - {json.dumps(alias, ensure_ascii=False)}" for alias in entity.aliases)
    tags = sorted({tag for fact in facts for tag in fact.tags})
    if tags:
        yield "tags:"
        yield from (f"  - {json.dumps(_tag(tag), ensure_ascii=False)}" for tag in tags)
    yield f"perdure: {json.dumps(entity.id)}"
    yield "---"
    yield f"# {_inline(entity.name)}"
    current = [fact for fact in facts if state_of(fact, bank.now) == "current"]
    ended = [fact for fact in facts if state_of(fact, bank.now) == "ended"]
    for heading, group in (("Facts", current), ("Earlier", ended)):
        if group:
            yield ""
            yield f"## {heading}"
            yield ""
            yield from (_bullet(fact, names, bank, documents, of=entity.id) for fact in _in_order(group))


def _in_order(facts: Sequence[Fact]) -> list[Fact]:
    """Sort by date, undated facts last."""
    return sorted(facts, key=lambda fact: (fact.dated is None, fact.dated.isoformat() if fact.dated else ""))


def _bullet(
    fact: Fact,
    names: Mapping[str, str],
    bank: BankContent,
    documents: Mapping[str, Document],
    *,
    of: str = "",
) -> str:
    text = _inline(fact.text)
    others = [
        (name, names[entity_id])
        for entity_id, name in zip(fact.entity_ids, fact.entities, strict=False)
        if entity_id in names and entity_id != of
    ]
    text, unlinked = link_names(text, others)
    notes = [fact.type.value] if fact.type in DERIVED else []
    occurred = sure_time(fact)
    if occurred is not None and occurred.start is not None:
        notes.append(f"{occurred.start:%Y-%m-%d}")
    elif fact.mentioned_at is not None:
        notes.append(f"said {fact.mentioned_at:%Y-%m-%d}")
    if state_of(fact, bank.now) == "ended" and fact.valid_to is not None:
        notes.append(f"until {fact.valid_to:%Y-%m-%d}")
    if fact.speaker and not fact.text.startswith(f"{fact.speaker}: "):
        notes.append(f"by {_inline(fact.speaker)}")
    if fact.document_id is not None:
        document = documents.get(fact.document_id)
        notes.append(f"from {_inline((document.title if document else '') or fact.document_id)}")
    if unlinked:
        notes.append("see " + ", ".join(unlinked))
    return f"- {text}" + (f" *({'; '.join(notes)})*" if notes else "")


def link_names(text: str, others: Sequence[tuple[str, str]]) -> tuple[str, list[str]]:
    """Link each name at its first occurrence. Return the text, and links for names without one."""
    spans: list[tuple[int, int, str]] = []
    unlinked: list[str] = []
    for name, page in sorted(dict.fromkeys(others), key=lambda pair: -len(pair[0])):
        shown = _inline(name)
        match = next(
            (
                place
                for place in re.finditer(rf"(?<!\w){re.escape(shown)}(?!\w)", text)
                if not any(start < place.end() and place.start() < end for start, end, _ in spans)
            ),
            None,
        )
        if match is None:
            unlinked.append(_link(page, name))
        else:
            spans.append((match.start(), match.end(), _link(page, name)))
    for start, end, link in sorted(spans, reverse=True):
        text = text[:start] + link + text[end:]
    return text, unlinked


def _link(page: str, name: str, *, in_table: bool = False) -> str:
    bar = "\\|" if in_table else "|"
    shown = _inline(name).replace("|", " ")
    return f"[[{page}]]" if page == shown else f"[[{page}{bar}{shown}]]"


def _inline(text: str) -> str:
    """Return a text on one line without links, tags and headings."""
    plain = " ".join(text.split())
    return (
        plain.replace("[[", "[ [")
        .replace("]]", "] ]")
        .replace("|", "\\|")
        .replace("<", "&lt;")
        .replace("%%", "% %")
    )


def _tag(tag: str) -> str:
    """Return a valid tag of Obsidian, without spaces and colons."""
    return re.sub(r"[^\w/-]+", "-", tag).strip("-") or "tag"
