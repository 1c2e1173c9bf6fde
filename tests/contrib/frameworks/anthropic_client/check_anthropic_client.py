"""The tests of the default suite, for the versions that `suite.toml` pins."""

from tests.contrib.frameworks.anthropic_client.test_anthropic_client import *  # noqa: F403
