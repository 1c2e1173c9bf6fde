"""A tool: a method whose annotated arguments are its schema, and the checking of what a client sends for them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, dataclass, field
from typing import Annotated, Any, Self, get_args, get_origin, get_type_hints

from pydantic import ConfigDict, ValidationError, create_model

from perdure.domain.options import Options, Surface, flat_options, read_flat
from perdure.errors import InvalidInput
from perdure.surfaces.fields import field_of
from perdure.surfaces.mcp.sdk import INVALID_PARAMS, ProtocolError

ALWAYS_LOAD = "anthropic/alwaysLoad"
"""Claude Code keeps tools behind a search unless they say this of themselves."""
_ALTERNATIVE = re.compile(r"str|list\[.*|function-.*|nullable.*")
"""Steps of a field's path that name a type of several, not a field."""


@dataclass(frozen=True, slots=True)
class Hints:
    """What a client may know of a tool before it calls it."""

    title: str
    writes: bool = False
    destroys: bool = False
    idempotent: bool = False
    always_load: bool = False

    @property
    def annotations(self) -> dict[str, object]:
        """The hints in the protocol's spelling; nothing here reaches beyond the memory."""
        shown: dict[str, object] = {
            "title": self.title,
            "readOnlyHint": not self.writes,
            "openWorldHint": False,
        }
        if self.writes:
            shown |= {"destructiveHint": self.destroys, "idempotentHint": self.idempotent}
        return shown


@dataclass(frozen=True, slots=True)
class Shown:
    """How a tool shows a class of options: with other defaults, and without some of them."""

    defaults: Mapping[str, object] = field(default_factory=dict)
    without: Collection[str] = ()


class Tool:
    """One tool over a method. `hidden` arguments are not the client's; `more` ones are, and the method does not have them.

    Of an argument whose type is a class of options, the client has the options themselves, and the method gets them read.
    """

    def __init__(
        self,
        method: Callable[..., Any],
        hints: Hints,
        *,
        hidden: Collection[str] = (),
        more: Mapping[str, Any] | None = None,
    ) -> None:
        annotations = get_type_hints(method, include_extras=True)
        outputs = get_args(annotations.pop("return"))
        self._options: dict[str, _OptionsArgument] = {}
        fields: dict[str, Any] = {}
        for name, one in inspect.signature(method).parameters.items():
            options = _OptionsArgument.of(annotations[name])
            if options is not None:
                self._options[name] = options
                fields |= options.fields
            elif name not in hidden:
                default = ... if one.default is inspect.Parameter.empty else one.default
                fields[name] = (annotations[name], default)
        fields |= dict(more or {})
        self.name, self.hints, self.method = method.__name__, hints, method
        self._arguments = create_model(self.name, __config__=ConfigDict(extra="forbid"), **fields)
        self.arguments = tuple(fields)
        self.description = inspect.getdoc(method) or ""
        self._output: dict[str, Any] | None = None
        if outputs:
            self._output = outputs[0].model_json_schema(mode="serialization")

    @property
    def told(self) -> dict[str, object]:
        """The tool as `tools/list` tells it."""
        told: dict[str, object] = {
            "name": self.name,
            "title": self.hints.title,
            "description": self.description,
            "inputSchema": self._arguments.model_json_schema(),
            "annotations": self.hints.annotations,
        }
        if self._output is not None:
            told["outputSchema"] = self._output
        if self.hints.always_load:
            told["_meta"] = {ALWAYS_LOAD: True}
        return told

    def read(self, arguments: Mapping[str, object]) -> dict[str, Any]:
        """Return the arguments as the method takes them; raise InvalidInput that names a wrong one."""
        for name in arguments:
            if name not in self.arguments:
                raise InvalidInput(
                    name[:80], f"one of {', '.join(self.arguments)}, as this endpoint has them"
                )
        try:
            read = self._arguments.model_validate(arguments)
        except ValidationError as error:
            first = error.errors()[0]
            steps = [step for step in map(str, first["loc"]) if not _ALTERNATIVE.fullmatch(step)]
            expected = "a value" if first["type"] == "missing" else _expected(first["msg"])
            raise InvalidInput(".".join(steps), expected) from error
        values = {name: getattr(read, name) for name in self.arguments}
        for name, options in self._options.items():
            values[name] = options.read({key: values.pop(key) for key in options.fields})
        return values


@dataclass(frozen=True, slots=True)
class _OptionsArgument:
    """An argument that stands for the options of a class."""

    kind: type[Options]
    shown: Shown
    fields: Mapping[str, Any]

    @classmethod
    def of(cls, annotation: Any) -> Self | None:
        """Return what an annotation asks for; None where it is not of a class of options."""
        kind, *details = get_args(annotation) if get_origin(annotation) is Annotated else (annotation,)
        if not (isinstance(kind, type) and issubclass(kind, Options)):
            return None
        shown = next((one for one in details if isinstance(one, Shown)), Shown())
        fields = {
            flat.name: field_of(flat.option, Surface.MCP, shown.defaults.get(flat.name, MISSING))
            for flat in flat_options(kind, Surface.MCP)
            if flat.name not in shown.without
        }
        return cls(kind, shown, fields)

    def read(self, values: Mapping[str, object]) -> Options:
        """Return the options that a client gave; null says nothing."""
        given = {name: value for name, value in values.items() if value is not None}
        hidden = {name: value for name, value in self.shown.defaults.items() if name not in self.fields}
        return read_flat(self.kind, given, Surface.MCP, hidden)


def _expected(message: str) -> str:
    """Return the expectation in `Input should be a valid string` or `String should have at least 1 character`."""
    told = message.removeprefix("Input should be ").replace(" should have ", " with ")
    return told[:1].lower() + told[1:]


def find_tool(tools: Mapping[str, Tool], name: str) -> Tool:
    """Return the tool of that name; the protocol has a separate error for an unknown one."""
    tool = tools.get(name)
    if tool is None:
        raise ProtocolError(INVALID_PARAMS, f"not_found: tool {name[:80]!r} does not exist")
    return tool
