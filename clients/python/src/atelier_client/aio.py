"""The client for asynchronous programs. It needs httpx."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Self, cast

import httpx

from . import requests
from .errors import ApprovalNeeded, RunFailed
from .models import (
    Accepted,
    Agent,
    AgentBody,
    AwaitedPublication,
    Event,
    InlineBody,
    LimitsBody,
    Published,
    ResolvedReference,
    Run,
    RunAnswer,
    ToolSet,
)

__all__ = ["AsyncClient"]


class AsyncClient:
    """Calls the API of one server. Call close() at the end, or use the client with "async with".

    If a call is cancelled, the client closes the connection, and the server cancels the run.
    """

    def __init__(self, url: str, token: str, *, timeout: float = 660, retries: int = 3) -> None:
        self._base, self._token, self._retries = url.rstrip("/") + "/api/v1", token, retries
        self._http = httpx.AsyncClient(timeout=timeout, follow_redirects=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes all connections."""
        await self._http.aclose()

    async def run(
        self, reference: str, input: object = None, *, limits: LimitsBody | None = None
    ) -> Any:
        """Runs a version, such as weather@^1, and returns the output of the program.

        Raises RunFailed and ApprovalNeeded.
        """
        run = await self.execute(reference, input, limits=limits)
        if run["status"] != "succeeded":
            raise RunFailed(run)
        return run["output"]

    async def execute(
        self, reference: str, input: object = None, *, limits: LimitsBody | None = None
    ) -> RunAnswer:
        """Runs a version and returns the record of the run. The program may have succeeded or
        failed.

        Raises ApprovalNeeded.
        """
        return await self._finished(requests.execute(reference, input, limits, background=False))

    async def execute_code(self, program: InlineBody) -> RunAnswer:
        """Runs a program whose code is part of the request, without an agent. Raises
        ApprovalNeeded.
        """
        return await self._finished(requests.Call("POST", "/execute", program, keyed=True))

    async def start(
        self, reference: str, input: object = None, *, limits: LimitsBody | None = None
    ) -> Accepted:
        """Starts a run of a version and returns immediately. Read the events of the run with
        events().
        """
        call = requests.execute(reference, input, limits, background=True)
        return cast(Accepted, await self._json(call))

    async def get(self, run_id: str) -> Run:
        """Reads the record of a run."""
        return cast(Run, await self._json(requests.one_run(run_id)))

    async def cancel(self, run_id: str) -> Run:
        """Cancels a run."""
        return cast(Run, await self._json(requests.cancel(run_id)))

    async def events(self, run_id: str, *, after: int = 0) -> AsyncIterator[Event]:
        """Yields the events of a run until it has ended. The last event is the result.

        If the connection is lost, the client connects again and continues after the last event.
        """
        idle = 0
        while idle < requests.ROUNDS:
            if idle > 0:
                await asyncio.sleep(requests.pause(idle - 1))
            idle += 1
            try:
                reader = requests.EventReader()
                async with self._open(requests.events(run_id, after)) as answer:
                    if answer.status_code == 204:  # the client has received all events before
                        return
                    async for chunk in answer.aiter_bytes():
                        for event in reader.read(chunk):
                            after, idle = event["seq"], 1
                            yield event
                            if event["kind"] == "result":
                                return
            except httpx.TransportError:
                continue
        raise ConnectionError(f"the stream of run {run_id} ended before its result, after {after}")

    async def create(self, agent: AgentBody) -> Agent:
        """Creates an agent with the given draft."""
        call = requests.Call("POST", "/code-agents", agent, keyed=True)
        return cast(Agent, await self._json(call))

    async def publish(
        self, agent: str, *, bump: str = "auto", changelog: str = ""
    ) -> Published | AwaitedPublication:
        """Publishes the draft of an agent as a version, or requests an approval for that."""
        return cast(
            Published | AwaitedPublication,
            await self._json(requests.publish(agent, bump, changelog)),
        )

    async def export(self, reference: str, format: requests.Format = "atelier") -> dict[str, Any]:
        """Exports a version as a tool."""
        return await self._json(requests.export(reference, format))

    async def resolve(self, *references: str) -> list[ResolvedReference]:
        """Returns the versions that references select now. If a reference selects no version, its
        entry has an error.
        """
        answer = await self._json(requests.resolve(references))
        return cast(list[ResolvedReference], answer["items"])

    async def tool_set(self, name: str) -> ToolSet:
        """Reads a tool set and the versions that it pins."""
        return cast(ToolSet, await self._json(requests.tool_set(name)))

    async def put_tool_set(self, name: str, *references: str) -> ToolSet:
        """Creates or replaces a tool set."""
        return cast(ToolSet, await self._json(requests.put_tool_set(name, references)))

    async def _finished(self, call: requests.Call) -> RunAnswer:
        async with self._open(call) as answer:
            content = json.loads(await answer.aread())
            if answer.status_code == 202:
                raise ApprovalNeeded(content)
            return cast(RunAnswer, content)

    async def _json(self, call: requests.Call) -> dict[str, Any]:
        async with self._open(call) as answer:
            content: dict[str, Any] = json.loads(await answer.aread())
            return content

    @asynccontextmanager
    async def _open(self, call: requests.Call) -> AsyncIterator[httpx.Response]:
        answer = await self._send(call)
        try:
            yield answer
        finally:
            await answer.aclose()

    async def _send(self, call: requests.Call) -> httpx.Response:
        """Sends a request. If there is no answer, it repeats the request with the same idempotency
        key, so the server acts only once.
        """
        headers = call.all_headers(self._token)
        for attempt in range(self._retries + 1):
            last = attempt == self._retries
            url, content = self._base + call.path, call.content()
            request = self._http.build_request(call.method, url, content=content, headers=headers)
            try:
                answer = await self._http.send(request, stream=True)
            except (httpx.NetworkError, httpx.RemoteProtocolError):
                wait = requests.pause(attempt)
                if last or not call.repeatable:
                    raise
            else:
                if answer.is_success:
                    return answer
                refused = await answer.aread()
                await answer.aclose()
                after = requests.retry_after(answer.status_code, answer.headers.get("Retry-After"))
                if after is None or last:
                    raise requests.refusal(answer.status_code, refused)
                wait = after
            await asyncio.sleep(wait)
        raise AssertionError("unreachable")
