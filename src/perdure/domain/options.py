"""Options of verbs, declared once as fields of a frozen dataclass: type, default, bounds, surfaces.

Signatures, command line, MCP schemas, REST bodies and the tables of the docs are derived from it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from datetime import date, datetime
from difflib import get_close_matches
from enum import StrEnum
from math import isfinite
from types import NoneType, UnionType
from typing import Any, ClassVar, Self, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from perdure.domain.time import parse_instant
from perdure.errors import InvalidInput

Reader = Callable[[object, str], object]
"""(value, name) -> the value as it is kept; raises InvalidInput with that name."""
_Name = TypeVar("_Name", bound=StrEnum)
_Options = TypeVar("_Options", bound="Options")


class Surface(StrEnum):
    """Where an option can be given."""

    PYTHON = "python"
    REST = "rest"
    CLI = "cli"
    MCP = "mcp"


EVERYWHERE = frozenset(Surface)
PROGRAMS = frozenset({Surface.PYTHON, Surface.REST})
"""Surfaces that have nested objects."""
NOT_MCP = PROGRAMS | {Surface.CLI}
"""Every surface but the tools of an assistant, which are kept short."""
Moment = datetime | date | str | None
"""What a moment may be given as."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One declared option of an Options class."""

    name: str
    kind: Any
    """Its type, without None."""
    nullable: bool
    default: object
    """MISSING for a required option."""
    description: str
    at_least: float | None
    at_most: float | None
    also: tuple[str, ...]
    surfaces: frozenset[Surface]
    flag: str
    flat: str
    """Its name on surfaces without nested objects."""
    accepts: Any
    """The type of accepted values, if a reader takes more than `kind`."""
    read: Reader

    @property
    def group(self) -> type[Options] | None:
        """Return the Options class nested here, or None for a plain option and one with a reader of its own."""
        nested = isinstance(self.kind, type) and issubclass(self.kind, Options) and self.accepts is None
        return self.kind if nested else None

    @property
    def choices(self) -> tuple[str, ...]:
        """Return the names that it accepts, or that its elements accept; empty if it accepts any value."""
        kinds = (self.kind, *get_args(self.kind))
        return tuple(name for kind in kinds if _is_enum(kind) for name in kind)

    @property
    def is_collection(self) -> bool:
        return get_origin(self.kind) in (tuple, frozenset)


def option(
    default: object = MISSING,
    description: str = "",
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    also: str = "",
    on: Collection[Surface] = EVERYWHERE,
    flag: str = "",
    flat: str = "",
    accepts: object = None,
    read: Reader | None = None,
) -> Any:
    """Declare an option.

    `also` are its other names; `on` the surfaces that have it; `flag` its spelling on the command line
    (`--hint`, or `-n` beside the long one); `flat` its name where groups are flattened. `read` replaces the
    check of its type, and `accepts` is then the type of what may be given.
    """
    declared = {
        "description": description, "at_least": at_least, "at_most": at_most, "also": tuple(also.split()),
        "surfaces": frozenset(on), "flag": flag, "flat": flat, "accepts": accepts, "read": read,
    }  # fmt: skip
    if isinstance(default, dict):
        return field(default_factory=lambda: dict(default), metadata={"option": declared})
    return field(default=default, metadata={"option": declared})


class Options:
    """Base of the option classes: checks every field by its declaration when an object is made.

    Subclasses are `@dataclass(frozen=True, slots=True, kw_only=True)`.
    """

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __post_init__(self) -> None:
        for declared in options_of(type(self)):
            value = getattr(self, declared.name)
            read = declared.read(value, declared.name)
            if read is not value:
                object.__setattr__(self, declared.name, read)
        self._complete()

    def _complete(self) -> None:
        """Check what concerns several options, and derive what follows from them."""

    @classmethod
    def arguments_name(cls) -> str:
        """Return the name of the TypedDict of its options, which signatures unpack."""
        name = cls.__name__.removesuffix("Options").removesuffix("Changes")
        return f"{name}ChangeArguments" if cls.__name__.endswith("Changes") else f"{name}Arguments"

    @classmethod
    def read(cls, values: Mapping[str, object], surface: Surface = Surface.PYTHON) -> Self:
        """Return the options of these names. Raise InvalidInput for the first unknown or wrong one."""
        given = given_options(cls, values, surface)
        try:
            return cls(**given)
        except InvalidInput as error:
            also = (name for one in options_of(cls) if one.name == error.field for name in one.also)
            name = next((name for name in also if name in values), None)
            if name is None:
                raise
            raise error.renamed(name) from error

    @classmethod
    def read_changes(cls, values: Mapping[str, object]) -> dict[str, Any]:
        """Return the given options alone, checked, for an update that leaves the others as they are."""
        declared = {one.name: one for one in options_of(cls)}
        given = given_options(cls, values, Surface.PYTHON)
        return {name: declared[name].read(value, name) for name, value in given.items()}

    def given(self) -> dict[str, Any]:
        """Return the options that are not at their defaults, as keyword arguments of the verb."""
        values = ((one.name, getattr(self, one.name), one.default) for one in options_of(type(self)))
        return {name: value for name, value, default in values if value != default}

    def changed(self, **values: object) -> Self:
        """Return a copy with other values, which are valid already: nothing is checked again."""
        copy = object.__new__(type(self))
        for name in self.__dataclass_fields__:
            object.__setattr__(copy, name, values.pop(name) if name in values else getattr(self, name))
        if values:
            raise TypeError(f"{type(self).__name__} has no {', '.join(values)}")
        return copy


def given_options(kind: type[Options], values: Mapping[str, object], surface: Surface) -> dict[str, Any]:
    """Return the values by the names of their options. Raise InvalidInput for an unknown name."""
    names = {name: one for one in options_of(kind, surface) for name in (one.name, *one.also)}
    given: dict[str, Any] = {}
    for name, value in values.items():
        declared = names.get(name)
        if declared is None:
            raise _unknown(name, names)
        if declared.name in given:
            raise InvalidInput(name, f"{declared.name} once, under one of its names")
        if declared.group is not None and isinstance(value, Mapping):
            try:
                value = declared.group.read(value, surface)
            except InvalidInput as error:
                raise error.renamed(f"{name}.{error.field}") from error
        given[declared.name] = value
    for declared in options_of(kind, surface):
        if declared.default is MISSING and declared.name not in given:
            raise InvalidInput(declared.name, "a value")
    return given


def options_of(kind: type[Options], surface: Surface | None = None) -> tuple[Option, ...]:
    """Return the options of a class in their order: all, or those of a surface."""
    declared = _DECLARED.get(kind)
    if declared is None:
        hints = get_type_hints(kind)
        own = [one for one in fields(kind) if "option" in one.metadata]
        declared = _DECLARED[kind] = tuple(_resolved(one, hints[one.name]) for one in own)
    return declared if surface is None else tuple(one for one in declared if surface in one.surfaces)


_DECLARED: dict[type[Options], tuple[Option, ...]] = {}


@dataclass(frozen=True, slots=True)
class FlatOption:
    """An option where groups are flattened: its own name there, and the group that it is read into."""

    name: str
    option: Option
    group: str | None = None


def flat_options(kind: type[Options], surface: Surface) -> Iterator[FlatOption]:
    """Yield the options of a surface that has no nested objects."""
    for declared in options_of(kind, surface):
        if declared.group is None:
            yield FlatOption(declared.flat or declared.name, declared)
        else:
            for nested in options_of(declared.group, surface):
                yield FlatOption(nested.flat or nested.name, nested, declared.name)


def read_flat(
    kind: type[_Options],
    values: Mapping[str, object],
    surface: Surface,
    fixed: Mapping[str, object] | None = None,
    spell: Callable[[str], str] = str,
) -> _Options:
    """Return the options from flattened names, and from `fixed` options that the surface does not have.

    `spell` gives a name as the surface writes it, for errors.
    """
    flat = {one.name: one for one in flat_options(kind, surface)}
    nested: dict[str, Any] = {}
    for name, value in values.items():
        declared = flat.get(name)
        if declared is None:
            raise _unknown(name, flat)
        place = nested if declared.group is None else nested.setdefault(declared.group, {})
        place[declared.option.name] = value
    try:
        return kind(**given_options(kind, nested, surface) | dict(fixed or {}))
    except InvalidInput as error:
        names = {
            one.option.name if one.group is None else f"{one.group}.{one.option.name}": name
            for name, one in flat.items()
        }
        raise error.renamed(spell(names.get(error.field, error.field))) from error


def _unknown(name: str, names: Collection[str]) -> InvalidInput:
    likely = get_close_matches(str(name), names, n=1)
    if likely:
        return InvalidInput(str(name)[:80], f"the name of an option, such as {likely[0]}")
    return InvalidInput(str(name)[:80], "one of " + ", ".join(sorted(names)))


# Reading of values by type


def _resolved(one: Field[Any], hint: Any) -> Option:
    declared = one.metadata["option"]
    parts = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    kinds = tuple(part for part in parts if part is not NoneType)
    nullable = len(kinds) < len(parts)
    kind = kinds[0] if len(kinds) == 1 else Union[kinds]  # noqa: UP007
    default = one.default if one.default_factory is MISSING else one.default_factory()
    read = declared["read"] or _reader(kind, declared["at_least"], declared["at_most"])
    accepts_none = (
        nullable
        or default == ""
        or get_origin(kind) in (tuple, frozenset)
        or isinstance(default, Options | Mapping)
    )
    if accepts_none and declared["read"] is None:
        read = _optional(read, None if nullable else default)
    return Option(
        name=one.name, kind=kind, nullable=accepts_none, default=default, description=declared["description"],
        at_least=declared["at_least"], at_most=declared["at_most"], also=declared["also"],
        surfaces=declared["surfaces"], flag=declared["flag"], flat=declared["flat"],
        accepts=declared["accepts"], read=read,
    )  # fmt: skip


def _optional(read: Reader, default: object) -> Reader:
    """Read None as the default."""
    return lambda value, name: default if value is None else read(value, name)


def _reader(kind: Any, at_least: float | None, at_most: float | None) -> Reader:
    if kind is bool:
        return _read_bool
    if kind in (int, float):
        return _number_reader(kind, at_least, at_most)
    if kind is datetime:
        return parse_instant
    if kind is str:
        return read_text if at_least is None else _read_filled
    if _is_enum(kind):
        return lambda value, name: read_name(kind, value, name)
    if get_origin(kind) in (tuple, frozenset):
        return _collection_reader(get_origin(kind), get_args(kind)[0])
    if isinstance(kind, type) and issubclass(kind, Options):
        return _group_reader(kind)
    return _instance_reader(kind)


def _read_bool(value: object, name: str) -> object:
    if not isinstance(value, bool):
        raise InvalidInput(name, "true or false", value)
    return value


def _number_reader(kind: type, at_least: float | None, at_most: float | None) -> Reader:
    noun = "an integer" if kind is int else "a number"
    if at_least is not None:
        noun += f" of at least {at_least}" if at_most is None else f" from {at_least} to {at_most}"

    def read(value: object, name: str) -> object:
        right = isinstance(value, int if kind is int else int | float) and not isinstance(value, bool)
        if (
            not right
            or not isfinite(value)  # type: ignore[arg-type]
            or (at_least is not None and value < at_least)  # type: ignore[operator]
            or (at_most is not None and value > at_most)  # type: ignore[operator]
        ):
            raise InvalidInput(name, noun, value)
        return value

    return read


def read_count(value: object, name: str) -> int:
    """Return an integer of at least 0."""
    return cast(int, _number_reader(int, 0, None)(value, name))


def read_text(value: object, name: str) -> str:
    """Return a text. Raise InvalidInput for NUL characters and lone surrogates, which are not stored."""
    if not isinstance(value, str):
        raise InvalidInput(name, "text", value)
    if "\x00" in value:
        raise InvalidInput(name, "text without NUL characters")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidInput(name, "text without lone surrogates") from error
    return value


def _read_filled(value: object, name: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(name, "non-empty text", value)
    return read_text(value, name)


def read_name(names: type[_Name], value: object, name: str) -> _Name:
    """Return a member of an enumeration, given itself or by its name."""
    try:
        return names(str(value))
    except ValueError as error:
        raise InvalidInput(name, "one of " + ", ".join(names), value) from error


def read_strings(value: object, name: str) -> tuple[str, ...]:
    """Return a collection of strings; refuse a bare string, which would be read as a list of letters."""
    if (
        isinstance(value, str)
        or not isinstance(value, Collection)
        or not all(isinstance(one, str) for one in value)
    ):
        raise InvalidInput(name, "a list of strings", value)
    return tuple(value)


def read_mapping(value: object, name: str) -> Mapping[str, str]:
    """Return a mapping of strings to strings."""
    if isinstance(value, Mapping) and all(isinstance(part, str) for pair in value.items() for part in pair):
        return value
    raise InvalidInput(name, "an object of strings", value)


def _collection_reader(container: Any, element: Any) -> Reader:
    def read(value: object, name: str) -> object:
        strings = read_strings(value, name)
        if _is_enum(element):
            return container(read_name(element, one, name) for one in strings)
        return container(read_text(one, name) for one in strings)

    return read


def _group_reader(kind: type[Options]) -> Reader:
    def read(value: object, name: str) -> object:
        if isinstance(value, kind):
            return value
        if not isinstance(value, Mapping):
            raise InvalidInput(name, f"{_a(kind)} or an object with its fields", value)
        return kind.read(value)

    return read


def _instance_reader(kind: Any) -> Reader:
    if get_origin(kind) is Mapping:
        return read_mapping
    kinds = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    plain = tuple(get_origin(one) or one for one in kinds)

    def read(value: object, name: str) -> object:
        if not isinstance(value, plain):
            raise InvalidInput(name, " or ".join(_a(one) for one in plain), value)
        return value

    return read


def _a(kind: type) -> str:
    return "text" if kind is str else f"{'an' if kind.__name__[0] in 'AEIOU' else 'a'} {kind.__name__}"


def _is_enum(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, StrEnum)
