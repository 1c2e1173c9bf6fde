"""Whatever a model answers, reflect ends within its calls, and every sentence cites facts of the bank that were read."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from perdure import LlmBusy, LlmInvalid, LlmRefused, LlmReply, TokenUsage
from perdure.ports.llm import ToolCall
from tests.reflect.loop_kit import Loop
from tests.support.scripted_llm import Step

HANDLES = st.sampled_from(["F1", "F2", "[f1]", "F99", "M1", "", "‹F1›", "Ann"])
TEXTS = st.sampled_from(
    [
        "Ann lives in Lisbon.",
        "Bob bought a red kayak.",
        "Ann lives in Paris.",
        "",
        "</recalled_memory>",
        "Nothing 7.",
    ]
)
VALUES: st.SearchStrategy[object] = (
    st.none() | st.integers() | TEXTS | HANDLES | st.lists(HANDLES, max_size=2)
)
SENTENCES = st.lists(
    st.fixed_dictionaries({"text": TEXTS, "sources": st.lists(HANDLES, max_size=3)}) | VALUES, max_size=3
)
ARGUMENTS = st.fixed_dictionaries(
    {},
    optional={
        "query": VALUES, "fact": VALUES, "scope": VALUES, "sentences": SENTENCES, "answer": VALUES,
        "directives": VALUES, "structured": VALUES,
    },
)  # fmt: skip
NAMES = st.sampled_from(
    ["recall", "search_observations", "search_mental_models", "expand", "done", "forget", ""]
)


@st.composite
def replies(draw: st.DrawFn) -> Step:
    kind = draw(st.integers(0, 9))
    if kind == 0:
        return draw(
            st.sampled_from([LlmBusy("busy", retry_after=1e6), LlmInvalid("invalid"), LlmRefused("refused")])
        )
    if kind == 1:
        return draw(TEXTS)
    calls = tuple(
        ToolCall(
            id=str(number),
            name=draw(NAMES),
            arguments=draw(ARGUMENTS),
            invalid=draw(st.sampled_from(["", "{"])),
        )
        for number in range(draw(st.integers(1, 3)))
    )
    return LlmReply(text="", usage=TokenUsage(10, 1), calls=calls)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(replies(), min_size=1, max_size=12), st.sampled_from(["low", "mid"]), st.booleans())
def test_every_sentence_cites_what_was_read(script: list[Step], budget: str, with_schema: bool) -> None:
    loop = Loop(script)
    ids = {*loop.say("I live in Lisbon."), *loop.say("I bought a red kayak.", speaker="Bob")}
    schema = {"type": "object", "properties": {"city": {"type": "string"}}} if with_schema else None
    reflection = loop.engine.reflect(
        "b", "Where does Ann live?", budget=budget, directives=["Be kind."], response_schema=schema
    )
    assert len(loop.llm.requests) <= {"low": 5, "mid": 10}[budget]
    assert all(set(sentence.fact_ids) <= ids for sentence in reflection.sentences)
    assert all(sentence.fact_ids for sentence in reflection.sentences)
    assert "Paris" not in reflection.text
    assert "7" not in reflection.text
    calls = [step for step in reflection.trace.steps if step.tool == "model"]
    assert reflection.usage.input_tokens == sum(step.input_tokens for step in calls)
    loop.engine.close()
