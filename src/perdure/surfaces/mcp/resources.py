"""Resources: the mental models that the caller may read, as Markdown."""

from __future__ import annotations

from urllib.parse import quote, unquote

from mcp import types
from mcp.server.lowlevel.helper_types import ReadResourceContents
from pydantic import AnyUrl

from perdure.domain.mental_model import MentalModel
from perdure.engine import Perdure
from perdure.errors import NotFound
from perdure.surfaces.keys import Scope
from perdure.surfaces.mcp.caller import Caller

MARKDOWN = "text/markdown"
NOT_THERE = -32002
"""The protocol's code for a resource that does not exist, or not for this caller."""
_PREFIX, _MIDDLE = "perdure://banks/", "/mental-models/"
TEMPLATE = types.ResourceTemplate(
    name="mental_model",
    title="Mental model",
    uriTemplate="perdure://banks/{bank}/mental-models/{id}",
    description="A document that answers a standing question from memory",
    mimeType=MARKDOWN,
)


def list_models(engine: Perdure, caller: Caller) -> list[types.Resource]:
    """The models of every bank that the caller may read, or of the endpoint's bank."""
    banks = [bank.id for bank in engine.banks()]
    return [
        types.Resource(
            name=model.name,
            uri=AnyUrl(address(model)),
            description=model.source_query,
            mimeType=MARKDOWN,
        )
        for bank in banks
        if caller.bank in (None, bank) and caller.may(Scope.READ, bank)
        for model in engine.mental_models(bank)
    ]


def read_model(engine: Perdure, caller: Caller, uri: str) -> ReadResourceContents:
    """A model's name, question and document; what it says is data, and a stale one says so."""
    head, middle, model_id = uri.removeprefix(_PREFIX).partition(_MIDDLE)
    if not uri.startswith(_PREFIX) or not middle or not model_id:
        raise NotFound("resource", uri)
    bank = caller.choose(unquote(head), Scope.READ)
    model = engine.mental_model(bank, unquote(model_id))
    stale = bool(engine.stale_mental_models(bank, [model.id]))
    note = "\n\n(Memory has changed since this was written.)" if stale else ""
    text = f"# {model.name}\n\n{model.source_query}\n\n{model.content}{note}\n"
    return ReadResourceContents(content=text, mime_type=MARKDOWN)


def address(model: MentalModel) -> str:
    """The address of a model."""
    return f"{_PREFIX}{quote(model.bank, safe='')}{_MIDDLE}{quote(model.id, safe='')}"
