"""The options of a reflect, declared once for every surface: those of a recall, and how the answer is to be."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from perdure.domain.bank import Disposition
from perdure.domain.directive import DirectiveText, GivenDirective
from perdure.domain.observation import Scope, read_scope_rule
from perdure.domain.options import NOT_MCP, PROGRAMS, Options, Surface, option
from perdure.errors import InvalidInput
from perdure.recall.options import RecallOptions


def _read_directives(value: object, name: str) -> tuple[str | DirectiveText, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise InvalidInput(name, "a list of directives", value)
    return tuple(_read_directive(one, f"{name}[{place}]") for place, one in enumerate(value))


def _read_directive(value: object, name: str) -> str | DirectiveText:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        if not isinstance(value.get("content"), str):
            raise InvalidInput(name, "an object with content, and with id and name where it has them", value)
        return GivenDirective(
            id=str(value.get("id", "")), name=str(value.get("name", "")), content=value["content"]
        )
    if isinstance(value, DirectiveText):
        return value
    raise InvalidInput(name, "text or a directive", value)


def _read_schema(value: object, name: str) -> Mapping[str, object] | None:
    if value is not None and not isinstance(value, Mapping):
        raise InvalidInput(name, "the JSON Schema of an object", value)
    return value


def _read_scopes(value: object, name: str) -> tuple[Scope, ...] | None:
    scopes = None if value is None else read_scope_rule(value, name)
    if isinstance(scopes, str):
        raise InvalidInput(name, "lists of tags", value)
    return scopes


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidateOptions(Options):
    """Options of a consolidation."""

    observation_scopes: tuple[Scope, ...] | None = option(
        None, "Lists of tags: look only at facts that carry all tags of one of them, new or not.", on=PROGRAMS,
        read=_read_scopes, accepts=Sequence[Sequence[str]] | None,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectOptions(RecallOptions):
    """Options of a reflect: those of its recall, and how it answers."""

    directives: tuple[str | DirectiveText, ...] = option(
        (), "Rules for this answer, in addition to the bank's own.", on=NOT_MCP, flag="--directive",
        read=_read_directives, accepts=Sequence[str | DirectiveText | Mapping[str, str]],
    )  # fmt: skip
    apply_all_directives: bool = option(
        False, "Follow all active directives of the bank, whatever their tags.", on=NOT_MCP
    )
    disposition: Disposition | None = option(
        None, "Traits for this answer, instead of the bank's own.", on=PROGRAMS
    )
    response_schema: Mapping[str, object] | None = option(
        None, "JSON Schema of an object to fill from memory.", on=PROGRAMS,
        read=_read_schema, accepts=Mapping[str, object] | None,
    )  # fmt: skip
    mental_models: bool = option(True, "Let mental models answer.", on=NOT_MCP)
    exclude_mental_model_ids: tuple[str, ...] = option((), "Mental models that may not answer.", on=PROGRAMS)
    cancelled: Callable[[], bool] | None = option(
        None, "Asked between calls of a language model; true ends the work with Cancelled.",
        on={Surface.PYTHON},
    )  # fmt: skip
