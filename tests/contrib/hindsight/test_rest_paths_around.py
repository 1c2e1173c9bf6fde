"""Paths around the memory: background work, files, counts, transfer; what is not built; errors."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.support.rest_checked import BANKS, Checked, checked_client, fill_main
from tests.support.rest_server import wait_for


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Checked]:
    with checked_client(tmp_path_factory.mktemp("rest")) as client:
        yield client


@pytest.fixture(scope="module")
def bank(client: Checked) -> str:
    return fill_main(client)


def test_background_retain_and_operations(client: Checked) -> None:
    path = f"{BANKS}/later"
    item = {"content": "Grace Grey paints.", "document_id": "grace"}
    body = {"items": [item], "async": True, "operation_id": "op-1"}
    accepted = client.post(f"{path}/memories", json=body).json()
    assert (accepted["async"], accepted["operation_id"]) == (True, "op-1")
    assert client.post(f"{path}/memories", json=body).json()["operation_id"] == "op-1"
    ended = wait_for(client, "later", "op-1")
    assert (ended["status"], ended["progress"]["processed"]) == ("completed", 1)
    assert client.get(f"{path}/memories/list").json()["total"] == 1
    other = {**body, "items": [{"content": "Something else."}]}
    assert client.post(f"{path}/memories", json=other).status_code == 409
    payload = client.get(f"{path}/operations/op-1", params={"include_payload": True}).json()["task_payload"]
    assert payload["items"] == [], "what is stored leaves the operation"
    listed = client.get(f"{path}/operations", params={"status": "completed", "type": "retain"}).json()
    assert [(work["id"], work["document_id"]) for work in listed["operations"]] == [("op-1", "grace")]
    assert client.get(f"{path}/operations", params={"status": "failed"}).json()["total"] == 0
    assert client.delete(f"{path}/operations/op-1").status_code == 409
    assert client.post(f"{path}/operations/op-1/retry").status_code == 409
    assert client.delete(f"{path}/operations/op-1/delete").json()["success"] is True
    assert client.get(f"{path}/operations/op-1").json()["status"] == "not_found"
    assert client.delete(f"{path}/operations/op-1/delete").status_code == 404


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/consolidation-strategies/preview"),
    ],
)
def test_what_is_not_built_says_so(client: Checked, bank: str, method: str, path: str) -> None:
    response = client.request(method, bank + path, json={} if method == "POST" else None)
    assert response.status_code == 501
    assert response.json()["error"]["code"] == "not_built"
    assert response.json()["detail"]


def test_errors_have_a_detail_and_a_code(client: Checked, bank: str) -> None:
    wrong = client.post(f"{bank}/memories/recall", json={"query": 7})
    assert wrong.status_code == 422
    assert wrong.json()["detail"][0]["loc"] == ["body", "query"]
    assert wrong.json()["error"]["code"] == "invalid_input"
    empty = client.post(f"{bank}/memories/recall", json={"query": "  "})
    assert empty.json()["detail"][0]["loc"] == ["body", "query"]
    assert client.get("/nowhere").json()["error"]["code"] == "not_found"
    assert client.delete("/version").json()["error"]["code"] == "method_not_allowed"
    assert (
        client.post(
            f"{bank}/memories", content=b"{", headers={"content-type": "application/json"}
        ).status_code
        == 422
    )


def test_every_path_of_the_reference_answers(client: Checked) -> None:
    """Nothing of the reference is unknown to the server: it is built or says that it is not."""
    if client.reference is None:
        pytest.skip("the reference is not at hand")
    for template, methods in client.reference["paths"].items():
        for method in methods:
            path = re.sub(r"\{\w+\}", "x", template)
            response = client.request(method, path)
            unknown = response.status_code == 404 and response.json()["detail"] == "Not Found"
            assert not unknown, f"{method} {template}"
            assert response.status_code != 405, f"{method} {template}"
