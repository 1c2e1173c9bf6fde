"""Who speaks in a bank: a record per name, so that a question in the first person knows whose it is."""

from __future__ import annotations

from collections.abc import Sequence

from perdure.domain.item import DATA_ROLES, SPEAKER, USER_ROLES, Item
from perdure.domain.orders import INSTRUCTION_ROLES
from perdure.domain.record import Record
from perdure.ports.store import Rows
from perdure.retain.plan import Plan


def new_speakers(rows: Rows, bank: str, plans: Sequence[Plan]) -> list[Record]:
    """Return records of the plans' human speakers that the bank does not have yet, or not as the user."""
    roles: dict[str, str] = {}
    for item in (item for plan in plans for item in plan.items if _is_human(item)):
        roles[item.speaker] = role_of(item) or roles.get(item.speaker, "")
    if not roles:
        return []
    recorded = {record.id: record.body.get("role", "") for record in rows.records(SPEAKER, sorted(roles))}
    return [
        Record(kind=SPEAKER, id=name, bank=bank, body={"role": role})
        for name, role in roles.items()
        if name not in recorded or (role and not recorded[name])
    ]


def role_of(item: Item) -> str:
    """ "user" for who speaks as the user, "" for any other person."""
    return "user" if (item.role or item.speaker).lower() in USER_ROLES else ""


def _is_human(item: Item) -> bool:
    no_person = item.is_agent or (item.role or item.speaker).lower() in INSTRUCTION_ROLES | DATA_ROLES
    return bool(item.speaker.strip()) and not no_person
