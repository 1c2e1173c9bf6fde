"""Small files in the true form of each source, traps included: what other programs keep, written for the tests."""

from __future__ import annotations

import json
import sqlite3
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any


def written(path: Path, content: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def zipped(path: Path, members: dict[str, object]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content if isinstance(content, str) else json.dumps(content))
    return path


def lines(*values: object) -> str:
    return "\n".join(json.dumps(value) for value in values) + "\n"


def node(role: str, text: Any, parent: str | None, *children: str, **message: Any) -> dict[str, Any]:
    content = text if isinstance(text, dict) else {"content_type": "text", "parts": [text]}
    own = {
        "author": {"role": role},
        "content": content,
        "recipient": "all",
        "weight": 1.0,
        "metadata": {},
        **message,
    }
    return {"message": own, "parent": parent, "children": list(children)}


CHATGPT = {
    "id": "c-1",
    "conversation_id": "c-1",
    "title": "Moving to Porto",
    "create_time": 1709366400.25,
    "update_time": 1709366900.0,
    "current_node": "answer",
    "default_model_slug": "gpt-4o",
    "mapping": {
        "root": {"message": None, "parent": None, "children": ["hidden"]},
        "hidden": node(
            "system", "", "root", "context", metadata={"is_visually_hidden_from_conversation": True}
        ),
        "context": node(
            "user",
            {"content_type": "user_editable_context", "user_profile": "Prefers metric units."},
            "hidden",
            "first",
            "edited",
            metadata={"is_visually_hidden_from_conversation": True},
        ),
        "first": node("user", "I moved to Lisbon.", "context", "gone", create_time=1709366401.0),
        "gone": node("assistant", "Lisbon has hills.", "first", create_time=1709366402.0),
        "edited": node("user", "I moved to Porto last week.", "context", "call", create_time=1709366410.0),
        "call": node("assistant", "search('Porto')", "edited", "tool", recipient="browser"),
        "tool": node("tool", "Result: 12 pages", "call", "picture"),
        "picture": node(
            "user",
            {
                "content_type": "multimodal_text",
                "parts": [
                    {"content_type": "image_asset_pointer"},
                    "This is my flat, my cat Tom sleeps there.",
                ],
            },
            "tool",
            "answer",
            create_time=1709366500.0,
        ),
        "answer": node("assistant", "A lovely flat.", "picture"),
    },
}


def chatgpt(folder: Path) -> Path:
    empty = {"id": "c-2", "title": "New chat", "create_time": None, "mapping": {}, "current_node": None}
    return zipped(
        folder / "chatgpt.zip",
        {"conversations-000.json": [CHATGPT, empty], "export_manifest.json": {}, "user.json": {"id": "u"}},
    )


CLAUDE = {
    "uuid": "k-1",
    "name": "Garden",
    "created_at": "2024-04-01T08:00:00.000000Z",
    "updated_at": "2024-04-01T08:05:00.000000Z",
    "account": {"uuid": "a-1"},
    "chat_messages": [
        {
            "uuid": "m-1",
            "sender": "human",
            "text": "",
            "content": [{"type": "text", "text": "I planted tomatoes in my garden."}],
            "created_at": "2024-04-01T08:00:01Z",
            "attachments": [{"file_name": "plan.txt", "extracted_content": "The beds are four metres long."}],
            "files": [],
        },
        {
            "uuid": "m-2",
            "sender": "assistant",
            "text": "Good choice.\n```\nThis block is not supported on your current device yet.\n```",
            "content": [
                {"type": "thinking", "thinking": "The user gardens."},
                {"type": "tool_use", "name": "search", "input": {}},
                {"type": "text", "text": "Good choice."},
            ],
            "created_at": "2024-04-01T08:00:09Z",
            "attachments": [],
        },
    ],
}


def claude(folder: Path) -> Path:
    project = {
        "uuid": "p-1",
        "name": "Greenhouse",
        "created_at": "2024-03-01T08:00:00Z",
        "prompt_template": "Answer with Latin names.",
        "docs": [{"uuid": "d-1", "filename": "glass.md", "content": "The glass came from Murano.", "created_at": "2024-03-02T08:00:00Z"}],
    }  # fmt: skip
    memories = {
        "account_uuid": "a-1",
        "conversations_memory": "The user lives in Graz.",
        "project_memories": {"p-1": "The greenhouse is heated."},
    }
    return zipped(
        folder / "claude.zip",
        {
            "conversations.json": [CLAUDE],
            "projects.json": [project],
            "memories.json": [memories],
            "users.json": [],
        },
    )


def claude_code(folder: Path) -> Path:
    shared = {"sessionId": "s-1", "cwd": "/home/ines/harbour", "gitBranch": "main", "version": "2.1.0"}

    def entry(kind: str, content: Any, second: int, **more: Any) -> dict[str, Any]:
        message = {"role": kind, "content": content}
        return {
            **shared,
            "type": kind,
            "message": message,
            "timestamp": f"2026-05-01T10:00:{second:02}.000Z",
            **more,
        }

    written(
        folder / "projects" / "-home-ines-harbour" / "s-1.jsonl",
        lines(
            {"type": "summary", "summary": "Harbour map", "leafUuid": "x"},
            {"type": "file-history-snapshot", "messageId": "x"},
            entry("user", "Caveat: The messages below were generated by the user", 0, isMeta=True),
            entry("user", "<command-name>/clear</command-name>", 1),
            entry("user", "We deploy harbour with Nomad, never with Kubernetes.", 2),
            entry(
                "assistant",
                [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Understood."}],
                3,
            ),
            entry("assistant", [{"type": "tool_use", "name": "Bash", "input": {"command": "ls"}}], 4),
            entry("user", [{"type": "tool_result", "tool_use_id": "t", "content": "a.py"}], 5),
            entry("assistant", [{"type": "text", "text": "A side answer."}], 6, isSidechain=True),
            entry("user", "What follows continues an earlier conversation.", 7, isCompactSummary=True),
        )
        + '{"type": "user", "message": {"ro',
    )
    return folder / "projects"


def codex(folder: Path) -> Path:
    def item(role: str, kind: str, text: str, second: int) -> dict[str, Any]:
        payload = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
        return {
            "timestamp": f"2026-05-02T10:00:{second:02}.000Z",
            "type": "response_item",
            "payload": payload,
        }

    written(
        folder / "sessions" / "2026" / "05" / "02" / "rollout-2026-05-02T10-00-00-7.jsonl",
        lines(
            {"timestamp": "2026-05-02T10:00:00.000Z", "type": "session_meta", "payload": {"id": "7", "cwd": "/src/kite", "git": {"branch": "dev"}}},
            item("developer", "input_text", "You are Codex.", 1),
            item("user", "input_text", "<environment_context>\n<cwd>/src/kite</cwd>\n</environment_context>", 1),
            item("user", "input_text", "# AGENTS.md instructions for /src/kite\n\nUse tabs.", 1),
            item("user", "input_text", "Kite stores its tiles in DuckDB.", 2),
            {"timestamp": "2026-05-02T10:00:03.000Z", "type": "response_item", "payload": {"type": "reasoning", "summary": []}},
            {"timestamp": "2026-05-02T10:00:03.000Z", "type": "response_item", "payload": {"type": "function_call", "name": "shell", "arguments": "{}"}},
            {"timestamp": "2026-05-02T10:00:03.000Z", "type": "event_msg", "payload": {"type": "agent_message", "message": "I will look."}},
            item("assistant", "output_text", "I will use DuckDB.", 4),
        ),
    )  # fmt: skip
    return folder / "sessions"


def obsidian(folder: Path) -> Path:
    vault = folder / "vault"
    written(vault / ".obsidian" / "app.json", "{}")
    written(vault / ".trash" / "old.md", "I hate plums.")
    written(vault / "templates" / "daily.md", "{{date}} was a day.")
    written(
        vault / "2026-03-04.md",
        "Met [[Ann Reed|Ann]] about [[projects/Kite#Plans]].\n\n- [ ] call the bank\n\n![[photo.png]]\n\n"
        "```dataview\nLIST FROM #people\n```\n\n%% a private remark %% #work/kite\n",
    )
    written(
        vault / "Ann Reed.md",
        "---\naliases:\n  - Annie\ntags: [people, 'work']\ncreated: 2025-01-02\n---\nAnn Reed works at [[Lumen Labs]].\n",
    )
    written(vault / "Undated.md", "The kettle is blue.\n")
    return vault


def markdown(folder: Path) -> Path:
    written(
        folder / "notes" / "bread.md",
        "---\ntitle: Bread\ndate: 2024-02-03\n---\nMy sourdough needs two days.\n",
    )
    written(folder / "notes" / "code.md", "```python\nprint(1)\n```\n")
    return folder / "notes"


def basic_memory(folder: Path) -> Path:
    written(
        folder / "main" / "people" / "maya.md",
        "---\ntitle: Maya\ntype: person\ntags:\n- friends\npermalink: people/maya\ncreated: 2025-06-01\n---\n"
        "# Maya\n\nMaya and I met in Oslo.\n\n## Observations\n"
        "- [drink] prefers green tea #tea (told at lunch)\n- [ ] send her the book\n- [x] invite her\n- [00:00:11] hello there\n"
        "- [job] @effective[2025-01-01,2025-09-01) Maya leads the map team\n- [docs](https://example.org)\n\n"
        '## Relations\n- works_at [[Lumen Labs]]\n- "close friend of" [[Ann Reed]] (since school)\n- [[Oslo]]\n',
    )
    return folder / "main"


def server_memory(folder: Path) -> Path:
    return written(
        folder / "memory.jsonl",
        lines(
            {"type": "entity", "name": "John_Smith", "entityType": "person", "observations": ["Speaks fluent Spanish", "John Smith plays chess"]},
            {"type": "entity", "name": "Anthropic", "entityType": "organization", "observations": []},
            {"type": "relation", "from": "John_Smith", "to": "Anthropic", "relationType": "works_at"},
            {"type": "relation", "from_id": "John_Smith", "to_id": "Chess_Club", "relation_type": "member of"},
        ),
    )  # fmt: skip


MEM0 = {
    "results": [
        {
            "id": "m-1", "memory": "Lives in Berlin", "hash": "h", "metadata": {"mood": "calm"}, "created_at": "2024-01-05T10:00:00-08:00",
            "updated_at": "2024-06-01T10:00:00-07:00", "user_id": "alex", "categories": ["home"], "role": "user",
        },
        {
            "id": "m-2", "memory": "Has a voucher for the cinema", "hash": "h", "metadata": None, "created_at": "2024-02-05T10:00:00Z",
            "updated_at": None, "user_id": "alex", "expiration_date": "2024-03-01",
        },
        {"id": "m-3", "memory": "", "hash": "h", "user_id": "alex"},
    ]
}  # fmt: skip


def mem0(folder: Path) -> Path:
    home = folder / "mem0"
    written(home / "memories.json", MEM0)
    database = sqlite3.connect(home / "history.db")
    database.executescript(
        """
        create table history (id text primary key, memory_id text, old_memory text, new_memory text, event text,
            created_at datetime, updated_at datetime, is_deleted integer, actor_id text, role text);
        create table messages (id text primary key, session_scope text, role text, content text, name text, created_at datetime);
        insert into history values
            ('1', 'm-1', null, 'Lives in Bonn', 'ADD', '2024-01-05T18:00:00+00:00', null, 0, null, 'user'),
            ('2', 'm-1', 'Lives in Bonn', 'Lives in Berlin', 'UPDATE', '2024-01-05T18:00:00+00:00', '2024-06-01T17:00:00+00:00', 0, null, 'user'),
            ('3', 'm-9', null, 'Is allergic to nuts', 'ADD', '2024-01-06T18:00:00+00:00', null, 0, null, null),
            ('4', 'm-9', 'Is allergic to nuts', null, 'DELETE', '2024-01-06T18:00:00+00:00', '2024-02-01T00:00:00+00:00', 1, null, null),
            ('5', 'm-7', null, 'Sings in a choir', 'ADD', '2024-01-07T18:00:00+00:00', null, 0, 'Kim', 'user');
        insert into messages values ('a', 'user_id=alex', 'user', 'Hi', null, '2024-01-05');
        """
    )
    database.close()
    return home


HINDSIGHT_DOCUMENT = {
    "id": "meeting/1",
    "original_text": "Ann left the bakery because the rent rose. She now bakes at home.",
    "retain_params": {"context": "talk at the market", "event_date": "2024-05-01T09:00:00Z", "metadata": {"app": "stall"}},
    "tags": ["market"],
    "created_at": "2024-05-02T00:00:00Z",
    "chunks": [{"chunk_index": 0, "chunk_text": "Ann left the bakery because the rent rose. She now bakes at home."}],
    "facts": [
        {
            "text": "The rent of the bakery rose.", "fact_type": "world", "context": "talk", "occurred_start": "0001-01-01T00:00:00Z",
            "occurred_end": "9999-12-31T23:59:59Z", "mentioned_at": "2024-05-01T09:00:00Z", "metadata": {"k": "v"}, "tags": ["market"],
            "chunk_index": 0, "entities": ["bakery"], "causal_relations": [],
        },
        {
            "text": "Ann left the bakery.", "fact_type": "experience", "context": None, "occurred_start": "2024-04-20T00:00:00Z",
            "occurred_end": "2024-04-21T00:00:00Z", "mentioned_at": "2024-05-01T09:00:00Z", "metadata": {}, "tags": ["market"],
            "chunk_index": 0, "entities": ["Ann", "bakery"],
            "causal_relations": [{"relation_type": "caused_by", "target_fact_index": 0}],
        },
    ],
}  # fmt: skip


def hindsight(folder: Path) -> Path:
    return zipped(
        folder / "bank.zip",
        {
            "documents/000000.json": HINDSIGHT_DOCUMENT,
            "observations.json": [{"text": "Ann bakes.", "proof_count": 2, "sources": [{"document_id": "meeting/1", "fact_index": 1}]}],
            "banks.json": [{"bank_id": "market"}],
            "directives.json": [],
            "manifest.json": {"schema_version": 1, "source_bank_id": "market", "document_count": 1, "fact_count": 2, "archive_type": "bank"},
        },
    )  # fmt: skip


def graphiti(folder: Path) -> Path:
    people = [
        ("n-1", "Kendra", ["Entity", "Person"]),
        ("n-2", "Nimbus", ["Entity", "Company"]),
        ("n-3", "Adidas", ["Entity"]),
    ]
    return written(
        folder / "graph.json",
        {
            "episodes": [
                {"uuid": "e-1", "name": "chat 1", "group_id": "g", "content": "kendra: I joined Nimbus in March.", "source": "message", "source_description": "podcast", "valid_at": "2024-03-10T00:00:00Z", "created_at": "2024-09-01T00:00:00Z"},
            ],
            "nodes": [{"uuid": uuid, "name": name, "group_id": "g", "labels": labels, "summary": "", "name_embedding": [0.1]} for uuid, name, labels in people],
            "edges": [
                {"uuid": "r-1", "group_id": "g", "source_node_uuid": "n-1", "target_node_uuid": "n-2", "name": "WORKS_AT", "fact": "Kendra works at Nimbus", "episodes": ["e-1"], "valid_at": "2024-03-01T00:00:00Z", "invalid_at": "2024-08-01T00:00:00Z", "expired_at": "2024-09-02T00:00:00Z", "created_at": "2024-09-01T00:00:00Z", "fact_embedding": [0.5]},
                {"uuid": "r-2", "group_id": "g", "source_node_uuid": "n-1", "target_node_uuid": "n-3", "name": "LIKES", "fact": "Kendra likes Adidas shoes", "episodes": [], "valid_at": None, "invalid_at": None, "expired_at": None, "created_at": "2024-09-01T00:00:00Z"},
            ],
        },
    )  # fmt: skip


def letta(folder: Path) -> Path:
    call = {
        "id": "c",
        "function": {
            "name": "send_message",
            "arguments": json.dumps({"message": "Hello Sam, Rex is a fine name."}),
        },
    }
    return written(
        folder / "agent.af",
        {
            "agents": [{
                "id": "agent-0", "name": "Companion", "system": "You are kind.", "block_ids": ["block-0"],
                "messages": [
                    {"id": "message-0", "role": "system", "content": "You are kind.", "created_at": "2025-02-01T10:00:00Z"},
                    {"id": "message-1", "role": "user", "content": [{"type": "text", "text": json.dumps({"type": "login", "last_login": "never"})}], "created_at": "2025-02-01T10:00:01Z"},
                    {"id": "message-2", "role": "user", "content": [{"type": "text", "text": json.dumps({"type": "user_message", "message": "My dog is called Rex.", "time": "x"})}], "created_at": "2025-02-01T10:00:02Z"},
                    {"id": "message-3", "role": "assistant", "content": [{"type": "text", "text": "I should be friendly."}], "tool_calls": [call], "created_at": "2025-02-01T10:00:03Z"},
                    {"id": "message-4", "role": "tool", "content": "ok", "created_at": "2025-02-01T10:00:04Z"},
                ],
            }],
            "blocks": [{"id": "block-0", "label": "human", "value": "Sam likes sailing.", "description": "The human"}],
            "groups": [], "files": [], "sources": [], "tools": [], "mcp_servers": [], "metadata": {}, "created_at": "2025-02-02",
        },
    )  # fmt: skip


def mempalace(folder: Path) -> Path:
    home = folder / "mempalace"
    (home / "palace").mkdir(parents=True)
    chroma = sqlite3.connect(home / "palace" / "chroma.sqlite3")
    chroma.executescript(
        """
        create table collections (id text primary key, name text);
        create table segments (id text primary key, collection text);
        create table embeddings (id integer primary key, segment_id text, embedding_id text, seq_id blob, created_at timestamp);
        create table embedding_metadata (id integer, key text, string_value text, int_value integer, float_value real, bool_value integer);
        insert into collections values ('c', 'mempalace_drawers'), ('x', 'mempalace_closets');
        insert into segments values ('s', 'c'), ('t', 'x');
        insert into embeddings values (1, 's', 'drawer_a', null, null), (2, 's', 'drawer_b', null, null), (3, 't', 'closet', null, null);
        insert into embedding_metadata values
            (1, 'chroma:document', 'We chose Postgres for the ledger.', null, null, null), (1, 'wing', 'ledger', null, null, null),
            (1, 'room', 'decisions', null, null, null), (1, 'content_date', '2025-11-02', null, null, null),
            (1, 'content_date_source', 'body', null, null, null), (1, 'chunk_index', null, 0, null, null),
            (1, 'filed_at', '2026-01-05T10:00:00', null, null, null),
            (2, 'chroma:document', 'The ledger closes at noon.', null, null, null), (2, 'wing', 'ledger', null, null, null),
            (2, 'room', 'rules', null, null, null), (2, 'content_date', '2026-01-01', null, null, null),
            (2, 'content_date_source', 'mtime', null, null, null),
            (3, 'chroma:document', 'An index entry.', null, null, null);
        """
    )
    chroma.close()
    graph = sqlite3.connect(home / "knowledge_graph.sqlite3")
    graph.executescript(
        """
        create table entities (id text primary key, name text not null, type text default 'unknown', properties text, created_at text);
        create table triples (id text primary key, subject text, predicate text, object text, valid_from text, valid_to text,
            confidence real default 1.0, source_closet text, source_file text, source_drawer_id text, adapter_name text, extracted_at text);
        insert into entities values ('max', 'Max', 'person', '{}', ''), ('swimming', 'swimming', 'unknown', '{}', '');
        insert into triples values ('t', 'max', 'does', 'swimming', '2025-01-01', '2025-06-30', 0.8, null, 'log.md', null, null, '2026-01-01');
        """
    )
    graph.close()
    return home


def whatsapp(folder: Path) -> Path:
    return zipped(
        folder / "WhatsApp Chat - Ben.zip",
        {
            "_chat.txt": "[31.01.24, 09:12:45] Ben: \u200eMessages and calls are end-to-end encrypted. No one outside can read them.\n"
            "[31.01.24, 09:13:01] Ben: I bought a red canoe.\nIt leaks a little.\n"
            "[31.01.24, 09:14:00] Ines: \u200eimage omitted\n"
            "[01.02.24, 18:00:00] Ines: I moved to Aveiro yesterday.\n"
        },
    )


def slack(folder: Path) -> Path:
    export = folder / "slack"
    written(
        export / "users.json",
        [{"id": "U1", "name": "ann", "profile": {"real_name": "Ann Reed", "display_name": "annie"}}],
    )
    written(export / "channels.json", [{"id": "C1", "name": "harbour", "members": ["U1"]}])
    written(
        export / "harbour" / "2026-02-03.json",
        [
            {"type": "message", "subtype": "channel_join", "user": "U1", "text": "<@U1> has joined the channel", "ts": "1770109200.000100"},
            {"type": "message", "user": "U1", "text": "The crane &amp; the quay are rented until June, see <https://x.example/doc|the lease> in <#C1|harbour>.", "ts": "1770109300.000200"},
            {"type": "message", "subtype": "bot_message", "bot_id": "B1", "text": "Build passed", "ts": "1770109400.000300"},
        ],
    )  # fmt: skip
    return export


def mbox(folder: Path) -> Path:
    return written(
        folder / "All mail.mbox",
        "From 1@xxx Mon Mar 04 10:00:00 +0000 2024\n"
        "Message-ID: <a@x.example>\nFrom: Ann Reed <ann@x.example>\nTo: Ines <ines@x.example>\n"
        "Date: Mon, 4 Mar 2024 10:00:00 +0000\nSubject: The boat\nContent-Type: text/plain; charset=utf-8\n\n"
        "I sold the boat to Carl.\n>From now on I row.\n\nOn Sun, 3 Mar 2024 Ines wrote:\n> Is the boat still yours?\n\n-- \nAnn\n\n"
        "From 2@xxx Mon Mar 05 10:00:00 +0000 2024\n"
        "Message-ID: <b@x.example>\nFrom: Win <win@spam.example>\nX-Gmail-Labels: Spam,Unread\nSubject: Win\n\nYou won.\n\n"
        "From 3@xxx Mon Mar 06 10:00:00 +0000 2024\n"
        "Message-ID: <c@x.example>\nFrom: Carl <carl@x.example>\nDate: Wed, 6 Mar 2024 10:00:00 +0000\nSubject: Paint\n"
        "Content-Type: text/html; charset=utf-8\n\n<html><body><p>I painted the boat green.</p></body></html>\n",
    )


SAMPLES: dict[str, Callable[[Path], Path]] = {
    "chatgpt": chatgpt, "claude": claude, "claude-code": claude_code, "codex": codex, "obsidian": obsidian, "markdown": markdown,
    "basic-memory": basic_memory, "server-memory": server_memory, "mem0": mem0, "hindsight": hindsight, "graphiti": graphiti,
    "letta": letta, "mempalace": mempalace, "whatsapp": whatsapp, "slack": slack, "mbox": mbox,
}  # fmt: skip
