"""Bits flipped and pages zeroed at random in a file: `python -m bench.damage [--bits 400] [--pages 200] [--seed 1]`.

After each, every fact and chunk is read, the file is verified, then repaired and read again. Counts what was told, what was
changed or lost without a word, and what was mended to exactly what had been written.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random

from perdure.domain.damage import Damage
from perdure.domain.fact import Chunk, Document
from perdure.errors import PerdureError
from perdure.stores.sqlite.store import SqliteStore
from perdure.testing import BANK, make_fact, new, put

ROWS = range(200)
PAGE = 4096
Content = tuple[dict[str, object], tuple[Damage, ...]]
Harm = Callable[[bytearray, Random], None]


def write(path: Path) -> None:
    """Facts, documents and chunks, short ones and ones longer than a page."""
    with closing(SqliteStore.open(path)) as store:
        put(
            store,
            *(
                new(make_fact(f"f{n}", f"fact {n} " + "text " * (n * 7 % 400), speaker=f"s{n}"), words="text")
                for n in ROWS
            ),
            documents=[Document(id=f"d{n}", bank=BANK, title=f"title {n}") for n in ROWS],
            chunks=[
                Chunk(
                    id=f"c{n}",
                    bank=BANK,
                    document_id=f"d{n}",
                    ordinal=0,
                    text=f"chunk {n} " * (n + 1),
                    content_hash="",
                )
                for n in ROWS
            ],
        )


def read(store: SqliteStore) -> Content:
    """Facts and chunks by id, and what was told to be damaged."""
    with store.reading(BANK) as reading:
        rows: dict[str, object] = {fact.id: fact for fact in reading.facts([f"f{n}" for n in ROWS])}
        rows |= {chunk.id: chunk for chunk in reading.chunks(ids=[f"c{n}" for n in ROWS])}
        return rows, reading.damaged()


def flip_bit(content: bytearray, random: Random) -> None:
    content[random.randrange(100, len(content))] ^= 1 << random.randrange(8)


def zero_page(content: bytearray, random: Random) -> None:
    page = random.randrange(1, len(content) // PAGE)
    content[page * PAGE : (page + 1) * PAGE] = bytes(PAGE)


def outcome(path: Path, right: dict[str, object]) -> tuple[str, str]:
    """What reading and `verify` say of a damaged file, and what became of it by repair."""
    try:
        with closing(SqliteStore.open(path)) as store:
            try:
                rows, told = read(store)
            except PerdureError:
                rows, told = {}, (Damage(kind="file", name="", problem="cannot be read"),)
            verified = not store.verify().sound
            changed = any(right[name] != row for name, row in rows.items())
            lost = len(rows) < len(right)
            if changed or (lost and not told):
                seen = "CHANGED OR LOST WITHOUT A WORD"
            elif lost:
                seen = "rows are damaged: told when read" + (", found by verify" if verified else "")
            else:
                seen = "all content is read right" + (", damage found by verify" if verified else "")
            store.verify(repair=True)
            mended = store.verify().sound and read(store)[0] == right
    except PerdureError:
        return "the file cannot be opened: told", "needs a backup"
    return seen, "sound after --repair" if mended else "needs --drop or a backup"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bits", type=int, default=400)
    parser.add_argument("--pages", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    harms: dict[str, tuple[Harm, int]] = {
        "a flipped bit": (flip_bit, options.bits),
        "a zeroed page": (zero_page, options.pages),
    }
    silent = 0
    print("| damage | what is told | afterwards | tries |\n| --- | --- | --- | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        write(path)
        with closing(SqliteStore.open(path)) as store:
            right, _ = read(store)
        whole = path.read_bytes()
        for name, (harm, tries) in harms.items():
            random, outcomes = Random(options.seed), Counter[tuple[str, str]]()
            for _ in range(tries):
                for file in Path(folder).glob("memory.db*"):
                    file.unlink()
                content = bytearray(whole)
                harm(content, random)
                path.write_bytes(content)
                outcomes[outcome(path, right)] += 1
            for (seen, after), count in outcomes.most_common():
                print(f"| {name} | {seen} | {after} | {count} |")
                silent += count if seen.isupper() else 0
    return 1 if silent else 0


if __name__ == "__main__":
    sys.exit(main())
