"""Banks: a name, a mission, a disposition; changing and deleting them."""

import os

import requests
from hindsight_client import Hindsight

URL = os.environ["HINDSIGHT_API_URL"]
client = Hindsight(base_url=URL)
traits = {"skepticism": 4, "literalism": 4, "empathy": 2}
created = client.create_bank(
    bank_id="architect", name="Architect", mission="Keep track of designs and decisions.", disposition=traits
)
assert created.disposition.skepticism == 4
client.create_bank(bank_id="support", mission="Keep track of customers and their issues.")
client.create_bank(bank_id="older", background="I am a careful advisor.", name="Older")
assert client.set_mission("support", "Keep track of issues.").mission == "Keep track of issues."
assert {bank["bank_id"] for bank in requests.get(f"{URL}/v1/default/banks").json()["banks"]} >= {
    "architect",
    "support",
}
assert requests.get(f"{URL}/v1/default/banks/architect/profile").json()["mission"].startswith("Keep track")
for bank in ("architect", "support", "older"):
    assert requests.delete(f"{URL}/v1/default/banks/{bank}").status_code == 200
client.close()
print("passed")
