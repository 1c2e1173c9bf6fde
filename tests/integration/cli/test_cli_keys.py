"""`perdure keys`: made, listed, rotated, revoked; and what a server then says."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any


def test_a_key_with_an_end_is_listed_rotated_and_revoked(cli: Any) -> None:
    created = cli(
        "keys", "create", "--name", "agent", "--bank", "b", "--scope", "read", "--days", "30", "--json"
    ).json
    ends = datetime.fromisoformat(created["expires_at"]) - datetime.now(UTC)
    assert timedelta(days=29) < ends <= timedelta(days=30)
    assert created["key"].startswith("pdr_")
    kept = cli("keys", "rotate", created["id"], "--keep", "2", "--json").json
    listed = {key["id"]: key for key in cli("keys", "list", "--json").json["keys"]}
    assert set(listed) == {created["id"], kept["id"]}
    assert "digest" not in listed[created["id"]]
    assert (listed[kept["id"]]["banks"], listed[kept["id"]]["scopes"]) == (["b"], ["read"])
    assert datetime.fromisoformat(listed[created["id"]]["expires_at"]) < datetime.now(UTC) + timedelta(
        hours=3
    )
    last = cli("keys", "rotate", kept["id"], "--json").json
    assert kept["id"] not in cli("keys", "list").out
    assert "last used" in cli("keys", "list").out
    cli("keys", "revoke", created["id"], "--yes")
    cli("keys", "revoke", last["id"], "--yes")
    refused = cli("serve", "--open")
    assert refused.code == 1
    assert "not served with --open again" in refused.err


def test_a_server_without_keys_says_both_ways(cli: Any) -> None:
    refused = cli("serve")
    assert refused.code == 1
    assert "perdure keys create" in refused.err
    assert "--open" in refused.err


def test_to_rotate_a_key_that_is_not_there_is_not_found(cli: Any) -> None:
    cli("keys", "create")
    assert cli("keys", "rotate", "nothing").code == 3
