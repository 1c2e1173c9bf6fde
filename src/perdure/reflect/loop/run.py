"""The loop: the first tiers are read by the code, then a model asks for tools until it is done or a limit ends it.

mental models ─► observations ─► facts ─► model ⇄ tools ─► done ─► each sentence against its sources
read by the code, in this order           5, 10 or 20 calls
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from perdure.domain.bank import Bank, Disposition
from perdure.domain.llm_call import LlmOperation
from perdure.domain.recall import Budget, Evidence, Query, RecallResult
from perdure.domain.rendering import iso_day, one_line
from perdure.errors import Cancelled, DeadlineExceeded, InvalidInput, LlmCut, LlmError
from perdure.llm.caller import REPLY_TOKENS, Caller, Purpose
from perdure.llm.prompt import load
from perdure.ports.llm import LlmReply, TokenUsage, Tool, ToolCall
from perdure.recall.options import RecallRequest
from perdure.reflect.components import ReflectComponents
from perdure.reflect.directive_rules import Rules
from perdure.reflect.disposition import disposition_words
from perdure.reflect.loop.conversation import Conversation, Entry, ReadingText
from perdure.reflect.loop.done import check_answer, unknown_ids, unsourced, without_unsaid
from perdure.reflect.loop.tools import (
    DONE,
    RECALL,
    SEARCH_MODELS,
    SEARCH_OBSERVATIONS,
    DoneArguments,
    ModelSearch,
    Toolbox,
    ToolRefused,
    read_arguments,
    told_arguments,
    tools_for,
    written_calls,
)
from perdure.reflect.reflection import (
    MODEL_STEP,
    NO_ANSWER,
    DirectiveUse,
    Reflection,
    ReflectionStep,
    ReflectionTrace,
    ReflectionUsage,
)
from perdure.reflect.schema import SchemaField, check_object

CALLS = {Budget.LOW: 5, Budget.MID: 10, Budget.HIGH: 20}
WINDOW_SHARE = 0.9
"""Of a window that we fill, as the model may count tokens otherwise than we do."""
SHRUNK = 0.6
"""What is left of a request that had too many tokens all the same."""
READING_SHARE = 0.35
"""Of the room in a window that one reading may take."""
NO_RULES, NO_MISSION = "- There are none.", "answering from memory."
LAST_CALL = "This is your last call: call `done` with what was read."
NO_TOOL = "Use a tool, or call `done` with your answer."
WRITE_DONE = (
    "Write the arguments of `done` as one JSON object: sentences with their sources, answer, directives."
)
"""For a model that calls no tools, as small ones do: it answers from the first readings, in a form that its server can enforce."""
REPLY_SHARE = 8
"""A reply may have this part of the window at most: a small model that rambles goes on to the end of what it may write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopRequest:
    """A question for the loop."""

    recall: RecallRequest
    rules: Rules
    disposition: Disposition
    schema: Mapping[str, object] | None = None
    fields: Sequence[SchemaField] = ()
    cancelled: Callable[[], bool] | None = None
    """Asked between calls; Cancelled is raised when it says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thought:
    """What came of a loop."""

    reflection: Reflection | None = None
    """None where the local reflect has to answer."""
    failure: str = ""
    usage: ReflectionUsage = field(default_factory=ReflectionUsage)
    steps: tuple[ReflectionStep, ...] = ()
    needs_structure: bool = False
    """Whether the response schema is left to be filled without a model."""


def think(
    components: ReflectComponents, caller: Caller, request: LoopRequest, search_models: ModelSearch | None
) -> Thought:
    """Ask the model; a failure of it is told in the result and costs no answer."""
    loop = _Loop(components, caller, request, search_models)
    try:
        return loop.run()
    except (LlmError, DeadlineExceeded) as error:
        return loop.failed(str(error))


@dataclass(slots=True)
class _Refusals:
    """Why `done` was refused already: each reason once."""

    told: set[str] = field(default_factory=set)

    def first(self, reason: str) -> bool:
        """Return whether this is the first time."""
        is_first = reason not in self.told
        self.told.add(reason)
        return is_first


class _Loop:
    def __init__(
        self,
        components: ReflectComponents,
        caller: Caller,
        request: LoopRequest,
        search_models: ModelSearch | None,
    ) -> None:
        self._components, self._caller, self._request = components, caller, request
        self._prompt = load("reflect")
        window = caller.window(LlmOperation.REFLECT)
        self._reply_tokens = min(REPLY_TOKENS, window // REPLY_SHARE)
        self._room = int(window * WINDOW_SHARE) - self._reply_tokens
        reading = max(256, int(self._room * READING_SHARE))
        recall = request.recall.changed(max_tokens=min(request.recall.max_tokens, reading))
        self._toolbox = Toolbox(components, recall, search_models)
        self._with_models = search_models is not None
        self._conversation = Conversation(components.recall.tokens.count)
        self._usage, self._calls, self._model = TokenUsage(), 0, ""
        self._deadline = time.monotonic() + components.thinking.reflect_seconds
        self._refusals = _Refusals()
        self._structured: dict[str, object] | None = None
        self._has_called_tool = False
        self._writes_done = not caller.calls_tools(LlmOperation.REFLECT)

    def run(self) -> Thought:
        self._begin()
        if self._writes_done:
            self._conversation.add(Entry("user", [WRITE_DONE]))
        most = CALLS[self._request.recall.budget]
        while self._calls < most:
            self._check_cancelled()
            is_last = self._calls == most - 1
            if is_last and not self._writes_done:
                self._conversation.add(Entry("user", [LAST_CALL]))
            reply = self._ask(is_last)
            calls = reply.calls or written_calls(reply.text)
            self._has_called_tool |= bool(calls)
            if not self._has_called_tool and not self._writes_done:
                self._writes_done = True
                self._caller.note_without_tools(self._model)
                self._conversation.add(Entry("user", [WRITE_DONE]))
                continue
            self._conversation.add(Entry("assistant", [reply.text], calls=reply.calls))
            if not calls:
                self._conversation.add(Entry("user", [WRITE_DONE if self._writes_done else NO_TOOL]))
            for call in calls:
                done = self._answer(call, is_last)
                if done is not None:
                    return self._finish(done)
        return self.failed(f"the model was not done after {most} calls")

    def failed(self, reason: str) -> Thought:
        """Return what there is without an answer of the model."""
        return Thought(failure=reason, usage=self._used(), steps=tuple(self._toolbox.steps))

    def _begin(self) -> None:
        """Add the rules, the question, and the first tiers to the conversation; a document that answers the question ends them, except at budget high."""
        request, query = self._request, self._request.recall.query
        with self._components.store.reading(request.recall.bank) as reading:
            bank = reading.bank() or Bank(id=request.recall.bank)
        uses = request.rules.uses
        asked_at = request.recall.asked_at or self._components.clock()
        system = self._prompt.fill(
            today=iso_day(asked_at),
            directives="\n".join(f"{number}. {one_line(use.content)}" for number, use in enumerate(uses, start=1)) or NO_RULES,
            mission=one_line(bank.mission) or NO_MISSION,
            disposition=disposition_words(request.disposition),
        )  # fmt: skip
        self._conversation.add(Entry("system", [system]))
        readings: list[str | ReadingText] = []
        if self._with_models:
            readings.append(self._toolbox.search(SEARCH_MODELS, query))
        answers = bool(self._toolbox.steps) and self._toolbox.steps[-1].evidence is Evidence.STRONG
        if not answers or request.recall.budget is Budget.HIGH:
            readings.append(self._toolbox.search(SEARCH_OBSERVATIONS, query))
            readings.append(self._toolbox.search(RECALL, query, track=True))
        self._conversation.add(Entry("user", [f"Question: {query}", *readings]))

    def _ask(self, is_last: bool) -> LlmReply:
        purpose = Purpose(
            bank=self._request.recall.bank,
            operation=LlmOperation.REFLECT,
            prompt=self._prompt.version,
            deadline=self._deadline,
        )
        if time.monotonic() >= self._deadline:
            raise DeadlineExceeded(f"no answer within {self._components.thinking.reflect_seconds:g} seconds")
        tools = tools_for(self._request.schema, only_done=is_last, with_models=self._with_models)
        started = time.perf_counter()
        try:
            reply = self._chat(purpose, tools)
        except LlmCut:
            # The model counts more tokens than we do: once more with less.
            self._room = int(min(self._room, self._conversation.tokens()) * SHRUNK)
            reply = self._chat(purpose, tools)
        self._calls += 1
        self._usage += reply.usage
        self._model = reply.model
        self._toolbox.steps.append(
            ReflectionStep(
                tool=MODEL_STEP,
                query=", ".join(call.name for call in reply.calls) or "text",
                milliseconds=(time.perf_counter() - started) * 1000.0,
                input_tokens=reply.usage.input,
                output_tokens=reply.usage.output,
            )
        )
        return reply

    def _chat(self, purpose: Purpose, tools: Sequence[Tool]) -> LlmReply:
        return self._caller.chat(
            purpose,
            self._conversation.fit(self._room),
            tools=() if self._writes_done else tools,
            must_call_tool=not self._writes_done,
            schema=tools[-1].parameters if self._writes_done else None,
            max_tokens=self._reply_tokens,
        )

    def _answer(self, call: ToolCall, is_last: bool) -> DoneArguments | None:
        """Run a call and tell the model its result; the arguments of `done` once it is accepted."""
        try:
            if call.name == DONE:
                return self._accepted(call, is_last)
            reading = self._toolbox.run(call)
        except ToolRefused as refusal:
            self._toolbox.refused(call.name[:40], told_arguments(call.arguments), str(refusal))
            reading = ReadingText(f"Refused: {refusal}")
        if call.id:
            self._conversation.add(Entry("tool", [reading], call_id=call.id, tool=call.name))
        else:
            self._conversation.add(Entry("user", [f"Result of {call.name[:40]}:", reading]))
        return None

    def _accepted(self, call: ToolCall, is_last: bool) -> DoneArguments:
        """Return the arguments of `done`; what is wrong with them is told once, then the rest of the code is strict about it."""
        structured = call.arguments.get("structured")
        done = read_arguments(DoneArguments, replace(call, arguments=_without(call.arguments, "structured")))
        if not self._toolbox.has_read:
            if not is_last and self._refusals.first("unread"):
                raise ToolRefused(
                    "nothing was read yet: search in other words, or call done again if memory holds nothing"
                )
            return done
        unknown = unknown_ids(done, self._toolbox)
        if unknown and not is_last and self._refusals.first("ids"):
            raise ToolRefused(f"{', '.join(unknown)} was never returned by a tool; cite only ids that were")
        if unsourced(done) and not is_last and self._refusals.first("unsourced"):
            raise ToolRefused("every sentence has to name its sources")
        missing = self._unconfirmed(done)
        if missing and not is_last and self._refusals.first("directives"):
            raise ToolRefused(
                f"rules {', '.join(map(str, missing))} are not confirmed: obey them, and name them in directives"
            )
        if self._request.schema is not None:
            try:
                self._structured = check_object(self._request.fields, structured, "structured")
            except InvalidInput as error:
                if not is_last and self._refusals.first("structured"):
                    raise ToolRefused(f"{error.field}: {error.expected} is expected") from error
        return done

    def _unconfirmed(self, done: DoneArguments) -> list[int]:
        uses = self._request.rules.uses
        return [number for number in range(1, len(uses) + 1) if number not in done.directives]

    def _finish(self, done: DoneArguments) -> Thought:
        recalled = self._toolbox.recalled or self._nothing_recalled()
        reranker = self._components.recall.reranker
        mark = self._components.thinking.unsupported == "mark"
        if not self._toolbox.has_read:
            done = done.model_copy(update={"sentences": [], "answer": ""})
        count, most = self._components.recall.tokens.count, self._request.recall.max_tokens
        checked = check_answer(
            done,
            self._toolbox,
            recalled,
            reranker,
            self._request.rules,
            mark=mark,
            fits=lambda text: count(text) <= most,
        )
        if done.sentences and not checked.reflection.sentences:
            return self.failed("no sentence of the model's answer is supported by its sources")
        structured = self._structured
        if structured is not None:
            structured = without_unsaid(self._request.fields, structured, checked.sources, checked.notes)
            if not any(value is not None for value in structured.values()):
                structured = None
        reflection = replace(
            checked.reflection,
            text=checked.reflection.text or NO_ANSWER,
            opinions=self._toolbox.opinions,
            structured=structured,
            usage=self._used(),
            trace=ReflectionTrace(
                reader="model",
                steps=tuple(self._toolbox.steps),
                directives=self._confirmed(done),
                disposition=tuple(disposition_words(self._request.disposition).splitlines()),
                notes=tuple(checked.notes),
                model=self._model,
                prompt=self._prompt.version,
            ),
        )
        needs_structure = self._request.schema is not None and self._structured is None
        return Thought(reflection=reflection, usage=self._used(), needs_structure=needs_structure)

    def _confirmed(self, done: DoneArguments) -> tuple[DirectiveUse, ...]:
        def used(number: int, use: DirectiveUse) -> DirectiveUse:
            told = "confirmed by the model" if number in done.directives else "not confirmed by the model"
            return replace(use, applied="; ".join(part for part in (use.applied, told) if part))

        return tuple(used(number, use) for number, use in enumerate(self._request.rules.uses, start=1))

    def _nothing_recalled(self) -> RecallResult:
        request = self._request.recall
        asked_at = request.asked_at or self._components.clock()
        return RecallResult(
            query=Query(text=request.query, content=request.query, asked_at=asked_at),
            recipe=request.recipe.name,
        )

    def _used(self) -> ReflectionUsage:
        return ReflectionUsage(input_tokens=self._usage.input, output_tokens=self._usage.output)

    def _check_cancelled(self) -> None:
        if self._request.cancelled is not None and self._request.cancelled():
            raise Cancelled("the caller left")


def _without(arguments: Mapping[str, object], name: str) -> dict[str, object]:
    return {key: value for key, value in arguments.items() if key != name}
