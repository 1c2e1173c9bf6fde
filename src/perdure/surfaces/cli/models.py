"""`perdure models`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perdure.errors import ModelError
from perdure.surfaces.cli.options import AsJson
from perdure.surfaces.cli.output import console, emit
from perdure.surfaces.cli.session import load_settings

if TYPE_CHECKING:
    from perdure.settings import Settings


def models(as_json: AsJson = False) -> None:
    """The models Perdure knows, which are in use, and where the files of each were found."""
    rows = listed(load_settings())
    if as_json:
        emit({"models": rows})
        return
    from perdure.surfaces.cli.draw.care import draw_models

    draw_models(console(), rows)


def listed(settings: Settings) -> list[dict[str, Any]]:
    """Each known model: what it is, where it was found, or how to get it."""
    from perdure.models.manifest import known_models
    from perdure.models.weights import Places, find_weights

    here = Places(store=settings.models_folder)
    rows = []
    for spec in known_models():
        row: dict[str, Any] = {
            "name": spec.name,
            "kind": spec.kind,
            "dimensions": spec.dimensions or None,
            "max_tokens": spec.max_tokens,
            "licence": spec.licence,
            "in_use": spec.name.lower() in (settings.embedder.lower(), settings.reranker.lower()),
            "source": None,
            "path": None,
            "missing": None,
        }
        try:
            weights = find_weights(spec, here)
            row.update(source=weights.source, path=weights.model_path)
        except ModelError as error:
            row["missing"] = str(error)
        rows.append(row)
    return rows
