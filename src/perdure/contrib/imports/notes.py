"""Folders of Markdown: any notes, Obsidian vaults and Basic Memory's knowledge base."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath

from perdure.contrib.imports.files import FileTree
from perdure.contrib.imports.markdown import Note, day_of, read_note, written_at
from perdure.contrib.imports.values import as_id, as_metadata, as_moment, as_tags, turn
from perdure.domain.imported import ImportedDocument, ImportedFact, SkippedPart
from perdure.domain.item import Item
from perdure.domain.time import Window
from perdure.errors import InvalidInput

MARKDOWN, OBSIDIAN, BASIC_MEMORY = "markdown", "obsidian", "basic-memory"
SUFFIXES = ("*.md", "*.markdown")
_TEMPLATE_FOLDERS = frozenset({"templates", "template", "_templates"})
_OWN_FIELDS = (
    "title",
    "tags",
    "tag",
    "aliases",
    "alias",
    "date",
    "created",
    "created_at",
    "permalink",
    "type",
    "cssclasses",
)
_CATEGORY = re.compile(r"\[(?P<category>[^\[\]()]+)\]\s+(?P<text>.+)")
_CLOCK = re.compile(
    r"\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d{1,3})?(?:\s+-\s+\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d{1,3})?)?"
)
_BULLET = re.compile(r"[ \t]*[-*+][ \t]+(?P<text>\S.*)")
_RELATION = re.compile(
    r"(?:(?P<quote>[\"'])(?P<quoted>[^\"']+)(?P=quote)|(?P<word>[^\s\[\]\"']+))?\s*\[\[(?P<target>[^\[\]]+)\]\](?:\s*\((?P<context>.*)\))?\s*"
)
_INTERVAL = re.compile(
    r"@(?P<kind>[A-Za-z]\w*)?(?P<open>[\[(])(?P<start>[^,\[\]()]*),(?P<end>[^,\[\]()]*)[\])]\s+(?P<rest>.+)"
)
_POINT = re.compile(r"@(?:(?P<kind>[A-Za-z]\w*):)?(?:\"(?P<quoted>[^\"]+)\"|(?P<token>\d\S*))\s+(?P<rest>.+)")
_HASHTAG = re.compile(r"(?<!\S)#(\S+)")


class NotesFolder:
    """Every note a document; links are its entities, front matter gives title, tags and date."""

    def __init__(self, path: Path, name: str = MARKDOWN) -> None:
        self.name = name
        self._tree = FileTree(path)
        if not self._tree.names(*SUFFIXES):
            raise InvalidInput(str(path), "a folder with Markdown files (*.md), or one of them")

    def read(self) -> Iterator[ImportedDocument | SkippedPart]:
        for file in self._tree.names(*SUFFIXES):
            shown = self._tree.shown(file)
            if _is_template(file):
                yield SkippedPart(path=shown, reason="a template")
                continue
            try:
                note = read_note(self._tree.read_text(file))
            except InvalidInput as error:
                yield SkippedPart(path=shown, reason=f"not {error.expected}")
                continue
            yield from self._documents(note, file, shown)

    def _documents(self, note: Note, file: str, shown: str) -> Iterator[ImportedDocument | SkippedPart]:
        items = _items(note, PurePosixPath(file).stem, _metadata(note, self.name, file), note.tags)
        if items:
            yield ImportedDocument(id=as_id(self.name, file), items=items)
        else:
            yield SkippedPart(path=shown, reason="no prose")

    def close(self) -> None:
        self._tree.close()


def _items(note: Note, stem: str, metadata: dict[str, str], tags: frozenset[str]) -> tuple[Item, ...]:
    """Return a note's paragraphs, each with the notes that it links to as entities; a day is no name of anything."""
    title = note.text("title") or ("" if day_of(stem) else stem)
    said_at = written_at(note, stem)
    context = "" if title else f"note {stem}"
    items = [
        turn(
            block.text, said_at=said_at, title=title, context=context, tags=tags, metadata=metadata,
            entities=[(name, "concept") for name in block.links],
        )
        for block in note.blocks
    ]  # fmt: skip
    return tuple(item for item in items if item is not None)


def _metadata(note: Note, source: str, file: str) -> dict[str, str]:
    return {
        **as_metadata(dict(note.front), without=_OWN_FIELDS),
        **_aliases(note),
        "source": source,
        "file": file,
    }


def _aliases(note: Note) -> dict[str, str]:
    names = [*note.texts("aliases"), *note.texts("alias")]
    return {"aliases": ", ".join(names)} if names else {}


def _is_template(file: str) -> bool:
    return bool({part.casefold() for part in PurePosixPath(file).parts[:-1]} & _TEMPLATE_FOLDERS)


def open_markdown(path: Path) -> NotesFolder:
    return NotesFolder(path, MARKDOWN)


def open_obsidian(path: Path) -> NotesFolder:
    return NotesFolder(path, OBSIDIAN)


class BasicMemory(NotesFolder):
    """A knowledge base of Basic Memory: observations and relations are facts as they stand, the rest of a note is prose."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, BASIC_MEMORY)

    def _documents(self, note: Note, file: str, shown: str) -> Iterator[ImportedDocument | SkippedPart]:
        title = note.text("title") or PurePosixPath(file).stem
        own_id = note.text("permalink") or file
        when = written_at(note, PurePosixPath(file).stem)
        facts, prose = _read_lines(note, title)
        metadata = _metadata(note, self.name, file)
        tags = as_tags(note.texts("tags"))
        statements = [
            turn(text, said_at=when, tags=tags | fact_tags, metadata=metadata) for text, fact_tags, _ in facts
        ]
        items = tuple(item for item in statements if item is not None)
        if items:
            yield ImportedDocument(
                id=as_id(self.name, own_id, "facts"),
                items=items,
                facts=tuple(
                    replace(fact, item=number, said_at=when) for number, (_, _, fact) in enumerate(facts)
                ),
            )
        said = _items(replace(read_note(prose), front=note.front), PurePosixPath(file).stem, metadata, tags)
        if said:
            yield ImportedDocument(id=as_id(self.name, own_id), items=said)
        if not items and not said:
            yield SkippedPart(path=shown, reason="no prose and no observation")


def _read_lines(note: Note, title: str) -> tuple[list[tuple[str, frozenset[str], ImportedFact]], str]:
    """Statements (text, tags, fact) of the note's bullets, and the text without them."""
    statements: list[tuple[str, frozenset[str], ImportedFact]] = []
    rest: list[str] = []
    fenced = False
    for line in note.raw.splitlines():
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        bullet = None if fenced else _BULLET.fullmatch(line)
        statement = _statement(bullet["text"].strip(), title) if bullet else None
        if statement is None:
            rest.append(line)
        else:
            statements.append(statement)
    return statements, "\n".join(rest)


def _statement(text: str, title: str) -> tuple[str, frozenset[str], ImportedFact] | None:
    return _observation(text, title) or _relation(text, title)


def _observation(text: str, title: str) -> tuple[str, frozenset[str], ImportedFact] | None:
    """`[category] text #tag (context)`; tasks, times of transcripts and links have brackets too, and are none."""
    match = _CATEGORY.fullmatch(text)
    if not match or text.startswith("[["):
        return None
    category, said = match["category"].strip(), match["text"].strip()
    if (
        not category
        or _CLOCK.fullmatch(category)
        or (len(category) == 1 and (category in "xX" or not category.isalnum()))
    ):
        return None
    said, valid, occurred = _qualified(said)
    context = ""
    if said.endswith(")") and "(" in said:
        said, _, context = said[:-1].rpartition("(")
        said = said.strip()
    tags = as_tags(_HASHTAG.findall(said))
    words = read_note(_HASHTAG.sub("", said)).body.strip()
    if not words:
        return None
    links = read_note(said).links
    worded = words if title.casefold() in words.casefold() else f"{title}: {words}"
    fact = ImportedFact(
        text=worded,
        topic=category,
        context=context.strip(),
        entities=tuple((name, "concept") for name in dict.fromkeys((title, *links))),
        valid=valid,
        occurred=occurred,
    )
    return worded, tags, fact


def _qualified(text: str) -> tuple[str, Window | None, Window | None]:
    """Return the text without a qualifier of its time (`@effective[2026-06-10,2026-07-27)`), and that time: valid, occurred."""
    if match := _INTERVAL.fullmatch(text):
        start, end = as_moment(match["start"].strip()), as_moment(match["end"].strip())
        if start is not None or end is not None:
            return _timed(match["rest"], match["kind"], Window(start, end))
    elif (match := _POINT.fullmatch(text)) and (moment := as_moment(match["quoted"] or match["token"])):
        return _timed(match["rest"], match["kind"], Window(moment, None))
    return text, None, None


def _timed(rest: str, kind: str | None, window: Window) -> tuple[str, Window | None, Window | None]:
    if kind == "occurred":
        return rest, None, window if window.end else Window(window.start, window.start)
    return rest, window, None


def _relation(text: str, title: str) -> tuple[str, frozenset[str], ImportedFact] | None:
    """`relation_type [[Target]] (context)`; the type is one word or quoted."""
    match = _RELATION.fullmatch(text)
    kind = (match["quoted"] or match["word"] or "").strip() if match else ""
    if not match or not kind:
        return None
    target = match["target"].split("|")[0].split("#")[0].strip().rsplit("/", 1)[-1]
    if not target:
        return None
    worded = f"{title} {kind.replace('_', ' ')} {target}"
    fact = ImportedFact(
        text=worded,
        subject=title,
        relation=kind.replace(" ", "_").casefold(),
        object=target,
        context=(match["context"] or "").strip(),
        entities=((title, "concept"), (target, "concept")),
    )
    return worded, frozenset(), fact


def detect_obsidian(tree: FileTree) -> bool:
    """Whether it is a folder that Obsidian has opened."""
    return tree.is_folder and (tree.path / ".obsidian").is_dir() and bool(tree.names(*SUFFIXES))


def detect_basic_memory(tree: FileTree) -> bool:
    """Whether its first notes have permalinks, as Basic Memory gives every note."""
    files = tree.names(*SUFFIXES)[:20]
    heads = [read_note(tree.head(file)) for file in files]
    return bool(heads) and sum(bool(note.text("permalink")) for note in heads) * 2 > len(heads)


def detect_markdown(tree: FileTree) -> bool:
    """Whether it has Markdown files."""
    return bool(tree.names(*SUFFIXES))
