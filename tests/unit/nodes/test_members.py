"""The nodes of a cluster: who owns a bank, who I am, and which configurations are refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure import InvalidInput, Settings
from perdure.domain.rendezvous import rendezvous
from perdure.surfaces.nodes import members
from perdure.surfaces.nodes.members import Members, node_url, read_members

POSTGRES = "postgresql://db.example.org/memory"
NODES = st.lists(st.integers(1, 60), min_size=1, max_size=12, unique=True).map(
    lambda numbers: [f"http://node-{number}:8888" for number in numbers]
)
BANKS = st.lists(st.text(min_size=1, max_size=20), min_size=1, max_size=60, unique=True)


def settings(**overrides: object) -> Settings:
    return Settings(**{"database": POSTGRES, "port": 8888, **overrides})  # type: ignore[arg-type]


@given(NODES, BANKS)
def test_a_node_that_joins_takes_banks_over_and_no_bank_moves_between_others(
    nodes: list[str], banks: list[str]
) -> None:
    joined = [*nodes, "http://new:8888"]
    for bank in banks:
        assert rendezvous(bank, joined) in ("http://new:8888", rendezvous(bank, nodes))


@given(NODES.filter(lambda nodes: len(nodes) > 1), BANKS)
def test_a_node_that_leaves_gives_away_its_own_banks_only(nodes: list[str], banks: list[str]) -> None:
    left = nodes[1:]
    for bank in banks:
        before = rendezvous(bank, nodes)
        assert before == nodes[0] or rendezvous(bank, left) == before


@given(NODES, BANKS, st.randoms())
def test_the_owner_does_not_depend_on_the_order_of_the_list(
    nodes: list[str], banks: list[str], random
) -> None:  # type: ignore[no-untyped-def]
    shuffled = random.sample(nodes, len(nodes))
    assert [rendezvous(bank, nodes) for bank in banks] == [rendezvous(bank, shuffled) for bank in banks]


def test_banks_are_spread_evenly() -> None:
    nodes = [f"http://10.0.0.{number}:8888" for number in range(5)]
    owners = [rendezvous(f"user-{number}", nodes) for number in range(10_000)]
    assert all(1_850 < owners.count(node) < 2_150 for node in nodes)


def test_a_node_owns_what_no_other_does() -> None:
    nodes = ["http://a:1", "http://b:1", "http://c:1"]
    views = [Members(nodes, own) for own in nodes]
    for number in range(50):
        owners = [view.owner(f"bank {number}") for view in views]
        assert owners.count(None) == 1
        assert len(set(owners) - {None}) == 1
        assert nodes[owners.index(None)] in owners


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("http://A.example.org", "http://a.example.org:80"),
        ("https://a/", "https://a:443"),
        ("http://[::1]:8888", "http://[::1]:8888"),
    ],
)
def test_a_node_has_one_form(text: str, url: str) -> None:
    assert node_url(text) == url


@pytest.mark.parametrize(
    "text",
    ["a:8888", "ftp://a:1", "http://a/path", "http://u:p@a:1", "http://:80", "http://a:x", "http://a?q=1"],
)
def test_what_is_no_url_of_a_node_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="nodes: expected http://HOST:PORT"):
        node_url(text)


def test_a_server_on_its_own_has_no_nodes() -> None:
    assert read_members(settings()) is None


@pytest.mark.parametrize(
    ("overrides", "told"),
    [
        ({"nodes": "http://a:1,http://b:1", "node": "http://c:1"}, "node: expected one of the nodes"),
        ({"nodes": "http://a:1,http://A:1/", "node": "http://a:1"}, "nodes: expected each node once"),
        ({"nodes": "http://127.0.0.1:1,http://127.0.0.1:2"}, "none of `nodes` is this server"),
        ({"nodes": "http://127.0.0.1:8888,http://localhost:8888"}, "could be this server"),
        ({"nodes": "http://a:1", "node": "http://a:1", "database": "memory.db"}, "expected PostgreSQL"),
        ({"node": "http://a:1"}, "node: expected `nodes` beside it"),
        ({"nodes": "dns://localhost:1,http://a:1"}, "alone, or URLs"),
        ({"nodes": "dns://localhost:1", "node": "http://a:1"}, "a node finds itself"),
        ({"nodes": "dns://no-such-name.invalid:1"}, "a name that resolves"),
    ],
)
def test_a_wrong_configuration_is_named(overrides: dict[str, str], told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        read_members(settings(**overrides))


def test_a_server_finds_itself_by_its_port_and_addresses() -> None:
    members = read_members(
        settings(nodes="http://127.0.0.1:8887,http://127.0.0.1:8888,http://192.0.2.7:8888")
    )
    assert members is not None
    assert members.own == "http://127.0.0.1:8888"


def test_a_name_is_resolved_to_nodes_and_again_later(monkeypatch: pytest.MonkeyPatch) -> None:
    addresses = ["192.0.2.7", "127.0.0.1"]
    monkeypatch.setattr(members, "resolve", lambda name, port: addresses)
    ring = read_members(settings(nodes="dns://memory.internal:8888"))
    assert ring is not None
    assert ring.nodes == ("http://127.0.0.1:8888", "http://192.0.2.7:8888")
    assert ring.own == "http://127.0.0.1:8888"
    assert not ring.is_old
    monkeypatch.setattr(members, "DNS_SECONDS", 0.0)
    assert ring.is_old
    addresses.append("192.0.2.8")
    ring.refresh()
    assert len(ring.nodes) == 3

    def fail(name: str, port: int) -> list[str]:
        raise OSError("no name server")

    monkeypatch.setattr(members, "resolve", fail)
    ring.refresh()
    assert len(ring.nodes) == 3
