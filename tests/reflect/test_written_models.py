"""Mental models that a language model refreshes: whole or by sections, what is taken back, and what a failure leaves."""

from __future__ import annotations

import re

import pytest

from perdure import LlmRefused, LlmRequest, MentalModel
from perdure.domain.mental_model import RefreshOutcome
from tests.reflect.loop_kit import Loop
from tests.support.scripted_llm import Step

ASK = "What is known of Ann?"


class Writing(Loop):
    """A bank with a document that a scripted model writes; the reply is a function of what it is shown."""

    def __init__(self, *replies: object) -> None:
        self.replies = list(replies)
        super().__init__(self.answer)

    def answer(self, request: LlmRequest) -> Step:
        """The next reply; the last one again."""
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        return reply(request.messages[-1].text) if callable(reply) else reply  # type: ignore[return-value]

    def make(self, **options: object) -> str:
        """A document on Ann, refreshed once."""
        model, operation = self.engine.models.create("b", "Ann", ASK, **options)  # type: ignore[arg-type]
        self.engine.operations.get("b", operation.id, wait=60)
        return model.id

    def refresh(self, model_id: str, mode: str | None = None) -> MentalModel:
        """Refresh, and read it."""
        operation = self.engine.models.refresh("b", model_id, mode=mode)
        self.engine.operations.get("b", operation.id, wait=60)
        return self.model(model_id)

    def model(self, model_id: str) -> MentalModel:
        """The document as it stands."""
        return self.engine.models.get("b", model_id)


def handle(shown: str, words: str) -> str:
    """The id of the line with these words."""
    match = next(re.match(r"(?:Section )?\[([FD]\d+)\]", line) for line in shown.splitlines() if words in line and "[" in line[:10])  # fmt: skip
    assert match is not None
    return match[1]


def sentence(shown: str, text: str, *about: str) -> dict[str, object]:
    return {"text": text, "sources": [handle(shown, words) for words in about]}


def home(shown: str) -> Step:
    return {
        "sections": [{"heading": "Home", "sentences": [sentence(shown, "Ann lives in Berlin.", "Berlin")]}]
    }


def home_and_work(shown: str) -> Step:
    sections = [
        {"heading": "Home", "sentences": [sentence(shown, "Ann lives in Berlin.", "Berlin")]},
        {"heading": "Work", "sentences": [sentence(shown, "Ann works at Zalando.", "Zalando")]},
    ]
    return {"sections": sections}


def test_what_is_not_supported_or_names_unknown_facts_is_left_out() -> None:
    def reply(shown: str) -> Step:
        wrong = [
            {"text": "Ann owns a castle.", "sources": ["F77"]},
            {"text": "Ann lives in Berlin.", "sources": []},
            sentence(shown, "Ann adores opera, sailing and chess.", "Berlin"),
        ]
        return {
            "sections": [
                {"heading": "Home", "sentences": [*wrong, sentence(shown, "Ann lives in Berlin.", "Berlin")]}
            ]
        }

    loop = Writing(reply)
    loop.say("I live in Berlin.")
    assert loop.model(loop.make()).content == "## Home\n\n- Ann lives in Berlin."


def test_a_delta_is_written_anew_once_there_is_something_new() -> None:
    def music(shown: str) -> Step:
        return {
            "sections": [
                {"heading": "Music", "sentences": [sentence(shown, "Ann plays the cello.", "cello")]}
            ]
        }

    loop = Writing(home_and_work, music)
    loop.say("I live in Berlin.")
    loop.say("I work at Zalando.")
    model_id = loop.make(trigger={"mode": "delta"})
    loop.say("I play the cello.")
    model = loop.refresh(model_id)
    assert model.content == "## Music\n\n- Ann plays the cello."
    assert model.written_by.startswith("mental_model@")


def test_a_sentence_is_taken_back_when_any_of_its_sources_ends() -> None:
    def reply(shown: str) -> Step:
        both = sentence(shown, "Ann lives in Berlin and works at Zalando.", "Berlin", "Zalando")
        return {
            "sections": [
                {"heading": "", "sentences": [both, sentence(shown, "Ann plays the cello.", "cello")]}
            ]
        }

    loop = Writing(reply, LlmRefused("overloaded"))
    loop.say("I live in Berlin.")
    (work,) = loop.say("I work at Zalando.")
    loop.say("I play the cello.")
    model_id = loop.make()
    loop.engine.facts.invalidate("b", work, "wrong")
    assert loop.refresh(model_id).content == "- Ann plays the cello."


@pytest.mark.parametrize(
    "answer", [{"sections": []}, {"sections": [{"heading": "x", "sentences": []}]}, LlmRefused("overloaded")]
)
def test_a_document_is_never_overwritten_by_an_empty_answer_or_a_failure(answer: object) -> None:
    loop = Writing(home, answer)
    loop.say("I live in Berlin.")
    model_id = loop.make()
    before = loop.model(model_id)
    loop.say("I play the cello.")
    after = loop.refresh(model_id)
    assert after.content == before.content
    assert after.refresh_skipped == RefreshOutcome.MODEL_FAILED.value
    assert after.seen == before.seen


def test_without_content_yet_the_document_is_composed_and_the_failure_named() -> None:
    loop = Writing(LlmRefused("overloaded"))
    loop.say("I live in Berlin.")
    model = loop.model(loop.make(trigger={"keep_trace": True}))
    assert "Berlin" in model.content
    assert model.written_by == ""
    assert model.trace is not None
    assert "overloaded" in str(model.trace["warnings"])
    assert model.refresh_failures == 1


def test_a_delta_without_anything_new_costs_no_call() -> None:
    loop = Writing(home)
    loop.say("I live in Berlin.")
    model_id = loop.make(trigger={"mode": "delta"})
    asked = len(loop.llm.requests)
    loop.refresh(model_id)
    assert len(loop.llm.requests) == asked


def test_forgetting_a_fact_takes_its_sentence_and_the_heading_over_it() -> None:
    def reply(shown: str) -> Step:
        both = [
            sentence(shown, "Ann works at Zalando.", "Zalando"),
            sentence(shown, "Ann lives in Berlin.", "Berlin"),
        ]
        return {"sections": [{"heading": "Zalando and Berlin", "sentences": both}]}

    loop = Writing(reply)
    loop.say("I live in Berlin.")
    (work,) = loop.say("I work at Zalando.")
    model_id = loop.make()
    assert "Zalando" in loop.model(model_id).content
    loop.engine.forget("b", fact_id=work)
    assert loop.model(model_id).content == "- Ann lives in Berlin."
