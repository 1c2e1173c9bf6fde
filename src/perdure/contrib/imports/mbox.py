"""Mail in mbox files: Thunderbird's, Apple Mail's, Google Takeout's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage
from hashlib import blake2b
from typing import IO

from perdure.contrib.imports.files import FileSource, FileTree
from perdure.contrib.imports.values import as_id, as_metadata, turn
from perdure.domain.imported import ImportedDocument, SkippedPart
from perdure.errors import InvalidInput
from perdure.extending import person, read_mail_file

NAME = "mbox"
LARGEST_MAIL = 100_000_000
"""Bytes of one mail, with what is attached; larger ones are passed over."""
_BEGINS = re.compile(rb"From \S+.*\d{4}\s*$|From -.*$|From \S+\s*$")
_ESCAPED = re.compile(rb"^>(>*From )", re.MULTILINE)
_UNWANTED = frozenset({"spam", "trash", "junk", "papierkorb"})


class MboxMail(FileSource):
    """Every mail a document: what its sender wrote in it, without quotations and signature."""

    name = NAME
    globs = ("*.mbox", "mbox", "*.mbx")
    expected = "an mbox file, whose mails begin with `From `"

    def _takes(self, file: str) -> bool:
        return self._tree.head(file, 5) == "From "

    def _read(self, file: str) -> Iterator[ImportedDocument | SkippedPart]:
        with self._tree.open_bytes(file) as data:
            for number, mail in enumerate(_mails(data), start=1):
                where = f"{self._tree.shown(file)}, mail {number}"
                if mail is None:
                    yield SkippedPart(path=where, reason=f"a mail of more than {LARGEST_MAIL:,} bytes")
                else:
                    yield _document(mail, where)


def _mails(file: IO[bytes]) -> Iterator[bytes | None]:
    """Yield the mails as bytes, None for those that are too large; one begins at `From ` after an empty line."""
    lines: list[bytes] = []
    size, blank, begun = 0, True, False
    while line := file.readline(LARGEST_MAIL):
        if blank and line.startswith(b"From ") and _BEGINS.match(line):
            if begun:
                yield b"".join(lines) if size <= LARGEST_MAIL else None
            lines, size, begun = [], 0, True
            blank = False
            continue
        blank = not line.strip()
        size += len(line)
        if size <= LARGEST_MAIL:
            lines.append(line)
        else:
            lines = []
    if begun:
        yield b"".join(lines) if size <= LARGEST_MAIL else None


def _document(data: bytes, where: str) -> ImportedDocument | SkippedPart:
    message = message_from_bytes(_ESCAPED.sub(rb"\1", data), policy=policy.default)
    assert isinstance(message, EmailMessage)
    labels = _header(message, "X-Gmail-Labels")
    if {label.strip().casefold() for label in labels.split(",")} & _UNWANTED:
        return SkippedPart(path=where, reason=f"in {labels}")
    try:
        read = read_mail_file(_ESCAPED.sub(rb"\1", data), where)
    except InvalidInput as error:
        return SkippedPart(path=where, reason=f"not {error.expected}")
    own_id = _header(message, "Message-ID").strip("<> ")
    if not own_id:
        own_id = blake2b(data, digest_size=12).hexdigest()
    to = ", ".join(person(one) for one in _header(message, "To").split(",") if one.strip())
    item = turn(
        read.text,
        speaker=read.speaker,
        said_at=read.written_at,
        title=read.title,
        context=f"mail to {to}" if to else "mail",
        metadata={
            "source": NAME,
            **as_metadata({"labels": labels, "in_reply_to": _header(message, "In-Reply-To").strip("<> ")}),
        },
    )
    if item is None:
        return SkippedPart(path=where, reason="a mail without text")
    return ImportedDocument(id=as_id(NAME, own_id), items=(item,))


def _header(message: EmailMessage, name: str) -> str:
    try:
        return str(message[name] or "")
    except (ValueError, IndexError, TypeError, AttributeError):  # headers that the library itself fails at
        return ""


def detect(tree: FileTree) -> bool:
    """Whether a file begins as an mbox does."""
    files = [tree.path.name] if tree.is_file else tree.names("*.mbox", "mbox", "*.mbx")
    return any(_BEGINS.match(tree.head(file, 200).split("\n", 1)[0].encode()) for file in files[:5])
