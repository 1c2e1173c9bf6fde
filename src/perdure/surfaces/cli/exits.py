"""Exit codes and the one line that an error becomes."""

from __future__ import annotations

import json
import sys
import traceback

from perdure.errors import Conflict, InvalidInput, ModelMissing, NotFound, PerdureError, Unavailable
from perdure.surfaces import process

OK = 0
FAILED = 1
BAD_INPUT = 2
NOT_FOUND = 3
NOTHING_RECALLED = 4
CONFLICT = 5
UNAVAILABLE = 6
INTERRUPTED = 130
TERMINATED = process.TERMINATED

_CODES: tuple[tuple[type[PerdureError], int], ...] = (
    (InvalidInput, BAD_INPUT),
    (NotFound, NOT_FOUND),
    (Conflict, CONFLICT),
    (Unavailable, UNAVAILABLE),
    (ModelMissing, UNAVAILABLE),
)


def report(error: PerdureError, as_json: bool) -> int:
    """Write an error that Perdure raised on purpose; returns the exit code."""
    body = {"code": error.code, "message": str(error)}
    if isinstance(error, InvalidInput):
        body["field"] = error.field
    return _write(body, as_json, next((code for kind, code in _CODES if isinstance(error, kind)), FAILED))


def report_usage(message: str, as_json: bool) -> int:
    """Write that the command line itself is wrong."""
    plain = message.replace("Value error, ", "")  # a prefix of pydantic's, which checks the values of enums
    return _write({"code": InvalidInput.code, "message": plain}, as_json, BAD_INPUT)


def report_surprise(error: Exception, as_json: bool, trace: bool) -> int:
    """Write an error that nobody raised on purpose: a defect; its trace only when asked for."""
    if trace:
        traceback.print_exception(error)
    hint = "" if trace else " (PERDURE_LOG_LEVEL=debug shows where)"
    body = {"code": "unexpected", "message": f"unexpected {type(error).__name__}: {error}{hint}"}
    return _write(body, as_json, FAILED)


def _write(body: dict[str, str], as_json: bool, code: int) -> int:
    """As JSON, or as one line whatever the width."""
    if as_json:
        print(json.dumps({"error": body}, ensure_ascii=False), file=sys.stderr)
        return code
    from rich.text import Text  # loaded only when there is an error to show

    from perdure.surfaces.cli.output import console

    line = Text.assemble("perdure: ", ("error", "bold red"), ": ", " ".join(body["message"].split()))
    console(stderr=True).print(line, soft_wrap=True)
    return code
