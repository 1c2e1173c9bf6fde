"""Retain, recall and reflect through the tools of one of Hindsight's adapters for agent frameworks, against a running server.

Run in an environment that has the adapter: `python hindsight_adapter_tools.py URL MODULE BANK`, such as
`python hindsight_adapter_tools.py http://localhost:8888 hindsight_langgraph tried`. Ends with WORKS or FAILS.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

INNER = ("func", "function", "_tool_func", "entrypoint")
"""Where tools keep the function that they wrap."""
THREAD = ThreadPoolExecutor(1)
"""One for all calls: the blocking client is bound to the thread that used it first."""


async def use(tool: Any, value: str) -> str:
    """Call a tool the way its framework does."""
    name = "content" if "retain" in name_of(tool) else "query"
    if hasattr(tool, "on_invoke_tool"):  # OpenAI Agents
        from agents.tool_context import ToolContext

        arguments = json.dumps({name: value})
        context = ToolContext(context=None, tool_name=tool.name, tool_call_id="1", tool_arguments=arguments)
        return str(await tool.on_invoke_tool(context, arguments))
    if hasattr(tool, "acall"):  # LlamaIndex
        return str(await tool.acall(value))
    if hasattr(tool, "ainvoke"):  # LangChain
        return str(await tool.ainvoke({name: value}))
    function = next((getattr(tool, inner) for inner in INNER if callable(getattr(tool, inner, None))), tool)
    if "run_context" in inspect.signature(function).parameters:  # Agno
        from agno.run import RunContext

        context = RunContext(run_id="1", session_id="1")
        return str(await asyncio.get_running_loop().run_in_executor(THREAD, function, context, value))
    if inspect.iscoroutinefunction(function):
        return str(await function(value))
    answer = await asyncio.get_running_loop().run_in_executor(THREAD, function, value)
    return str(await answer if inspect.isawaitable(answer) else answer)


def name_of(tool: Any) -> str:
    metadata = getattr(tool, "metadata", None)
    for owner, attribute in ((tool, "name"), (metadata, "name"), (tool, "tool_name"), (tool, "__name__")):
        if getattr(owner, attribute, None):
            return str(getattr(owner, attribute))
    return str(tool)


def tools_of(adapter: Any, url: str, bank: str) -> dict[str, Any]:
    if hasattr(adapter, "HindsightTools"):  # Agno
        kit = adapter.HindsightTools(bank_id=bank, hindsight_api_url=url)
        return dict(kit.functions or kit.async_functions)
    options: dict[str, Any] = {"bank_id": bank}
    if "hindsight_api_url" in inspect.signature(adapter.create_hindsight_tools).parameters:
        options["hindsight_api_url"] = url
    else:
        from hindsight_client import Hindsight

        options["client"] = Hindsight(base_url=url)
    return {name_of(tool): tool for tool in adapter.create_hindsight_tools(**options)}


async def main(url: str, module: str, bank: str) -> bool:
    tools = tools_of(importlib.import_module(module), url, bank)
    answers = []
    for word, said in (
        ("retain", "Maya's dentist is Dr. Sato."),
        ("recall", "Who is Maya's dentist?"),
        ("reflect", "Who is Maya's dentist?"),
    ):
        tool = next(tool for name, tool in tools.items() if word in name)
        answers.append(await use(tool, said))
        print(f"{word}: {answers[-1][:200]}")
    return all("Sato" in answer for answer in answers[1:])


if __name__ == "__main__":
    works = asyncio.run(main(*sys.argv[1:4]))
    print("WORKS" if works else "FAILS")
    sys.exit(not works)
