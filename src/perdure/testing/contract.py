"""The contract of the Store port as tests.

A test module of an adapter derives from StoreContract and says how to make an empty store:

    class TestMyStore(StoreContract):
        @pytest.fixture
        def store(self, tmp_path):
            with closing(MyStore(tmp_path / "memory")) as store:
                yield store
"""

from __future__ import annotations

from perdure.testing.contract_filter import FilterContract
from perdure.testing.contract_listing import ListingContract
from perdure.testing.contract_rows import RowsContract
from perdure.testing.contract_search import SearchContract


class StoreContract(RowsContract, ListingContract, SearchContract, FilterContract):
    """Every behaviour of the port; derived classes give the fixture `store`."""


__all__ = ["StoreContract"]
