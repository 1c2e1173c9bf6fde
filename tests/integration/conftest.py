"""An engine that needs no model files, and a client of its REST app in this process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from perdure import Perdure
from perdure.surfaces.rest.app import create_app
from tests.integration.rest_server import open_quick


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Perdure]:
    with open_quick(tmp_path) as engine:
        yield engine


@pytest.fixture
def client(engine: Perdure) -> Iterator[TestClient]:
    with TestClient(create_app(engine), base_url="http://localhost") as client:
        yield client
