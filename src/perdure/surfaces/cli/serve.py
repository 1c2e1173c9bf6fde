"""`perdure serve` and `perdure mcp`."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from perdure.domain.bank import check_bank_id
from perdure.errors import Unavailable
from perdure.surfaces.cli.output import console, emit
from perdure.surfaces.cli.session import AsJson, Database, load_settings, memory
from perdure.surfaces.process import closing_on_sigterm
from perdure.surfaces.projects import bank_of

if TYPE_CHECKING:
    from perdure.settings import Settings


def serve(
    host: Annotated[
        str | None, typer.Option("--host", metavar="HOST", help="Address [setting host: 127.0.0.1]")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option("--port", "-p", min=0, max=65535, metavar="PORT", help="Port [setting port: 8888]"),
    ] = None,
    open_: Annotated[
        bool, typer.Option("--open", help="Serve this machine without keys, as long as no key was ever made")
    ] = False,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Serve REST at / and MCP at /mcp over HTTP, to callers with an API key, or with --open to this machine."""
    need("fastapi", "server")
    given = {"host": host, "port": port, "require_keys": False if open_ else None}
    settings = load_settings(database, **{name: value for name, value in given.items() if value is not None})
    from perdure.surfaces.rest.app import serve as serve_rest

    with_mcp = importlib.util.find_spec("mcp") is not None

    def extend(app: Any) -> None:
        _announce(settings, with_mcp, as_json)
        if with_mcp:
            from perdure.surfaces.mcp.http import mount

            mount(app)

    serve_rest(settings, extend)


def mcp(
    bank: Annotated[
        str | None,
        typer.Option("--bank", "-b", metavar="BANK", help="Serve this bank only [the client chooses]"),
    ] = None,
    project: Annotated[
        str | None,
        typer.Option(
            "--project", metavar="FOLDER", envvar="CLAUDE_PROJECT_DIR",
            help="Bank of this folder, for calls that name none",
        ),
    ] = None,
    database: Database = None,
) -> None:  # fmt: skip
    """Serve MCP to one client over standard input and output; `perdure serve` has it at /mcp for many."""
    need("mcp", "mcp")
    if bank is not None:
        check_bank_id(bank)
    with closing_on_sigterm(), memory(database) as engine:
        from perdure.surfaces.mcp.server import run_stdio
        from perdure.surfaces.mcp.tools import DEFAULT_BANK

        run_stdio(engine, bank, bank_of(project) if project else DEFAULT_BANK)


def need(module: str, extra: str) -> None:
    """Raise unless the optional part is installed."""
    if importlib.util.find_spec(module) is None:
        raise Unavailable(f"this command needs an extra: pip install 'perdure[{extra}]'")


def _announce(settings: Settings, with_mcp: bool, as_json: bool) -> None:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    url = f"http://{host}:{settings.port}"
    if as_json:
        mcp = f"{url}/mcp" if with_mcp else None
        emit({"rest": url, "docs": f"{url}/docs", "mcp": mcp, "database": settings.shown_database})
        return
    shown = console(stderr=True)
    shown.print(f"[bold]Perdure[/] serves [cyan]{escape(settings.shown_database)}[/]")
    shown.print(f"  REST  {url}    [dim]pages: {url}/docs[/]")
    shown.print(
        f"  MCP   {url}/mcp" if with_mcp else "  MCP   [dim]not installed: pip install 'perdure\\[mcp]'[/]"
    )
