"""Commands of the resources and of verbs: their arguments, options and help from the declaration of each verb."""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import typer
from rich.console import Console

from perdure.domain.filter import Filter
from perdure.domain.knowledge import KnowledgeFile
from perdure.domain.operation import Operation, OperationStatus
from perdure.domain.options import Options
from perdure.domain.plain import to_plain
from perdure.domain.verb import BankIn
from perdure.errors import InvalidInput
from perdure.remote.wire import hints_of
from perdure.settings import MASK
from perdure.surfaces.cli import exits
from perdure.surfaces.cli.answer import Answer, Command, command, group
from perdure.surfaces.cli.draw import draw_record, draw_table, plural
from perdure.surfaces.cli.options import Typed, keyword, long_flag, metavar
from perdure.surfaces.cli.session import Memory, Yes, confirm, filled, read_text
from perdure.verbs import OPTIONS, RESOURCES, VERBS, Verb

HIDDEN = frozenset({"facts.get_many", "banks.find", "banks.export", "banks.restore"})
"""Verbs for programs: `show`, `perdure export` and `perdure import` do the same."""
USUAL = ("list", "get", "create", "update", "delete")
"""The verbs that most resources have, in the order of the help."""
DESTRUCTIVE = frozenset({"delete", "clear", "unlink"})
WAIT_SECONDS = 3600.0
Wait = Annotated[
    float, typer.Option(min=0, max=31_536_000, metavar="SECONDS", help="Wait this long for its end")
]
Folder = Annotated[Path, typer.Option("--to", metavar="FOLDER", help="Where the files go; made if missing")]
Bank = Annotated[str, typer.Argument(metavar="BANK", help="The bank")]
OneOrAll = Annotated[
    str | None, typer.Option("--bank", "-b", metavar="BANK", help="Memory bank [all]", callback=filled)
]
EVERYTHING = Filter(include_closed=True, include_expired=True)
_PART_OF_ID = re.compile(r"…?[0-9a-f]{6,12}")


def derived(name: str, summary: str) -> Any:
    """Return the command of a verb, or the group of a resource with a command per verb."""
    if name in VERBS:
        return command_of(VERBS[name])
    app = group(summary)
    actions = (action for action in vars(RESOURCES[name]) if f"{name}.{action}" in VERBS.keys() - HIDDEN)
    for action in sorted(actions, key=lambda action: USUAL.index(action) if action in USUAL else len(USUAL)):
        made = command_of(VERBS[f"{name}.{action}"])
        if made is not None:
            app.command("show" if action == "get" else action.replace("_", "-"))(made)
    return app


def command_of(verb: Verb) -> Command | None:
    """Return the command of a verb; None if it needs what a shell has no words for."""
    resource, _, action = verb.name.rpartition(".")
    hints = hints_of(verb.name)
    parameters = [keyword("memory", Memory)]
    typed: dict[str, Typed] = {}
    for name, one in list(inspect.signature(verb.method).parameters.items())[1:]:
        if name == "bank":
            optional = OneOrAll if verb.bank is BankIn.OPTIONAL else str
            parameters.append(keyword("bank", Bank if resource == "banks" else optional, one.default))
        elif verb.name in OPTIONS and one.kind is inspect.Parameter.VAR_KEYWORD:
            parameters.append(keyword("options", Any))
        elif one.kind is inspect.Parameter.VAR_KEYWORD:
            fields = get_type_hints(get_args(hints[name])[0])
            changes = {field: Typed.of(kind) for field, kind in fields.items()}
            typed |= {field: kind for field, kind in changes.items() if kind is not None}
            parameters += [
                _parameter(field, kind, None) for field, kind in changes.items() if kind is not None
            ]
        elif (kind := Typed.of(hints[name])) is not None:
            typed[name] = kind
            parameters.append(_parameter(name, kind, one.default))
        elif one.default is inspect.Parameter.empty:
            return None
    extra = {"yes": Yes} if action in DESTRUCTIVE else {}
    if not verb.is_read and "Operation" in str(hints["return"]):
        parameters.append(keyword("wait", Wait, WAIT_SECONDS))
    if "KnowledgeFile" in str(hints["return"]):
        parameters.append(keyword("folder", Folder))
    parameters += [keyword(name, kind, False) for name, kind in extra.items()]
    options_kind = OPTIONS.get(verb.name)

    def call(memory: Memory, **given: Any) -> Answer:
        yes, wait, folder = (given.pop(name, None) for name in ("yes", "wait", "folder"))
        options = given.pop("options", {})
        options = options if isinstance(options, Mapping) else options.given()
        arguments = {
            name: typed[name].read(_complete(memory, given.get("bank"), resource, name, value), name)
            if name in typed
            else value
            for name, value in given.items()
            if value not in (None, [])
        }
        if yes is not None:
            named = " ".join(str(value) for name, value in arguments.items() if name != "bank")
            confirm(f"{action.capitalize()} {resource} {named}?".replace("  ", " "), yes)
        if action == "update":
            options = _completed(getattr(memory, resource), arguments, options)
        result = attrgetter(verb.name)(memory)(**arguments, **options)
        if wait is not None:
            result = _ended(memory, result, wait)
        if folder is not None:
            return _write_files(result, folder)
        return _answer(verb.name, given.get("bank"), result, arguments)

    call.__name__, call.__doc__ = action, inspect.getdoc(verb.method)
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    creates = action.startswith(("create", "configure"))
    return command(options=options_kind, creates=creates)(call)


def _parameter(name: str, typed: Typed, default: Any) -> inspect.Parameter:
    """Return the parameter of a command: an argument if the verb requires it, else an option."""
    flag = long_flag(name, typed)
    shown = "ID" if name.endswith("_id") else metavar(flag, typed)
    if default is inspect.Parameter.empty:
        return keyword(name, Annotated[typed.kind, typer.Argument(metavar=shown)])
    if typed.kind is bool and default is not None:
        spelling = f"{flag}/--no-{flag[2:]}" if default is True else flag
        return keyword(name, Annotated[bool, typer.Option(spelling)], default)
    default = None if default in ((), "") else default
    settings: dict[str, Any] = {"metavar": shown}
    if typed.kind in (str, list[str]):
        settings["callback"] = filled
    return keyword(name, Annotated[typed.kind | None, typer.Option(flag, **settings)], default)


def _complete(memory: Memory, bank: str | None, resource: str, name: str, value: Any) -> Any:
    """Return the id that a part of it stands for, as lists show it; other values as they are, `-` from standard input."""
    if isinstance(value, list):
        return [_complete(memory, bank, resource, name.removesuffix("s"), part) for part in value]
    if name in ("content", "query", "source_query") and isinstance(value, str):
        return read_text(value)
    if bank is None or not (name.endswith("_id") or name == "entity") or not _PART_OF_ID.fullmatch(value):
        return value
    kind = f"{name.removesuffix('_id')}s" if name != "entity" else "entities"
    ids = _ids(memory, bank, kind if kind in RESOURCES else resource)
    part = value.removeprefix("…")
    whole = {one for one in ids if one.endswith(part) or one.startswith(part)}
    if len(whole) > 1 and value not in whole:
        raise InvalidInput(name, f"more of the id; {len(whole)} have this in common", value)
    return whole.pop() if len(whole) == 1 else value


def _completed(resource: Any, arguments: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return changes in which a group that is changed in part has its other options as they are."""
    groups = {name: change for name, change in changes.items() if isinstance(change, dict)}
    if not groups or not hasattr(resource, "get"):
        return dict(changes)
    present = resource.get(*arguments.values())
    values = {name: getattr(present, name, None) for name in groups}
    whole = {
        name: value.given() | groups[name] for name, value in values.items() if isinstance(value, Options)
    }
    return {**changes, **whole}


def _ids(memory: Memory, bank: str, resource: str) -> Iterator[str]:
    if resource == "facts":
        return (fact.id for fact in memory.facts.iterate(bank, where=EVERYTHING))
    if f"{resource}.list" not in VERBS:
        return iter(())
    return (one.id for one in getattr(memory, resource).list(bank) if hasattr(one, "id"))


def _ended(memory: Memory, value: Any, wait: float) -> Any:
    """Return a result in which operations are as they ended."""
    if isinstance(value, Operation):
        return memory.operations.get(value.bank, value.id, wait=wait)
    return [_ended(memory, part, wait) for part in value] if isinstance(value, list | tuple) else value


def record(value: Any) -> Any:
    """Return a result as JSON: with the text that it is read as, and without secrets."""
    fields = to_plain(value)
    if is_dataclass(value):
        texts = {name: getattr(value, name, None) for name in ("text", "content", "diff")}
        fields |= {name: text for name, text in texts.items() if name not in fields and isinstance(text, str)}
    if isinstance(fields, dict) and fields.get("secret"):
        fields["secret"] = MASK
    return fields


def _answer(name: str, bank: str | None, result: Any, arguments: Mapping[str, Any]) -> Answer:
    """Return what a verb returned as JSON for programs, and as a table, a record or a line for people."""
    resource, _, action = name.rpartition(".")
    noun = resource if action == "list" else action
    shown = noun if noun.endswith("s") else resource
    code = exits.FAILED if _failed(result) else exits.OK
    if result is None:
        gone = list(arguments.values())[-1]
        return Answer({f"{action.removesuffix('e')}ed": gone}, f"{action.removesuffix('e')}ed {gone}")
    if isinstance(result, str):
        return Answer({noun: result}, result.rstrip())
    page = getattr(result, resource, None) if is_dataclass(result) else None
    if page is not None:
        rows = [record(one) for one in page]
        value = {"bank": bank, **to_plain(result), resource: rows}
        total = getattr(result, "total", len(rows))
        return Answer(value, lambda console: draw_table(console, rows, resource, total))
    if isinstance(result, list | tuple) and _is_of_kinds(result):
        parts = {_snake(type(one).__name__): record(one) for one in result}

        def draw(console: Console) -> None:
            for part in parts.values():
                draw_record(console, part)

        return Answer(parts, draw, code)
    if isinstance(result, Iterable) and not isinstance(result, Mapping):
        rows = [record(one) for one in (sorted(result) if isinstance(result, frozenset) else result)]
        return Answer(
            {"bank": bank, noun: rows}, lambda console: draw_table(console, rows, shown, len(rows)), code
        )
    if is_dataclass(result):
        fields = record(result)
        return Answer(fields, lambda console: draw_record(console, fields), code)
    return Answer({noun: to_plain(result)}, f"{noun.replace('_', ' ')}: {to_plain(result)}")


def _failed(result: Any) -> bool:
    parts = result if isinstance(result, list | tuple) else [result]
    return any(isinstance(one, Operation) and one.status is OperationStatus.FAILED for one in parts)


def _is_of_kinds(parts: Collection[Any]) -> bool:
    """Return whether these are different things, such as a model and the operation that writes it."""
    return len({type(one) for one in parts}) == len(parts) > 1


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def _write_files(files: Iterable[KnowledgeFile], folder: Path) -> Answer:
    folder.mkdir(parents=True, exist_ok=True)
    names = []
    for file in files:
        (folder / file.path).write_text(file.content, encoding="utf-8")
        names.append(file.path)
    return Answer({"files": names}, f"wrote {plural(len(names), 'file')} to {folder}")
