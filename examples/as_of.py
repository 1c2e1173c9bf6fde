"""What was true when: a move closes the old home, and both can still be asked for.

python examples/as_of.py
"""

from __future__ import annotations

from datetime import UTC, datetime
from tempfile import TemporaryDirectory

from perdure import AsOf, Perdure


def main() -> None:
    with TemporaryDirectory() as folder, Perdure.open(f"{folder}/memory.db") as memory:
        memory.retain("ann", "I live in Oslo.", speaker="Ann", timestamp="2025-01-10")
        memory.retain("ann", "I live in Lisbon now.", speaker="Ann", timestamp="2026-04-02")

        for fact in memory.facts.history("ann", "Ann", "lives_in"):
            until = f"{fact.valid_to:%Y-%m-%d}" if fact.valid_to else "now"
            print(f"{fact.object}: {fact.valid_from:%Y-%m-%d} to {until}")

        question = "Where does Ann live?"
        print("today:", memory.recall("ann", question).recollections[0].text)
        then = AsOf(valid=datetime(2025, 6, 1, tzinfo=UTC))
        print("in June 2025:", memory.recall("ann", question, as_of=then).recollections[0].text)


if __name__ == "__main__":
    main()
