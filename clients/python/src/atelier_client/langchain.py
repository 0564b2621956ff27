"""Tools for LangChain. This module needs the package langchain-core."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from langchain_core.tools import BaseTool
from pydantic import PrivateAttr

from .aio import AsyncClient
from .client import Client
from .errors import ApprovalNeeded, AtelierError, RunFailed
from .models import RunAnswer

__all__ = ["to_langchain_tools"]


def to_langchain_tools(client: Client, tool_set: str | Sequence[str]) -> list[BaseTool]:
    """Returns the versions of a tool set, or of given references, as LangChain tools.

    A reference such as weather@^1 is resolved once, so a tool keeps its version. The tools support
    synchronous and asynchronous calls.
    """
    if isinstance(tool_set, str):
        return [_tool(client, r, name) for r, name in _of_set(client, tool_set)]
    return [_tool(client, reference, "") for reference in _of_references(client, tool_set)]


def _of_set(client: Client, name: str) -> list[tuple[str, str]]:
    tools = client.tool_set(name)["tools"]
    missing = [f"{tool['name']}@{tool['version']}" for tool in tools if tool.get("missing")]
    if missing:
        raise ValueError(f"the tool set {name} has deleted versions: {', '.join(missing)}")
    return [(f"{tool['agentId']}@{tool['version']}", tool["name"]) for tool in tools]


def _of_references(client: Client, references: Sequence[str]) -> list[str]:
    pinned = []
    for found in client.resolve(*references):
        if "pinned" not in found:
            error = found.get("error")
            raise ValueError(f"{found['reference']}: {error['detail'] if error else 'no version'}")
        pinned.append(found["pinned"])
    return pinned


def _tool(client: Client, reference: str, name: str) -> BaseTool:
    manifest = client.export(reference, "langchain")
    tool = _VersionTool(
        name=name or manifest["name"],
        description=manifest["description"],
        args_schema=manifest["schema"],
        response_format="content_and_artifact",
        metadata={"reference": reference},
    )
    tool.use(client, reference)
    return tool


class _VersionTool(BaseTool):
    """A version as a LangChain tool.

    It is not a StructuredTool, which uses inputs named config and run_manager itself and fails for
    an input named self.
    """

    _client: Client = PrivateAttr()
    _reference: str = PrivateAttr()

    def use(self, client: Client, reference: str) -> None:
        self._client, self._reference = client, reference

    def _run(self, /, *args: Any, **arguments: Any) -> tuple[str, RunAnswer | None]:
        try:
            return _answer(self._client.execute(self._reference, arguments))
        except (ApprovalNeeded, AtelierError) as error:
            return _refused(error)

    async def _arun(self, /, *args: Any, **arguments: Any) -> tuple[str, RunAnswer | None]:
        client = self._client
        async with AsyncClient(
            client.url, client.token, timeout=client.timeout, retries=client.retries
        ) as waiting:
            try:
                return _answer(await waiting.execute(self._reference, arguments))
            except (ApprovalNeeded, AtelierError) as error:
                return _refused(error)


def _answer(run: RunAnswer) -> tuple[str, RunAnswer]:
    """The error of a failed program is returned as the result of the tool, because a model can
    react to it.
    """
    if run["status"] != "succeeded":
        return json.dumps({"error": run.get("error") or {"type": RunFailed(run).type}}), run
    return json.dumps(run["output"], ensure_ascii=False), run


def _refused(error: ApprovalNeeded | AtelierError) -> tuple[str, None]:
    """An error about a wrong input is also returned as the result, because a model can react to it.
    All other errors are raised.
    """
    if isinstance(error, ApprovalNeeded):
        waiting = {
            "type": "awaiting_approval",
            "message": str(error),
            "runId": error.run_id,
            "approvalId": error.approval_id,
        }
        return json.dumps({"error": waiting}), None
    if not error.errors:
        raise error
    return json.dumps({"errors": error.errors}), None
