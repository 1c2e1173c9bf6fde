"""Text that would run, load or lead away if the page took it for markup, planted into every field that memory has."""

from __future__ import annotations

from datetime import UTC, datetime

from perdure import Perdure

PLANTED_BANK = "planted"
IMAGE = '<img src="/planted.png" onerror="window.__pwned=1">'
SVG = '<svg onload="window.__pwned=2"><script>window.__pwned=3</script></svg>'
SCRIPT = '<script src="https://planted.example/x.js"></script>'
FRAME = '"><iframe srcdoc="<script>parent.__pwned=4</script>"></iframe>'
LINK = '<a href="javascript:window.__pwned=5">look</a> [look](javascript:window.__pwned=6) javascript:window.__pwned=7'
PICTURE = "![p](https://planted.example/p.png) <style>@import url(https://planted.example/s.css)</style>"
TEXT = " ".join((IMAGE, SVG, SCRIPT, FRAME, LINK, PICTURE))
SAID = datetime(2026, 6, 1, tzinfo=UTC)


def fill_planted(engine: Perdure) -> None:
    """A bank of nothing but planted fields."""
    for place, text in enumerate((IMAGE, SVG, LINK, PICTURE, FRAME, SCRIPT, "Ann likes tea.")):
        engine.retain(
            PLANTED_BANK,
            f"I moved to Rome because of {text} and I love it.",
            speaker=f"Eve {IMAGE}",
            timestamp=SAID,
            document_id=f"doc-{place}{IMAGE}",
            title=TEXT,
            context=TEXT,
            topic=SVG,
            tags=[SVG, "javascript:window.__pwned=8"],
            metadata={"link": "javascript:window.__pwned=9", "note": TEXT},
            entities=[{"text": f"Mallory {place} {IMAGE}", "type": "person"}, SVG],
        )
    for fact in engine.facts.list(PLANTED_BANK, limit=3).facts:
        engine.facts.update(PLANTED_BANK, fact.id, text=TEXT, subject=IMAGE, relation="likes", object=SVG)
    newest = engine.facts.list(PLANTED_BANK, limit=5).facts[-1]
    engine.facts.invalidate(PLANTED_BANK, newest.id, TEXT)
    for value in (IMAGE, SVG):
        engine.retain(PLANTED_BANK, f"Bob {value} lives in {value}.", speaker=SVG, timestamp=SAID)
    engine.banks.configure(PLANTED_BANK, name=IMAGE, mission=TEXT)
    engine.directives.create(PLANTED_BANK, IMAGE, TEXT, tags=[SVG])
    model, writing = engine.models.create(PLANTED_BANK, IMAGE, f"What of Rome? {TEXT}", tags=[SVG])
    page, paging = engine.knowledge.create_page(PLANTED_BANK, IMAGE, f"What of Eve? {TEXT}")
    engine.opinions.form(PLANTED_BANK)
    for operation in (engine.consolidate(PLANTED_BANK), writing, paging):
        engine.operations.get(PLANTED_BANK, operation.id, wait=120)
    assert IMAGE in engine.models.get(PLANTED_BANK, model.id).name
    assert page.model is not None
