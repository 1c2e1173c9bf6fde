"""The standard tests of `langchain-tests` for retrievers and tools, on ours.

Those for vector stores, embeddings, caches and key-value stores of bytes have nothing of ours to run on: a question goes to a
memory, not to a vector or a key.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import BaseTool
from langchain_tests.integration_tests import RetrieversIntegrationTests, ToolsIntegrationTests
from langchain_tests.unit_tests import ToolsUnitTests

from perdure import Perdure
from perdure.contrib.frameworks.langchain import PerdureRetriever, perdure_tools
from tests.contrib.frameworks.checklist import BANK, FACT, QUESTION


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Perdure]:
    with Perdure.open(tmp_path / "m.db", embedder="hashing", reranker="none", tagger="rules") as opened:
        yield opened


class TestRetriever(RetrieversIntegrationTests):
    @pytest.fixture(autouse=True)
    def filled(self, memory: Perdure) -> None:
        for place in ("Lisbon", "Oslo", "Madrid", "Paris", "Rome"):
            memory.retain(BANK, f"Ann visited {place}.")
        type(self).opened = memory

    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return PerdureRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"memory": type(self).opened, "bank": BANK}

    @property
    def retriever_query_example(self) -> str:
        return "Which places has Ann visited?"


class ToolSuite:
    name = ""
    example: dict[str, Any] = {}

    @pytest.fixture(autouse=True)
    def opened(self, memory: Perdure) -> None:
        type(self).memory = memory

    @property
    def tool_constructor(self) -> BaseTool:
        return next(one for one in perdure_tools(type(self).memory, BANK) if one.name == self.name)

    @property
    def tool_invoke_params_example(self) -> dict[str, Any]:
        return self.example


for tool_name, argument in (("retain", FACT), ("recall", QUESTION), ("reflect", QUESTION), ("forget", "id")):
    arguments = {"retain": "content", "recall": "query", "reflect": "question", "forget": "fact_id"}
    fields = {"name": tool_name, "example": {arguments[tool_name]: argument}}
    for suite in (ToolsUnitTests, ToolsIntegrationTests):
        title = f"Test{tool_name.title()}{suite.__name__}"
        globals()[title] = type(title, (ToolSuite, suite), fields)
del suite
