"""`perdure recall`, `context`, `reflect` and `forget`."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from perdure.domain.filter import Filter
from perdure.forget.options import Target
from perdure.recall.options import PromptOptions, RecallOptions
from perdure.reflect.options import ReflectOptions
from perdure.surfaces.cli import exits
from perdure.surfaces.cli.answer import Answer, command
from perdure.surfaces.cli.draw import plural
from perdure.surfaces.cli.draw_recall import (
    CUT_SHOWN,
    KEEP_LOADED,
    draw_explained,
    draw_recall,
    draw_reflection,
)
from perdure.surfaces.cli.output import harmless
from perdure.surfaces.cli.session import Memory, Yes, confirm, read_text
from perdure.surfaces.plain import plain_recall, plain_reflection

if TYPE_CHECKING:  # loads numpy
    from perdure.forget.preview import ForgetPreview

AGAIN = timedelta(minutes=10)
"""Within this time after another recall, a recall advises a server."""
Question = Annotated[str, typer.Argument(metavar="QUESTION", help="The question; - reads standard input")]


@command(options=RecallOptions)
def recall(query: Question, bank: str, memory: Memory, options: RecallOptions) -> Answer:
    """Return what memory holds on a question, best first, within a token budget."""
    result = memory.recall(bank, read_text(query), **options.given())
    value = {"bank": bank, **plain_recall(result)}
    code = exits.OK if result.recollections else exits.NOTHING_RECALLED
    if any(
        one.fact.last_recalled_at and memory.clock() - one.fact.last_recalled_at < AGAIN for one in result
    ):
        typer.echo(KEEP_LOADED, err=True)
    if not options.explain:
        return Answer(value, lambda console: draw_recall(console, result), code)
    left_out = [candidate.fact_id for candidate in result.cut[:CUT_SHOWN]]
    texts = {fact.id: fact.text for fact in memory.facts.get_many(bank, left_out)}
    return Answer(value, lambda console: draw_explained(console, result, texts), code)


@command(options=PromptOptions, without=("chunks", "entities", "explain"))
def context(query: Question, bank: str, memory: Memory, options: PromptOptions) -> Answer:
    """Return what probably helps as a fenced text with citations, for a prompt; all of it within --max-tokens."""
    asked = options.given() | {"precision": options.precision}
    result = memory.recall(bank, read_text(query), **asked)
    prompt = result.fit_prompt()
    value = {
        "bank": bank, "query": result.query.text, "evidence": result.evidence.value, "context": prompt.text,
        "tokens": prompt.tokens, "abstained": result.abstained, "abstained_because": result.abstained_because,
    }  # fmt: skip

    def show(_: object) -> None:
        if prompt.text:
            print(harmless(prompt.text))
        if result.abstained:
            typer.echo(f"nothing: {result.abstained_because}", err=True)

    shown = result.recollections[: prompt.shown]
    return Answer(value, show, exits.OK if shown else exits.NOTHING_RECALLED)


@command(options=ReflectOptions, without=("chunks", "entities", "precision", "limit"))
def reflect(query: Question, bank: str, memory: Memory, options: ReflectOptions) -> Answer:
    """Return a short answer and sentences that cite the facts they rest on, or that memory holds none."""
    answer = memory.reflect(bank, read_text(query), **options.given())
    return Answer(
        {"bank": bank, **plain_reflection(answer)},
        lambda console: draw_reflection(console, answer, explain=options.explain),
        exits.OK if answer.based_on else exits.NOTHING_RECALLED,
    )


@command(options=Target)
def forget(bank: str, memory: Memory, options: Target, yes: Yes = False) -> Answer:
    """Erase a fact, a document, an entity or a whole bank for good: text, vectors and traces."""
    if options.fact_id is not None:
        what = f"the fact “{memory.facts.get(bank, options.fact_id).text}”"
    elif options.document_id is not None:
        memory.documents.get(bank, options.document_id)
        where = Filter(
            document_ids=frozenset({options.document_id}), include_closed=True, include_expired=True
        )
        count = memory.facts.list(bank, where=where, limit=1).total
        what = f"the document {options.document_id} with {plural(count, 'fact')}"
    elif options.entity_id is not None:
        named = memory.entities.get(bank, options.entity_id)
        what = f"{named.name} and everything that mentions it"
        options = replace(options, entity_id=named.id)
    else:
        what = f"the whole bank {bank} with {memory.banks.stats(bank).facts} facts"
    preview = "" if yes else _going(memory.preview_forget(bank, **options.given()))
    confirm(f"{preview}Erase {what} for good?", yes)
    forgotten = memory.forget(bank, **options.given())
    line = f"forgotten: {plural(forgotten.facts, 'fact')}"
    if forgotten.mentions_left is not None:
        line += f"; {plural(forgotten.mentions_left, 'text')} of the bank left with the name"
    if forgotten.traces == "pending":
        line += "; traces are still to be cleared, which the next command goes on with:"
        line += "".join(f"\n- {one}" for one in forgotten.pending)
    value = {
        "bank": bank, "forgotten_facts": forgotten.facts, "kept_facts": forgotten.kept,
        "mentions_left": forgotten.mentions_left, "traces": forgotten.traces,
        "keys_destroyed": forgotten.keys_destroyed, "pending": forgotten.pending,
    }  # fmt: skip
    return Answer(value, line)


def _going(preview: ForgetPreview) -> str:
    """Return what would go, a line each."""
    lines = [
        f"- {one.text}"
        + (f" (also about {', '.join(one.others)}; --keep {one.fact_id})" if one.others else "")
        for one in preview.statements
    ]
    lines = lines or [f"- {text}" for text in preview.texts]
    lines += [f"- {text} (in a source, no fact)" for text in preview.passages]
    lines += [
        f"{one.name} has that name too: {plural(len(one.fact_ids), 'fact')} about it alone; --keep {one.entity_id}"
        for one in preview.namesakes
    ]
    lines += [f"stays without --around: {one.kind} “{one.text}”" for one in preview.around]
    return "".join(line + "\n" for line in lines)
