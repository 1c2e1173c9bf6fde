"""A recall and a reflection as the web page shows them: what it draws, and of the explanation no more than that.

The whole answer of an explained recall holds every fact twice and every figure of every stage, hundreds of kilobytes. Its outline
has the first facts with the places that each channel gave them; the others by their ids, to be read when somebody asks for them.
"""

from __future__ import annotations

from collections.abc import Sequence

from perdure.domain.fact import Fact
from perdure.domain.recall import Candidate, RecallResult, Recollection
from perdure.reflect.reflection import Reflection

FIRST = 50
"""Facts, and candidates that were left out, that an outline holds with their texts."""
_OF_FACT = (
    "id", "text", "type", "document_id", "chunk_id", "source_text", "speaker", "occurred_start", "occurred_end",
    "mentioned_at", "valid_from", "valid_to", "recorded_at", "retired_at", "end_recorded_at", "invalidated_at",
    "proof_count",
)  # fmt: skip
_OF_RECALL = ("recipe", "evidence", "confidence", "abstained_because", "tokens", "degraded", "timings")
_OF_REFLECTION = (
    "text", "answer", "sentences", "structured", "evidence", "usage",
)  # fmt: skip
_OF_TRACE = ("reader", "directives", "disposition", "notes", "model", "prompt", "degraded")
_OF_STEP = (
    "tool", "query", "evidence", "milliseconds", "refused", "input_tokens", "output_tokens",
)  # fmt: skip


def outline(result: object) -> object:
    """Return the outline of a recall or a reflection, to be written as JSON."""
    if isinstance(result, RecallResult):
        return _recall(result)
    if isinstance(result, Reflection):
        return _reflection(result)
    raise TypeError(f"no outline of {type(result).__name__}")


def _recall(result: RecallResult) -> dict[str, object]:
    return {
        **_fields(result, _OF_RECALL),
        "notes": result.notes,
        "recollections": [_recollection(one) for one in result.recollections[:FIRST]],
        "others": [_place(one) for one in result.recollections[FIRST:]],
        "observations": [_recollection(one) for one in result.observations],
        "cut": [_left_out(one) for one in result.cut[:FIRST]],
        "cut_count": len(result.cut),
    }


def _place(one: Recollection) -> dict[str, object]:
    """Return a recollection without its fact."""
    named = _fields(one, ("citation", "score", "relevance", "evidence", "notes"))
    return {"fact_id": one.fact.id, **named}


def _recollection(one: Recollection) -> dict[str, object]:
    shown = {**_place(one), "fact": _fact(one.fact)}
    if one.candidate is not None:
        ranks = {rank.channel: rank.rank for rank in one.candidate.ranks}
        shown |= {"ranks": ranks, "rerank": one.candidate.rerank}
    return shown


def _left_out(one: Candidate) -> dict[str, object]:
    text = None if one.fact is None else one.fact.text
    return {**_fields(one, ("fact_id", "score", "cut")), "text": text}


def _fact(fact: Fact) -> dict[str, object]:
    named = _fields(fact, _OF_FACT)
    return {"flags": fact.flags} | {name: value for name, value in named.items() if value not in (None, "")}


def _reflection(result: Reflection) -> dict[str, object]:
    trace = _fields(result.trace, _OF_TRACE)
    steps = [{**_fields(one, _OF_STEP), "facts": len(one.fact_ids)} for one in result.trace.steps]
    return {
        **_fields(result, _OF_REFLECTION),
        "based_on": [_recollection(one) for one in result.based_on],
        "opinions": [_recollection(one) for one in result.opinions],
        "mental_models": [_fields(one, ("id", "name", "evidence")) for one in result.mental_models],
        "trace": {**trace, "steps": steps},
    }


def _fields(value: object, names: Sequence[str]) -> dict[str, object]:
    return {name: getattr(value, name) for name in names}
