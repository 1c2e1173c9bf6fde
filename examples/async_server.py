"""Memory behind an asynchronous web server: `AsyncPerdure` in a FastAPI application.

uvicorn --app-dir examples async_server:app

curl -X POST localhost:8000/ann/turns -H 'content-type: application/json' -d '{"said": "I like figs."}'
curl 'localhost:8000/ann?said=What+does+Ann+like%3F'
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request
from pydantic import BaseModel

from perdure import AsyncPerdure


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    async with await AsyncPerdure.open("server.db") as memory:
        app.state.memory = memory
        yield


app = FastAPI(lifespan=lifespan)


class Turn(BaseModel):
    """One thing that somebody said."""

    said: str


def memory_of(request: Request) -> AsyncPerdure:
    memory: AsyncPerdure = request.app.state.memory
    return memory


@app.post("/{person}/turns")
async def remember(person: str, turn: Turn, request: Request) -> dict[str, int]:
    retained = await memory_of(request).retain(person, turn.said, speaker=person.title())
    return {"facts": len(retained.fact_ids)}


@app.get("/{person}")
async def ask(person: str, said: str, request: Request) -> dict[str, str]:
    """Return what to put before what the person says now, for a model."""
    return {"memory": await memory_of(request).prompt(person, said, limit=3)}
