"""Declarations of verbs: what a public method of a memory needs when it is called over HTTP.

A class that has a method `list` defines it last: below it, `list` in an annotation would mean the method.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, TypeVar

from perdure.domain.call_check import explaining_arguments

Lane = Literal["recall", "retain", "read"]
"""The queue of worker threads on which a server runs a verb."""
Arguments = Mapping[str, object]
Method = TypeVar("Method", bound=Callable[..., Any])


class Access(StrEnum):
    """The scope that a key must have."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


READ, WRITE, ADMIN = Access.READ, Access.WRITE, Access.ADMIN


class BankIn(StrEnum):
    """Where a call names its bank."""

    ARGUMENT = "argument"
    """In the argument `bank` of every call."""
    OPTIONAL = "optional"
    """In the argument `bank`, which may be left out to mean all banks."""
    RECORD = "record"
    """In the record that is passed."""
    NOWHERE = "nowhere"
    """The verb concerns no bank; any key with the scope may call it."""
    ALL = "all"
    """The verb concerns all banks at once."""


def _never(_: Arguments) -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class VerbRules:
    """The rules of a verb over HTTP."""

    access: Access
    lane: Lane
    bank: BankIn
    needs_admin: Callable[[Arguments], bool]
    """Whether these arguments need the scope `admin`, which the verb by itself does not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalRules:
    """The rules of a public name that does not go over HTTP."""

    refusal: str
    """Why a served memory does not have it; empty where the client itself provides it."""


def verb(
    access: Access,
    lane: Lane | None = None,
    *,
    bank: BankIn = BankIn.ARGUMENT,
    needs_admin: Callable[[Arguments], bool] = _never,
) -> Callable[[Method], Method]:
    """Declare a method as a verb that goes over HTTP.

    The lane is `read` for verbs of the scope `read`, and `retain` for the others, unless given.
    """
    rules = VerbRules(
        access=access,
        lane=lane or ("read" if access is READ else "retain"),
        bank=bank,
        needs_admin=needs_admin,
    )
    return _declaring(rules)


def local(refusal: str = "") -> Callable[[Method], Method]:
    """Declare a public method or property that does not go over HTTP, and why a served memory refuses it."""
    return _declaring(LocalRules(refusal=refusal))


def rules_of(member: object) -> VerbRules | LocalRules | None:
    """Return what was declared of a public member of a class, or None if nothing was."""
    method = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
    rules = getattr(method, "__verb__", None)
    return rules if isinstance(rules, VerbRules | LocalRules) else None


def _declaring(rules: VerbRules | LocalRules) -> Callable[[Method], Method]:
    def declare(method: Method) -> Method:
        if isinstance(rules, VerbRules) and not inspect.isgeneratorfunction(method):
            method = explaining_arguments(method)
        method.__verb__ = rules  # type: ignore[attr-defined]
        return method

    return declare
