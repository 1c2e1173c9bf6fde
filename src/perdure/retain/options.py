"""The options of a retain, declared once for every surface: what its items leave open, and how documents are replaced."""

from __future__ import annotations

from dataclasses import dataclass

from perdure.domain.item import ItemOptions, UpdateMode
from perdure.domain.options import PROGRAMS, option


@dataclass(frozen=True, slots=True, kw_only=True)
class RetainOptions(ItemOptions):
    """Options of a retain: what is said of everything in it that does not say otherwise itself."""

    update_mode: UpdateMode = option(
        UpdateMode.REPLACE, "replace documents that are given again, or append to them.", on=PROGRAMS
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RetainLaterOptions(RetainOptions):
    """Options of a retain in the background."""

    operation_id: str | None = option(
        None, "Id of the operation, by which a repeated call is recognised.", at_least=1, on=PROGRAMS
    )
