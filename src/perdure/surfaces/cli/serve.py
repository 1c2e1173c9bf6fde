"""`perdure serve` and `perdure mcp`."""

from __future__ import annotations

import importlib.util
from typing import Annotated, Any

import click
import typer
from click.core import ParameterSource
from rich.markup import escape

from perdure.domain.bank import check_bank_id
from perdure.errors import InvalidInput, Unavailable
from perdure.surfaces.cli.output import console, emit
from perdure.surfaces.cli.session import AsJson, Database, load_settings, memory
from perdure.surfaces.process import closing_on_sigterm
from perdure.surfaces.projects import bank_of

Host = Annotated[str | None, typer.Option("--host", metavar="HOST", help="Address [setting host: 127.0.0.1]")]
Port = Annotated[
    int | None,
    typer.Option("--port", "-p", min=0, max=65535, metavar="PORT", help="Port [setting port: 8888]"),
]


Open = Annotated[
    bool, typer.Option("--open", help="Serve this machine without keys, as long as no key was ever made")
]


def serve(
    host: Host = None,
    port: Port = None,
    open_: Open = False,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Serve REST at / and MCP at /mcp over HTTP, to callers with an API key, or with --open to this machine."""
    need("fastapi", "server")
    settings = load_settings(database, **_given(host, port, open_))
    from perdure.surfaces.rest.app import serve as serve_rest

    with_mcp = importlib.util.find_spec("mcp") is not None

    def extend(app: Any) -> None:
        _announce(settings, with_mcp, as_json)
        if with_mcp:
            from perdure.surfaces.mcp.http import mount

            mount(app, app.state.service.engine, app.state.service.workers, settings)

    serve_rest(settings, extend)


def mcp(
    bank: Annotated[
        str | None,
        typer.Option("--bank", "-b", metavar="BANK", help="Serve this bank only [the client chooses]"),
    ] = None,
    project: Annotated[
        str | None,
        typer.Option(
            "--project",
            metavar="FOLDER",
            envvar="CLAUDE_PROJECT_DIR",
            help="Bank of this folder, for calls that name none",
        ),
    ] = None,
    http: Annotated[bool, typer.Option("--http", help="Streamable HTTP at /mcp instead of stdio")] = False,
    host: Host = None,
    port: Port = None,
    open_: Open = False,
    database: Database = None,
) -> None:
    """Serve MCP to one client over standard input and output, or with --http to many."""
    need("mcp", "mcp")
    if not http and (host is not None or port is not None or open_):
        raise InvalidInput("--host, --port, --open", "--http beside them")
    if http and project and _is_stated("project"):
        raise InvalidInput("--project", "no value with --http: clients connect to /mcp/BANK instead", project)
    if http and bank is not None:
        raise InvalidInput("--bank", "no value with --http: clients connect to /mcp/BANK instead", bank)
    if bank is not None:
        check_bank_id(bank)
    with closing_on_sigterm(), memory(database, **_given(host, port, open_)) as engine:
        if http:
            from perdure.surfaces.access import check_exposure, check_port
            from perdure.surfaces.mcp.http import PATH, run_http

            settings = engine.settings
            check_exposure(engine, settings)
            check_port(settings.host, settings.port)
            console(stderr=True).print(f"MCP on {_url(settings)}{PATH} and {_url(settings)}{PATH}/BANK")
            run_http(engine, settings)
        else:
            from perdure.surfaces.mcp.server import run_stdio
            from perdure.surfaces.mcp.tools import DEFAULT_BANK

            run_stdio(engine, bank, bank_of(project) if project else DEFAULT_BANK)


def _is_stated(option: str) -> bool:
    """Whether an option is on the command line, and not only in the environment of an assistant."""
    return click.get_current_context().get_parameter_source(option) is ParameterSource.COMMANDLINE


def need(module: str, extra: str) -> None:
    """Raise unless the optional part is installed."""
    if importlib.util.find_spec(module) is None:
        raise Unavailable(f"this command needs an extra: pip install 'perdure[{extra}]'")


def _given(host: str | None, port: int | None, open_: bool) -> dict[str, Any]:
    values = (("host", host), ("port", port), ("require_keys", False if open_ else None))
    return {name: value for name, value in values if value is not None}


def _url(settings: Any) -> str:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"http://{host}:{settings.port}"


def _announce(settings: Any, with_mcp: bool, as_json: bool) -> None:
    url = _url(settings)
    if as_json:
        emit(
            {
                "rest": url,
                "docs": f"{url}/docs",
                "mcp": f"{url}/mcp" if with_mcp else None,
                "database": settings.shown_database,
            }
        )
        return
    shown = console(stderr=True)
    shown.print(f"[bold]Perdure[/] serves [cyan]{escape(settings.shown_database)}[/]")
    shown.print(f"  REST  {url}    [dim]pages: {url}/docs[/]")
    shown.print(
        f"  MCP   {url}/mcp" if with_mcp else "  MCP   [dim]not installed: pip install 'perdure\\[mcp]'[/]"
    )
