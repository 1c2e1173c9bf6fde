"""Judging changes with the trained reader: what a statement means first, then what it does to earlier ones."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from perdure.errors import ModelError, public_message
from perdure.ports.reader import PlacedStatement, Reader
from perdure.retain.changes import Effect

CHANGING = ("begins", "ended", "corrects")
"""Meanings of statements that may end an earlier one."""
LEAST_CHANGING = 0.5
"""Probability of such a meaning from which on a statement is compared with earlier ones."""
_NONE = Effect(ends=0.0, corrects=0.0, same=0.0)
log = logging.getLogger(__name__)


class ReaderEffects:
    """Judges effects by the reader; if it fails, nothing is judged and a warning is logged."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def judge_effects(self, pairs: Sequence[tuple[PlacedStatement, PlacedStatement]]) -> Sequence[Effect]:
        """Return the effect of each pair (earlier, later); none where the later one states no change."""
        try:
            changing = self._changing({later for _, later in pairs})
            read = [pair for pair in pairs if pair[1] in changing]
            effects = dict(zip(read, self._reader.effects(read), strict=True)) if read else {}
        except ModelError as error:
            log.warning("changes were not judged: %s", public_message(error))
            return [_NONE] * len(pairs)
        return [
            Effect(**{name: effects[pair].effects[name] for name in ("ends", "corrects", "same")})
            if pair in effects
            else _NONE
            for pair in pairs
        ]

    def _changing(self, statements: set[PlacedStatement]) -> set[PlacedStatement]:
        """Return the statements that probably state a change."""
        ordered = sorted(statements, key=lambda statement: (statement.text, statement.before))
        readings = self._reader.meanings(ordered)
        return {
            statement
            for statement, reading in zip(ordered, readings, strict=True)
            if sum(reading.meanings[name] for name in CHANGING) >= LEAST_CHANGING
        }
