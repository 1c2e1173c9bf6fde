"""Mental models: making them, with an id, with a trigger; refreshing, clearing, changing, their history."""

import os
import time

from hindsight_client import Hindsight

client = Hindsight(base_url=os.environ["HINDSIGHT_API_URL"])
bank = "modelled"
client.create_bank(bank_id=bank, name="Models")
client.retain(bank_id=bank, content="The team prefers communication via Slack.")
client.retain(bank_id=bank, content="Weekly syncs happen every Monday at 10am.")
ask = "How does the team communicate?"
assert client.create_mental_model(bank_id=bank, name="Talk", source_query=ask, tags=["team"]).operation_id
client.create_mental_model(bank_id=bank, name="Policy", source_query=ask, id="policy")
trigger = {"mode": "delta", "refresh_cron": "0 3 * * *", "full_refresh_interval": "7d"}
client.create_mental_model(bank_id=bank, name="Status", source_query="What is the status?", trigger=trigger)
time.sleep(1)
assert {model.name for model in client.list_mental_models(bank_id=bank).items} == {"Talk", "Policy", "Status"}
assert client.get_mental_model(bank_id=bank, mental_model_id="policy").content
assert client.refresh_mental_model(bank_id=bank, mental_model_id="policy").operation_id
client.clear_mental_model(bank_id=bank, mental_model_id="policy")
client.refresh_mental_model(bank_id=bank, mental_model_id="policy")
changed = client.update_mental_model(
    bank_id=bank, mental_model_id="policy", name="New policy", trigger={"refresh_after_consolidation": True}
)
assert changed.name == "New policy"
for entry in client.get_mental_model_history(bank_id=bank, mental_model_id="policy"):
    assert entry["changed_at"]
client.delete_mental_model(bank_id=bank, mental_model_id="policy")
client.delete_bank(bank_id=bank)
print("passed")
