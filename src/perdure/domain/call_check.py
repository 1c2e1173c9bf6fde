"""What is wrong with a call that failed on the way: the first argument that is not of its declared type."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache, wraps
from typing import Any, TypeVar, cast, get_type_hints

from perdure.errors import InvalidInput, PerdureError, StoreError

Method = TypeVar("Method", bound=Callable[..., Any])
_FAILURES = (TypeError, AttributeError, ValueError, OverflowError, LookupError, RecursionError, StoreError)
"""What values of wrong types lead to; of store errors the bare one, as when a database cannot bind a value."""


def explaining_arguments(method: Method) -> Method:
    """Let a call that fails for a value of a wrong type raise `InvalidInput` with the name of the argument.

    Calls that succeed are not checked, so nothing that works is refused and nothing is paid for.
    """

    @wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return method(*args, **kwargs)
        except _FAILURES as error:
            if isinstance(error, PerdureError) and type(error) is not StoreError:
                raise
            problem = _first_wrong(method, args, kwargs)
            if problem is None:
                raise
            raise problem from error

    return cast(Method, call)


def _first_wrong(
    method: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> InvalidInput | None:
    try:
        bound = inspect.signature(method).bind(*args, **kwargs)
    except TypeError:
        return None  # the call does not fit the signature, as its own error says
    for name, value in bound.arguments.items():
        expected = _expected(method, name)
        if expected is not None and not _is_valid(expected, value):
            return InvalidInput(name, _described(method, name), value)
    for name, value in bound.arguments.items():
        if _has_unstorable(value):
            return InvalidInput(name, "text without lone surrogates and numbers of at most 64 bits")
    return None


def _is_valid(expected: Any, value: object) -> bool:
    from pydantic import ValidationError

    try:
        expected.validate_python(value, strict=True)
    except ValidationError:
        return False
    return True


@cache
def _expected(method: Callable[..., Any], name: str) -> Any:
    """Return the validator of a parameter; None for what has no type that can be checked."""
    from pydantic import PydanticSchemaGenerationError, PydanticUserError, TypeAdapter

    if inspect.signature(method).parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
        return None  # options are checked by their declarations
    try:
        return TypeAdapter(get_type_hints(method)[name])
    except (NameError, KeyError, PydanticSchemaGenerationError, PydanticUserError):
        return None


def _described(method: Callable[..., Any], name: str) -> str:
    return f"a value of type {inspect.signature(method).parameters[name].annotation}"


def _has_unstorable(value: object, depth: int = 0) -> bool:
    """Return whether a value has a part that no store takes; what is nested too deeply counts as one."""
    if isinstance(value, str):
        return any("\ud800" <= character <= "\udfff" for character in value)
    if isinstance(value, int):
        return not -(2**63) <= value < 2**63
    if depth > 50:
        return True
    if isinstance(value, Mapping):
        return any(_has_unstorable(part, depth + 1) for pair in value.items() for part in pair)
    if isinstance(value, Sequence | set | frozenset) and not isinstance(
        value, bytes | bytearray | memoryview
    ):
        return any(_has_unstorable(part, depth + 1) for part in value)
    return False
