"""The input of retain, and its result."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import StrEnum
from typing import cast

from perdure.domain.fact import Origin, Tier
from perdure.domain.observation import ScopeRule, read_scope_rule
from perdure.domain.options import NOT_MCP, PROGRAMS, Moment, Options, option, read_strings, read_text
from perdure.domain.recall import StageTime
from perdure.domain.time import parse_instant
from perdure.errors import InvalidInput

MAX_CONTENT_CHARACTERS = 20_000_000
AGENT_ROLES = frozenset({"assistant", "agent", "ai", "bot", "model"})
DATA_ROLES = frozenset({"tool", "function"})
USER_ROLES = frozenset({"user", "human"})
SPEAKER = "speaker"
"""Kind of the records that name the speakers of a bank, with the role of those who spoke as its user."""
HASH_KEY = "hash_key"
"""Kind and id of the record with the random key of the ids that a bank makes from content.

Every erasure deletes it: the next retain makes another, so that older ids tell nothing of their content.
"""
UNFINISHED_DOCUMENT = "unfinished_document"
"""Kind of the records of documents whose text is stored but whose facts are still to be extracted."""
KEEPS_CORRECTIONS = "keeps_corrections"
"""In the body of such a record: facts that a user corrected stay, and what was declared wrong does not come back."""

REFINED_DOCUMENT = "refined_document"
"""Kind of the records that list the chunks of a document whose turns a language model has reworded."""


class UpdateMode(StrEnum):
    """What happens to a document that is retained again."""

    REPLACE = "replace"
    APPEND = "append"


_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
TIMELESS = "unset"
"""A timestamp of texts that have no time."""
_SAME_TYPE = {
    **dict.fromkeys(("per", "people", "human"), "person"),
    **dict.fromkeys(("org", "organization", "company"), "organisation"),
    **dict.fromkeys(("loc", "location", "gpe", "city", "country"), "place"),
    **dict.fromkeys(("unknown", "other", "misc", "entity"), "concept"),
}
"""Other names of an entity's type."""


def _read_timestamp(value: object, name: str) -> object:
    return value if value == TIMELESS else parse_instant(value, name)


def _read_document_id(value: object, name: str) -> object:
    if value is None:
        return None
    if not read_text(value, name).strip():
        raise InvalidInput(name, "an id that is not blank", value)
    if _CONTROLS.search(str(value)):
        raise InvalidInput(name, "an id without control characters", value)
    return value


def _read_tags(value: object, name: str) -> frozenset[str]:
    if value is None:
        return frozenset()
    tags = read_strings(value, name)
    check_tags(tags)
    return frozenset(tags)


def _read_metadata(value: object, name: str) -> Mapping[str, str]:
    """Return an object of strings; values of other types become strings."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InvalidInput(name, "an object of strings", value)
    metadata = {str(key): part if isinstance(part, str) else str(part) for key, part in value.items()}
    for part in (*metadata.keys(), *metadata.values()):
        read_text(part, name)
    return metadata


def _read_entities(value: object, name: str) -> tuple[tuple[str, str], ...]:
    if value is None:
        return ()
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        raise InvalidInput(name, "a list", value)
    return tuple(_read_entity(entity, name) for entity in value)


def _read_entity(value: object, name: str) -> tuple[str, str]:
    if isinstance(value, str):
        return (read_text(value, name), "concept")
    if isinstance(value, Mapping) and isinstance(value.get("text"), str):
        text, kind = value["text"], value.get("type")
    elif isinstance(value, tuple | list) and len(value) == 2:
        text, kind = value
    else:
        raise InvalidInput(name, "names or objects with text and type", value)
    stated = read_text(str(kind or "concept"), name).strip().lower()
    return (read_text(str(text), name), _SAME_TYPE.get(stated, stated))


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """A relation that the caller states of a text: "Alice works_at Acme", and while it holds."""

    subject: str
    relation: str
    object: str
    valid_from: datetime | None = None
    valid_to: datetime | None = None

    @property
    def words(self) -> str:
        """Return the relation as a sentence."""
        return f"{self.subject} {self.relation.replace('_', ' ')} {self.object}"


_RELATION_FIELDS = tuple(one.name for one in fields(Relation))


def _read_relations(value: object, name: str) -> tuple[Relation, ...]:
    if value is None:
        return ()
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        raise InvalidInput(name, "a list of relations", value)
    return tuple(_read_relation(one, f"{name}[{index}]") for index, one in enumerate(value))


def _read_relation(value: object, name: str) -> Relation:
    """Return a relation from three to five parts: a sequence, a mapping, or a text with semicolons between them."""
    if isinstance(value, Relation):
        value = [getattr(value, field_name) for field_name in _RELATION_FIELDS]
    if isinstance(value, str):
        value = [part.strip() for part in value.split(";")]
    if isinstance(value, Mapping):
        unknown = sorted(str(key) for key in value.keys() - set(_RELATION_FIELDS))
        if unknown:
            raise InvalidInput(f"{name}.{unknown[0]}", "one of " + ", ".join(_RELATION_FIELDS))
        parts = [value.get(field_name) for field_name in _RELATION_FIELDS]
    elif isinstance(value, Sequence) and not isinstance(value, bytes) and 3 <= len(value) <= 5:
        parts = [*value, None, None][:5]
    else:
        raise InvalidInput(name, "subject, relation and object, and from when to when it holds", value)
    for field_name, part in zip(_RELATION_FIELDS[:3], parts, strict=False):
        if not read_text(part, f"{name}.{field_name}").strip():
            raise InvalidInput(f"{name}.{field_name}", "non-empty text", part)
    start, end = (
        parse_instant(part or None, f"{name}.{field_name}")
        for field_name, part in zip(_RELATION_FIELDS[3:], parts[3:], strict=True)
    )
    if start is not None and end is not None and end < start:
        raise InvalidInput(f"{name}.valid_to", "a time not before valid_from", end.isoformat())
    subject, relation, object_ = (" ".join(str(part).split()) for part in parts[:3])
    kind = relation.replace(" ", "_").casefold()
    return Relation(subject=subject, relation=kind, object=object_, valid_from=start, valid_to=end)


def _read_scopes(value: object, name: str) -> ScopeRule | None:
    return None if value is None else read_scope_rule(value, name)


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemOptions(Options):
    """What may be said of a text or turn; of everything in a retain, where its items leave it open."""

    document_id: str | None = option(
        None, "Name of the source; the same name again replaces it.", read=_read_document_id
    )
    timestamp: datetime | None = option(
        None, 'When it was said (ISO 8601), now by default; "unset" if it has no time.', flag="-t",
        read=_read_timestamp, accepts=Moment,
    )  # fmt: skip
    timeless: bool = option(False, "Whether it has no time.", on=PROGRAMS)
    speaker: str = option("", 'Who said it; "I" in the text means this person.')
    role: str = option("", "Role of the speaker in a chat: user, assistant, tool ...", on=PROGRAMS)
    origin: Origin | None = option(
        None,
        "Where it comes from: user, assistant, tool, web, import or agent (another one); by its role if left out.",
    )
    title: str = option("", "Title of the document.", on=NOT_MCP)
    context: str = option("", "What it is about, such as a project's name.")
    tags: frozenset[str] = option(
        frozenset(), "Tags to find the facts by.", flag="--tag", read=_read_tags,
        accepts=Collection[str] | None,
    )  # fmt: skip
    metadata: Mapping[str, str] = option(
        {}, "Further properties, which filters can ask for.", on=NOT_MCP, read=_read_metadata,
        accepts=Mapping[str, str] | None,
    )  # fmt: skip
    entities: tuple[tuple[str, str], ...] = option(
        (), "Names of entities, or names with types, to add to those found.", on=PROGRAMS,
        read=_read_entities, accepts=Sequence[str | tuple[str, str] | Mapping[str, str]] | None,
    )  # fmt: skip
    relations: tuple[Relation, ...] = option(
        (), 'Relations that it states, as "SUBJECT; RELATION; OBJECT", or with their fields; optionally also '
        "valid_from and valid_to.",
        flag="--relation", read=_read_relations,
        accepts=Sequence[Relation | str | Sequence[object] | Mapping[str, object]] | None,
    )  # fmt: skip
    topic: str | None = option(None, "What the facts are about, in a word or two.", on=PROGRAMS)
    tier: Tier = option(Tier.GENERAL, "core for what matters always, else general.", on=PROGRAMS)
    classification: int = option(0, "From 0, public, to 3, secret.", at_least=0, at_most=3, on=PROGRAMS)
    trust: int = option(2, "Trust in the source, from 0 to 3.", at_least=0, at_most=3, on=PROGRAMS)
    credibility: int = option(
        3, "Credibility of the information, from 1, confirmed, to 6.", at_least=1, at_most=6, on=PROGRAMS
    )
    relevance: float = option(0.0, "A weight of your own, kept with the facts.", on=PROGRAMS)
    expires_at: datetime | None = option(
        None, "When the facts leave every recall.", on=PROGRAMS, read=parse_instant, accepts=Moment
    )
    valid_from: datetime | None = option(
        None, "Since when the facts are true.", on=PROGRAMS, read=parse_instant, accepts=Moment
    )
    valid_to: datetime | None = option(
        None, "Until when the facts are true.", on=PROGRAMS, read=parse_instant, accepts=Moment
    )
    original_text: str | None = option(None, "The text before it was translated or cleaned.", on=PROGRAMS)
    observation_scopes: ScopeRule | None = option(
        None, "How its tags scope the observations made of its facts; as the bank says by default.",
        on=PROGRAMS, read=_read_scopes, accepts=str | Sequence[Sequence[str]] | None,
    )  # fmt: skip

    def _complete(self) -> None:
        if cast(object, self.timestamp) == TIMELESS:
            object.__setattr__(self, "timestamp", None)
            object.__setattr__(self, "timeless", True)
        if self.valid_from is not None and self.valid_to is not None and self.valid_to < self.valid_from:
            raise InvalidInput("valid_to", "a time not before valid_from", self.valid_to.isoformat())


@dataclass(frozen=True, slots=True, kw_only=True)
class Item(ItemOptions):
    """One text or turn to retain; items that share a document_id are its turns, in order."""

    content: str

    def _complete(self) -> None:
        ItemOptions._complete(self)
        if not isinstance(self.content, str):
            raise InvalidInput("content", "text", self.content)
        if len(self.content) > MAX_CONTENT_CHARACTERS:
            raise InvalidInput("content", f"at most {MAX_CONTENT_CHARACTERS} characters", len(self.content))
        if not self.content.strip():
            raise InvalidInput("content", "non-empty text", self.content)
        read_text(self.content, "content")

    @property
    def stated_origin(self) -> Origin | None:
        """Return the origin as given, else by the role; None where neither tells."""
        role = (self.role or self.speaker).lower()
        if self.origin is not None or role in USER_ROLES:
            return self.origin or Origin.USER
        return Origin.TOOL if role in DATA_ROLES else Origin.ASSISTANT if self.is_agent else None

    @property
    def is_agent(self) -> bool:
        return (self.role or self.speaker).lower() in AGENT_ROLES


def check_text(name: str, value: object) -> None:
    """Raise `InvalidInput` unless the value is text that can be stored."""
    read_text(value, name)


def check_tags(tags: object) -> None:
    """Refuse what is no collection of texts that can be stored, and blank ones."""
    if isinstance(tags, str) or not isinstance(tags, Iterable):
        raise InvalidInput("tags", "a list of strings", tags)
    for tag in tags:
        check_text("tags", tag)
        if not tag.strip():
            raise InvalidInput("tags", "tags that are not blank", tag)


@dataclass(frozen=True, slots=True, kw_only=True)
class Superseded:
    """An older fact that a new one closed."""

    fact_id: str
    superseded_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PassedOver:
    """A part of what was given that was not retained, and why."""

    path: str
    """Where it stands, such as `content[2].content[0]` or `content, line 7`."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FellBack:
    """Turns that the local extractor read, because asking a language model failed."""

    document_id: str
    chunk_ids: tuple[str, ...]
    turns: int
    code: str
    """Code of the error: llm_busy, llm_refused, llm_cut, llm_invalid, llm_cap_reached."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReprocessPreview:
    """What reading the documents of an earlier extractor anew would change."""

    documents: tuple[str, ...]
    retired: int
    """Facts that the text does not give again."""
    new: int
    unchanged: int
    without_relation: int
    """Facts of these that stay and lose a relation that was read in their words."""
    retired_texts: tuple[str, ...]
    """The first of them."""
    new_texts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetainResult:
    """What a retain did."""

    bank: str
    document_ids: tuple[str, ...] = ()
    fact_ids: tuple[str, ...] = ()
    """New facts, in order."""
    unchanged: int = 0
    """Facts of the same documents that stayed as they were."""
    merged: Mapping[str, str] = field(default_factory=dict)
    """Not stored again: new fact's id -> the existing fact whose proof grew."""
    superseded: tuple[Superseded, ...] = ()
    retired: tuple[str, ...] = ()
    """Facts whose source text is gone from a replaced document."""
    chunks: int = 0
    entities: int = 0
    links: int = 0
    passed_over: tuple[PassedOver, ...] = ()
    """What of the content was not retained: tool calls, images, empty texts, dates that could not be read."""
    fell_back: tuple[FellBack, ...] = ()
    masked: Mapping[str, int] = field(default_factory=dict)
    """Format of a secret, such as "github token" -> how many of it were masked before anything was stored."""
    timings: tuple[StageTime, ...] = ()

    def __str__(self) -> str:
        parts = [f"{len(self.fact_ids)} new fact{'' if len(self.fact_ids) == 1 else 's'}"]
        counted = (
            (len(self.merged), "merged"),
            (len(self.superseded), "superseded"),
            (len(self.retired), "retired"),
            (self.unchanged, "unchanged"),
            (len(self.passed_over), "passed over"),
            (sum(self.masked.values()), "secrets masked"),
            (sum(one.turns for one in self.fell_back), "turns without the language model"),
        )
        parts += [f"{count} {name}" for count, name in counted if count]
        documents = f"{len(self.document_ids)} document{'' if len(self.document_ids) == 1 else 's'}"
        return f"{', '.join(parts)} from {documents} in bank {self.bank!r}"
