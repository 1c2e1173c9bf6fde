"""Reflect without a language model: an extractive answer in which every sentence is a cited fact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from perdure.domain.directive import Directive
from perdure.domain.fact import FactType
from perdure.domain.recall import Evidence, RecallResult, Recollection

MAX_SENTENCES = 5
NO_ANSWER = "Memory holds no answer to this."
_ORDER = {FactType.OBSERVATION: 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reflection:
    """An answer and the facts it rests on; citations [n] count from 1 in `based_on`."""

    text: str
    based_on: tuple[Recollection, ...]
    evidence: Evidence
    recalled: RecallResult
    directives: tuple[Directive, ...] = ()
    """The rules that were in force."""

    def __str__(self) -> str:
        return self.text


def reflect(recalled: RecallResult, directives: Sequence[Directive] = ()) -> Reflection:
    """The best supported facts as cited sentences, observations first; or that memory holds no answer.

    Directives are named in the answer; without a language model nothing follows them.
    """
    in_force = tuple(directives)
    supported = [r for r in recalled.recollections if r.evidence is not Evidence.NONE]
    strong = [r for r in supported if r.evidence is Evidence.STRONG]
    chosen = (strong or supported[:1])[:MAX_SENTENCES]
    if not chosen:
        return Reflection(
            text=NO_ANSWER, based_on=(), evidence=Evidence.NONE, recalled=recalled, directives=in_force
        )
    ordered = sorted(chosen, key=lambda r: (_ORDER.get(r.fact.type, 1), r.citation))
    sentences = [f"{_sentence(r.fact.text)} [{number}]" for number, r in enumerate(ordered, start=1)]
    return Reflection(
        text=" ".join(sentences),
        based_on=tuple(ordered),
        evidence=Evidence.STRONG if strong else Evidence.WEAK,
        recalled=recalled,
        directives=in_force,
    )


def _sentence(text: str) -> str:
    flat = " ".join(text.split())
    return flat if flat.endswith((".", "!", "?", "…", '"', "。")) else flat + "."
