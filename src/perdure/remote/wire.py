"""The protocol: paths, and arguments, results and errors of verbs as JSON and back, by the annotations of the verbs."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import date
from enum import Enum
from functools import cache
from typing import Annotated, Any, NotRequired, Unpack, get_args, get_origin, get_type_hints

from pydantic import ConfigDict, PlainValidator, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, from_json, to_json
from typing_extensions import TypedDict

from perdure import arguments as generated
from perdure import errors
from perdure.domain.filter import Filter, TagAnd, TagLeaf, TagNot, TagOr, TagsMatch, read_tags
from perdure.domain.item import Item, check_text
from perdure.domain.options import Options
from perdure.domain.plain import first_problem
from perdure.errors import InvalidInput, PerdureError
from perdure.retain.messages import as_mapping
from perdure.retain.request import Content
from perdure.verbs import VERBS

PATH = "/v1/perdure"
FORMAT = 1
"""The version of requests and answers. A client refuses a server of another version when it connects."""
END_OF_STREAM = "perdure_lines"
"""Key of the object that ends a stream of lines: the number of lines before it."""
ITEM = "$item"
"""Key of an object that is an `Item`, and not a mapping to be read as one."""
LOCAL_ARGUMENTS = frozenset({"bank", "cancelled", "lines"})
"""In the path, asked on the client's side, in a body of their own."""
NOT_SENT: Any = {
    "count_tokens": True,
    "recalled": {"count_tokens"},
    "trace": {"steps": {"__all__": {"recalled": {"count_tokens"}}}},
}
"""Where a recall and a reflection hold a function, which the client has its own of."""


# Arguments


def encode_arguments(arguments: Mapping[str, object]) -> bytes:
    """Return the arguments of a call as a JSON object."""
    sent = {name: _plain(name, value) for name, value in arguments.items()}
    try:
        return to_json(sent, inf_nan_mode="constants")
    except PydanticSerializationError as error:
        for name, value in sent.items():
            _check_texts(name, value)
        raise InvalidInput("arguments", "values that JSON has") from error


def decode_arguments(verb: str, body: bytes) -> dict[str, object]:
    """Return the arguments of a call; raise `InvalidInput` for the first wrong one."""
    try:
        arguments: dict[str, object] = _arguments(verb).validate_json(body or b"{}", strict=True)
    except ValidationError as error:
        raise first_problem(error) from error
    except RecursionError as error:
        raise InvalidInput("arguments", "JSON that is nested less deeply") from error
    if "content" in arguments and verb in ("retain", "retain_later", "facts.preview"):
        arguments["content"] = _read_content(arguments["content"])
    return arguments


def bound_arguments(verb: str, bound: inspect.BoundArguments) -> dict[str, object]:
    """Return the arguments of a call by name, with those of `**fields` among them."""
    parameters = inspect.signature(VERBS[verb].method).parameters
    arguments: dict[str, object] = {}
    for name, value in bound.arguments.items():
        if parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
            arguments.update(value)
        elif name != "self":
            arguments[name] = value
    return arguments


@cache
def _arguments(verb: str) -> TypeAdapter[dict[str, object]]:
    """Return the validator of a verb's arguments: an object of its parameters, none of them unknown."""
    method = VERBS[verb].method
    hints = hints_of(verb)
    types: dict[str, Any] = {}
    for name, parameter in list(inspect.signature(method).parameters.items())[1:]:
        if name in LOCAL_ARGUMENTS:
            continue
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            options = get_args(hints[name])[0] if get_origin(hints[name]) is Unpack else hints[name]
            declared = options.__module__ == generated.__name__  # the verb checks them by their declaration
            for key, kind in get_type_hints(options).items():
                types[key] = NotRequired[object if declared else _sent(key, kind)]
        elif parameter.default is inspect.Parameter.empty:
            types[name] = _sent(name, hints[name])
        else:
            types[name] = NotRequired[_sent(name, hints[name])]
    functional: Any = TypedDict
    sent = functional(f"{verb}.arguments", types)
    sent.__pydantic_config__ = ConfigDict(extra="forbid", strict=True, allow_inf_nan=True)
    return TypeAdapter(sent)


def _sent(name: str, annotation: Any) -> object:
    """Return the form in which an argument is sent, if it differs from its own."""
    if annotation == Content or name == "trigger":
        return object
    if name == "where":
        return Annotated[Filter | None, PlainValidator(_read_filter)]
    if name == "since" and date in get_args(annotation):
        return Annotated[Any, PlainValidator(TypeAdapter(annotation).validate_python)]
    return annotation


def hints_of(verb: str) -> dict[str, Any]:
    """Return the types of a verb's arguments and of its result."""
    local: dict[str, object] = {}
    if verb.startswith("llm."):
        from perdure.domain.llm_call import LlmOperation
        from perdure.llm.health import LlmHealth

        local = {"LlmOperation": LlmOperation, "LlmHealth": LlmHealth}
    return get_type_hints(VERBS[verb].method, localns=local)


def _plain(path: str, value: object) -> object:
    """Return a value as JSON; raise `InvalidInput` if JSON has no equivalent."""
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, TagLeaf):
        return {"tags": sorted(value.tags), "match": value.match.value}
    if isinstance(value, TagAnd | TagOr):
        parts = [_plain(path, part) for part in value.parts]
        return {"and" if isinstance(value, TagAnd) else "or": parts}
    if isinstance(value, TagNot):
        return {"not": _plain(path, value.part)}
    if isinstance(value, frozenset | set):
        return sorted((_plain(path, part) for part in value), key=str)
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [_plain(f"{path}[{place}]", part) for place, part in enumerate(value)]
    if path == "recipe" or callable(value):
        raise InvalidInput(path, "the name of one, over HTTP", value)
    if is_dataclass(value) and not isinstance(value, type):
        named = {
            one.name: _plain(f"{path}.{one.name}", getattr(value, one.name))
            for one in fields(value)
            if not isinstance(value, Options) or getattr(value, one.name) != one.default
        }
        return {ITEM: named} if isinstance(value, Item) else named
    mapping = as_mapping(value)
    if mapping is None:
        raise InvalidInput(path, "a value that JSON has, over HTTP", value)
    return {str(key): _plain(f"{path}.{key}", part) for key, part in mapping.items()}


def _check_texts(path: str, value: object) -> None:
    """Raise for the first text that cannot be sent."""
    if isinstance(value, str):
        check_text(path, value)
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        _check_texts(path, key)
        _check_texts(f"{path}.{key}" if isinstance(value, dict) else path, part)


def _read_content(value: object) -> Content:
    """Read retain's content, with items as such."""
    if isinstance(value, dict) and value.keys() == {ITEM}:
        try:
            return _ITEM.validate_python(value[ITEM])
        except ValidationError as error:
            raise first_problem(error) from error
    if isinstance(value, list):
        return [_read_content(part) for part in value]
    if not isinstance(value, str | dict):
        raise InvalidInput("content", "text, a message, an item or a list of these", value)
    return value


_ITEM = TypeAdapter(Item)
_FILTER = TypeAdapter(Filter)


def _read_filter(value: object) -> Filter | None:
    if value is None:
        return None
    if not isinstance(value, dict):
        raise InvalidInput("where", "a Filter", value)
    tags = value.get("tags") or ()
    if not isinstance(tags, list | tuple) or not all(isinstance(group, dict) for group in tags):
        raise InvalidInput("where.tags", "a list of expressions", tags)
    return _FILTER.validate_python({**value, "tags": read_tags(None, TagsMatch.ANY, tags)})


# Results


def encode_result(result: object) -> bytes:
    """Return a verb's result as JSON."""
    return to_json(result, exclude=NOT_SENT, inf_nan_mode="constants")


def decode_result(verb: str, body: bytes) -> object:
    """Return a verb's result; raise `PerdureError` if the answer is no such thing."""
    try:
        return _result(verb).validate_json(body)
    except ValidationError as error:
        raise PerdureError(
            f"{verb}: the server's answer is not what this version expects: {error}"
        ) from error


@cache
def _result(verb: str) -> TypeAdapter[object]:
    return TypeAdapter(hints_of(verb)["return"])


# Errors

_KINDS: Mapping[str, type[PerdureError]] = {
    kind.code: kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, PerdureError)
}


def encode_error(error: PerdureError) -> dict[str, object]:
    """Return an error's fields besides code and message: the field, what was expected, when to try again."""
    attributes = {name: value for name, value in vars(error).items() if not name.startswith("_")}
    try:
        encoded: dict[str, object] = from_json(to_json(attributes))
    except PydanticSerializationError:
        return {}
    return encoded


def decode_error(code: str, message: str, attributes: Mapping[str, object]) -> PerdureError:
    """Return the error that the server raised, with its own words."""
    kind = _KINDS.get(code, PerdureError)
    error = kind.__new__(kind)
    Exception.__init__(error, message)
    for name, value in {**_DEFAULTS.get(code, {}), **attributes}.items():
        if not name.startswith("_"):
            setattr(error, name, value)
    if isinstance(error, errors.StoreError):
        error._public = message
    return error


_DEFAULTS: Mapping[str, Mapping[str, object]] = {
    "busy": {"retry_after": 1.0},
    "invalid_input": {"field": "request", "expected": ""},
    "not_found": {"kind": "path", "name": ""},
}
"""Attributes of errors that a gate in front of the verbs says without them."""
