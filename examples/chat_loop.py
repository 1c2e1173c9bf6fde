"""A chat with memory: recall before the model answers, retain both turns afterwards.

    python examples/chat_loop.py chat.db

Type a line, read the reply; an empty line ends the chat. `answer` stands where your language model goes.
"""

from __future__ import annotations

import sys

from perdure import Perdure, RecallResult

BANK = "ann"


def answer(recalled: RecallResult, said: str) -> str:
    """What a model would say; it gets `recalled.to_prompt()` before what the user said. Here: the best fact, if any."""
    if not said.endswith("?"):
        return "Noted."
    return recalled.recollections[0].text if recalled.recollections else "I do not know."


def main(database: str) -> None:
    with Perdure.open(database) as memory:
        for line in sys.stdin:
            said = line.strip()
            if not said:
                break
            recalled = memory.recall(BANK, said, max_tokens=500)
            reply = answer(recalled, said)
            print(f"> {said}\n{reply}")
            turns = [
                {"role": "user", "name": "Ann", "content": said},
                {"role": "assistant", "content": reply},
            ]
            memory.retain(BANK, turns, document_id="chat", update_mode="append")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "chat.db")
