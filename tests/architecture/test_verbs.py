"""Every public method of a memory is declared as a verb or as local; its asynchronous and remote forms have its signature."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from perdure import AsyncPerdure, Perdure
from perdure.domain.verb import WRITE, rules_of
from perdure.manage.records import is_own_kind
from perdure.remote import wire
from perdure.remote.client import (
    REMOTE_ASYNC_RESOURCES,
    REMOTE_RESOURCES,
    RemoteAsyncPerdure,
    RemotePerdure,
)
from perdure.verbs import MEMBERS, REFUSALS, RESOURCES, VERBS

ASYNC_RESOURCES = {name: get_type_hints(AsyncPerdure)[name] for name in RESOURCES}
METHODS = sorted(name for name, member in MEMBERS.items() if inspect.isroutine(member) and name != "open")


def forms(name: str) -> Iterator[tuple[Any, Any, Any]]:
    """Yield a method's name with its synchronous and asynchronous form, embedded and remote."""
    resource, _, method = name.rpartition(".")
    here = (RESOURCES[resource], ASYNC_RESOURCES[resource]) if resource else (Perdure, AsyncPerdure)
    there = (
        (REMOTE_RESOURCES[resource], REMOTE_ASYNC_RESOURCES[resource])
        if resource
        else (RemotePerdure, RemoteAsyncPerdure)
    )
    for embedded, remote in zip(here, there, strict=True):
        yield method, getattr(embedded, method), getattr(remote, method)


def test_every_public_member_is_declared() -> None:
    assert not [name for name, member in MEMBERS.items() if rules_of(member) is None]


def test_a_memory_has_a_resource_of_every_kind(tmp_path: Path) -> None:
    with Perdure.open(tmp_path / "m.db", embedder="none", reranker="none", extractor="verbatim") as memory:
        for name, kind in RESOURCES.items():
            assert type(getattr(memory, name)) is kind


@pytest.mark.parametrize("name", METHODS)
def test_the_asynchronous_form_has_the_signature_of_the_method(name: str) -> None:
    (_, method, _), (_, twin, _) = forms(name)
    assert inspect.signature(method).parameters == inspect.signature(twin).parameters
    if inspect.iscoroutinefunction(twin):
        assert inspect.signature(method) == inspect.signature(twin)
    else:
        assert inspect.isasyncgenfunction(twin)
        assert (
            inspect.signature(twin).return_annotation == "Async" + inspect.signature(method).return_annotation
        )


@pytest.mark.parametrize("name", METHODS)
def test_the_remote_forms_have_the_signature_of_the_method(name: str) -> None:
    for _, embedded, remote in forms(name):
        assert inspect.signature(remote) == inspect.signature(embedded)
        assert inspect.iscoroutinefunction(remote) == inspect.iscoroutinefunction(embedded)


@pytest.mark.parametrize("name", sorted({*VERBS, *REFUSALS} - {"settings", "jobs"}))
def test_no_remote_verb_runs_the_embedded_one(name: str) -> None:
    for _, embedded, remote in forms(name):
        assert embedded is not remote


@pytest.mark.parametrize("name", METHODS)
def test_no_public_signature_says_any(name: str) -> None:
    for _, embedded, _ in forms(name):
        signature = inspect.signature(embedded)
        shown = [parameter.annotation for parameter in signature.parameters.values()]
        assert not [
            annotation for annotation in (*shown, signature.return_annotation) if "Any" in str(annotation)
        ]


@pytest.mark.parametrize("name", sorted(VERBS.keys() - {"banks.export"}))
def test_arguments_and_results_of_every_verb_can_be_read(name: str) -> None:
    wire._arguments(name)
    wire._result(name)


def test_a_verb_that_writes_is_never_sent_twice() -> None:
    assert not [verb.name for verb in VERBS.values() if verb.access is WRITE and verb.is_read]


def test_kinds_of_records_with_a_dot_are_a_programs_own() -> None:
    assert not is_own_kind("notes.app")
    assert not is_own_kind("app:item")
    assert is_own_kind("webhook")
    assert is_own_kind(None)
