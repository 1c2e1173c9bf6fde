"""Recall, top to bottom: understand -> search -> fuse -> rerank -> score -> diversify -> judge -> fit -> answer.

A question for a time alone ("What happened last week?") is not searched for: its window is listed.
"""

from __future__ import annotations

from dataclasses import replace

from perdure.domain.activity import recall_activity
from perdure.domain.filter import Filter
from perdure.domain.recall import Precision, Query, RecallResult, Trace
from perdure.guard import mask_secrets
from perdure.ports.telemetry import MemoryOperation, RecordText
from perdure.recall.answer import answer
from perdure.recall.budget import fit
from perdure.recall.components import RecallComponents, RecallRun
from perdure.recall.current import HEAD, lower_ended, order_lines, own_words_first
from perdure.recall.diversify import diversify
from perdure.recall.doubt import lower_doubtful
from perdure.recall.freshness import drop_stale
from perdure.recall.judge import admit_window, judge_pool
from perdure.recall.observations import FACT_TYPES, observations_beside
from perdure.recall.options import RecallRequest, wants_questions
from perdure.recall.question import parse_question
from perdure.recall.reading import read_answers
from perdure.recall.rerank import rerank
from perdure.recall.score import ScoringContext, above_floors
from perdure.recall.search import search
from perdure.recall.succession import order_successions
from perdure.recall.window_facts import window_facts


def recall(components: RecallComponents, request: RecallRequest) -> RecallResult:
    """Return the facts of a bank that matter for a question, best first, within the token budget."""
    if components.telemetry is None:
        return recall_facts(components, request)
    with components.telemetry.memory(MemoryOperation.RECALL, request.bank, query=request.query) as observed:
        result = recall_facts(components, request)
        observed.records(len(result), (RecordText(one.fact.id, one.text, one.score) for one in result))
        return result


def recall_facts(components: RecallComponents, request: RecallRequest) -> RecallResult:
    """Run the stages, one after another."""
    recipe, trace = request.recipe, Trace()
    with components.store.reading(request.bank) as reading:
        run = RecallRun(
            components=components,
            request=request,
            reading=reading,
            where=request.where.changed(questions=wants_questions(request)).at(components.clock()),
            trace=trace,
        )
        with trace.stage("understand"):
            question = parse_question(run)
            run = replace(run, where=ranked(run, question.query))
        if question.query.only_time:
            with trace.stage("search"):
                judged = admit_window(run, question.query, window_facts(run, question.query))
        else:
            with trace.stage("search"):
                hits = search(run, question)
            with trace.stage("fuse"):
                pool = run.read_ranking_fields(recipe.fusion(hits, components.pool or recipe.pool))
                pool = drop_stale(run, pool)
            with trace.stage("rerank"):
                pool = rerank(run, question.query, pool)
                with trace.stage("rerank.read"):
                    pool = read_answers(run, question.query, pool)
            with trace.stage("score"):
                if recipe.scoring.reads_facts:
                    run.read_facts(pool)
                context = ScoringContext(
                    query=question.query, situation=request.hints.situation, channels=hits.keys()
                )
                pool = above_floors(recipe.scoring(pool, context), request.min_scores)
                run.read_facts(pool[:HEAD])
                pool = lower_doubtful(run, pool, recipe.doubt, HEAD)
                pool = order_lines(run, question.query, lower_ended(run, question.query, pool))
                pool = order_successions(run, question.query, pool)
                pool = own_words_first(run, question.query, pool)
            with trace.stage("diversify"):
                pool = diversify(pool, recipe.diversity, run.read_facts)
            with trace.stage("judge"):
                judged = judge_pool(run, question.query, pool)
        with trace.stage("fit"):
            cut = fit(
                judged.pool,
                run.read_facts,
                components.tokens,
                max_tokens=request.max_tokens,
                considered=2 * run.budget,
                limit=run.limit,
            )
        beside = observations_beside(run, question, len(cut.taken) + 1)
        result = replace(answer(run, question.query, judged, cut), observations=beside)
    if request.track and components.tracker is not None:
        now = components.clock()
        components.tracker.track(request.bank, result, now)
        dropped = [candidate.fact_id for candidate in judged.dropped]
        asked = mask_secrets(request.query).text
        components.tracker.note(recall_activity(request.bank, request.precision, asked, result, dropped, now))
    return result


def ranked(run: RecallRun, query: Query) -> Filter:
    """Return the filter of what is ranked: without observations, unless the caller names the types, and with what is over.

    What tools and web pages say about the user is left out of an injection, unless the caller names the origins.
    A recipe that cannot tell what is over from what is so leaves it out, unless the question is about the past.
    """
    where = run.where
    types = FACT_TYPES if where.types is None else where.types
    may_be_over = run.request.recipe.ended is not None or query.is_past or query.only_time
    foreign = (
        not query.about_user or where.origins is not None or run.request.precision is not Precision.INJECT
    )
    return where.changed(
        types=types,
        foreign=where.foreign and foreign,
        include_ended=where.include_ended or (may_be_over and where.as_of.valid is None),
    )
