"""Consolidation, observations, notes and questions."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Body as RequestBody
from fastapi import Query
from pydantic import BaseModel, Field

from perdure import Perdure
from perdure.contrib.hindsight.bodies import Body, DeleteResponse, Limit, Offset, Tags, iso
from perdure.contrib.hindsight.clients import StrictClients
from perdure.domain.observation import Observation
from perdure.domain.question import Question
from perdure.errors import NotFound
from perdure.jobs.consolidate_job import CONSOLIDATION
from perdure.surfaces.plain import plain
from perdure.surfaces.rest.service import AdminBank, ReadBank, Resource, Serving, WriteBank

router = Resource("Consolidation", "/v1/default/banks/{bank_id}")


class ConsolidationRequest(Body):
    """Which facts to look at; all that is new unless said otherwise."""

    observation_scopes: list[list[str]] | None = Field(
        None, description="Only facts that carry all tags of one of these lists"
    )


class ConsolidationResponse(BaseModel):
    """The work that was begun."""

    operation_id: str
    deduplicated: bool = Field(False, description="Whether a run that was under way is returned")


class RecoverConsolidationResponse(BaseModel):
    """How many facts will be looked at again."""

    retried_count: int


class ClearMemoryObservationsResponse(BaseModel):
    """How many observations went."""

    deleted_count: int


class ObservationScope(BaseModel):
    """Tags that observations carry together."""

    tags: list[str]
    count: int


class ObservationScopesResponse(BaseModel):
    """The scopes of a bank, most observations first."""

    scopes: list[ObservationScope]


class ClauseBody(BaseModel):
    """A statement of an observation and what it rests on."""

    text: str
    fact_ids: list[str]
    proofs: int


class ObservationBody(BaseModel):
    """A profile of an entity or topic."""

    id: str
    text: str
    kind: Literal["entity", "topic"]
    key: str
    name: str
    clauses: list[ClauseBody]
    source_fact_ids: list[str]
    proof_count: int
    tags: list[str]
    recorded_at: str | None = None
    stale: bool = False


class ObservationsResponse(BaseModel):
    """A page of observations, newest first."""

    items: list[ObservationBody]
    total: int
    limit: int
    offset: int


class NotesResponse(BaseModel):
    """Names of notes, the latest of each period first."""

    notes: list[str]


class NoteLineBody(BaseModel):
    """A line of a note."""

    text: str
    fact_ids: list[str]


class NoteBody(BaseModel):
    """A note, as Markdown and by section."""

    name: str
    text: str
    sections: dict[str, list[NoteLineBody]]


class QuestionBody(BaseModel):
    """A conflict that nothing decides, or what was answered."""

    id: str
    text: str
    subject: str
    relation: str
    options: list[dict[str, Any]]
    asked_at: str | None = None
    answer: str | None = None
    answered_at: str | None = None


class RefinementResponse(BaseModel):
    """The operation that rewrites facts; one that is under way is named again."""

    operation_id: str


class QuestionsResponse(BaseModel):
    """Questions to the user, oldest first."""

    questions: list[QuestionBody]


class AnswerRequest(Body):
    """What is right: the id of one of the facts, a value, or `both`."""

    answer: str = Field(min_length=1)


@router.post("/consolidate", operation_id="trigger_consolidation")
def consolidate(
    service: Serving,
    bank: WriteBank,
    body: Annotated[ConsolidationRequest | None, RequestBody()] = None,
) -> ConsolidationResponse:
    """Form observations, questions and notes of what is new, in the background."""
    engine = service.engine
    scopes = body.observation_scopes if body is not None else None
    under_way = {
        operation.id
        for operation in engine.operations.list(bank)
        if operation.kind == CONSOLIDATION and not operation.finished
    }
    operation = engine.consolidate(bank, observation_scopes=scopes or None)
    return ConsolidationResponse(operation_id=operation.id, deduplicated=operation.id in under_way)


@router.post("/refine", operation_id="trigger_refinement")
def refine(service: Serving, bank: WriteBank) -> RefinementResponse:
    """Have a language model word anew what rules drew from text that none has worded yet, in the background."""
    _require_bank(service.engine, bank)
    return RefinementResponse(operation_id=service.engine.documents.refine(bank).id)


@router.post("/consolidation/recover", operation_id="recover_consolidation")
def recover(service: Serving, bank: WriteBank) -> RecoverConsolidationResponse:
    """Have the facts that consolidation set aside looked at again by the next run, which this does not start."""
    _require_bank(service.engine, bank)
    return RecoverConsolidationResponse(retried_count=service.engine.observations.recover(bank))


@router.get("/observations", operation_id="list_observations", dependencies=[StrictClients])
def observations(
    service: Serving,
    bank: ReadBank,
    name: Annotated[str | None, Query(description="Of an entity or topic")] = None,
    tags: Tags = None,
    stale: Annotated[bool, Query(description="Also those of which a source has changed since")] = False,
    limit: Limit = 100,
    offset: Offset = 0,
) -> ObservationsResponse:
    """The profiles in force, newest first. Perdure's own path."""
    every = service.engine.observations.list(bank, name=name, tags=tags, stale=stale)
    page = [_observation(one) for one in every[offset : offset + limit]]
    return ObservationsResponse(items=page, total=len(every), limit=limit, offset=offset)


@router.delete("/observations", operation_id="clear_observations")
def clear_observations(service: Serving, bank: AdminBank) -> DeleteResponse:
    """Delete all observations with their versions; the next run makes them anew."""
    count = service.engine.observations.delete(bank) if service.engine.banks.find(bank) is not None else 0
    return DeleteResponse(success=True, message=f"{count} observations were deleted", deleted_count=count)


@router.get("/observations/scopes", operation_id="list_observation_scopes", dependencies=[StrictClients])
def scopes(service: Serving, bank: ReadBank) -> ObservationScopesResponse:
    """The tags that observations carry together."""
    listed = service.engine.observations.scopes(bank)
    return ObservationScopesResponse(
        scopes=[ObservationScope(tags=list(tags), count=count) for tags, count in listed]
    )


@router.delete("/memories/{memory_id}/observations", operation_id="clear_memory_observations")
def clear_memory_observations(
    service: Serving, bank: WriteBank, memory_id: str
) -> ClearMemoryObservationsResponse:
    """Delete the observations that rest on a fact; where the bank consolidates by itself, a run makes them anew."""
    engine = service.engine
    count = engine.observations.delete(bank, fact_id=memory_id)
    if count and engine.banks.get(bank).settings.get("enable_auto_consolidation") is True:
        engine.consolidate(bank)
    return ClearMemoryObservationsResponse(deleted_count=count)


@router.get("/notes", operation_id="list_notes", dependencies=[StrictClients])
def notes(
    service: Serving, bank: ReadBank, period: Literal["daily", "weekly", "quarterly"] | None = None
) -> NotesResponse:
    """Names of the notes that were made from memory. Perdure's own path."""
    return NotesResponse(notes=service.engine.notes.list(bank, period))


@router.get("/notes/{period}/{date}", operation_id="get_note")
def note(service: Serving, bank: ReadBank, period: str, date: str) -> NoteBody:
    """A note without lines whose facts are gone. Perdure's own path."""
    written = service.engine.notes.get(bank, f"{period}/{date}")
    told = {
        heading: [NoteLineBody(text=line.text, fact_ids=list(line.fact_ids)) for line in lines]
        for heading, lines in written.sections
    }
    return NoteBody(name=written.name, text=str(written), sections=told)


@router.get("/questions", operation_id="list_questions", dependencies=[StrictClients])
def questions(service: Serving, bank: ReadBank, answered: bool = False) -> QuestionsResponse:
    """Conflicts that nothing decides. Perdure's own path."""
    listed = service.engine.questions.list(bank, answered=answered)
    return QuestionsResponse(questions=[_question(question) for question in listed])


@router.post("/questions/{question_id}/answer", operation_id="answer_question")
def answer(service: Serving, bank: WriteBank, question_id: str, body: AnswerRequest) -> QuestionBody:
    """Decide a question. Perdure's own path."""
    return _question(service.engine.questions.answer(bank, question_id, body.answer))


def _require_bank(engine: Perdure, bank: str) -> None:
    if engine.banks.find(bank) is None:
        raise NotFound("bank", bank)


def _observation(one: Observation) -> ObservationBody:
    return ObservationBody.model_validate(
        {
            **plain(one),
            "kind": one.subject.kind,
            "key": one.subject.key,
            "clauses": plain(one.clauses),
            "recorded_at": iso(one.recorded_at),
        }
    )


def _question(question: Question) -> QuestionBody:
    return QuestionBody.model_validate({**plain(question), "text": question.text})
