"""Names of OpenTelemetry's GenAI conventions for memory operations and model calls, all of them, once.

Source: open-telemetry/semantic-conventions-genai, stability "development"; no package has them as constants.
"""

from __future__ import annotations

from collections.abc import Mapping

from perdure.ports.telemetry import MemoryOperation

SCHEMA_URL = "https://opentelemetry.io/schemas/gen-ai-dev/1.42.0-dev"
SCOPE = "perdure"

OPERATION_NAME = "gen_ai.operation.name"
STORE_ID = "gen_ai.memory.store.id"
RECORD_ID = "gen_ai.memory.record.id"
RECORD_COUNT = "gen_ai.memory.record.count"
QUERY_TEXT = "gen_ai.memory.query.text"
"""Content: only where asked for."""
RECORDS = "gen_ai.memory.records"
"""Content: only where asked for. A JSON array of objects with content, id and score."""
ERROR_TYPE = "error.type"
SERVER_ADDRESS = "server.address"
SERVER_PORT = "server.port"
PROVIDER_NAME = "gen_ai.provider.name"
PERDURE = "perdure"
"""The provider of memory operations."""
PROVIDERS: Mapping[str, str] = {
    "google": "gcp.gemini",
    "google-gla": "gcp.gemini",
    "google-vertex": "gcp.vertex_ai",
    "bedrock": "aws.bedrock",
    "azure": "azure.ai.openai",
    "mistral": "mistral_ai",
    "grok": "x_ai",
    "openai-responses": "openai",
    "openai-chat": "openai",
}
"""Providers of language models that the conventions name otherwise than the setting `llm` does."""
REQUEST_MODEL = "gen_ai.request.model"
RESPONSE_MODEL = "gen_ai.response.model"
INPUT_TOKENS = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
TOKEN_TYPE = "gen_ai.token.type"

OPERATIONS: Mapping[MemoryOperation, str] = {
    MemoryOperation.RETAIN: "upsert_memory",
    MemoryOperation.UPDATE: "update_memory",
    MemoryOperation.RECALL: "search_memory",
    MemoryOperation.REFLECT: "perdure.reflect",
    MemoryOperation.FORGET: "delete_memory",
    MemoryOperation.FORGET_BANK: "delete_memory_store",
    MemoryOperation.CREATE_BANK: "create_memory_store",
}
"""`perdure.reflect` is our own: the conventions have no name for an answer from memory."""
CHAT = "chat"

OPERATION_DURATION = "gen_ai.client.operation.duration"
TOKEN_USAGE = "gen_ai.client.token.usage"
DURATION_BUCKETS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
TOKEN_BUCKETS = (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864)
"""Boundaries that the conventions recommend."""
