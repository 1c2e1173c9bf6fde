"""An agent of LangChain that remembers its user from one thread to the next; lines marked `memory` are all that adds it.

The model is LangChain's own fake; put `create_agent("openai:...")` in its place.
The deadline is long so that this runs on a busy machine too: leave it out.
"""

from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from perdure import Perdure  # memory
from perdure.contrib.frameworks.agent_memory import bank_of  # memory
from perdure.contrib.frameworks.langchain import PerdureMiddleware  # memory
from perdure.contrib.frameworks.langgraph import PerdureStore

requests: list[list[BaseMessage]] = []


class NotingModel(GenericFakeChatModel):
    """Answers "Noted." and keeps what it was sent."""

    def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> Any:
        requests.append(messages)
        return super()._generate(messages, *args, **options)


with Perdure.open("memory.db") as memory:  # memory
    middleware = PerdureMiddleware(memory, bank_of("shop", "ann"), deadline=60.0)  # memory
    agent = create_agent(
        NotingModel(messages=iter([AIMessage("Noted.")] * 2)),
        middleware=[middleware],  # memory
        checkpointer=InMemorySaver(),
    )
    for thread, said in (("monday", "I am allergic to walnuts."), ("friday", "What am I allergic to?")):
        agent.invoke({"messages": [HumanMessage(said)]}, {"configurable": {"thread_id": thread}})
        for operation in memory.operations.list("shop.ann"):  # a server would just go on
            memory.operations.get("shop.ann", operation.id, wait=120)

    for message in requests[-1]:
        print(f"{message.type}: {message.content}")
    assert "walnuts" in str(requests[-1][0].content)

    # A store of values that are found by meaning, for `create_agent(..., store=store)` and LangMem's tools.
    store = PerdureStore(memory, "shop-store", bank_labels=1)
    store.put(("ann", "facts"), "home", {"content": "Ann lives in Lisbon, near the river."})
    [best] = store.search(("ann",), query="Where does Ann live?", limit=1)
    print(best.key, best.value)
    assert best.key == "home"
