"""Operations: listing, waiting, the payload, cancelling and trying again."""

import asyncio
import os

from hindsight_client import Hindsight
from hindsight_client_api.exceptions import ApiException

bank = "worked"


async def main() -> None:
    client = Hindsight(base_url=os.environ["HINDSIGHT_API_URL"])
    await client.aretain(bank_id=bank, content="Alice joined Google in 2023")
    items = [{"content": "Alice joined Google in 2023"}, {"content": "Bob prefers Python"}]
    work = await client.aretain_batch(bank_id=bank, items=items, retain_async=True)
    while True:
        status = await client.operations.get_operation_status(bank, work.operation_id)
        if status.status in ("completed", "failed", "cancelled"):
            break
        await asyncio.sleep(0.1)
    assert (status.status, status.error_message) == ("completed", None)
    listed = await client.operations.list_operations(bank)
    assert [(one.id, one.status) for one in listed.operations] == [(work.operation_id, "completed")]
    assert (
        await client.operations.list_operations(bank, status="pending", type="graph_maintenance")
    ).operations == []
    assert (await client.operations.list_operations(bank, exclude_parents=True)).total == 1
    await client.operations.get_operation_status(bank, work.operation_id, include_payload=True)
    for call in (client.operations.cancel_operation, client.operations.retry_operation):
        code = 0
        try:
            await call(bank, work.operation_id)
        except ApiException as error:
            code = error.status
        assert code == 409
    await client.adelete_bank(bank_id=bank)
    await client.aclose()


asyncio.run(main())
print("passed")
