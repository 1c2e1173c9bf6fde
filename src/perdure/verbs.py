"""The registry of verbs: every public method of a memory and of its resources, as its class declares it.

The name of a verb is that of the method, after that of its resource: `recall`, `facts.list`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_type_hints

from perdure.domain.options import Options
from perdure.domain.verb import LocalRules, VerbRules, rules_of
from perdure.engine import Perdure


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb(VerbRules):
    """A verb that goes over HTTP."""

    name: str
    method: Callable[..., Any]

    @property
    def is_read(self) -> bool:
        """Whether calling it twice has the effect of one call, so that a lost call may be repeated."""
        return self.lane != "retain"


def public_members(kind: type) -> Iterator[tuple[str, object]]:
    """Yield the public methods and properties of a class by name."""
    for name, member in inspect.getmembers(kind):
        if not name.startswith("_"):
            yield name, member


RESOURCES: Mapping[str, type] = {
    name: kind for name, kind in get_type_hints(Perdure).items() if not name.startswith("_")
}
"""The classes of the resources by their name."""
MEMBERS: Mapping[str, object] = dict(public_members(Perdure)) | {
    f"{resource}.{name}": member
    for resource, kind in RESOURCES.items()
    for name, member in public_members(kind)
}
"""Every public name of a memory: methods, properties and resource methods."""
VERBS: Mapping[str, Verb] = {
    name: Verb(
        name=name,
        method=member,  # type: ignore[arg-type]
        access=rules.access,
        lane=rules.lane,
        bank=rules.bank,
        needs_admin=rules.needs_admin,
    )
    for name, member in MEMBERS.items()
    if isinstance(rules := rules_of(member), VerbRules)
}


def _options_of_verbs() -> Mapping[str, type[Options]]:
    """Return the class of options that each verb unpacks in its signature; `prompt` has that of a recall."""
    kinds: dict[str, type[Options]] = {}
    pending: list[type[Options]] = [Options]
    while pending:
        kind = pending.pop()
        kinds[f"Unpack[{kind.arguments_name()}]"] = kind
        pending += kind.__subclasses__()
    unpacked = {
        name: list(inspect.signature(one.method).parameters.values())[-1] for name, one in VERBS.items()
    }
    return {name: kinds[last.annotation] for name, last in unpacked.items() if last.annotation in kinds}


OPTIONS: Mapping[str, type[Options]] = _options_of_verbs()
"""The classes of options by the verbs that take them."""
REFUSALS: Mapping[str, str] = {
    name: rules.refusal
    for name, member in MEMBERS.items()
    if isinstance(rules := rules_of(member), LocalRules) and rules.refusal
}
"""Public names that a served memory does not have, and why."""
