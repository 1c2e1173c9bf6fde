"""The OpenAPI document of Perdure's own verbs, derived from their signatures and declared options."""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

from pydantic import BaseModel, TypeAdapter

from perdure import __version__
from perdure.domain.verb import BankIn
from perdure.remote.wire import LOCAL_ARGUMENTS, PATH
from perdure.surfaces.fields import body_of
from perdure.verbs import OPTIONS, VERBS, Verb

REFERENCE = "#/components/schemas/{model}"


@cache
def verbs_document() -> dict[str, Any]:
    """Return the document: a path per verb, with the arguments that its body takes."""
    schemas: dict[str, Any] = {}
    paths = {_path(verb): {"post": _operation(verb, schemas)} for verb in VERBS.values()}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Perdure", "version": __version__},
        "paths": paths,
        "components": {"schemas": schemas},
    }


def _path(verb: Verb) -> str:
    of_bank = verb.bank in (BankIn.ARGUMENT, BankIn.RECORD, BankIn.OPTIONAL)
    return f"{PATH}/banks/{{bank_id}}/{verb.name}" if of_bank else f"{PATH}/{verb.name}"


def _operation(verb: Verb, schemas: dict[str, Any]) -> dict[str, Any]:
    described = (inspect.getdoc(verb.method) or "").partition("\n\n")
    body = _body(verb, schemas)
    return {
        "operationId": verb.name,
        "summary": described[0],
        "description": described[2],
        "parameters": [
            {"name": "bank_id", "in": "path", "required": True, "schema": {"type": "string"}}
        ] if "{bank_id}" in _path(verb) else [],
        "requestBody": {"content": {"application/json": {"schema": body}}},
        "responses": {"200": {"description": "What the verb returns, as JSON."}},
    }  # fmt: skip


def _body(verb: Verb, schemas: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a verb's arguments."""
    properties: dict[str, Any] = {}
    required = []
    for parameter in list(inspect.signature(verb.method).parameters.values())[1:]:
        if parameter.name in LOCAL_ARGUMENTS or parameter.kind is inspect.Parameter.VAR_KEYWORD:
            continue
        properties[parameter.name] = _schema(parameter)
        if parameter.default is inspect.Parameter.empty:
            required.append(parameter.name)
    if verb.name in OPTIONS:
        options = _model_schema(body_of(OPTIONS[verb.name]), schemas)
        properties |= options["properties"]
        required += options.get("required", ())
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _schema(parameter: inspect.Parameter) -> dict[str, Any]:
    """Return the schema of a plain argument; of what only Python can check, that of any value."""
    kind = _PLAIN.get(str(parameter.annotation))
    return {} if kind is None else TypeAdapter(kind).json_schema()


_PLAIN: dict[str, Any] = {
    "str": str, "bool": bool, "int": int, "float": float, "str | None": str | None,
    "Sequence[str]": list[str], "Sequence[str] | None": list[str] | None,
}  # fmt: skip


def _model_schema(model: type[BaseModel], schemas: dict[str, Any]) -> dict[str, Any]:
    schema = model.model_json_schema(ref_template=REFERENCE)
    schemas.update(schema.pop("$defs", {}))
    return schema
