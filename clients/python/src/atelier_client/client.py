"""The client for synchronous programs. It uses only the standard library."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Iterator
from typing import Any, cast
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, Request, build_opener

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

__all__ = ["Client"]


class _NoRedirect(HTTPRedirectHandler):
    """Refuses redirects, because following one would send the token to another address."""

    def redirect_request(self, *_: Any) -> None:
        return None


class Client:
    """Calls the API of one server. Several threads may use it at the same time."""

    def __init__(self, url: str, token: str, *, timeout: float = 660, retries: int = 3) -> None:
        self.url, self.token, self.timeout, self.retries = url.rstrip("/"), token, timeout, retries
        self._opener = build_opener(_NoRedirect)

    def run(self, reference: str, input: object = None, *, limits: LimitsBody | None = None) -> Any:
        """Runs a version, such as weather@^1, and returns the output of the program.

        Raises RunFailed and ApprovalNeeded.
        """
        run = self.execute(reference, input, limits=limits)
        if run["status"] != "succeeded":
            raise RunFailed(run)
        return run["output"]

    def execute(
        self, reference: str, input: object = None, *, limits: LimitsBody | None = None
    ) -> RunAnswer:
        """Runs a version and returns the record of the run. The program may have succeeded or
        failed.

        Raises ApprovalNeeded.
        """
        return self._finished(requests.execute(reference, input, limits, background=False))

    def execute_code(self, program: InlineBody) -> RunAnswer:
        """Runs a program whose code is part of the request, without an agent. Raises
        ApprovalNeeded.
        """
        return self._finished(requests.Call("POST", "/execute", program, keyed=True))

    def start(
        self, reference: str, input: object = None, *, limits: LimitsBody | None = None
    ) -> Accepted:
        """Starts a run of a version and returns immediately. Read the events of the run with
        events().
        """
        call = requests.execute(reference, input, limits, background=True)
        return cast(Accepted, self._json(call))

    def get(self, run_id: str) -> Run:
        """Reads the record of a run."""
        return cast(Run, self._json(requests.one_run(run_id)))

    def cancel(self, run_id: str) -> Run:
        """Cancels a run."""
        return cast(Run, self._json(requests.cancel(run_id)))

    def events(self, run_id: str, *, after: int = 0) -> Iterator[Event]:
        """Yields the events of a run until it has ended. The last event is the result.

        If the connection is lost, the client connects again and continues after the last event.
        """
        idle = 0
        while idle < requests.ROUNDS:
            if idle > 0:
                time.sleep(requests.pause(idle - 1))
            idle += 1
            try:
                reader = requests.EventReader()
                with self._open(requests.events(run_id, after)) as answer:
                    if answer.status == 204:  # the client has received all events before
                        return
                    for line in answer:
                        for event in reader.read(line):
                            after, idle = event["seq"], 1
                            yield event
                            if event["kind"] == "result":
                                return
            except (OSError, http.client.HTTPException):
                continue
        raise ConnectionError(f"the stream of run {run_id} ended before its result, after {after}")

    def create(self, agent: AgentBody) -> Agent:
        """Creates an agent with the given draft."""
        call = requests.Call("POST", "/code-agents", agent, keyed=True)
        return cast(Agent, self._json(call))

    def publish(
        self, agent: str, *, bump: str = "auto", changelog: str = ""
    ) -> Published | AwaitedPublication:
        """Publishes the draft of an agent as a version, or requests an approval for that."""
        return cast(
            Published | AwaitedPublication, self._json(requests.publish(agent, bump, changelog))
        )

    def export(self, reference: str, format: requests.Format = "atelier") -> dict[str, Any]:
        """Exports a version as a tool."""
        return self._json(requests.export(reference, format))

    def resolve(self, *references: str) -> list[ResolvedReference]:
        """Returns the versions that references select now. If a reference selects no version, its
        entry has an error.
        """
        return cast(list[ResolvedReference], self._json(requests.resolve(references))["items"])

    def tool_set(self, name: str) -> ToolSet:
        """Reads a tool set and the versions that it pins."""
        return cast(ToolSet, self._json(requests.tool_set(name)))

    def put_tool_set(self, name: str, *references: str) -> ToolSet:
        """Creates or replaces a tool set."""
        return cast(ToolSet, self._json(requests.put_tool_set(name, references)))

    def _finished(self, call: requests.Call) -> RunAnswer:
        with self._open(call) as answer:
            content = json.loads(answer.read())
            if answer.status == 202:
                raise ApprovalNeeded(content)
            return cast(RunAnswer, content)

    def _json(self, call: requests.Call) -> dict[str, Any]:
        with self._open(call) as answer:
            content: dict[str, Any] = json.loads(answer.read())
            return content

    def _open(self, call: requests.Call) -> Any:
        """Sends a request. If there is no answer, it repeats the request with the same idempotency
        key, so the server acts only once.
        """
        headers = call.all_headers(self.token)
        for attempt in range(self.retries + 1):
            last = attempt == self.retries
            request = Request(
                self.url + "/api/v1" + call.path,
                data=call.content(),
                headers=headers,
                method=call.method,
            )
            try:
                return self._opener.open(request, timeout=self.timeout)
            except HTTPError as refused:
                with refused:
                    content = refused.read()
                wait = requests.retry_after(refused.code, refused.headers.get("Retry-After"))
                if wait is None or last:
                    raise requests.refusal(refused.code, content) from None
            except (URLError, ConnectionError, http.client.HTTPException):
                wait = requests.pause(attempt)
                if last or not call.repeatable:
                    raise
            time.sleep(wait)
        raise AssertionError("unreachable")
