"""The options of listings of facts, declared once for every surface."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from perdure.domain.fact import FactType
from perdure.domain.filter import Filter
from perdure.domain.options import NOT_MCP, PROGRAMS, Options, option
from perdure.domain.time import Window, read_window
from perdure.ports.store import Order


@dataclass(frozen=True, slots=True, kw_only=True)
class FactListOptions(Options):
    """Options of a listing of facts."""

    text: str = option("", "Only facts that contain this text, in any case.", on=NOT_MCP)
    types: frozenset[FactType] | None = option(
        None, "Only facts of these types: world, experience, opinion or observation.", flag="--type"
    )
    tags: tuple[str, ...] = option((), "Only facts with these tags, and untagged ones.", flag="--tag")
    where: Filter = option(Filter(), "Further conditions.", on=PROGRAMS)
    entity_id: str | None = option(None, "Only facts about this entity.", on=PROGRAMS)
    subject: str | None = option(None, "Only facts whose relation has this subject.", on=PROGRAMS)
    relation: str | None = option(None, "Only facts with this relation.", on=PROGRAMS)
    speaker: str | None = option(None, "Only what this person said.", on=PROGRAMS)
    dated: Window | None = option(
        None, "Only facts dated within this window of time.", on=PROGRAMS, read=read_window,
        accepts=Window | Mapping[str, object] | None,
    )  # fmt: skip
    order: Order = option(
        Order.NEWEST_RECORDED, "Order; those by date leave out facts without a date.", on=PROGRAMS
    )
    offset: int = option(0, "Number of facts to skip.", at_least=0, on=NOT_MCP)
    limit: int = option(100, "Number of facts to return at most.", at_least=0, flag="-n")
