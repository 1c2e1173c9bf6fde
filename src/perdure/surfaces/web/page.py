"""Serving the web page: its files, and the headers that keep everything else out of it."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from importlib.resources import files
from mimetypes import guess_type

from fastapi import APIRouter, Request, Response

from perdure.errors import NotFound
from perdure.surfaces.gate import PAGE

router = APIRouter(include_in_schema=False)
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
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
}


@router.get("/")
async def index(request: Request) -> Response:
    """The page."""
    return _answered(request, "index.html")


@router.get(f"{PAGE}{{name:path}}")
async def file(request: Request, name: str) -> Response:
    """One of its files."""
    return _answered(request, name)


def _answered(request: Request, name: str) -> Response:
    content = _FILES.get(name)
    if content is None:
        raise NotFound("page", name)
    tag = f'"{sha256(content).hexdigest()[:16]}"'
    headers = {**HEADERS, "ETag": tag, "Cache-Control": "no-cache"}
    if request.headers.get("If-None-Match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=guess_type(name)[0], headers=headers)


def _read_files() -> dict[str, bytes]:
    """Every file of the page by its name: a path that is none of these is not looked up on the disk."""
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
    return contents


_FILES = _read_files()
