"""Every public verb with values of any type: errors of Perdure's own tree, and `TypeError` for a wrong signature alone."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from perdure import InvalidInput, Item, Perdure, PerdureError
from perdure.domain.bank import Disposition
from perdure.domain.options import options_of
from perdure.errors import StoreError
from perdure.verbs import OPTIONS, VERBS, Verb

QUICK: dict[str, Any] = {
    "embedder": "hashing",
    "reranker": "none",
    "tagger": "rules",
    "tokens": "approximate",
}
LEFT_OUT = {"database.verify", "banks.reembed"}
"""They go through the whole file at each call."""
IDS = ("b", "other", "f", "nothing")


def _hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.sampled_from([2**63, -(2**70), 10**400]), st.floats(), st.binary(max_size=4),
    st.sampled_from(["", " ", "b", "Ann lives in Oslo.", "\ud800", "a\x00b", "../x", "2024-13-45", "9" * 400, "🙂"]),
    st.sampled_from([datetime.min, datetime.max.replace(tzinfo=UTC), datetime(2024, 5, 1), date.max, timedelta.max]),
    st.sampled_from([object(), Disposition(), Item(content="Ann is here."), Exception, 1j]),
)  # fmt: skip
VALUES = st.recursive(
    SCALARS,
    lambda parts: st.one_of(
        st.lists(parts, max_size=3), st.dictionaries(st.one_of(st.text(max_size=3), SCALARS.filter(_hashable)), parts, max_size=3)
    ),
    max_leaves=5,
)  # fmt: skip


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Perdure]:
    folder: Path = tmp_path_factory.mktemp("wrong")
    with Perdure.open(folder / "memory.db", **QUICK) as engine:
        engine.retain("b", "Ann lives in Oslo. Ann loves tea.", speaker="Ann")
        yield engine


@st.composite
def calls(draw: st.DrawFn, verb: Verb) -> dict[str, Any]:
    """Arguments by name, mostly of a right bank, some of the options among them."""
    arguments: dict[str, Any] = {}
    for name, parameter in list(inspect.signature(verb.method).parameters.items())[1:]:
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            continue
        if name == "bank":
            arguments[name] = draw(st.one_of(st.just("b"), st.just("b"), VALUES))
        elif parameter.default is inspect.Parameter.empty or draw(st.booleans()):
            arguments[name] = draw(st.one_of(st.sampled_from(IDS), VALUES))
    if verb.name in OPTIONS:
        names = [option.name for option in options_of(OPTIONS[verb.name])]
        for name in draw(st.lists(st.sampled_from(names), max_size=2, unique=True)):
            arguments[name] = draw(VALUES)
    return arguments


def attack(memory: Perdure, verb: Verb, arguments: dict[str, Any]) -> None:
    try:
        result = attrgetter(verb.name)(memory)(**arguments)
        if isinstance(result, Iterator):
            list(result)
    except PerdureError as error:
        if type(error) is StoreError:  # which argument is wrong is not named
            raise


def fuzz(memory: Perdure, name: str, examples: int) -> None:
    verb = VERBS[name]

    @settings(
        max_examples=examples, deadline=None, database=None, derandomize=True,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(arguments=calls(verb))
    def run(arguments: dict[str, Any]) -> None:
        attack(memory, verb, arguments)

    run()


@pytest.mark.parametrize("name", sorted(VERBS.keys() - LEFT_OUT))
def test_wrong_values_raise_errors_of_our_own(memory: Perdure, name: str) -> None:
    fuzz(memory, name, 12)


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(VERBS.keys() - LEFT_OUT))
def test_wrong_values_raise_errors_of_our_own_for_long(memory: Perdure, name: str) -> None:
    fuzz(memory, name, 2000)


@pytest.mark.parametrize("name", ["name", "mission"])
def test_a_value_that_the_database_cannot_bind_is_named(memory: Perdure, name: str) -> None:
    with pytest.raises(InvalidInput, match=name):
        memory.banks.configure("b", **{name: object()})  # type: ignore[arg-type]


def test_a_wrong_signature_is_a_type_error(memory: Perdure) -> None:
    with pytest.raises(TypeError):
        memory.recall("b")  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        memory.facts.get("b", "f", "more")  # type: ignore[call-arg]
