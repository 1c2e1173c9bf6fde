"""`perdure doctor`."""

from __future__ import annotations

import typer

from perdure.surfaces.cli import exits
from perdure.surfaces.cli.options import AsJson, Database
from perdure.surfaces.cli.output import console, emit
from perdure.surfaces.cli.session import load_settings
from perdure.surfaces.plain import plain


def doctor(database: Database = None, as_json: AsJson = False) -> None:
    """Check versions, extras, the database, the models and their speed, and a whole round trip."""
    from perdure.surfaces.cli import checks

    settings = load_settings(database)
    found = [
        *checks.check_versions(),
        *checks.check_extras(),
        *checks.check_database(settings),
        *checks.check_models(settings),
        *checks.check_round_trip(settings),
    ]
    healthy = all(check.state != checks.FAIL for check in found)
    if as_json:
        emit({"healthy": healthy, "checks": plain(found)})
    else:
        from perdure.surfaces.cli.draw.care import draw_checks

        draw_checks(console(), found)
    if not healthy:
        raise typer.Exit(exits.FAILED)
