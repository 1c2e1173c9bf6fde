"""The checklist, with the second turn of one test asked when the first is retained, and not before or after by chance."""

from __future__ import annotations

from tests.contrib.frameworks.checklist import (
    BANK,
    FACT,
    QUESTION,
    AdapterChecklist,
    SpyMemory,
    fences,
    settle,
)


class SettledChecklist(AdapterChecklist):
    """As `AdapterChecklist`; what was asked is a fact too, and lowers the evidence for the same question asked again."""

    def test_a_later_request_has_the_recalled_text_once(self, spy: SpyMemory, asynchronous: bool) -> None:
        self._needs("recalls")
        spy.memory.retain(BANK, FACT)
        conversation = self.begin(spy, asynchronous)
        conversation.say(QUESTION)
        settle(spy.memory)
        assert fences(conversation.say("Am I allergic to peanuts?").requests[-1]) == 1
