"""`perdure knowledge`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from perdure.domain.knowledge import KnowledgeNode
from perdure.surfaces.cli.draw import plural
from perdure.surfaces.cli.mental_models import Question, finish_refresh
from perdure.surfaces.cli.output import tell
from perdure.surfaces.cli.session import (
    DEFAULT_BANK,
    AsJson,
    BankName,
    Database,
    Limit,
    Tags,
    Types,
    Yes,
    confirm,
    memory,
    reading,
)

app = typer.Typer(add_completion=False, rich_markup_mode=None, invoke_without_command=True)
Name = Annotated[str, typer.Argument(metavar="NAME", help="What it is called")]
Parent = Annotated[str | None, typer.Option("--in", metavar="ID", help="Folder that it stands in [the root]")]
NodeId = Annotated[str, typer.Argument(metavar="ID", help="Id of the folder or page")]


@app.callback()
def knowledge(ctx: typer.Context) -> None:
    """Folders and pages over mental models."""
    if ctx.invoked_subcommand is None:
        print(ctx.get_help())


@app.command()
def tree(bank: BankName = DEFAULT_BANK, database: Database = None, as_json: AsJson = False) -> None:
    """Folders and pages from the root down."""
    with reading(database, bank) as engine:
        roots = engine.knowledge.tree(bank)
    tell(as_json, {"bank": bank, "roots": roots}, lambda shown: draw_tree(shown, bank, roots))


@app.command()
def folder(
    name: Name,
    bank: BankName = DEFAULT_BANK,
    parent: Parent = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Make a folder."""
    with memory(database) as engine:
        node = engine.knowledge.create_folder(bank, name, parent_id=parent)
    tell(as_json, node, f"made {node.id}")


@app.command()
def page(
    name: Name,
    question: Question,
    bank: BankName = DEFAULT_BANK,
    parent: Parent = None,
    tags: Tags = None,
    types: Types = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Make a page and write it; it reads observations unless types are given."""
    with memory(database) as engine:
        node, operation = engine.knowledge.create_page(
            bank,
            name,
            question,
            parent_id=parent,
            tags=tags or (),
            trigger={"fact_types": types} if types else {},
        )
        finish_refresh(engine, operation, as_json, node.id)


@app.command()
def show(
    page: NodeId, bank: BankName = DEFAULT_BANK, database: Database = None, as_json: AsJson = False
) -> None:
    """A page as Markdown with front matter."""
    with reading(database, bank) as engine:
        markdown = engine.knowledge.markdown(bank, page)
    tell(as_json, {"id": page, "markdown": markdown}, markdown.rstrip())


@app.command()
def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to look for")],
    bank: BankName = DEFAULT_BANK,
    limit: Limit = 10,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Pages that bear on a question, best first."""
    with reading(database, bank) as engine:
        matches = engine.knowledge.search(bank, query, limit=limit)

    def draw(console: Console) -> None:
        for one in matches:
            console.print(Text(f"{one.score:.2f}  {one.node.name}").append(f"  {one.node.id}", style="dim"))
        console.print(Text(plural(len(matches), "page"), style="dim"))

    tell(as_json, {"results": matches}, draw)


@app.command()
def move(
    node: NodeId,
    bank: BankName = DEFAULT_BANK,
    parent: Parent = None,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="Another name")] = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Move a folder or page, to the root unless --in is given; or with --name alone rename it."""
    with reading(database, bank) as engine:
        if name is not None and parent is None:
            moved = engine.knowledge.update(bank, node, name=name)
        elif name is not None:
            moved = engine.knowledge.update(bank, node, name=name, parent_id=parent)
        else:
            moved = engine.knowledge.update(bank, node, parent_id=parent)
    tell(as_json, moved, f"changed {moved.id}")


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where the files go, made if missing")],
    bank: BankName = DEFAULT_BANK,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Write the knowledge base as Markdown files."""
    with reading(database, bank) as engine:
        files = engine.knowledge.export(bank)
    folder.mkdir(parents=True, exist_ok=True)
    for file in files:
        (folder / file.path).write_text(file.content, encoding="utf-8")
    tell(as_json, {"files": [file.path for file in files]}, f"wrote {plural(len(files), 'file')}")


@app.command()
def delete(
    node: NodeId,
    bank: BankName = DEFAULT_BANK,
    yes: Yes = False,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Delete a folder or page with everything below it, and the mental models of its pages."""
    with reading(database, bank) as engine:
        confirm(f"Delete {node} with everything below it?", yes)
        engine.knowledge.delete(bank, node)
    tell(as_json, {"deleted": node}, f"deleted {node}")


def draw_tree(console: Console, bank: str, roots: Sequence[KnowledgeNode]) -> None:
    """The tree with ids; stale pages are marked."""
    drawn = Tree(Text(bank, style="bold"))

    def add(branch: Tree, nodes: Sequence[KnowledgeNode]) -> None:
        for node in nodes:
            label = Text(node.name).append(f"  {node.id}", style="dim")
            add(branch.add(label.append("  stale" if node.is_stale else "", style="yellow")), node.children)

    add(drawn, roots)
    console.print(drawn)
