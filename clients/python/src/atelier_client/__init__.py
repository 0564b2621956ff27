"""Client of an Atelier server. It uses the standard library only."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import HTTPRedirectHandler, Request, build_opener

__all__ = ["AtelierError", "Client", "RunFailed"]


class AtelierError(Exception):
    """The server refused a request. code is stable, errors lists wrong fields by JSON pointer."""

    def __init__(self, status: int, problem: dict[str, Any]) -> None:
        self.status = status
        self.code = str(problem.get("code", ""))
        self.errors: list[dict[str, Any]] = list(problem.get("errors") or [])
        super().__init__(str(problem.get("detail") or problem.get("title") or f"status {status}"))


class RunFailed(Exception):
    """The program did not succeed. run has its record, with error and logs."""

    def __init__(self, run: dict[str, Any]) -> None:
        self.run = run
        error: dict[str, Any] = run.get("error") or {}
        self.type = str(error.get("type") or run.get("status", ""))
        super().__init__(f"{self.type}: {error.get('message', '')}".removesuffix(": "))


class _NoRedirect(HTTPRedirectHandler):
    """Refuses redirects, which would send the token to another address."""

    def redirect_request(self, *_: Any) -> None:
        return None


class Client:
    """Calls the API of one server. It is safe for concurrent use."""

    def __init__(self, url: str, token: str, *, timeout: float = 660, retries: int = 3) -> None:
        self._base, self._token = url.rstrip("/") + "/api/v1", token
        self._timeout, self._retries = timeout, retries
        self._opener = build_opener(_NoRedirect)

    def run(self, reference: str, input: object = None) -> Any:
        """Runs a version, such as weather@^1, and returns its output. Raises RunFailed."""
        run = self.execute(reference, input)
        if run["status"] != "succeeded":
            raise RunFailed(run)
        return run.get("output")

    def execute(self, reference: str, input: object = None, *, wait: bool = True) -> dict[str, Any]:
        """Runs a version and returns the record of the run, or its runId at once without wait."""
        agent, _, version = reference.partition("@")
        body = {"version": version or "latest", "input": {} if input is None else input}
        headers = {} if wait else {"Prefer": "respond-async"}
        return self._object("POST", f"/code-agents/{quote(agent, '')}/execute", body, headers)

    def get(self, run_id: str) -> dict[str, Any]:
        """Reads the record of a run."""
        return self._object("GET", f"/runs/{quote(run_id, '')}")

    def cancel(self, run_id: str) -> None:
        """Cancels a run."""
        self._send("POST", f"/runs/{quote(run_id, '')}/cancel", {})

    def events(self, run_id: str, start: int = 0) -> Iterator[dict[str, Any]]:
        """Yields the events of a run while it runs. The last one is its result."""
        address = f"{self._base}/runs/{quote(run_id, '')}/events?from={start}"
        with self._open("GET", address, None, {"Accept": "text/event-stream"}) as answer:
            for line in answer:
                if line.startswith(b"data:"):
                    event: dict[str, Any] = json.loads(line[5:])
                    yield event
                    if event.get("kind") == "result":
                        return
        raise ConnectionError("the stream ended before the result; read on with start")

    def publish(self, agent: str, *, bump: str = "auto", changelog: str = "") -> dict[str, Any]:
        """Publishes the draft of an agent as a version."""
        body = {"bump": bump, "changelog": changelog}
        return self._object("POST", f"/code-agents/{quote(agent, '')}/versions", body)

    def export(self, reference: str, format: str = "atelier") -> dict[str, Any]:
        """Exports a version as a tool: atelier, openai, anthropic, gemini, langchain, mcp, openapi."""
        agent, _, version = reference.partition("@")
        body = {"version": version or "latest", "format": format}
        return self._object("POST", f"/code-agents/{quote(agent, '')}/export-tool", body)

    def resolve(self, *references: str) -> dict[str, Any]:
        """Returns the versions that references select now."""
        return self._object("POST", "/references/resolve", {"references": list(references)})

    def _object(
        self, method: str, path: str, body: object = None, headers: dict[str, str] | None = None
    ) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self._send(method, path, body, headers))
        return answer

    def _send(
        self, method: str, path: str, body: object = None, headers: dict[str, str] | None = None
    ) -> bytes:
        data = None if body is None else json.dumps(body).encode()
        with self._open(method, self._base + path, data, headers or {}) as answer:
            content: bytes = answer.read()
            return content

    def _open(self, method: str, url: str, data: bytes | None, headers: dict[str, str]) -> Any:
        """Sends a request. A refusal with Retry-After is repeated with the same key: it runs once."""
        fixed = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        if method == "POST" and not url.endswith("/references/resolve"):
            fixed["Idempotency-Key"] = str(uuid.uuid4())
        for attempt in range(self._retries + 1):
            request = Request(url, data=data, headers={**fixed, **headers}, method=method)
            try:
                return self._opener.open(request, timeout=self._timeout)
            except HTTPError as refused:
                with refused:
                    content = refused.read()
                wait = refused.headers.get("Retry-After", "")
                if refused.code in (429, 503) and wait.isdigit() and attempt < self._retries:
                    time.sleep(min(int(wait), 60))
                    continue
                try:
                    problem = json.loads(content)
                except ValueError:
                    problem = {}
                raise AtelierError(refused.code, problem if isinstance(problem, dict) else {}) from None
        raise AssertionError("unreachable")
