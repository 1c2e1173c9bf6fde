"""Choosing the reader of a file."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import PurePath

from perdure.documents.document import FileText, decode, fenced
from perdure.documents.docx import read_docx
from perdure.documents.html import read_html
from perdure.documents.mail_file import read_mail_file
from perdure.documents.pdf import read_pdf
from perdure.documents.svg import read_svg
from perdure.documents.table import read_table
from perdure.errors import InvalidInput
from perdure.text.moments import read_moment

_READERS: dict[str, Callable[[bytes, str], FileText]] = {
    ".html": read_html, ".htm": read_html, ".xhtml": read_html,
    ".pdf": read_pdf, ".docx": read_docx, ".svg": read_svg, ".eml": read_mail_file,
    ".csv": read_table, ".tsv": read_table,
}  # fmt: skip
_LANGUAGES = {
    ".py": "python", ".pyi": "python", ".ipynb": "json", ".js": "javascript", ".mjs": "javascript", ".cjs": "javascript",
    ".jsx": "jsx", ".ts": "typescript", ".tsx": "tsx", ".vue": "vue", ".svelte": "svelte", ".css": "css", ".scss": "scss",
    ".less": "less", ".java": "java", ".kt": "kotlin", ".kts": "kotlin", ".scala": "scala", ".groovy": "groovy",
    ".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hpp": "cpp", ".cs": "csharp", ".fs": "fsharp",
    ".go": "go", ".rs": "rust", ".swift": "swift", ".m": "objectivec", ".rb": "ruby", ".php": "php", ".pl": "perl",
    ".lua": "lua", ".r": "r", ".jl": "julia", ".dart": "dart", ".ex": "elixir", ".exs": "elixir", ".erl": "erlang",
    ".hs": "haskell", ".ml": "ocaml", ".clj": "clojure", ".lisp": "lisp", ".el": "lisp", ".zig": "zig", ".nim": "nim",
    ".sh": "sh", ".bash": "sh", ".zsh": "sh", ".fish": "fish", ".ps1": "powershell", ".bat": "bat", ".sql": "sql",
    ".graphql": "graphql", ".proto": "protobuf", ".tf": "hcl", ".nix": "nix", ".xml": "xml", ".xsl": "xml",
    ".yaml": "yaml", ".yml": "yaml", ".toml": "toml", ".ini": "ini", ".cfg": "ini", ".conf": "ini", ".env": "sh",
    ".json": "json", ".jsonl": "json", ".ndjson": "json", ".gradle": "groovy", ".cmake": "cmake", ".diff": "diff", ".patch": "diff",
}  # fmt: skip
"""Suffix of a file of code or settings -> its language, as fences name it."""
_CODE_NAMES = {
    "dockerfile": "dockerfile",
    "makefile": "make",
    "cmakelists.txt": "cmake",
    "jenkinsfile": "groovy",
}
_MARKDOWN = (".md", ".markdown", ".mdx")
_FRONT = re.compile(r"---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_FRONT_FIELD = re.compile(r"^(\w+):[ \t]*(\S.*?)[ \t]*$", re.MULTILINE)
_BINARY = frozenset(
    """
    .png .jpg .jpeg .gif .webp .bmp .ico .tif .tiff .heic .psd .mp3 .wav .flac .ogg .m4a .mp4 .mov .avi .mkv .webm .zip .gz .tgz .bz2
    .xz .7z .rar .tar .jar .war .whl .egg .exe .dll .so .dylib .o .a .class .pyc .pyo .wasm .bin .dat .db .sqlite .sqlite3 .parquet
    .npy .npz .pkl .pt .onnx .safetensors .ttf .otf .woff .woff2 .eot .doc .xls .xlsx .ppt .pptx .odt .ods .odp .epub .key .pages
    """.split()
)


def read_file(data: bytes, name: str) -> FileText:
    """Read a file by its kind; raise `InvalidInput` for a file that cannot be read, `Unavailable` for a missing extra."""
    path = PurePath(name)
    suffix = path.suffix.lower()
    if suffix in _BINARY:
        raise InvalidInput(name, f"text ({suffix} files are not read)")
    reader = _READERS.get(suffix)
    if reader is not None:
        return _with_text(reader(data, name), name)
    language = _CODE_NAMES.get(path.name.lower()) or _LANGUAGES.get(suffix)
    text = decode(data, name)
    if suffix in _MARKDOWN:
        return _with_text(_markdown(text), name)
    return FileText(text=fenced(text, language) if language else text)


def _markdown(text: str) -> FileText:
    """Read the text after the front matter, which has the file's title and date."""
    front = _FRONT.match(text)
    if front is None:
        return FileText(text=text)
    fields = {key.lower(): value.strip("\"'") for key, value in _FRONT_FIELD.findall(front[1])}
    return FileText(
        text=text[front.end() :],
        title=fields.get("title", ""),
        written_at=read_moment(fields.get("date") or fields.get("created") or ""),
    )


def _with_text(read: FileText, name: str) -> FileText:
    if not read.text.strip():
        raise InvalidInput(name, "a file with text")
    return read
