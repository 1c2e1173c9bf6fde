"""Documents: replacing one, listing, reading, tags, history, reading anew, deleting."""

import asyncio
import os

from hindsight_client import Hindsight
from hindsight_client_api import ApiClient, Configuration
from hindsight_client_api.api import DocumentsApi
from hindsight_client_api.models import UpdateDocumentRequest

URL = os.environ["HINDSIGHT_API_URL"]
client = Hindsight(base_url=URL)
bank = "documented"
client.retain(bank_id=bank, content="Alice presented the roadmap.", document_id="meeting-1")
client.retain_batch(
    bank_id=bank,
    items=[
        {"content": "The launch is delayed to June.", "document_id": "meeting-1-a"},
        {"content": "The budget is approved.", "document_id": "meeting-1-b"},
    ],
)
client.retain(bank_id=bank, content="The deadline is March 31.", document_id="plan")
client.retain(bank_id=bank, content="The deadline is April 15.", document_id="plan")


async def main() -> None:
    api = DocumentsApi(ApiClient(Configuration(host=URL)))
    assert (await api.list_documents(bank_id=bank)).total == 4
    assert (await api.list_documents(bank_id=bank, q="meeting")).total == 3
    assert (await api.list_documents(bank_id=bank, tags=["team-a"], tags_match="any_strict")).total == 0
    assert (await api.list_documents(bank_id=bank, limit=20, offset=40)).items == []
    one = await api.get_document(bank_id=bank, document_id="plan")
    assert (one.original_text, one.memory_unit_count) == ("The deadline is April 15.", 1)
    change = UpdateDocumentRequest(tags=["team-a"])
    assert (
        await api.update_document(bank_id=bank, document_id="plan", update_document_request=change)
    ).success
    assert (await api.list_documents(bank_id=bank, tags=["team-a"], tags_match="all_strict")).total == 1
    history = await api.get_document_history(bank_id=bank, document_id="plan")
    assert [event.kind for event in history.items] == ["retain", "retain"]
    assert (await api.reprocess_document(bank_id=bank, document_id="plan")).success
    assert (await api.delete_document(bank_id=bank, document_id="meeting-1")).memory_units_deleted == 1


asyncio.run(main())
Hindsight(base_url=URL).delete_bank(bank)
print("passed")
