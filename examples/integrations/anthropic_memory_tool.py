"""Claude's memory tool kept in Perdure; lines marked `memory` are all that adds it.

Without a key there is no Claude, so its calls are made here as the tool runner makes them:
`Anthropic().beta.messages.tool_runner(model=..., max_tokens=..., messages=..., tools=[tool])`.
"""

from perdure import Perdure  # memory
from perdure.contrib.frameworks.agent_memory import bank_of  # memory
from perdure.contrib.frameworks.anthropic_memory import PerdureMemoryTool  # memory

with Perdure.open("memory.db") as memory:  # memory
    bank = bank_of("shop", "ann")  # memory
    tool = PerdureMemoryTool(memory, bank)  # memory

    note = "Ann is allergic to walnuts.\n"
    print(tool.call({"command": "create", "path": "/memories/ann.md", "file_text": note}))
    for operation in memory.operations.list(bank):  # a server would just go on
        memory.operations.get(bank, operation.id, wait=120)

    # A later conversation: Claude reads its folder first, and finds what memory recalls for the question.
    tool.ask("What is Ann allergic to?")  # memory
    print(tool.call({"command": "view", "path": "/memories"}))
    recalled = str(tool.call({"command": "view", "path": "/memories/recalled.md"}))
    print(recalled)
    assert "walnuts" in recalled

    print(tool.call({"command": "delete", "path": "/memories/ann.md"}))
    assert not memory.recall(bank, "What is Ann allergic to?").recollections
