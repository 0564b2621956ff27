"""The errors that both clients raise."""

from __future__ import annotations

from typing import Any

from .models import Accepted, Detail, RunAnswer


class AtelierError(Exception):
    """The server refused a request. code is a stable error code. errors lists the wrong fields by
    JSON pointer.
    """

    def __init__(self, status: int, problem: dict[str, Any]) -> None:
        self.status = status
        self.code = str(problem.get("code", ""))
        self.errors: list[Detail] = list(problem.get("errors") or [])
        self.problem = problem
        super().__init__(str(problem.get("detail") or problem.get("title") or f"status {status}"))


class RunFailed(Exception):
    """The program did not succeed. run is the record of the run, with error and logs."""

    def __init__(self, run: RunAnswer) -> None:
        self.run = run
        error = run.get("error")
        self.type: str = error["type"] if error else run["status"]
        super().__init__(f"{self.type}: {error['message']}" if error else self.type)


class ApprovalNeeded(Exception):
    """A person must approve the run first. The run starts after the approval. Read its events with
    events().
    """

    def __init__(self, accepted: Accepted) -> None:
        self.run_id = accepted["runId"]
        self.approval_id = accepted.get("approvalId", "")
        self.reasons = accepted.get("reasons") or []
        super().__init__("A person must approve the run: " + " ".join(self.reasons))
