"""Serving the web page: its files, and the headers that keep everything else out of it.

Browsers request the page at every visit, answered with 304 if it is unchanged. Its files have their version in the path and are cached.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from mimetypes import guess_type
from posixpath import dirname, join, normpath

from fastapi import APIRouter, Request, Response

from perdure.errors import NotFound
from perdure.surfaces.gate import PAGE

router = APIRouter(include_in_schema=False)
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "font-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
    )
)
"""Scripts and styles from this server's files alone; no text becomes markup, whatever a script does."""
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Vary": "Accept-Encoding",
}
KEPT = "public, max-age=31536000, immutable"
"""`Cache-Control` of files under their version, which never change."""
FIRST = "main.js"
"""The module that the page begins with; those that it imports are announced in the page, views are loaded when they are opened."""
MODULES = "<!-- modules -->"
"""Where the page announces them."""
IMPORT = re.compile(r'^(?:import|export)\b[^;]*?\bfrom "(\.[^"]+)";', re.MULTILINE)


@router.get("/")
async def index(request: Request) -> Response:
    """Return the page."""
    return _entry(request, "index.html")


@router.get("/docs")
async def reference(request: Request) -> Response:
    """Return the REST reference."""
    return _entry(request, "docs.html")


def _entry(request: Request, name: str) -> Response:
    tag = f'"{VERSION}"'
    headers = {**HEADERS, "ETag": tag, "Cache-Control": "no-cache"}
    if request.headers.get("If-None-Match") == tag:
        return Response(status_code=304, headers=headers)
    return _answered(request, name, headers)


@router.get(f"{PAGE}{{version}}/{{name:path}}")
async def file(request: Request, version: str, name: str) -> Response:
    """Return one of its files, of this version of the page alone."""
    if version != VERSION or name not in _FILES:
        raise NotFound("page", f"{version}/{name}")
    return _answered(request, name, {**HEADERS, "Cache-Control": KEPT})


def _answered(request: Request, name: str, headers: Mapping[str, str]) -> Response:
    if _takes_gzip(request.headers.get("Accept-Encoding", "")):
        packed = {**headers, "Content-Encoding": "gzip"}
        return Response(_compressed(name), media_type=guess_type(name)[0], headers=packed)
    return Response(_FILES[name], media_type=guess_type(name)[0], headers=dict(headers))


def _takes_gzip(accepted: str) -> bool:
    """Return whether `Accept-Encoding` allows gzip."""
    for coding in accepted.lower().split(","):
        name, _, weight = coding.replace(" ", "").partition(";q=")
        if name == "gzip":
            return not weight or weight.strip("0.") != ""
    return False


@cache
def _compressed(name: str) -> bytes:
    return gzip.compress(_FILES[name], mtime=0)


def _read_files() -> dict[str, bytes]:
    """Return every file of the page by its name; other paths are never looked up on the disk."""
    root = files("perdure.surfaces.web") / "static"
    contents: dict[str, bytes] = {}
    waiting = [("", root)]
    while waiting:
        prefix, folder = waiting.pop()
        for entry in folder.iterdir():
            if entry.is_dir():
                waiting.append((f"{prefix}{entry.name}/", entry))
            else:
                contents[prefix + entry.name] = entry.read_bytes()
    demo = files("perdure.surfaces.cli") / "demo_conversation.json"
    return {**contents, "demo.json": demo.read_bytes()}


def _version(contents: Mapping[str, bytes]) -> str:
    whole = sha256()
    for name in sorted(contents):
        whole.update(f"{name} {len(contents[name])}\n".encode() + contents[name])
    return whole.hexdigest()[:16]


def imported(contents: Mapping[str, bytes], module: str) -> list[str]:
    """Return what a module imports, and what that imports, in the order in which they are met."""
    reached: list[str] = []
    waiting = [module]
    while waiting:
        name = waiting.pop(0)
        for path in IMPORT.findall(contents[name].decode()):
            other = normpath(join(dirname(name), path))
            if other not in reached and other != module:
                reached.append(other)
                waiting.append(other)
    return reached


def _with_addresses(contents: Mapping[str, bytes], name: str, version: str) -> bytes:
    """Return a page, with its files under their version and the modules that it begins with announced."""
    preloads = [f'<link rel="modulepreload" href="{PAGE}{name}" />' for name in imported(contents, FIRST)]
    text = contents[name].decode().replace(MODULES, "\n    ".join(preloads))
    return text.replace(f'="{PAGE}', f'="{PAGE}{version}/').encode()


_FILES = _read_files()
VERSION = _version(_FILES)
"""Of all files of the page together."""
_FILES.update({name: _with_addresses(_FILES, name, VERSION) for name in ("index.html", "docs.html")})
