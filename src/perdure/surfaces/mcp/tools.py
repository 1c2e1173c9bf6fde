"""The five tools. They run on worker threads: the event loop never waits for the engine."""

from __future__ import annotations

from typing import Annotated, Any

from mcp.server import Server
from mcp.types import CallToolResult, TextContent
from pydantic import BaseModel, Field

from perdure.domain.recall import RecallResult
from perdure.domain.time import AsOf
from perdure.engine import Perdure
from perdure.errors import InvalidInput
from perdure.reflect.pipeline import Reflection
from perdure.surfaces.arguments import (
    RecallOptions,
    find_document,
    read_moment,
    read_window,
    recall_with,
    reflect_with,
)
from perdure.surfaces.keys import Scope
from perdure.surfaces.mcp.access import DEFAULT_BANK, Caller, caller_of
from perdure.surfaces.mcp.results import (
    ContextOutput,
    ForgetOutput,
    RecallOutput,
    ReflectOutput,
    RetainOutput,
    recalled,
    reflected,
    retained,
)
from perdure.surfaces.workers import Workers

MAX_TOKENS = 2048
MAX_CONTENT_CHARACTERS = 200_000
"""More is a file rather than something to say; a client that sends far more loses its connection."""

BankName = Annotated[str | None, Field(description="Memory bank; leave out for the default one")]
Question = Annotated[str, Field(description="What you want to know, as a full question with names and dates")]
Tokens = Annotated[int, Field(ge=0, description="At most so many tokens of facts")]
Since = Annotated[str | None, Field(description="Only what happened on or after this ISO 8601 date")]
Until = Annotated[str | None, Field(description="Only what happened before this ISO 8601 date")]
TagList = Annotated[list[str] | None, Field(description="Only facts with one of these tags")]


class Tools:
    """The tools of one server; `local` is who calls when no HTTP endpoint says so."""

    def __init__(self, engine: Perdure, workers: Workers, server: Server[Any, Any], local: Caller) -> None:
        self._engine, self._workers, self._server, self._local = engine, workers, server, local

    async def retain(
        self,
        content: Annotated[
            str, Field(description="What to remember, in full sentences with names and dates")
        ],
        timestamp: Annotated[
            str | None, Field(description="When it was said, ISO 8601; now if left out")
        ] = None,
        speaker: Annotated[
            str | None, Field(description="Who said it; 'I' in the text means this person")
        ] = None,
        context: Annotated[
            str | None, Field(description="What it is about, such as a project's name")
        ] = None,
        document_id: Annotated[
            str | None, Field(min_length=1, description="Name of the source; the same name again replaces it")
        ] = None,
        tags: Annotated[list[str] | None, Field(description="Tags to find the facts by")] = None,
        bank: BankName = None,
    ) -> Annotated[CallToolResult, RetainOutput]:
        """Remember something for later conversations: facts, decisions, preferences, events.

        Call it whenever the user says something worth knowing next time. Relative dates ("yesterday") are resolved.
        """
        chosen = self._choose(bank, Scope.WRITE)

        def work() -> RetainOutput:
            if len(content) > MAX_CONTENT_CHARACTERS:
                expected = f"at most {MAX_CONTENT_CHARACTERS} characters; send it in parts"
                raise InvalidInput("content", expected, len(content))
            done = self._engine.retain(
                chosen, content, timestamp=timestamp, speaker=speaker, context=context,
                document_id=document_id, tags=tags,
            )  # fmt: skip
            return retained(done, self._engine.facts_by_id(chosen, done.fact_ids))

        output = await self._workers.run(work)
        count = len(output.facts)
        head = f"Remembered {count} new fact{'' if count == 1 else 's'} in bank {chosen}."
        return _both("\n".join([head, *(f"- {fact}" for fact in output.facts)]), output)

    async def recall(
        self,
        query: Question,
        max_tokens: Tokens = MAX_TOKENS,
        since: Since = None,
        until: Until = None,
        as_of: Annotated[str | None, Field(description="What was true at this ISO 8601 time")] = None,
        types: Annotated[
            list[str] | None, Field(description="Only world, experience, opinion or observation facts")
        ] = None,
        tags: TagList = None,
        with_ids: Annotated[
            bool, Field(description="Add fact ids to the text, as `forget` needs them")
        ] = False,
        bank: BankName = None,
    ) -> Annotated[CallToolResult, RecallOutput]:
        """Search memory: facts from earlier conversations that bear on a question, best first, with citations.

        Call it before you answer anything about the user, their people, projects, plans or past.
        """
        chosen = self._choose(bank, Scope.READ)

        def work() -> RecallResult:
            self._check_exists(chosen, bank)
            options: RecallOptions = {
                "max_tokens": max_tokens, "types": types, "tags": tags, "tags_match": "any_strict",
                "during": read_window(since, until), "as_of": AsOf.both(read_moment(as_of, "as_of")),
            }  # fmt: skip
            return recall_with(self._engine, chosen, query, options)

        result = await self._workers.recall(work)
        ids = [f"id of [{found.citation}]: {found.fact.id}" for found in result] if with_ids else []
        return _both("\n".join([result.to_prompt(), *ids]), recalled(chosen, result))

    async def reflect(
        self, query: Question, max_tokens: Tokens = MAX_TOKENS, bank: BankName = None
    ) -> Annotated[CallToolResult, ReflectOutput]:
        """Answer a question from memory alone; every sentence cites its fact, or it says that memory holds none."""
        chosen = self._choose(bank, Scope.READ)

        def work() -> Reflection:
            self._check_exists(chosen, bank)
            return reflect_with(self._engine, chosen, query, {"max_tokens": max_tokens})

        answer = await self._workers.recall(work)
        output = reflected(chosen, answer)
        sources = [f"[{m.citation}] {m.id}{f', {m.date}' if m.date else ''}" for m in output.based_on]
        return _both("\n".join([output.text, *sources]), output)

    async def context(
        self, query: Question, max_tokens: Tokens = MAX_TOKENS, bank: BankName = None
    ) -> Annotated[CallToolResult, ContextOutput]:
        """A recall as one fenced text with citations and validity, to put into another model's prompt."""
        chosen = self._choose(bank, Scope.READ)

        def work() -> RecallResult:
            self._check_exists(chosen, bank)
            return recall_with(self._engine, chosen, query, {"max_tokens": max_tokens})

        result = await self._workers.recall(work)
        prompt = result.to_prompt()
        return _both(prompt, ContextOutput(bank=chosen, context=prompt, tokens=result.tokens))

    async def forget(
        self,
        fact_id: Annotated[str | None, Field(description="Id of the fact, as recall returned it")] = None,
        document_id: Annotated[str | None, Field(description="Id of a document, with all its facts")] = None,
        bank: BankName = None,
    ) -> Annotated[CallToolResult, ForgetOutput]:
        """Erase one fact, or one document with its facts, for good. Only when the user asks for it."""
        chosen = self._choose(bank, Scope.WRITE)

        def work() -> int:
            if (fact_id is None) == (document_id is None):
                raise InvalidInput("fact_id, document_id", "exactly one of them")
            self._check_exists(chosen, bank)
            if fact_id is not None:
                self._engine.fact(chosen, fact_id)
            elif document_id is not None:
                find_document(self._engine, chosen, document_id)
            return self._engine.forget(chosen, fact_id=fact_id, document_id=document_id)

        gone = await self._workers.run(work)
        output = ForgetOutput(bank=chosen, forgotten_facts=gone)
        return _both(f"Forgot {gone} fact{'' if gone == 1 else 's'} in bank {chosen}.", output)

    def _choose(self, bank: str | None, scope: Scope) -> str:
        return caller_of(self._server.request_context.request, self._local).choose(bank, scope)

    def _check_exists(self, chosen: str, asked: str | None) -> None:
        """A misspelt bank is an error; the endpoint's own and the default one are only empty at first."""
        if asked not in (None, DEFAULT_BANK):
            self._engine.bank(chosen)


def _both(text: str, output: BaseModel) -> CallToolResult:
    """Text for the model that reads it, and the same as data for the program around it."""
    return CallToolResult(
        content=[TextContent(type="text", text=text)], structuredContent=output.model_dump(mode="json")
    )
