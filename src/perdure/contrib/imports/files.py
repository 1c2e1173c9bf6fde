"""A file, a folder or a ZIP archive: the same to a reader."""

from __future__ import annotations

import io
import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path
from typing import IO, TYPE_CHECKING, ClassVar

from perdure.domain.imported import ImportedDocument, SkippedPart
from perdure.errors import InvalidInput, NotFound, Unavailable
from perdure.extending import LEADS_OUT, leads_out

if TYPE_CHECKING:
    from sqlite3 import Connection

SKIPPED_FOLDERS = frozenset({"__MACOSX", "node_modules", "__pycache__"})


class FileTree:
    """What a path holds, by names relative to it; a single file is a tree of one."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            raise NotFound("file", str(path))
        self.path = path
        self._archive: zipfile.ZipFile | None = None
        if path.is_file() and zipfile.is_zipfile(path):
            try:
                self._archive = zipfile.ZipFile(path)
            except (OSError, zipfile.BadZipFile) as error:
                raise InvalidInput(str(path), f"a ZIP archive that can be read ({error})") from error

    @property
    def is_archive(self) -> bool:
        return self._archive is not None

    @property
    def is_folder(self) -> bool:
        return self.path.is_dir()

    @property
    def is_file(self) -> bool:
        """Whether it is a single file and no archive."""
        return self._archive is None and not self.is_folder

    def names(self, *globs: str, hidden: bool = False) -> list[str]:
        """Names of the files in order, those whose last part a glob matches; hidden files and folders only when asked for."""
        if self._archive is not None:
            members = [info.filename for info in self._archive.infolist() if not info.is_dir()]
            every: Iterator[str] = iter(sorted(members))
        elif self.is_folder:
            every = self._walk(hidden)
        else:
            every = iter([self.path.name])
        return [
            name
            for name in every
            if (hidden or not _is_hidden(name)) and (not globs or any(fnmatch(_last(name), g) for g in globs))
        ]

    def _walk(self, hidden: bool) -> Iterator[str]:
        for root, folders, files in os.walk(self.path):
            folders[:] = sorted(
                name
                for name in folders
                if name not in SKIPPED_FOLDERS and (hidden or not name.startswith("."))
            )
            below = Path(root).relative_to(self.path)
            for name in sorted(files):
                yield (below / name).as_posix()

    def shown(self, name: str) -> str:
        """Return the file's whole name, for messages."""
        return str(self.path) if self.is_file else f"{self.path}/{name}"

    def real_path(self, name: str) -> Path:
        """Return the file on disk; archives must be unpacked first where a database is in them."""
        if self._archive is not None:
            raise InvalidInput(self.shown(name), "an unpacked folder, as databases are read in place")
        if self._leads_out(name):
            raise InvalidInput(self.shown(name), f"a file in the folder; this is {LEADS_OUT}")
        return self.path if self.is_file else self.path / name

    def _leads_out(self, name: str) -> bool:
        return self._archive is None and self.is_folder and leads_out(self.path / name, self.path)

    @contextmanager
    def open_bytes(self, name: str) -> Iterator[IO[bytes]]:
        """Return a file for reading; errors name it."""
        try:
            if self._archive is not None:
                with self._archive.open(name) as member:
                    yield member
            else:
                with self.real_path(name).open("rb") as file:
                    yield file
        except (OSError, zipfile.BadZipFile, zlib.error, EOFError, KeyError, RuntimeError) as error:
            raise InvalidInput(self.shown(name), f"a file that can be read ({error})") from error

    @contextmanager
    def open_text(self, name: str) -> Iterator[IO[str]]:
        """Return a file in UTF-8 for reading, with or without a byte order mark."""
        with (
            self.open_bytes(name) as data,
            io.TextIOWrapper(data, encoding="utf-8-sig", newline=None) as text,
        ):
            yield text

    def read_text(self, name: str) -> str:
        """Return a whole file; for those that people wrote, which are short."""
        try:
            with self.open_text(name) as text:
                return text.read()
        except UnicodeDecodeError as error:
            raise InvalidInput(self.shown(name), "UTF-8 text") from error

    def head(self, name: str, size: int = 4096) -> str:
        """Return the beginning of a file as text, whatever bytes are in it; nothing of a link that leads out."""
        if self._leads_out(name):
            return ""
        with self.open_bytes(name) as data:
            return data.read(size).decode("utf-8-sig", "replace")

    def close(self) -> None:
        if self._archive is not None:
            self._archive.close()


def _last(name: str) -> str:
    return name.rsplit("/", 1)[-1]


def _is_hidden(name: str) -> bool:
    return any(part.startswith(".") or part in SKIPPED_FOLDERS for part in name.split("/"))


@contextmanager
def open_database(path: Path) -> Iterator[Connection]:
    """Another program's SQLite file, for reading alone; one in use is read as of its last commit."""
    import sqlite3  # loaded for sources that are SQLite files alone

    try:
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
    except sqlite3.Error as error:
        raise InvalidInput(str(path), f"an SQLite database that can be opened ({error})") from error
    connection.row_factory = sqlite3.Row
    try:
        yield connection
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise Unavailable(f"{path} is locked by another program; close that one and try again") from error
        raise InvalidInput(str(path), f"an SQLite database of the expected form ({error})") from error
    except sqlite3.DatabaseError as error:
        raise InvalidInput(str(path), f"an SQLite database ({error})") from error
    finally:
        connection.close()


def tables_of(path: Path) -> dict[str, set[str]]:
    """Table -> its columns; nothing for what is no SQLite database."""
    with path.open("rb") as file:
        if file.read(16) != b"SQLite format 3\x00":
            return {}
    with open_database(path) as database:
        names = [row[0] for row in database.execute("select name from sqlite_master where type = 'table'")]
        return {
            name: {row[1] for row in database.execute(f'pragma table_info("{name.replace(chr(34), "")}")')}
            for name in names
        }


class FileSource:
    """A source that is read file by file."""

    name = ""
    globs: ClassVar[tuple[str, ...]]
    """Names of its files in a folder or an archive; a file by itself may have any name."""
    expected: ClassVar[str]

    def __init__(self, path: Path) -> None:
        self._tree = FileTree(path)
        files = [path.name] if self._tree.is_file else self._tree.names(*self.globs)
        self._files = [file for file in files if self._takes(file)]
        if not self._files:
            raise InvalidInput(str(path), self.expected)

    def read(self) -> Iterator[ImportedDocument | SkippedPart]:
        for file in self._files:
            yield from self._read(file)

    def close(self) -> None:
        self._tree.close()

    def _takes(self, file: str) -> bool:
        """Return whether a file belongs to the source."""
        return True

    def _read(self, file: str) -> Iterator[ImportedDocument | SkippedPart]:
        raise NotImplementedError
