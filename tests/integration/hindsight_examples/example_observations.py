"""Consolidation: of some scopes, of all; clearing observations."""

import asyncio
import os

from hindsight_client import Hindsight
from hindsight_client_api.models.consolidation_request import ConsolidationRequest

bank = "observed"


async def main() -> None:
    client = Hindsight(base_url=os.environ["HINDSIGHT_API_URL"])
    await client.acreate_bank(bank_id=bank)
    await client.aretain(bank_id=bank, content="Alice prefers dark mode.", tags=["user:alice"])
    await client.aretain(bank_id=bank, content="The team ships on Fridays.", tags=["team"])
    for scopes in ([["user:alice"]], [["user:alice"], ["team"]]):
        request = ConsolidationRequest(observation_scopes=scopes)
        assert (
            await client.banks.trigger_consolidation(bank_id=bank, consolidation_request=request)
        ).operation_id
    assert (await client.banks.clear_observations(bank_id=bank)).success
    await client.adelete_bank(bank_id=bank)
    await client.aclose()


asyncio.run(main())
print("passed")
