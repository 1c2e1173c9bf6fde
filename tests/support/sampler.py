"""Random but repeatable memories: facts, filters and probes for comparing stores."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random

import numpy as np

from perdure.domain.bank import EmbeddingModel
from perdure.domain.fact import UNSURE_DATE, Chunk, Document, Entity, Fact, FactType, Link, LinkKind, Tier
from perdure.domain.filter import Filter, TagAnd, TagExpression, TagLeaf, TagNot, TagOr, TagsMatch
from perdure.domain.time import AsOf, Window
from perdure.ports.embedder import Vector
from perdure.ports.probe import (
    FuzzyProbe,
    GraphProbe,
    KeywordProbe,
    PageRankProbe,
    Probe,
    RelationProbe,
    SemanticProbe,
    SignatureProbe,
    TemporalProbe,
)
from perdure.ports.store import Features, KeyedEntity, NewFact

START = datetime(2020, 1, 1, tzinfo=UTC)
MODEL = EmbeddingModel("sample", 16)
WORDS = (
    "alice", "works", "worked", "garden", "gardener", "berlin", "piano", "violin", "coffee", "train",
    "mountain", "river", "doctor", "school", "winter", "summer", "painting", "language", "guitar", "market",
)  # fmt: skip
TAGS = ("home", "work", "travel")
ENTITIES = ("e-alice", "e-bob", "e-berlin", "e-piano", "e-acme")
RELATIONS = ("lives_in", "works_for", "plays")
DOCUMENTS = ("d-1", "d-2", "d-3")


@dataclass
class Sampler:
    """Draws parts of a memory; equal seeds draw equal parts."""

    random: Random
    bank: str = "sample"
    count: int = 0
    drawn_ids: list[str] = field(default_factory=list)
    """Ids of the facts drawn so far."""

    def moment(self) -> datetime:
        """A moment within three years, mostly one of ten days, so that moments meet."""
        if self.random.random() < 0.7:
            return START + timedelta(days=100 * self.random.randrange(10))
        return START + timedelta(seconds=self.random.randrange(1000 * 86400))

    def maybe_moment(self) -> datetime | None:
        """A moment, or none."""
        return self.moment() if self.random.random() < 0.5 else None

    def span(self) -> tuple[datetime | None, datetime | None]:
        """Two moments in order, either of which may be missing."""
        first, last = self.maybe_moment(), self.maybe_moment()
        if first is not None and last is not None and last < first:
            first, last = last, first
        return first, last

    def some(self, values: tuple[str, ...], most: int = 3) -> tuple[str, ...]:
        """A few distinct values."""
        return tuple(self.random.sample(values, self.random.randrange(min(most, len(values)) + 1)))

    def vector(self) -> Vector:
        """A unit vector that float16 holds exactly enough."""
        drawn = np.array([self.random.gauss(0, 1) for _ in range(MODEL.dimensions)], np.float32)
        return (drawn / np.linalg.norm(drawn)).astype(np.float16).astype(np.float32)

    def fact(self) -> Fact:
        """A fact with a new id."""
        self.count += 1
        random = self.random
        occurred_start, occurred_end = self.span()
        valid_from, valid_to = self.span()
        stated = random.random() < 0.4
        entities = self.some(ENTITIES)
        words = " ".join(random.choices(WORDS, k=random.randrange(1, 8)))
        ident = f"f{random.randrange(10_000):04d}-{self.count:05d}"
        self.drawn_ids.append(ident)
        return Fact(
            id=ident,
            bank=self.bank,
            text=f"{words} {self.count}",
            type=random.choice(list(FactType)),
            document_id=random.choice((*DOCUMENTS, None)),
            ordinal=self.count % 3,
            speaker=random.choice(("Alice", "Bob", "")),
            occurred_start=occurred_start,
            occurred_end=occurred_end,
            mentioned_at=self.maybe_moment(),
            valid_from=valid_from,
            valid_to=valid_to,
            recorded_at=self.maybe_moment(),
            subject=random.choice(("Alice", "bob")) if stated else None,
            relation=random.choice(RELATIONS) if stated else None,
            object=random.choice(("Berlin", "piano", "ACME")) if stated else None,
            entities=tuple(entity.removeprefix("e-") for entity in entities),
            entity_ids=entities,
            tags=frozenset(self.some(TAGS)),
            metadata={key: random.choice("xy") for key in self.some(("k1", "k2"))},
            topic=random.choice((None, "music", "travel")),
            tier=random.choice(list(Tier)),
            classification=random.randrange(4),
            expires_at=self.moment() if random.random() < 0.2 else None,
            flags=(UNSURE_DATE,) if random.random() < 0.2 else (),
        )

    def features(self, fact: Fact) -> Features:
        """Features of a fact; about one in ten has no vector, one in four may merge with others."""
        random = self.random
        words = fact.text.split()
        terms: dict[str, float] = {}
        for word in words:
            terms[word] = terms.get(word, 0.0) + random.choice((1.0, 1.0, 2.5))
        views = {"fact": self.vector()} if random.random() < 0.9 else {}
        if views and random.random() < 0.5:
            views["context"] = self.vector()
        return Features(
            vectors=views,
            terms=terms,
            words=tuple(words),
            signature=random.randbytes(32) if random.random() < 0.8 else b"",
            dedupe_key=f"key {random.randrange(12)}" if random.random() < 0.25 else "",
            passage=f"passage of {fact.text}" if random.random() < 0.5 else "",
            passage_in_context=f"after {' '.join(random.choices(WORDS, k=3))}: {fact.text}",
        )

    def new_fact(self) -> NewFact:
        """A fact with its features."""
        fact = self.fact()
        return NewFact(fact, self.features(fact))

    def links(self, count: int) -> list[Link]:
        """Links between facts drawn so far."""
        if len(self.drawn_ids) < 2:
            return []
        links = []
        for _ in range(count):
            source, target = self.random.sample(self.drawn_ids, 2)
            kind = self.random.choice(list(LinkKind))
            links.append(Link(source, target, kind, self.random.randrange(1, 65) / 64))
        return links

    def entities(self) -> list[KeyedEntity]:
        """The entities that facts mention."""
        return [
            KeyedEntity(
                Entity(
                    id=entity_id,
                    bank=self.bank,
                    name=entity_id.removeprefix("e-").title(),
                    aliases=(entity_id.removeprefix("e-").upper(),),
                    mentions=self.random.randrange(5),
                ),
                (entity_id.removeprefix("e-"),),
            )
            for entity_id in ENTITIES
        ]

    def documents(self) -> list[Document]:
        """The documents that facts come from."""
        return [Document(id=ident, bank=self.bank, title=f"title of {ident}") for ident in DOCUMENTS]

    def chunks(self) -> list[Chunk]:
        """One chunk per document."""
        return [
            Chunk(
                id=f"c-{ident}",
                bank=self.bank,
                document_id=ident,
                ordinal=0,
                text=f"text of {ident}",
                content_hash=ident,
            )
            for ident in DOCUMENTS
        ]

    def tag_expression(self, depth: int = 2) -> TagExpression:
        """A condition on tags, perhaps nested."""
        kind = self.random.randrange(4) if depth else 0
        if kind == 1:
            return TagAnd(tuple(self.tag_expression(depth - 1) for _ in range(2)))
        if kind == 2:
            return TagOr(tuple(self.tag_expression(depth - 1) for _ in range(2)))
        if kind == 3:
            return TagNot(self.tag_expression(depth - 1))
        return TagLeaf(frozenset(self.some(TAGS)), self.random.choice(list(TagsMatch)))

    def filter(self) -> Filter:
        """A filter with a few conditions."""
        random = self.random

        def rarely() -> bool:
            return random.random() < 0.15

        return Filter(
            now=START + timedelta(days=random.choice((0, 400, 800, 1200))),
            as_of=AsOf(valid=self.maybe_moment(), known=self.maybe_moment())
            if random.random() < 0.5
            else AsOf(),
            types=frozenset(random.sample(list(FactType), 2)) if rarely() else None,
            tags=(self.tag_expression(),) if rarely() else (),
            metadata={"k1": "x"} if rarely() else {},
            topic="music" if rarely() else None,
            tier=Tier.CORE if rarely() else None,
            max_classification=random.randrange(4) if rarely() else None,
            document_ids=frozenset(self.some(DOCUMENTS)) if rarely() else None,
            during=Window(*self.span()) if rarely() else None,
            include_expired=rarely(),
            include_ended=rarely(),
            include_closed=rarely(),
        )

    def probes(self) -> list[Probe]:
        """One probe of each kind."""
        random = self.random
        seeds = random.sample(self.drawn_ids, min(len(self.drawn_ids), 3))
        entities = {ident: random.choice((0.5, 1.0)) for ident in self.some(ENTITIES)}
        cap = random.choice((2, 1000))
        window = Window(*self.span())
        return [
            SemanticProbe(self.vector(), view=random.choice(("fact", "context", "unknown"))),
            SemanticProbe(self.vector(), min_score=0.1),
            KeywordProbe({word: random.choice((0.5, 1.0)) for word in random.sample(WORDS, 4)}),
            GraphProbe(
                {ident: random.choice((0.25, 1.0)) for ident in seeds},
                entities,
                hops=random.randrange(1, 4),
                breadth=random.choice((2, 300)),
                hub_cap=cap,
                include_seeds=random.random() < 0.5,
            ),
            TemporalProbe(window, slices=random.choice((1, 8))),
            TemporalProbe(window, vector=self.vector()),
            FuzzyProbe((*tuple(random.sample(WORDS, 2)), "gardn", "ork"), threshold=0.3),
            SignatureProbe(random.randbytes(32), min_score=0.45),
            RelationProbe(entities, relation=random.choice((None, "Lives_In"))),
            PageRankProbe(entities, hub_cap=cap, sweeps=random.randrange(1, 5)),
        ]
