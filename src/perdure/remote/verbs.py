"""Which verbs of `Perdure` go over HTTP: what a key must allow, in which lane they run, and which are refused and why.

A test compares this table with `Perdure`, so that no verb is left out of both lists.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

PATH = "/v1/perdure"
FORMAT = 1
"""Of requests and answers. A server of another format is refused when a program connects."""
END_OF_STREAM = "perdure_lines"
"""Key of the object that ends a stream of lines: how many there were before it."""
EVERY_BANK = "*"
"""What a verb of no single bank needs a key for."""

Lane = Literal["recall", "retain", "read"]
Arguments = Mapping[str, object]


class Access(StrEnum):
    """What a key must allow; the names of scopes."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


class Bank(StrEnum):
    """Where a verb has its bank."""

    ONE = "one"
    """An argument of every call."""
    MAYBE = "maybe"
    """An argument that may be left out, for all banks."""
    RECORD = "record"
    """In the record that is passed."""
    NONE = "none"
    """The verb is of no bank; any key that may do such a thing at all may call it."""
    ALL = "all"
    """The verb is of all banks at once."""


def is_own_kind(kind: object) -> bool:
    """Whether records of the kind are Perdure's own, which over HTTP are for admins; a program's kind has a `.` or a `:`."""
    return not (isinstance(kind, str) and ("." in kind or ":" in kind))


def _never(_: Arguments) -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """A verb that goes over HTTP."""

    name: str
    access: Access
    lane: Lane
    bank: Bank = Bank.ONE
    needs_admin: Callable[[Arguments], bool] = _never
    """Whether these arguments ask for more than the verb does by itself."""

    @property
    def is_read(self) -> bool:
        """Whether doing it twice is the same as once, so that a lost call may be repeated."""
        return self.lane != "retain"


def _table() -> dict[str, Verb]:
    table: dict[str, Verb] = {}

    def add(access: Access, lane: Lane, names: str, bank: Bank = Bank.ONE) -> None:
        table.update({name: Verb(name=name, access=access, lane=lane, bank=bank) for name in names.split()})

    add(Access.READ, "recall", "recall prompt reflect search_mental_models search_knowledge")
    add(
        Access.READ,
        "read",
        """
        bank stats facts fact facts_by_id history links proofs documents chunks document_history entities
        erased_at operation operations directives directive directive_history
        mental_models mental_model stale_mental_models mental_model_history
        knowledge_tree knowledge_page_models knowledge_page knowledge_page_markdown export_knowledge
        opinions opinion opinion_curve consolidation pending_fact_ids observations observation observation_versions
        observation_scopes notes note questions
        """,
    )
    add(Access.READ, "recall", "preview_facts preview_mental_model")
    add(
        Access.READ,
        "read",
        "banks count_tokens erasure_pending index_evictions index_usage llm_models",
        Bank.NONE,
    )
    add(
        Access.WRITE,
        "retain",
        """
        retain retain_later refine update_fact invalidate_fact restore_fact set_fact_entities
        reprocess_document retag_document merge_entities split_entity
        cancel_operation retry_operation delete_operation llm_health
        create_directive update_directive delete_directive
        create_mental_model update_mental_model delete_mental_model clear_mental_model refresh_mental_model
        create_knowledge_folder create_knowledge_page update_knowledge_node delete_knowledge_node
        form_opinions consolidate recover_consolidation answer
        """,
    )
    add(Access.WRITE, "retain", "preview_forget")  # locks the bank for writing
    add(Access.WRITE, "retain", "refresh_due_mental_models", Bank.MAYBE)
    add(Access.ADMIN, "read", "webhooks webhook_deliveries audit_log llm_calls export_bank")
    add(Access.ADMIN, "read", "costs", Bank.MAYBE)
    add(Access.ADMIN, "retain", "create_webhook update_webhook delete_webhook import_bank clone_bank reembed")
    add(Access.ADMIN, "retain", "verify", Bank.ALL)
    conditional = (
        Verb(
            name="forget",
            access=Access.WRITE,
            lane="retain",
            needs_admin=lambda arguments: arguments.get("everything") is True,
        ),
        Verb(
            name="configure_bank",
            access=Access.WRITE,
            lane="retain",
            needs_admin=lambda arguments: arguments.get("settings") is not None,
        ),
        Verb(
            name="delete_observations",
            access=Access.WRITE,
            lane="retain",
            needs_admin=lambda arguments: arguments.get("fact_id") is None,
        ),
        Verb(name="records", access=Access.READ, lane="read", needs_admin=_of_own_kind),
        Verb(name="delete_record", access=Access.WRITE, lane="retain", needs_admin=_of_own_kind),
        Verb(
            name="save_record",
            access=Access.WRITE,
            lane="retain",
            bank=Bank.RECORD,
            needs_admin=lambda arguments: is_own_kind(getattr(arguments["record"], "kind", "")),
        ),
    )
    return table | {verb.name: verb for verb in conditional}


def _of_own_kind(arguments: Arguments) -> bool:
    return is_own_kind(arguments.get("kind"))


VERBS: Mapping[str, Verb] = _table()

REFUSED: Mapping[str, str] = {
    "backup": "it writes a file on the server's machine; run `perdure backup` there",
    "trimmed_recipe": "a recipe holds functions; pass a recipe by its name",
    "export_to": "it writes files on the server's machine; use export_bank, or `perdure export` there",
    "export_lines": "use export_bank, or `perdure export` on the server's machine",
    "import_from": "it reads files on the server's machine; run `perdure import` there",
    "record_audit": "the server keeps its audit log itself",
    "settings": "a server's settings stay on its machine",
    "jobs": "background work of the server's own kinds; use operations",
}
"""Public names that a served memory does not have, and why."""
LOCAL = frozenset({"open", "close", "iter_facts", "clock", "token_encoding"})
"""Public names that the client answers itself; `iter_facts` reads pages by `facts`."""
