"""The main methods one after the other: a talk, a search, an answer, a listing, the asynchronous twins."""

import asyncio
import os

from hindsight_client import Hindsight

URL = os.environ["HINDSIGHT_API_URL"]
client = Hindsight(base_url=URL)
bank = "methods"
client.retain(bank_id=bank, content="Alice joined Google in March 2024 as an engineer")
talk = "\nUser: What did you work on today?\nAssistant: I reviewed the pipeline.\nUser: How did it look?\nAssistant: Promising.\n"
client.retain(bank_id=bank, content=talk, context="Daily standup")
client.retain_batch(
    bank_id=bank, items=[{"content": "Bob prefers Python"}, {"content": "The team uses GitHub"}]
)
assert "Google" in client.recall(bank_id=bank, query="Where does Alice work?").results[0].text
client.recall(
    bank_id=bank, query="What happened last spring?", budget="high", max_tokens=8192, types=["world"]
)
told = client.recall(bank_id=bank, query="Tell me about Alice", include_entities=True, max_entity_tokens=500)
for entity in (told.entities or {}).values():
    assert entity.canonical_name
    assert entity.observations is not None
answer = client.reflect(bank_id=bank, query="Should we adopt TypeScript?")
assert answer.text
for fact in answer.based_on or []:
    assert fact
for unit in client.list_memories(bank_id=bank, limit=10).items:
    fields = unit if isinstance(unit, dict) else unit.to_dict()
    assert fields["fact_type"]
client.list_memories(bank_id=bank, type="world", limit=5)
assert client.list_memories(bank_id=bank, search_query="Alice", limit=10).items


async def twins() -> None:
    other = Hindsight(base_url=URL)
    await other.aretain(bank_id=bank, content="Carol likes the asynchronous half.")
    for result in (await other.arecall(bank_id=bank, query="What does Carol like?")).results:
        assert result.text
    assert (await other.areflect(bank_id=bank, query="What does Carol like?")).text
    await other.adelete_bank(bank)
    await other.aclose()


asyncio.run(twins())
print("passed")
