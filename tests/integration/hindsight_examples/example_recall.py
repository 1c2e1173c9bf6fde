"""Recall: types, budgets, tags, entities, chunks."""

import os

from hindsight_client import Hindsight

client = Hindsight(base_url=os.environ["HINDSIGHT_API_URL"])
bank = "recalled"
client.retain(bank_id=bank, content="Alice works at Google as a software engineer", tags=["user:alice"])
client.retain(bank_id=bank, content="Alice loves hiking on weekends")
client.retain(
    bank_id=bank, content="Bob is a data scientist who works with Alice", tags=["user:alice", "team"]
)
assert client.recall(bank_id=bank, query="What does Alice do?").results[0].text
full = client.recall(
    bank_id=bank,
    query="What does Alice do?",
    types=["world", "experience"],
    budget="high",
    max_tokens=8000,
    trace=True,
)
assert full.trace
for kind in ("world", "experience", "observation", "opinion"):
    client.recall(bank_id=bank, query="What have I learned?", types=[kind])
client.recall(bank_id=bank, query="Which languages?", types=["world", "experience", "observation"])
assert client.recall(bank_id=bank, query="Alice", max_tokens=500).results
assert client.recall(bank_id=bank, query="Alice's hobby", budget="low").results
assert len(client.recall(bank_id=bank, query="Alice", tags=["user:alice"], tags_match="any").results) == 3
assert (
    len(client.recall(bank_id=bank, query="Alice", tags=["user:alice"], tags_match="any_strict").results) == 2
)
assert (
    len(
        client.recall(bank_id=bank, query="Bob", tags=["user:alice", "team"], tags_match="all_strict").results
    )
    == 1
)
with_entities = client.recall(
    bank_id=bank, query="Who is Alice?", include_entities=True, max_entity_tokens=500
)
assert "Alice" in {entity.canonical_name for entity in with_entities.entities.values()}
read = client.recall(bank_id=bank, query="Who is Alice?", include_chunks=True, max_chunk_tokens=500)
assert read.chunks[read.results[0].chunk_id].text
client.delete_bank(bank)
print("passed")
