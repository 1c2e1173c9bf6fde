"""`perdure directives`, `mental-models` and `knowledge`: groups of commands from the table of resources."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markdown import Markdown
from rich.text import Text
from rich.tree import Tree

from perdure.domain.directive import Directive, DirectiveChanges, DirectiveOptions
from perdure.domain.knowledge import KnowledgeNode, PageOptions
from perdure.domain.mental_model import MentalModel, MentalModelChanges, MentalModelOptions
from perdure.domain.operation import Operation, OperationStatus
from perdure.domain.options import Options
from perdure.errors import InvalidInput
from perdure.surfaces.cli import exits
from perdure.surfaces.cli.answer import Answer, command, group
from perdure.surfaces.cli.draw import day, draw_record, plural
from perdure.surfaces.cli.session import Limit, Memory, Tags, Types, Yes, confirm
from perdure.surfaces.plain import plain

WAIT_SECONDS = 600.0
Id = Annotated[str, typer.Argument(metavar="ID", help="Id of it, as listings show it")]
Name = Annotated[str, typer.Argument(metavar="NAME", help="What it is called")]
Query = Annotated[str, typer.Argument(metavar="QUERY", help="What to look for")]
Question = Annotated[str, typer.Argument(metavar="QUESTION", help="The question that it answers")]
Parent = Annotated[str | None, typer.Option("--in", metavar="ID", help="Folder that it stands in [the root]")]
Delta = Annotated[bool | None, typer.Option("--delta/--full", help="Edit sentences, or write anew [full]")]
Consolidation = Annotated[bool | None, typer.Option("--after-consolidation", help="Refresh it then")]
Untagged = Annotated[bool, typer.Option("--untagged", help="Without tags from now on")]
Schedule = Annotated[str | None, typer.Option("--cron", metavar="CRON", help="Refresh it then, UTC")]


def _plain_model(model: MentalModel) -> dict[str, Any]:
    return {**plain(model), "content": model.content}


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """A row of the table: a resource of a memory whose elements are shown, changed and deleted by commands."""

    app: typer.Typer
    name: str
    """Of the resource in a memory."""
    question: str
    """Asked before one is deleted."""
    usual: tuple[str, ...]
    """The commands, show and delete, that need no code of their own."""
    changes: type[Options] | None = None
    """What the command update may change; without it there is none."""
    plain: Callable[[Any], dict[str, Any]] = plain


directives = group("Rules of a bank for every reflect.")
mental_models = group("Standing questions and the documents that answer them.")
knowledge = group("Folders and pages over mental models.")
RESOURCES = (
    Resource(
        app=directives, name="directives", changes=DirectiveChanges, usual=("show", "delete"),
        question="Drop the rule {}?",
    ),
    Resource(
        app=mental_models, name="models", usual=("delete",), plain=_plain_model,
        question="Delete the mental model {}?",
    ),
    Resource(
        app=knowledge, name="knowledge", usual=("delete",), question="Delete {} with everything below it?"
    ),
)  # fmt: skip


def _add_usual_commands(resource: Resource) -> None:
    def elements(memory: Memory) -> Any:
        return getattr(memory, resource.name)

    @command
    def show(bank: str, memory: Memory, element: Id) -> Answer:
        """Show one in full."""
        fields = resource.plain(elements(memory).get(bank, element))
        return Answer(fields, lambda console: draw_record(console, fields))

    @command
    def delete(bank: str, memory: Memory, element: Id, yes: Yes = False) -> Answer:
        """Delete one, with everything that belongs to it."""
        confirm(resource.question.format(element), yes)
        elements(memory).delete(bank, element)
        return Answer({"deleted": element}, f"deleted {element}")

    for function in (show, delete):
        if function.__name__ in resource.usual:
            resource.app.command()(function)
    if resource.changes is None:
        return

    @resource.app.command()
    @command(options=resource.changes)
    def update(
        bank: str, memory: Memory, element: Id, options: dict[str, Any], untagged: Untagged = False
    ) -> Answer:
        """Change one; what no option names stays as it is."""
        changes = options | ({"tags": ()} if untagged else {})
        return Answer(resource.plain(elements(memory).update(bank, element, **changes)), f"changed {element}")


for _resource in RESOURCES:
    _add_usual_commands(_resource)


# Directives


@directives.command("create")
@command(options=DirectiveOptions, without=("is_active",), creates=True)
def create_directive(
    name: Name,
    content: Annotated[str, typer.Argument(metavar="TEXT", help="The rule")],
    bank: str,
    memory: Memory,
    options: DirectiveOptions,
) -> Answer:
    """Make a rule; with tags it holds for questions that carry one of them."""
    directive = memory.directives.create(bank, name, content, **options.given())
    return Answer(directive, f"made {directive.id}")


@directives.command("list")
@command
def list_directives(
    bank: str,
    memory: Memory,
    tags: Tags = None,
    every: Annotated[bool, typer.Option("--all", help="Also rules that are switched off")] = False,
) -> Answer:
    """List the rules, highest priority first."""
    rules = memory.directives.list(bank, tags=tags or (), active_only=not every)
    return Answer({"bank": bank, "directives": rules}, lambda console: draw_directives(console, rules))


def draw_directives(console: Console, directives: Sequence[Directive]) -> None:
    """Draw rules with their ids."""
    if not directives:
        console.print(Text("no directives", style="dim"))
    for one in directives:
        rule = Text(f"{one.name}: {' '.join(one.content.split())}", style="" if one.is_active else "dim")
        tags = f" · {', '.join(sorted(one.tags))}" if one.tags else ""
        console.print(rule.append(f"\n{one.id} · priority {one.priority}{tags}", style="dim"))


# Mental models


@mental_models.command("create")
@command(options=MentalModelOptions, creates=True)
def create_model(
    name: Name,
    question: Question,
    bank: str,
    memory: Memory,
    options: MentalModelOptions,
    model_id: Annotated[str | None, typer.Option("--id", metavar="ID", help="An id of your own")] = None,
    types: Types = None,
    delta: Delta = None,
    after_consolidation: Consolidation = None,
    cron: Schedule = None,
) -> Answer:
    """Make a mental model and write it; with tags it reads only facts that carry all of them."""
    trigger = _trigger(delta, after_consolidation, cron) | ({"fact_types": types} if types else {})
    model, operation = memory.models.create(
        bank, name, question, model_id=model_id, trigger=trigger, **options.given()
    )
    return _finish_refresh(memory, operation, model.id)


@mental_models.command("list")
@command
def list_models(bank: str, memory: Memory, tags: Tags = None) -> Answer:
    """List the mental models, newest refresh first, and which of them are stale."""
    models = memory.models.list(bank, tags=tags or ())
    stale = memory.models.stale(bank, [model.id for model in models])
    plain_models = [{**_plain_model(model), "is_stale": model.id in stale} for model in models]
    value = {"bank": bank, "mental_models": plain_models}
    return Answer(value, lambda console: draw_models(console, models, stale))


@mental_models.command("show")
@command
def show_model(model: Id, bank: str, memory: Memory) -> Answer:
    """Show the document."""
    read = memory.models.get(bank, model)
    stale = bool(memory.models.stale(bank, [model]))

    def draw(console: Console) -> None:
        console.print(Text(read.name, style="bold").append(f"\n{read.source_query}", style="not bold dim"))
        console.print(Markdown(read.content))
        when = f"refreshed {day(read.last_refreshed_at)}" if read.last_refreshed_at else "never refreshed"
        console.print(Text(f"{when}{', stale' if stale else ''}", style="dim"))

    return Answer({**_plain_model(read), "is_stale": stale}, draw)


@mental_models.command("update")
@command(options=MentalModelChanges)
def update_model(
    model: Id,
    bank: str,
    memory: Memory,
    options: dict[str, Any],
    delta: Delta = None,
    after_consolidation: Consolidation = None,
    cron: Schedule = None,
) -> Answer:
    """Change settings; the document stays until the next refresh."""
    if trigger := _trigger(delta, after_consolidation, cron):
        options["trigger"] = memory.models.get(bank, model).trigger.merged(trigger)
    return Answer(_plain_model(memory.models.update(bank, model, **options)), f"changed {model}")


@mental_models.command()
@command
def refresh(
    bank: str,
    memory: Memory,
    model: Annotated[str | None, typer.Argument(metavar="ID", help="Id of the mental model")] = None,
    delta: Delta = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would change")] = False,
    due: Annotated[bool, typer.Option("--due", help="All that are stale and whose schedule is due")] = False,
) -> Answer:
    """Write a mental model anew from memory, or those whose schedule is due."""
    if (model is None) != due:
        raise InvalidInput("ID", "the id of a mental model, or --due", model)
    mode = None if delta is None else ("delta" if delta else "full")
    if model is None:
        operations = memory.models.refresh_due(bank)
        ended = [memory.operations.get(bank, one.id, wait=WAIT_SECONDS) for one in operations]
        return Answer({"operations": ended}, f"refreshed {len(ended)}")
    if dry_run:
        preview = memory.models.preview(bank, model, mode=mode)
        value = {"outcome": preview.outcome, "mode": preview.effective_mode, "diff": preview.diff}
        return Answer(value, preview.diff or preview.outcome.value)
    return _finish_refresh(memory, memory.models.refresh(bank, model, mode=mode), model)


@mental_models.command()
@command
def history(model: Id, bank: str, memory: Memory) -> Answer:
    """Show what the document said before, newest first."""
    versions = memory.models.history(bank, model)

    def draw(console: Console) -> None:
        for version in versions:
            console.print(Text(f"until {version.changed_at:%Y-%m-%d %H:%M}", style="dim"))
            console.print(Markdown(version.content))

    return Answer({"versions": versions}, draw)


@mental_models.command("search")
@command
def search_models(query: Query, bank: str, memory: Memory, tags: Tags = None, limit: Limit = 10) -> Answer:
    """Find mental models that bear on a question, best first."""
    matches = memory.models.search(bank, query, tags=tags or (), limit=limit)
    value = {"results": [{"score": one.score, **_plain_model(one.model)} for one in matches]}
    return Answer(value, lambda console: draw_models(console, [one.model for one in matches], ()))


@mental_models.command()
@command
def clear(model: Id, bank: str, memory: Memory, yes: Yes = False) -> Answer:
    """Empty the document, so that the next refresh writes it anew."""
    confirm(f"Empty {memory.models.get(bank, model).name}?", yes)
    memory.models.clear(bank, model)
    return Answer({"cleared": model}, f"emptied {model}")


def _trigger(delta: bool | None, after_consolidation: bool | None, cron: str | None) -> dict[str, object]:
    """Return the fields of a trigger that options name."""
    mode = None if delta is None else ("delta" if delta else "full")
    options = {"mode": mode, "refresh_after_consolidation": after_consolidation, "refresh_cron": cron}
    return {name: value for name, value in options.items() if value is not None}


def _finish_refresh(memory: Memory, operation: Operation, model_id: str) -> Answer:
    """Wait for a refresh and tell how it ended."""
    ended = memory.operations.get(operation.bank, operation.id, wait=WAIT_SECONDS)
    outcome = (ended.result or {}).get("outcome", ended.error or ended.status.value)
    value = {"mental_model_id": model_id, "operation": ended}
    code = exits.FAILED if ended.status is OperationStatus.FAILED else exits.OK
    return Answer(value, f"{model_id}: {outcome}", code)


def draw_models(console: Console, models: Sequence[MentalModel], stale: Collection[str]) -> None:
    """Draw models with their ids and questions."""
    if not models:
        console.print(Text("no mental models", style="dim"))
    for model in models:
        refreshed = f" · refreshed {day(model.last_refreshed_at)}" if model.last_refreshed_at else ""
        line = Text(model.name, style="bold").append(f"  {model.source_query}", style="not bold")
        line.append(f"\n{model.id}{refreshed}", style="not bold dim")
        console.print(line.append("  stale" if model.id in stale else "", style="yellow"))


# The knowledge base


@knowledge.command()
@command
def tree(bank: str, memory: Memory) -> Answer:
    """Show folders and pages from the root down."""
    roots = memory.knowledge.tree(bank)
    return Answer({"bank": bank, "roots": roots}, lambda console: draw_tree(console, bank, roots))


@knowledge.command()
@command(creates=True)
def folder(name: Name, bank: str, memory: Memory, parent: Parent = None) -> Answer:
    """Make a folder."""
    node = memory.knowledge.create_folder(bank, name, parent_id=parent)
    return Answer(node, f"made {node.id}")


@knowledge.command()
@command(options=PageOptions, creates=True)
def page(
    name: Name, question: Question, bank: str, memory: Memory, options: PageOptions, types: Types = None
) -> Answer:
    """Make a page and write it; it reads observations unless types are given."""
    trigger = {"fact_types": types} if types else {}
    node, operation = memory.knowledge.create_page(
        bank, name, question, **options.given() | {"trigger": trigger}
    )
    return _finish_refresh(memory, operation, node.id)


@knowledge.command("show")
@command
def show_page(page: Id, bank: str, memory: Memory) -> Answer:
    """Show a page as Markdown with front matter."""
    markdown = memory.knowledge.markdown(bank, page)
    return Answer({"id": page, "markdown": markdown}, markdown.rstrip())


@knowledge.command("search")
@command
def search_pages(query: Query, bank: str, memory: Memory, limit: Limit = 10) -> Answer:
    """Find pages that bear on a question, best first."""
    matches = memory.knowledge.search(bank, query, limit=limit)

    def draw(console: Console) -> None:
        for one in matches:
            console.print(Text(f"{one.score:.2f}  {one.node.name}").append(f"  {one.node.id}", style="dim"))
        console.print(Text(plural(len(matches), "page"), style="dim"))

    return Answer({"results": matches}, draw)


@knowledge.command()
@command
def move(
    node: Id,
    bank: str,
    memory: Memory,
    parent: Parent = None,
    name: Annotated[str | None, typer.Option(metavar="NAME", help="Another name")] = None,
) -> Answer:
    """Move a folder or page, to the root unless --in is given; or with --name alone rename it."""
    changes: dict[str, Any] = {} if name is None else {"name": name}
    if parent is not None or name is None:
        changes["parent_id"] = parent
    return Answer(memory.knowledge.update(bank, node, **changes), f"changed {node}")


@knowledge.command()
@command
def export(
    target: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where the files go, made if missing")],
    bank: str,
    memory: Memory,
) -> Answer:
    """Write the knowledge base as Markdown files."""
    files = memory.knowledge.export(bank)
    target.mkdir(parents=True, exist_ok=True)
    for file in files:
        (target / file.path).write_text(file.content, encoding="utf-8")
    return Answer({"files": [file.path for file in files]}, f"wrote {plural(len(files), 'file')}")


def draw_tree(console: Console, bank: str, roots: Sequence[KnowledgeNode]) -> None:
    """Draw the tree with ids; stale pages are marked."""
    drawn = Tree(Text(bank, style="bold"))

    def add(branch: Tree, nodes: Sequence[KnowledgeNode]) -> None:
        for node in nodes:
            label = Text(node.name).append(f"  {node.id}", style="dim")
            add(branch.add(label.append("  stale" if node.is_stale else "", style="yellow")), node.children)

    add(drawn, roots)
    console.print(drawn)
