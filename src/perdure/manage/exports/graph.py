"""A bank as a graph of entities and facts, with edges for mentions, relations and causes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from xml.sax.saxutils import escape, quoteattr

from perdure.domain.fact import Fact
from perdure.manage.exports.bank import BankContent, iso, state_of, sure_time
from perdure.text.names import normal_name

_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_LONGEST_LABEL = 80


@dataclass(frozen=True, slots=True)
class Node:
    """An entity or a fact."""

    id: str
    kind: str
    label: str
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Edge:
    """A mention (fact to entity), a stated relation (entity to entity) or a cause (fact to fact)."""

    source: str
    target: str
    kind: str
    label: str
    fact: str = ""


NODE_FIELDS = (
    "type",
    "state",
    "said_at",
    "occurred",
    "valid_from",
    "valid_to",
    "speaker",
    "document",
    "mentions",
)
EDGE_FIELDS = ("fact",)


def read_graph(bank: BankContent) -> Iterator[Node | Edge]:
    """Yield nodes and edges, each edge after its nodes, without facts that are no longer believed."""
    names: dict[str, str] = {}
    for entity in bank.entities():
        for name in (entity.name, *entity.aliases):
            names.setdefault(normal_name(name), entity.id)
        yield Node(entity.id, "entity", entity.name, {"type": entity.type, "mentions": str(entity.mentions)})
    entity_ids = set(names.values())
    written: set[str] = set()
    causes: set[tuple[str, str]] = set()
    for page in bank.facts():
        believed = [fact for fact in page if fact.retired_at is None]
        for fact in believed:
            yield _fact_node(fact, bank)
            yield from _fact_edges(fact, names, entity_ids)
        written |= {fact.id for fact in believed}
        causes |= {(link.source, link.target) for link in bank.causes([fact.id for fact in believed])}
    for source, target in sorted(causes):
        if source in written and target in written:
            yield Edge(source, target, "cause", "causes")


def _fact_node(fact: Fact, bank: BankContent) -> Node:
    occurred = sure_time(fact)
    fields = {
        "type": fact.type.value,
        "state": state_of(fact, bank.now),
        "said_at": iso(fact.mentioned_at),
        "occurred": iso(occurred.start or occurred.end) if occurred else None,
        "valid_from": iso(fact.valid_from),
        "valid_to": iso(fact.valid_to),
        "speaker": fact.speaker,
        "document": fact.document_id,
    }
    return Node(fact.id, "fact", fact.text, {key: value for key, value in fields.items() if value})


def _fact_edges(fact: Fact, names: Mapping[str, str], entity_ids: set[str]) -> Iterator[Edge]:
    for entity_id in dict.fromkeys(fact.entity_ids):
        if entity_id in entity_ids:
            yield Edge(fact.id, entity_id, "mention", "mentions")
    if fact.subject and fact.relation and fact.object:
        subject, target = (names.get(normal_name(name)) for name in (fact.subject, fact.object))
        if subject is not None and target is not None:
            yield Edge(subject, target, "relation", fact.relation, fact.id)


def write_graphml(bank: BankContent) -> Iterator[str]:
    """Yield GraphML, which networkx, Gephi, yEd and Cytoscape open."""
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield (
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
        'xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">'
    )
    for name in ("kind", "label", *NODE_FIELDS):
        form = "int" if name == "mentions" else "string"
        yield f'  <key id="n_{name}" for="node" attr.name="{name}" attr.type="{form}"/>'
    for name in ("kind", "label", *EDGE_FIELDS):
        yield f'  <key id="e_{name}" for="edge" attr.name="{name}" attr.type="string"/>'
    yield f'  <graph id={_attribute(bank.id)} edgedefault="directed">'
    for number, part in enumerate(read_graph(bank)):
        if isinstance(part, Node):
            data = _data("n", {"kind": part.kind, "label": part.label, **part.fields})
            yield f"    <node id={_attribute(part.id)}>{data}</node>"
        else:
            data = _data("e", {"kind": part.kind, "label": part.label, "fact": part.fact})
            ends = f"source={_attribute(part.source)} target={_attribute(part.target)}"
            yield f'    <edge id="e{number}" {ends}>{data}</edge>'
    yield "  </graph>"
    yield "</graphml>"


def _attribute(value: str) -> str:
    return quoteattr(_NOT_IN_XML.sub("", value))


def _data(prefix: str, fields: Mapping[str, str]) -> str:
    return "".join(
        f'<data key="{prefix}_{key}">{escape(_NOT_IN_XML.sub("", value))}</data>'
        for key, value in fields.items()
        if value
    )


def write_dot(bank: BankContent) -> Iterator[str]:
    """Yield Graphviz's DOT: entities as ellipses, facts as boxes, ended ones dashed."""
    yield f"digraph {_quoted(bank.id)} {{"
    yield "  graph [rankdir=LR, overlap=false];"
    yield '  node [fontname="Helvetica", fontsize=10];'
    yield '  edge [fontname="Helvetica", fontsize=9];'
    for part in read_graph(bank):
        if isinstance(part, Node):
            yield f"  {_quoted(part.id)} [{_listed(_dot_node(part))}];"
        else:
            style = {"mention": "dotted", "cause": "bold"}.get(part.kind, "solid")
            shown = {"style": style, "class": part.kind}
            if part.kind != "mention":
                shown["label"] = part.label
            yield f"  {_quoted(part.source)} -> {_quoted(part.target)} [{_listed(shown)}];"
    yield "}"


def _dot_node(node: Node) -> dict[str, str]:
    label = " ".join(node.label.split())
    label = label if len(label) <= _LONGEST_LABEL else label[: _LONGEST_LABEL - 1] + "…"
    shape = "ellipse" if node.kind == "entity" else "box"
    style = "dashed" if node.fields.get("state") == "ended" else "solid"
    return {"label": label, "tooltip": node.label, "shape": shape, "style": style, "class": node.kind}


def _listed(fields: Mapping[str, str]) -> str:
    return ", ".join(f"{key}={_quoted(value)}" for key, value in fields.items())


def _quoted(value: str) -> str:
    """Return a string of DOT, in which a backslash would begin an escape."""
    plain = _NOT_IN_XML.sub("", value).replace("\\", "\\\\").replace('"', '\\"')
    return '"' + " ".join(plain.splitlines()) + '"'
