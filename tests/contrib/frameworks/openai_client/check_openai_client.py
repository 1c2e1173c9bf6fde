"""The tests of the default suite, for the versions that `suite.toml` pins."""

from tests.contrib.frameworks.openai_client.test_openai_client import *  # noqa: F403
