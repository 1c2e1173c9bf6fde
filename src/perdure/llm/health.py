"""Health of the language models: one short request for each operation."""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import StrEnum

from perdure.domain.llm_call import LlmOperation
from perdure.errors import DeadlineExceeded, LlmError, LlmRefused
from perdure.llm.caller import Caller, Purpose
from perdure.ports.llm import ChatMessage

SECONDS = 20.0
REPLY_TOKENS = 16
QUESTION = "Reply with the word OK."
UNAUTHORISED = frozenset({401, 403})
"""Statuses for a wrong key, or one that may not use the model."""


class LlmStatus(StrEnum):
    CONNECTED = "connected"
    NOT_CONFIGURED = "not_configured"
    AUTH_FAILED = "auth_failed"
    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmHealth:
    """The health of an operation's models."""

    operation: LlmOperation
    status: LlmStatus
    model: str = ""
    seconds: float | None = None
    reason: str = ""
    """Why there was no answer."""


def check_health(caller: Caller, bank: str, operation: LlmOperation) -> LlmHealth:
    """Ask the operation's models for one word; the call is charged to the bank like any other."""
    if not caller.serves(operation):
        return LlmHealth(operation=operation, status=LlmStatus.NOT_CONFIGURED)
    purpose = Purpose(bank=bank, operation=operation, deadline=time.monotonic() + SECONDS)
    started = time.perf_counter()
    try:
        reply = caller.chat(purpose, [ChatMessage(role="user", text=QUESTION)], max_tokens=REPLY_TOKENS)
    except DeadlineExceeded as error:
        return LlmHealth(operation=operation, status=LlmStatus.TIMEOUT, reason=str(error))
    except LlmError as error:
        refused = isinstance(error, LlmRefused) and error.status in UNAUTHORISED
        status = LlmStatus.AUTH_FAILED if refused else LlmStatus.UNREACHABLE
        return LlmHealth(operation=operation, status=status, reason=str(error))
    return LlmHealth(
        operation=operation,
        status=LlmStatus.CONNECTED,
        model=reply.model,
        seconds=time.perf_counter() - started,
    )
