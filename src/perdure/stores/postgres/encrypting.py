"""Encrypts the content of a bank that was made without `encrypt_content`, while it is in use.

1. A mark says that it will be encrypted: who reads the bank from now on expects encrypted content among what
is not. 2. `wait` seconds later, which readings under way have to end, a second one says that what is written
is encrypted. 3. What was written before is encrypted in blocks, each in a transaction of its own under the
bank's lock. 4. The first mark goes; that content was erased is noted, since dead rows and the log hold it as
it was.

Killed at any moment the bank can be read and written, and the next call goes on: what is encrypted already is
passed over. Until the traces of that erasure are cleared, forgetting does not say that it made anything
unreadable by destroying keys.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from perdure.errors import Conflict, NotFound
from perdure.stores.postgres.content import COLUMNS
from perdure.stores.postgres.rows import PostgresTransaction
from perdure.stores.postgres.sealed import ENCRYPTED, ENCRYPTING
from perdure.stores.postgres.store import PostgresStore
from perdure.stores.sql.columns import Values
from perdure.stores.sql.copying import BankEncryption, Progress

BLOCK = 500
"""Rows that are read under the bank's lock at once."""
WAIT = 10.0


def encrypt(
    store: PostgresStore, bank: str, *, wait: float = WAIT, progress: Progress = lambda *_: None
) -> BankEncryption:
    """Encrypt a bank, or the rest of it; raises NotFound without such a bank."""
    with _writing(store, bank) as tx:
        if not tx.bank_no:
            raise NotFound("bank", bank)
        number = tx.bank_no
        marks = tx.scopes_of_bank()
        if not marks:
            tx.announce_encryption()
    if ENCRYPTED in marks and ENCRYPTING not in marks:
        return BankEncryption(bank=bank, rows={}, was_encrypted=True, pending=store.pending_traces())
    if ENCRYPTED not in marks:
        time.sleep(wait)
        with _same(store, bank, number) as tx:
            if ENCRYPTED not in tx.scopes_of_bank():
                tx.encrypt_from_now_on()
    rows: Counter[str] = Counter()
    for table in COLUMNS:
        last: Values | None = None
        while True:
            with _same(store, bank, number) as tx:
                last, count = tx.encrypt_block(table, last, BLOCK)
            rows[table] += count
            progress(bank, table, rows[table])
            if last is None:
                break
    with _same(store, bank, number) as tx:
        if ENCRYPTING in tx.scopes_of_bank():
            tx.end_encryption()
    return BankEncryption(bank=bank, rows=rows, was_encrypted=False, pending=store.pending_traces())


@contextmanager
def _writing(store: PostgresStore, bank: str) -> Iterator[PostgresTransaction]:
    with store.transaction(bank) as tx:
        assert isinstance(tx, PostgresTransaction)
        yield tx


@contextmanager
def _same(store: PostgresStore, bank: str, number: int) -> Iterator[PostgresTransaction]:
    """Open a transaction of the bank; raise Conflict where it is another one than at the beginning."""
    with _writing(store, bank) as tx:
        if tx.bank_no != number:
            raise Conflict(f"bank {bank!r} was deleted and made again meanwhile; encrypt it again")
        yield tx
