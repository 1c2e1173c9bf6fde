"""A bank's configuration: strategies of retain, reading it back, resetting it."""

import os

from hindsight_client import Hindsight

client = Hindsight(base_url=os.environ["HINDSIGHT_API_URL"])
bank = "configured"
client.create_bank(bank_id=bank)
strategies = {
    "talks": {"retain_extraction_mode": "concise", "retain_chunk_size": 3000},
    "papers": {"retain_extraction_mode": "chunks", "retain_chunk_size": 800, "entity_labels": None},
}
client.update_bank_config(bank, retain_default_strategy="talks", retain_strategies=strategies)
assert client.get_bank_config(bank)["overrides"]["retain_default_strategy"] == "talks"
client.retain_batch(bank, items=[{"content": "Alice joined the team today"}])
client.retain_batch(bank, items=[{"content": "The paper is about bees.", "strategy": "papers"}])
client.update_bank_config(bank, audit_log_enabled=True)
assert client.reset_bank_config(bank)["overrides"] == {}
client.delete_bank(bank)
client.close()
print("passed")
