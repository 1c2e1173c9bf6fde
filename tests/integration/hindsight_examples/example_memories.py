"""Memories: one id through an edit of its text, of its fields, an invalidation and a restoration."""

import asyncio
import os

from hindsight_client import Hindsight
from hindsight_client_api.models.update_memory_request import UpdateMemoryRequest

bank = "remembered"


async def main() -> None:
    client = Hindsight(base_url=os.environ["HINDSIGHT_API_URL"])
    await client.acreate_bank(bank_id=bank, name="Memories")
    await client.aretain(bank_id=bank, content="The assistant visited Paris in 2023.")
    await client.aretain(bank_id=bank, content="The server srv-04 runs PostgreSQL 14.")
    listed = (await client.memory.list_memories(bank_id=bank)).items
    units = [unit if isinstance(unit, dict) else unit.to_dict() for unit in listed]
    assert (await client.memory.list_memories(bank_id=bank, state="invalidated")).items == []
    first = next(unit for unit in units if "Paris" in unit["text"])["id"]

    async def change(**fields: object) -> dict:
        request = UpdateMemoryRequest(**fields)
        return await client.memory.update_memory(bank_id=bank, memory_id=first, update_memory_request=request)

    await change(text="The user visited Paris in 2023.", reason="wrong subject")
    assert (await client.memory.get_memory(bank_id=bank, memory_id=first))[
        "text"
    ] == "The user visited Paris in 2023."
    edited = await change(occurred_start="2023-06-01", fact_type="experience", entities=["Alice", "Paris"])
    assert (edited["type"], set(edited["entities"])) == ("experience", {"Alice", "Paris"})
    assert (await change(state="invalidated", reason="never happened"))["state"] == "invalidated"
    gone = (await client.memory.list_memories(bank_id=bank, state="invalidated")).items
    texts = {unit["text"] if isinstance(unit, dict) else unit.text for unit in gone}
    assert "The user visited Paris in 2023." in texts
    assert (await change(state="valid"))["state"] == "valid"
    assert (await client.memory.get_memory(bank_id=bank, memory_id=first))[
        "text"
    ] == "The user visited Paris in 2023."
    await client.adelete_bank(bank_id=bank)
    await client.aclose()


asyncio.run(main())
print("passed")
