"""What a language model words from facts: sentences, each of which names its facts and is checked against them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from perdure.domain.fact import Fact
from perdure.domain.inert import inert
from perdure.domain.rendering import cited_line
from perdure.ports.reranker import Reranker
from perdure.reflect.support import check_support, source_of


class WordedSentence(BaseModel):
    """A sentence and the ids of the facts that it rests on."""

    text: str
    sources: list[str]


@dataclass(frozen=True, slots=True)
class CheckedSentence:
    """A sentence that its facts support."""

    text: str
    facts: tuple[Fact, ...]


class ShownFacts:
    """Facts under the short ids by which a model cites them: F1, F2 and so on."""

    def __init__(self, facts: Sequence[Fact], reranker: Reranker | None) -> None:
        self._facts = {f"F{number}": fact for number, fact in enumerate(facts, start=1)}
        self._reranker = reranker
        self.refused = 0
        """Sentences that were left out: an unknown id, no id, or not supported."""

    def lines(self) -> list[str]:
        """Return the facts as lines of a prompt."""
        return [f"[F{cited_line(number, fact)[1:]}" for number, fact in enumerate(self._facts.values(), 1)]

    def check(self, sentences: Iterable[WordedSentence]) -> list[CheckedSentence]:
        """Return the sentences that name only facts shown here, and that these support."""
        checked = []
        for sentence in sentences:
            facts = [self._facts.get(bare_id(one)) for one in sentence.sources]
            sources = tuple({fact.id: fact for fact in facts if fact is not None}.values())
            text = inert(sentence.text)
            is_sourced = bool(text) and bool(sources) and None not in facts
            if is_sourced and check_support(text, [source_of(one) for one in sources], self._reranker).holds:
                checked.append(CheckedSentence(text, sources))
            else:
                self.refused += 1
        return checked


def bare_id(handle: str) -> str:
    """Return an id as a model wrote it, without brackets."""
    return handle.strip().strip("[]").upper()


def fitting(facts: Sequence[Fact], count: Callable[[str], int], room: int) -> list[Fact]:
    """Return the first facts that have at most `room` tokens, at least one."""
    shown: list[Fact] = []
    for fact in facts:
        room -= count(cited_line(1, fact))
        if room < 0 and shown:
            break
        shown.append(fact)
    return shown
