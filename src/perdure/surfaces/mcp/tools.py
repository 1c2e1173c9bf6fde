"""The five tools. They block: the server runs them on worker threads, with the bank that the caller may use."""

from __future__ import annotations

import json
from typing import Annotated, Any

from mcp.types import CallToolResult, TextContent
from pydantic import BaseModel, Field

from perdure.domain.inert import inert
from perdure.domain.time import AsOf
from perdure.engine import Perdure
from perdure.errors import InvalidInput
from perdure.surfaces.arguments import (
    RecallOptions,
    find_document,
    read_moment,
    read_window,
    recall_with,
    reflect_with,
)
from perdure.surfaces.mcp.results import (
    NOTHING_FITS,
    ContextOutput,
    ForgetOutput,
    RecallOutput,
    ReflectOutput,
    RetainOutput,
    emptiness,
    fitting,
    recalled,
    reflected,
    retained,
    told_retain,
)

DEFAULT_BANK = "default"
MAX_TOKENS = 2048
MAX_CONTENT_CHARACTERS = 200_000
"""More is a file rather than something to say; a client that sends far more loses its connection."""

BankName = Annotated[str | None, Field(description="Memory bank; leave out for the default one")]
Question = Annotated[str, Field(description="What you want to know, as a full question with names and dates")]
Tokens = Annotated[int, Field(ge=0, description="At most so many tokens of text, all of it")]
Since = Annotated[str | None, Field(description="Only what happened on or after this ISO 8601 date")]
Until = Annotated[str | None, Field(description="Only what happened before this ISO 8601 date")]
Asker = Annotated[
    str | None, Field(description="Whom I and my mean: a name or `user`; the user unless given")
]
TagList = Annotated[list[str] | None, Field(description="Only facts with one of these tags")]


class Tools:
    """The tools over one engine."""

    def __init__(self, engine: Perdure) -> None:
        self._engine = engine

    def retain(
        self,
        content: Annotated[
            str | list[dict[str, Any]],
            Field(
                description="What to remember, in full sentences with names and dates; or chat messages, each with role and content"
            ),
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
        chosen = bank or DEFAULT_BANK
        size = len(content) if isinstance(content, str) else len(json.dumps(content, default=str))
        if size > MAX_CONTENT_CHARACTERS:
            expected = f"at most {MAX_CONTENT_CHARACTERS} characters; send it in parts"
            raise InvalidInput("content", expected, size)
        done = self._engine.retain(
            chosen, content, timestamp=timestamp, speaker=speaker, context=context, document_id=document_id,
            tags=tags,
        )  # fmt: skip
        output = retained(done, self._engine.facts_by_id(chosen, done.fact_ids))
        return _both(told_retain(output), output)

    def recall(
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
        asker: Asker = None,
        with_ids: Annotated[
            bool, Field(description="Add fact ids to the text, as `forget` needs them")
        ] = False,
        precision: Annotated[
            str, Field(description="inject: only what probably helps, or nothing; search: all that may help")
        ] = "inject",
        bank: BankName = None,
    ) -> Annotated[CallToolResult, RecallOutput]:
        """Search memory: facts from earlier conversations that bear on a question, best first, with citations.

        Call it before you answer anything about the user, their people, projects, plans or past.
        """
        chosen = bank or DEFAULT_BANK
        options: RecallOptions = {
            "max_tokens": max_tokens, "types": types, "tags": tags, "tags_match": "any_strict",
            "during": read_window(since, until), "as_of": AsOf(valid=read_moment(as_of, "as_of")),
            "asker": asker, "precision": precision,
        }  # fmt: skip
        result = recall_with(self._engine, chosen, query, options)
        prompt = result.fit_prompt(with_ids=with_ids)
        return _both(prompt.text or emptiness(result), recalled(chosen, result, prompt))

    def reflect(
        self,
        query: Question,
        max_tokens: Tokens = MAX_TOKENS,
        as_of: Annotated[str | None, Field(description="What was true at this ISO 8601 time")] = None,
        tags: TagList = None,
        asker: Asker = None,
        bank: BankName = None,
    ) -> Annotated[CallToolResult, ReflectOutput]:
        """Answer a question from memory alone, shortly; every sentence cites its fact, or it says that memory holds none."""
        chosen = bank or DEFAULT_BANK
        options: RecallOptions = {
            "max_tokens": max_tokens, "tags": tags, "tags_match": "any_strict",
            "as_of": AsOf(valid=read_moment(as_of, "as_of")), "asker": asker,
        }  # fmt: skip
        answer = reflect_with(self._engine, chosen, query, options)
        text = answer.to_prompt(max_tokens) or fitting(NOTHING_FITS, self._engine.count_tokens, max_tokens)
        return _both(text, reflected(chosen, answer))

    def context(
        self, query: Question, max_tokens: Tokens = MAX_TOKENS, asker: Asker = None, bank: BankName = None
    ) -> Annotated[CallToolResult, ContextOutput]:
        """A recall as one fenced text with citations and validity, to put into another model's prompt."""
        chosen = bank or DEFAULT_BANK
        options: RecallOptions = {"max_tokens": max_tokens, "precision": "inject", "asker": asker}
        result = recall_with(self._engine, chosen, query, options)
        prompt = result.fit_prompt()
        output = ContextOutput(
            bank=chosen, context=prompt.text, evidence=result.evidence.value, tokens=prompt.tokens,
            abstained=result.abstained, abstained_because=result.abstained_because,
        )  # fmt: skip
        return _both(prompt.text, output)

    def forget(
        self,
        fact_id: Annotated[str | None, Field(description="Id of the fact, as recall returned it")] = None,
        document_id: Annotated[str | None, Field(description="Id of a document, with all its facts")] = None,
        bank: BankName = None,
    ) -> Annotated[CallToolResult, ForgetOutput]:
        """Erase one fact, or one document with its facts, for good. Only when the user asks for it."""
        chosen = bank or DEFAULT_BANK
        if (fact_id is None) == (document_id is None):
            raise InvalidInput("fact_id, document_id", "exactly one of them")
        if fact_id is not None:
            self._engine.fact(chosen, fact_id)
        elif document_id is not None:
            find_document(self._engine, chosen, document_id)
        gone = self._engine.forget(chosen, fact_id=fact_id, document_id=document_id).facts
        return _both(
            f"Forgot {_facts(gone)} in bank {inert(chosen)}.", ForgetOutput(bank=chosen, forgotten_facts=gone)
        )


def _facts(count: int) -> str:
    return f"{count} fact{'' if count == 1 else 's'}"


def _both(text: str, output: BaseModel) -> CallToolResult:
    """Text for the model that reads it, and the same as data for the program around it."""
    return CallToolResult(
        content=[TextContent(type="text", text=text)], structuredContent=output.model_dump(mode="json")
    )
