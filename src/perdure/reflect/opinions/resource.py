"""The opinions of a bank: what it believes, and how sure it is."""

from __future__ import annotations

from datetime import datetime

from perdure.domain.bank import check_bank_id
from perdure.domain.fact import Fact
from perdure.domain.filter import Filter
from perdure.domain.opinion import Opinion
from perdure.domain.time import AsOf, read_as_of
from perdure.domain.verb import READ, WRITE, verb
from perdure.errors import InvalidInput, NotFound
from perdure.ports.store import Order, Selection
from perdure.recall.beliefs import held_opinions, subject_entities
from perdure.reflect.components import ReflectComponents
from perdure.reflect.opinions.forming import OpinionReport, assess_facts
from perdure.text.names import normal_name

PAGE = 1_000
"""Facts that `form` reads at once."""


class Opinions:
    """The opinions of a memory: `memory.opinions`."""

    def __init__(self, components: ReflectComponents) -> None:
        self._components = components
        self._store, self._clock = components.store, components.clock

    @verb(READ)
    def get(self, bank: str, opinion_id: str, as_of: AsOf | datetime | None = None) -> Opinion:
        """Return an opinion with its evidence and the curve of its confidence. Raise `NotFound` if it is not held."""
        where = Filter(as_of=read_as_of(as_of)).at(self._clock())
        with self._store.reading(check_bank_id(bank)) as reading:
            for opinion in held_opinions(reading, where, [opinion_id]):
                return opinion
        raise NotFound("opinion", opinion_id)

    @verb(READ)
    def curve(
        self, bank: str, opinion_id: str, as_of: AsOf | datetime | None = None
    ) -> list[tuple[datetime, float]]:
        """Return (time, confidence) after each piece of evidence, from the one on that makes the opinion a belief."""
        return self.get(bank, opinion_id, as_of).curve()

    @verb(WRITE)
    def form(self, bank: str) -> OpinionReport:
        """Assess every fact of the bank: form opinions and add evidence to existing ones. Doing it again adds nothing."""
        now = self._clock()
        everything = Filter(include_closed=True, include_expired=True).at(now)
        facts: list[Fact] = []
        with self._store.reading(check_bank_id(bank)) as reading:
            while True:
                page = reading.browse(
                    Selection(where=everything, order=Order.OLDEST_RECORDED, offset=len(facts), limit=PAGE)
                )
                facts += page.facts
                if len(page.facts) < PAGE:
                    break
        return assess_facts(self._components, bank, facts, now)

    @verb(READ)
    def list(
        self,
        bank: str,
        subject: str | None = None,
        min_confidence: float = 0.0,
        as_of: AsOf | datetime | None = None,
    ) -> list[Opinion]:
        """Return what the bank believes, surest first: all, or about a subject (a name, an alias or the id of an entity)."""
        if (
            isinstance(min_confidence, bool)
            or not isinstance(min_confidence, int | float)
            or not 0 <= min_confidence <= 1
        ):
            raise InvalidInput("min_confidence", "a number from 0 to 1", min_confidence)
        where = Filter(as_of=read_as_of(as_of)).at(self._clock())
        with self._store.reading(check_bank_id(bank)) as reading:
            opinions = [
                opinion for opinion in held_opinions(reading, where) if opinion.confidence >= min_confidence
            ]
            if subject is None:
                return opinions
            key = normal_name(subject)
            entity = subject_entities(reading, [subject]).get(key)
        return [
            opinion
            for opinion in opinions
            if opinion.entity_id == subject
            or normal_name(opinion.subject) == key
            or (entity is not None and opinion.entity_id == entity.id)
        ]
