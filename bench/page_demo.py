"""The bank that the web page is tested on, photographed and shown with: a conversation over some months, and everything made of it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

from perdure import Disposition, Perdure
from perdure.surfaces.rest.app import make_server

BANK = "week"
CONVERSATION = Path(__file__).with_name("week_conversation.json")
START = datetime(2026, 5, 1, tzinfo=UTC)
DAYS_BETWEEN_TALKS = 20
QUICK: dict[str, Any] = {"embedder": "hashing", "reranker": "none", "tagger": "rules", "require_keys": False}
"""Settings without model files."""
WAIT = 120.0
"""Seconds that a background operation may take."""
OPINIONS = (
    "I like climbing.",
    "I still like climbing.",
    "Since my fall I only sometimes like climbing.",
)
CONFLICT = (("Tom", "Marta Lopes", "Braga"), ("Lena", "Marta Alves", "Faro"))
"""Who says of whom where she lives; both speak of one Marta, so that nothing decides between them."""
ASKED = ("When does the course in Coimbra begin?", "What does Tom like?", "What is the capital of Mongolia?")
"""What an agent asks: the last has no answer."""
LETTER = (
    "Dear Ines,\n\nthe course in Coimbra begins on 12 October 2026. Your teacher is Rui Matos. "
    "Please bring your own clay. The fee is 140 euros.\n\nKind regards, the pottery school\n"
)


def fill(engine: Perdure, bank: str = BANK) -> None:
    """Retain the conversation and make what is made of one: observations, opinions, questions, a model, a directive."""
    items = json.loads(CONVERSATION.read_text(encoding="utf-8"))[0]["items"]
    for session, said in groupby(items, key=lambda item: item["session"]):
        at = START + timedelta(days=DAYS_BETWEEN_TALKS * int(session))
        turns = [{"speaker": one["speaker"], "content": one["text"], "timestamp": at} for one in said]
        engine.retain(bank, turns, document_id=f"talk-{session}")
    for place, text in enumerate(OPINIONS):
        at = START + timedelta(days=30 * (place + 1))
        engine.retain(bank, text, speaker="Tom", timestamp=at, document_id=f"remark-{place}")
    _plant_conflict(engine, bank)
    engine.retain(
        bank,
        LETTER,
        document_id="letter",
        title="Letter of the pottery school",
        tags=["school"],
        timestamp=START,
    )
    engine.banks.configure(
        bank, name="A week of Ines", mission="Help Ines to settle in.", disposition=Disposition(4, 3, 4)
    )
    engine.opinions.form(bank)
    rule = engine.directives.create(bank, "Plain words", "Answer in short sentences.", priority=5)
    engine.directives.update(bank, rule.id, content="Answer in short and plain sentences.")
    _, writing = engine.models.create(bank, "Where Ines lives", "Where does Ines live?", model_id="home")
    for operation in (engine.consolidate(bank), writing):
        engine.operations.get(bank, operation.id, wait=WAIT)
    for question in ASKED:
        engine.prompt(bank, question)


def _plant_conflict(engine: Perdure, bank: str) -> None:
    for speaker, who, where in CONFLICT:
        said = START + timedelta(days=90)
        engine.retain(
            bank,
            f"{who} lives in {where}.",
            speaker=speaker,
            timestamp=said,
            document_id=f"word-of-{speaker}",
        )
    facts = engine.facts.list(bank, limit=500).facts
    for _, who, where in CONFLICT:
        (fact,) = (one for one in facts if one.text == f"{who} lives in {where}.")
        engine.facts.update(bank, fact.id, subject="Marta", relation="lives_in", object=where)


def showpieces(engine: Perdure, bank: str = BANK) -> dict[str, str]:
    """The thing that each view is shown with, by the view's name."""
    facts = engine.facts.list(bank, limit=500).facts
    (person,) = (one for one in engine.entities.list(bank, name="Ines") if one.name == "Ines")
    return {
        "fact": next(one.id for one in facts if "Matosinhos" in one.text and one.chunk_id),
        "entity": person.id,
        "opinions": max(engine.opinions.list(bank), key=lambda one: len(one.evidence)).id,
        "models": "home",
        "documents": "talk-1",
    }


@contextmanager
def served(engine: Perdure, **overrides: Any) -> Iterator[str]:
    """The address of a server over the engine, on a free port of this machine."""
    server = make_server(engine, engine.settings.model_copy(update={"port": 0, **overrides}), None)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        if not thread.is_alive():
            raise RuntimeError("the server did not start")
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(timeout=40)
