"""The plugin for opencode, run by Node with what opencode hands to it."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from perdure.contrib.assistants.install.hosts import Launch, opencode_plugin

PROGRAM = """#!/bin/sh
echo "$@" >> "$0.calls"
cat >> "$0.calls"
echo >> "$0.calls"
[ "$2" = prompt ] && printf '{"context": "Tilly"}'
[ "$2" = session-start ] && printf 'no JSON'
exit 0
"""
OPENCODE = """
import { Perdure } from "./perdure.mjs"
const messages = [{ info: { role: "assistant" }, parts: [{ type: "text", text: "Noted." }] }]
const client = { session: { messages: async () => ({ data: messages }) } }
const hooks = await Perdure({ client, directory: "/srv/app" })
await hooks["chat.message"]({ sessionID: "s1" }, { parts: [{ type: "text", text: "My dog?" }, { type: "file" }] })
const output = { system: ["You are."] }
await hooks["experimental.chat.system.transform"]({ sessionID: "s1" }, output)
await hooks["experimental.chat.system.transform"]({ sessionID: "s2" }, output)
await hooks.event({ event: { type: "session.idle", properties: { sessionID: "s1" } } })
await hooks.event({ event: { type: "session.updated", properties: {} } })
console.log(JSON.stringify(output.system))
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
@pytest.mark.parametrize("present", [True, False], ids=["program", "no program"])
def test_the_plugin_asks_the_hooks_and_adds_what_they_tell(tmp_path: Path, present: bool) -> None:
    program = tmp_path / 'my "perdure'
    if present:
        program.write_text(PROGRAM)
        program.chmod(0o755)
    (tmp_path / "perdure.mjs").write_text(opencode_plugin(Launch(program=str(program), folder="/m")))
    (tmp_path / "opencode.mjs").write_text(OPENCODE)
    done = subprocess.run(
        ["node", "opencode.mjs"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == (["You are.", "Tilly"] if present else ["You are."])
    if present:
        calls = Path(f"{program}.calls").read_text().splitlines()
        assert calls[::2] == [
            f"hook {event} --host opencode --folder /m" for event in ("session-start", "prompt", "stop")
        ]
        assert json.loads(calls[3]) == {"sessionID": "s1", "directory": "/srv/app", "prompt": "My dog?"}
        assert json.loads(calls[5])["last_assistant_message"] == "Noted."
