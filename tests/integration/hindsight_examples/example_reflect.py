"""Reflect: budget, context, disposition, sources, a schema."""

import os

from hindsight_client import Hindsight

client = Hindsight(base_url=os.environ["HINDSIGHT_API_URL"])
bank = "reflected"
client.retain(bank_id=bank, content="Alice works at Google as a software engineer")
client.retain(bank_id=bank, content="Alice recently got promoted to senior engineer")
assert client.reflect(bank_id=bank, query="What should I know about Alice?").text
client.reflect(
    bank_id=bank, query="What about remote work?", budget="mid", context="We consider a hybrid policy"
)
client.create_bank(
    bank_id="cautious", name="Cautious", disposition={"skepticism": 5, "literalism": 4, "empathy": 2}
)
assert client.reflect(bank_id="cautious", query="Should I invest in crypto?").text
told = client.reflect(bank_id=bank, query="Where does Alice work?", include_facts=True)
assert any("Google" in fact.text for fact in told.based_on.memories)
schema = {"type": "object", "properties": {"employer": {"type": "string"}}}
assert "employer" in (
    client.reflect(bank_id=bank, query="Where does Alice work?", response_schema=schema).structured_output
    or {"employer": None}
)
client.reflect(bank_id=bank, query="Where does Alice work?", tags=["team"], tags_match="any")
client.delete_bank(bank)
client.delete_bank("cautious")
print("passed")
