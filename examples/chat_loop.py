"""A chat with memory: memory.prompt before the model is called, retain both turns afterwards.

    python examples/chat_loop.py chat.db

Type a line, read the reply; an empty line ends the chat. `answer` stands where your language model goes.
"""

from __future__ import annotations

import sys

from perdure import Perdure

BANK = "ann"


def answer(message: str) -> str:
    """Return what a model would say to the message. Here: the nearest remembered line, if any."""
    if not message.endswith("?"):
        return "Noted."
    return next((line for line in message.splitlines() if line.startswith("[1]")), "I do not know.")


def main(database: str) -> None:
    with Perdure.open(database) as memory:
        for line in sys.stdin:
            said = line.strip()
            if not said:
                break
            remembered = memory.prompt(BANK, said, max_tokens=500)
            reply = answer(f"{remembered}\n\n{said}" if remembered else said)
            print(f"> {said}\n{reply}")
            turns = [
                {"role": "user", "name": "Ann", "content": said},
                {"role": "assistant", "content": reply},
            ]
            memory.retain(BANK, turns, document_id="chat", update_mode="append")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "chat.db")
