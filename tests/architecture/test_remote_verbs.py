"""The client of a served memory has every verb of `Perdure`, with its signature; no verb is forgotten in the table."""

from __future__ import annotations

import inspect

import pytest

from perdure import AsyncPerdure, Perdure
from perdure.remote import wire
from perdure.remote.client import RemoteAsyncPerdure, RemotePerdure
from perdure.remote.verbs import LOCAL, REFUSED, VERBS, Access, is_own_kind

PUBLIC = {name for name in vars(Perdure) if not name.startswith("_")}
BY_HAND = {"operation", "export_bank", "import_bank", "close"}
"""Written out in the client, because they wait or stream."""


def test_every_public_name_is_sent_refused_or_answered_here() -> None:
    assert sorted([*VERBS, *REFUSED, *LOCAL]) == sorted(PUBLIC)


@pytest.mark.parametrize("name", sorted({*VERBS, *BY_HAND}))
def test_a_verb_has_the_signature_of_its_twin(name: str) -> None:
    assert inspect.signature(getattr(RemotePerdure, name)) == inspect.signature(getattr(Perdure, name))
    twin, remote = getattr(AsyncPerdure, name), getattr(RemoteAsyncPerdure, name)
    assert inspect.signature(remote) == inspect.signature(twin)
    assert inspect.iscoroutinefunction(remote) == inspect.iscoroutinefunction(twin)


@pytest.mark.parametrize("name", sorted({*VERBS, *REFUSED} - {"settings", "jobs"}))
def test_no_verb_runs_the_embedded_one(name: str) -> None:
    for here, there in ((RemotePerdure, Perdure), (RemoteAsyncPerdure, AsyncPerdure)):
        assert getattr(here, name) is not getattr(there, name)


@pytest.mark.parametrize("name", sorted(VERBS.keys() - {"export_bank"}))
def test_arguments_and_results_of_every_verb_can_be_read(name: str) -> None:
    wire._arguments(name)
    wire._result(name)


def test_a_verb_that_writes_is_never_sent_twice() -> None:
    assert not [verb.name for verb in VERBS.values() if verb.access is Access.WRITE and verb.is_read]


def test_kinds_of_records_with_a_dot_are_a_programs_own() -> None:
    assert not is_own_kind("notes.app")
    assert not is_own_kind("app:item")
    assert is_own_kind("webhook")
    assert is_own_kind(None)
