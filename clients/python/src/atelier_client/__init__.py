"""Client of an Atelier server. The class Client uses only the standard library. The class
AsyncClient needs httpx.
"""

from typing import TYPE_CHECKING

from .client import Client
from .errors import ApprovalNeeded, AtelierError, RunFailed

if TYPE_CHECKING:
    from .aio import AsyncClient

__all__ = ["ApprovalNeeded", "AsyncClient", "AtelierError", "Client", "RunFailed"]


def __getattr__(name: str) -> object:
    """Imports the asynchronous client at its first use, because the import needs httpx."""
    if name == "AsyncClient":
        from .aio import AsyncClient

        return AsyncClient
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
