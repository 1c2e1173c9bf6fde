"""A client that holds every answer against the reference, and a bank to ask about."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import jsonschema

from tests.support.rest_server import open_quick, running

REFERENCE = Path(__file__).parents[3] / "shared" / "reference" / "hindsight-openapi.json"
BANKS = "/v1/default/banks"
TEXT = (
    "Alice Johnson works at Google as a software engineer. Bob Smith is a friend of Alice Johnson. "
    "Alice Johnson moved to Zurich in March 2024 because Google opened an office there."
)


class Checked(httpx.Client):
    """A client that compares every answer with what the reference promises for its path and status."""

    reference: dict[str, Any] | None = json.loads(REFERENCE.read_text()) if REFERENCE.exists() else None

    def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        response = super().send(request, **options)
        if self.reference is not None:
            self._check(request, response)
        return response

    def _check(self, request: httpx.Request, response: httpx.Response) -> None:
        assert self.reference is not None
        template = self._template(request.url.path, request.method.lower())
        if template is None:
            return
        promised = self.reference["paths"][template][request.method.lower()]["responses"]
        content = promised.get(str(response.status_code), {}).get("content", {})
        schema = content.get("application/json", {}).get("schema")
        if schema and response.headers["content-type"].startswith("application/json"):
            whole = {**schema, "components": self.reference["components"]}
            jsonschema.Draft202012Validator(whole).validate(response.json())

    def _template(self, path: str, method: str) -> str | None:
        assert self.reference is not None
        found = [
            template
            for template, methods in self.reference["paths"].items()
            if method in methods and re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), path)
        ]
        return min(found, key=lambda template: template.count("{")) if found else None


@contextmanager
def checked_client(folder: Path) -> Iterator[Checked]:
    """A client of a server of its own."""
    with open_quick(folder) as engine, running(engine) as url, Checked(base_url=url, timeout=60) as client:
        yield client


def fill_main(client: Checked) -> str:
    """The path of the bank `main`, with three documents."""
    items = [
        {"content": TEXT, "document_id": "cv", "tags": ["people", "work"], "metadata": {"source": "cv"}},
        {"content": "Bob Smith plays chess every Sunday.", "document_id": "bob", "tags": ["people"]},
        {"content": "The office dog is called Rex.", "document_id": "dog"},
    ]
    response = client.post(f"{BANKS}/main/memories", json={"items": items})
    assert response.status_code == 200, response.text
    assert response.json()["items_count"] == 3
    assert response.json()["async"] is False
    return f"{BANKS}/main"
