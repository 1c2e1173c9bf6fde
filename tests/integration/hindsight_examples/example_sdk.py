"""The client itself: a timeout, the version and its features, a context manager, helpers of every kind."""

import os
from datetime import datetime

from hindsight_client import Hindsight

URL = os.environ["HINDSIGHT_API_URL"]
client = Hindsight(base_url=URL, timeout=30.0)
bank = "sdk"
client.retain(bank_id=bank, content="Alice works at Google")
client.create_bank(bank_id=bank, name="Test")
assert client.list_mental_models(bank_id=bank).items == []
assert client.list_directives(bank_id=bank).items == []
version = client.get_version()
assert version.api_version
if not version.features.mcp:
    raise RuntimeError("the server has no MCP endpoint")
client.retain(
    bank_id=bank, content="Alice got promoted", context="career", timestamp=datetime(2024, 1, 15),
    document_id="talk_1", metadata={"source": "slack"}, retain_async=False,
)  # fmt: skip
client.retain_batch(
    bank_id=bank,
    items=[{"content": "Alice works at Google", "context": "career"}, {"content": "Bob is a data scientist"}],
    document_id="talk_1",
    retain_async=False,
)
for result in client.recall(
    bank_id=bank, query="What does Alice do?", types=["world", "observation"]
).results:
    assert result.type
assert client.reflect(
    bank_id=bank, query="What should I know about Alice?", budget="low", context="a meeting"
).text
traits = {"skepticism": 3, "literalism": 3, "empathy": 3}
client.create_bank(bank_id=bank, name="Assistant", mission="Keep track of preferences.", disposition=traits)
client.list_memories(bank_id=bank, type="world", search_query="Alice", limit=100, offset=0)
assert client.clone_bank(bank, "sdk-copy")
archive = client.export_bank(bank, poll_interval=0.05)
assert archive[:2] == b"PK"
client.close()
with Hindsight(base_url=URL) as again:
    assert again.recall(bank_id="sdk-copy", query="Where does Alice work?").results
    again.delete_bank("sdk-copy")
    again.delete_bank(bank)
print("passed")
