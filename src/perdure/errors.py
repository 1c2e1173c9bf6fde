"""Every exception that Perdure raises, on one screen.

PerdureError
├── InvalidInput            a value from the caller is wrong; names the field (also a ValueError)
├── NotFound                a named thing, such as a bank or a fact, does not exist (also a LookupError)
├── Conflict                the request contradicts what is stored
│   └── ModelMismatch       vectors of one model met a bank that was embedded with another
├── RefreshFailed           a mental model kept its content, because nothing fit to replace it was read
├── StoreError              the store cannot do its work
│   ├── StoreLocked         another process holds the write lock for too long
│   ├── StoreFull           the disk is full
│   ├── StoreReadOnly       the file or its folder cannot be written
│   ├── StoreCorrupt        the file is damaged or is not a Perdure file
│   │   └── DamagedRow      one row is damaged; names it, the rest of the file is in use
│   ├── StoreUnreachable    no primary of the database server answers; try again later
│   └── StoreVersion        the database has a newer schema, or one older than 0.1.0
├── ModelError              a model cannot do its work
│   ├── ModelMissing        no source has the model's files; says what to install or set
│   ├── ModelTampered       a file's SHA-256 differs from the manifest
│   ├── ProviderError       a remote model provider failed
│   └── LlmError            a language model gave no usable answer
│       ├── LlmRefused      the provider refuses the request; it would again
│       ├── LlmBusy         the provider is busy or out of reach, for `retry_after` seconds
│       ├── LlmCut          the answer was cut at its limit of tokens; a smaller request may pass
│       ├── LlmInvalid      the answer is not what was asked for, also after a repair
│       └── LlmCapReached   a limit of spending is reached; names it
├── DeadlineExceeded        the caller's deadline passed
├── Cancelled               the work was called off: its caller left, or the process ends
├── Unauthorised            no valid key
│   └── Forbidden           a key without the scope, or a caller that an open server refuses
├── Unavailable             an optional part is not installed or not built; says which
├── Unreachable             no server of Perdure answers at the address
└── Busy                    too much at once; try again later
"""

from __future__ import annotations


class PerdureError(Exception):
    """Root of all errors raised on purpose; `code` is stable and used on every surface."""

    code = "error"

    @property
    def public(self) -> str:
        """Return what may be shown to somebody who may not see everything."""
        return str(self)


class InvalidInput(PerdureError, ValueError):
    """A value from the caller is wrong."""

    code = "invalid_input"

    def __init__(self, field: str, expected: str, got: object = None) -> None:
        self.field = field
        self.expected = expected
        shown = "" if got is None else f", got {_shorten(got)}"
        super().__init__(f"{field}: expected {expected}{shown}")

    def renamed(self, field: str) -> InvalidInput:
        """Return the same error for a field that the caller knows by another name."""
        error = InvalidInput(field, self.expected)
        error.args = (field + str(self).removeprefix(self.field),)
        return error


class NotFound(PerdureError, LookupError):
    """A named thing does not exist."""

    code = "not_found"

    def __init__(self, kind: str, name: str) -> None:
        self.kind = kind
        self.name = name
        super().__init__(f"{kind} {name!r} does not exist")


class Conflict(PerdureError):
    """The request contradicts what is stored."""

    code = "conflict"


class ModelMismatch(Conflict):
    """Vectors of one model met a bank that was embedded with another."""

    code = "model_mismatch"

    def __init__(self, bank: str, stored: str, given: str) -> None:
        self.bank, self.stored, self.given = bank, stored, given
        super().__init__(
            f"bank {bank!r} holds vectors of {stored}, but the configured embedder is {given}; "
            f"run `perdure banks reembed {bank}` (or memory.banks.reembed({bank!r})) to change the bank over"
        )


class RefreshFailed(PerdureError):
    """A mental model kept its content, because nothing fit to replace it was read; `outcome` says why."""

    code = "refresh_failed"

    def __init__(self, model_id: str, outcome: str, reason: str) -> None:
        self.model_id, self.outcome = model_id, outcome
        super().__init__(f"mental model {model_id!r} kept its content: {reason}")


class StoreError(PerdureError):
    """The store cannot do its work; `public` leaves out where it is."""

    code = "store_error"
    meaning = "the store cannot do its work; the log of its machine says why"

    def __init__(self, message: str, *, public: str | None = None) -> None:
        super().__init__(message)
        self._public = public

    @property
    def public(self) -> str:
        return self._public or self.meaning


class StoreLocked(StoreError):
    """Another process holds the write lock for too long."""

    code = "store_locked"
    meaning = "another writer holds the store for too long; try again"


class StoreFull(StoreError):
    """The disk is full."""

    code = "store_full"
    meaning = "the disk of the store is full; nothing was written"


class StoreReadOnly(StoreError):
    """The file or its folder cannot be written."""

    code = "store_read_only"
    meaning = "the store can only be read"


class StoreCorrupt(StoreError):
    """The file is damaged or is not a Perdure file."""

    code = "store_corrupt"
    meaning = "the store is damaged; `perdure verify` says what"


class DamagedRow(StoreCorrupt):
    """A row cannot be read, or is not what was written; everything else can be used."""

    code = "damaged_row"

    def __init__(self, kind: str, name: str) -> None:
        self.kind, self.name = kind, name
        told = (
            f"{kind} {name!r} is damaged; `perdure verify` lists all damage, `perdure verify --repair` mends "
            "what can be mended, `perdure restore` brings back a backup"
        )
        super().__init__(told, public=told)


class StoreUnreachable(StoreError):
    """No primary of the database server answers; try again later."""

    code = "store_unreachable"
    meaning = "the database server does not answer; try again"


TRY_AGAIN = (StoreLocked, StoreUnreachable)
"""The store works, but not now: work that meets it is done later."""


class StoreVersion(StoreError):
    """A database with the schema of a newer version, or of one before 0.1.0."""

    code = "store_version"
    meaning = "the store has the schema of another version of Perdure"


class ModelError(PerdureError):
    """A model cannot do its work."""

    code = "model_error"


class ModelMissing(ModelError):
    """No source has the model's files."""

    code = "model_missing"

    @property
    def public(self) -> str:
        return "the files of a model are not there; `perdure doctor` says which and what to do"


class ModelTampered(ModelError):
    """A model file's SHA-256 differs from the manifest."""

    code = "model_tampered"

    @property
    def public(self) -> str:
        return "a file of a model is not the one expected; `perdure doctor` says which"


class ProviderError(ModelError):
    """A remote model provider failed."""

    code = "provider_error"


class LlmError(ModelError):
    """A language model gave no usable answer."""

    code = "llm_error"


class LlmRefused(LlmError):
    """The provider refuses the request; the same request would be refused again."""

    code = "llm_refused"

    def __init__(self, reason: str, *, status: int | None = None) -> None:
        self.status = status
        super().__init__(reason)


class LlmBusy(LlmError):
    """The provider is busy or out of reach."""

    code = "llm_busy"

    def __init__(self, reason: str, *, status: int | None = None, retry_after: float | None = None) -> None:
        self.status, self.retry_after = status, retry_after
        super().__init__(reason)


class LlmCut(LlmError):
    """The answer was cut at its limit of tokens; a smaller request may pass."""

    code = "llm_cut"


class LlmInvalid(LlmError):
    """The answer is not what was asked for, also after a repair."""

    code = "llm_invalid"


class LlmCapReached(LlmError):
    """A limit of spending is reached."""

    code = "llm_cap_reached"

    def __init__(self, limit: str, reason: str) -> None:
        self.limit = limit
        super().__init__(reason)


class DeadlineExceeded(PerdureError, TimeoutError):
    """The caller's deadline passed."""

    code = "deadline_exceeded"


class Cancelled(PerdureError):
    """The work was called off: its caller left, or the process ends."""

    code = "cancelled"


class Unauthorised(PerdureError):
    """No valid key."""

    code = "unauthorised"


class Forbidden(Unauthorised):
    """A key without the needed scope, or a caller that an open server does not answer."""

    code = "forbidden"


class Unavailable(PerdureError):
    """An optional part is not installed or not built."""

    code = "unavailable"


class Unreachable(PerdureError):
    """No server of Perdure answers at the address; of a write it is not known whether it was done."""

    code = "unreachable"


class Busy(PerdureError):
    """Too much at once; `retry_after` seconds from now there is probably room."""

    code = "busy"

    def __init__(self, message: str, retry_after: float = 1.0) -> None:
        self.retry_after = retry_after
        super().__init__(message)


def public_message(error: BaseException) -> str:
    """Return what may be said about any error: its own public words, or its kind alone."""
    if isinstance(error, PerdureError):
        return error.public
    return f"unexpected {type(error).__name__}"


def _shorten(value: object, limit: int = 80) -> str:
    shown = repr(value)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"
