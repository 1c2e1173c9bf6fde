"""Who asks: whom "I" and "my" mean in a question."""

from __future__ import annotations

from perdure.domain.item import SPEAKER, USER_ROLES
from perdure.ports.store import Rows
from perdure.text.third_person import THE_USER, speaks_of_asker


def asker_of(rows: Rows, question: str, asker: str | None) -> str | None:
    """The name in facts of who asks a question in the first person; None for other questions, or when nobody may be meant.

    That is the given asker; without one, or for "user", the bank's user: the only name that spoke with the role of a user,
    else the only person who spoke at all, else the user without a name.
    """
    if not speaks_of_asker(question):
        return None
    if asker is not None and asker.strip() and asker.strip().lower() not in USER_ROLES:
        return asker.strip()
    speakers = {record.id: record.body.get("role", "") for record in rows.records(SPEAKER)}
    named = {name: role for name, role in speakers.items() if name.lower() not in USER_ROLES}
    users = [name for name, role in named.items() if role]
    if len(users) == 1:
        return users[0]
    if len(speakers) == len(named) == 1:
        return next(iter(named))
    return THE_USER if len(speakers) > len(named) or asker is not None else None
