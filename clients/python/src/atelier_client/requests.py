"""The code that both clients use to build requests and to read answers."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast
from urllib.parse import quote

from .errors import AtelierError
from .models import Event, LimitsBody

Format = Literal["atelier", "openai", "langchain", "anthropic", "gemini", "mcp", "openapi"]
LONGEST_WAIT = 60.0
ROUNDS = 4


def pause(attempt: int) -> float:
    """Returns the delay before the next attempt after a lost connection."""
    return 0.1 * 2.0**attempt


class EventReader:
    """Reads the events of a stream from chunks of bytes. A chunk may end anywhere.

    Only a line feed ends a line. The stream may be cut off, so an incomplete last line is not an
    event.
    """

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def read(self, chunk: bytes) -> Iterator[Event]:
        *complete, rest = chunk.split(b"\n")
        for end in complete:
            # Only complete lines are joined. Otherwise a long line would be copied for each chunk.
            line = b"".join([*self._parts, end])
            self._parts = []
            if line.startswith(b"data:"):
                yield cast(Event, json.loads(line[5:]))
        self._parts.append(rest)


@dataclass(frozen=True)
class Call:
    """One request of the API. If the request has a key, the server acts only once, even if the
    request is repeated.
    """

    method: str
    path: str
    body: object = None
    headers: Mapping[str, str] = field(default_factory=dict)
    keyed: bool = False

    def content(self) -> bytes | None:
        return None if self.body is None else json.dumps(self.body).encode()

    def all_headers(self, token: str) -> dict[str, str]:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        if self.keyed:
            headers["Idempotency-Key"] = str(uuid.uuid4())
        return {**headers, **self.headers}

    @property
    def repeatable(self) -> bool:
        return self.keyed or self.method == "GET"


def split(reference: str) -> tuple[str, str]:
    """Splits a reference such as weather@^1 into agent and version. The agent is encoded as a part
    of a URL.
    """
    agent, _, version = reference.partition("@")
    return quote(agent, ""), version or "latest"


def execute(reference: str, input: object, limits: LimitsBody | None, background: bool) -> Call:
    agent, version = split(reference)
    body: dict[str, object] = {"version": version, "input": {} if input is None else input}
    if limits is not None:
        body["limits"] = limits
    headers = {"Prefer": "respond-async"} if background else {}
    return Call("POST", f"/code-agents/{agent}/execute", body, headers, keyed=True)


def one_run(run_id: str) -> Call:
    return Call("GET", f"/runs/{quote(run_id, '')}")


def cancel(run_id: str) -> Call:
    return Call("POST", f"/runs/{quote(run_id, '')}/cancel", {}, keyed=True)


def events(run_id: str, after: int) -> Call:
    path = f"/runs/{quote(run_id, '')}/events?from={after}"
    return Call("GET", path, headers={"Accept": "text/event-stream"})


def publish(agent: str, bump: str, changelog: str) -> Call:
    body = {"bump": bump, "changelog": changelog}
    return Call("POST", f"/code-agents/{quote(agent, '')}/versions", body, keyed=True)


def export(reference: str, format: str) -> Call:
    agent, version = split(reference)
    body = {"version": version, "format": format}
    return Call("POST", f"/code-agents/{agent}/export-tool", body, keyed=True)


def resolve(references: tuple[str, ...]) -> Call:
    return Call("POST", "/references/resolve", {"references": list(references)})


def tool_set(name: str) -> Call:
    return Call("GET", f"/tool-sets/{quote(name, '')}")


def put_tool_set(name: str, references: tuple[str, ...]) -> Call:
    body = {"references": list(references)}
    return Call("PUT", f"/tool-sets/{quote(name, '')}", body, keyed=True)


def retry_after(status: int, header: str | None) -> float | None:
    """Returns the delay after which a refused request may be repeated. It returns None if repeating
    the request is useless.

    A 409 with Retry-After means that the first request with the same key is still in progress.
    """
    if status not in (409, 429, 503) or header is None or not header.isdigit():
        return None
    return min(float(header), LONGEST_WAIT)


def refusal(status: int, content: bytes) -> AtelierError:
    """Returns the error that an answer describes. The answer of a proxy may not be a problem
    document.
    """
    if 300 <= status < 400:
        detail = "The server redirects to another address. Use that address."
        return AtelierError(status, {"code": "redirected", "detail": detail})
    try:
        problem: Any = json.loads(content)
    except ValueError:
        problem = {}
    return AtelierError(status, problem if isinstance(problem, dict) else {})
