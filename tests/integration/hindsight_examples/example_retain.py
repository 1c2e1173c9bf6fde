"""Retain: one text, batches, in the background, with tags, with files."""

import os
from pathlib import Path

import requests
from hindsight_client import Hindsight

URL = os.environ["HINDSIGHT_API_URL"]
client = Hindsight(base_url=URL)
bank = "retained"
client.retain(bank_id=bank, content="Alice works at Google as a software engineer")
client.retain(bank_id=bank, content="Alice was promoted", context="career", timestamp="2024-03-15T10:00:00Z")
client.retain_batch(
    bank_id=bank,
    items=[
        {"content": "Bob is a data scientist at Meta", "context": "career", "document_id": "talk_1"},
        {"content": "Alice and Bob are friends", "context": "friends", "document_id": "talk_2"},
    ],
)
later = client.retain_batch(
    bank_id=bank, items=[{"content": "One of many", "document_id": "many"}], retain_async=True
)
assert later.var_async is True
client.retain_batch(
    bank_id=bank,
    items=[
        {
            "content": "Alice loves the new dashboard",
            "tags": ["user:alice", "feedback"],
            "document_id": "feedback_1",
        },
        {
            "content": "Bob reported a bug in the search",
            "tags": ["user:bob", "bug"],
            "document_id": "feedback_2",
        },
    ],
)
client.retain_batch(
    bank_id=bank,
    items=[{"content": "Alice prefers dark mode"}, {"content": "Bob asked about keyboard shortcuts"}],
    document_id="session_123",
    document_tags=["session:123"],
)
Path("report.html").write_text("<h1>Report</h1><p>Sales rose by four percent.</p>")
Path("notes.txt").write_text("Carol leads the meeting.")
assert client.retain_files(bank_id=bank, files=["report.html"], context="quarterly report").operation_ids
many = client.retain_files(
    bank_id=bank,
    files=["report.html", "notes.txt"],
    files_metadata=[
        {"context": "report", "document_id": "q1-report"},
        {"context": "notes", "document_id": "q1-notes"},
    ],
)
assert len(many.operation_ids) == 2
tags = requests.get(f"{URL}/v1/default/banks/{bank}/tags").json()["items"]
assert {"user:alice", "session:123"} <= {tag["tag"] for tag in tags}
users = requests.get(f"{URL}/v1/default/banks/{bank}/tags", params={"q": "user:*"}).json()["items"]
assert {tag["tag"] for tag in users} == {"user:alice", "user:bob"}
requests.delete(f"{URL}/v1/default/banks/{bank}")
print("passed")
