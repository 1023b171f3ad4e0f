"""What a server is asked to serve, and how much of it at most."""

from dataclasses import dataclass, field
from ipaddress import ip_address

__all__ = ["Settings", "is_loopback"]

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True)
class Settings:
    """Limits and addresses of one server.

    Parameters
    ----------
    host
        The address it listens on; loopback unless the user says otherwise.
    names
        Further names under which clients may address it (the ``Host`` header).
    characters
        The longest text it takes: about 60,000 English words.
    seconds
        The longest time one request may work.
    workers
        How many requests are worked on at a time.
    waiting
        How many more may wait for their turn; beyond that clients are sent away.
    documents
        Texts to pick from on the page.
    """

    host: str = "127.0.0.1"
    names: frozenset[str] = frozenset()
    characters: int = 400_000
    seconds: float = 20.0
    workers: int = 2
    waiting: int = 16
    documents: tuple[str, ...] = field(default=(), repr=False)

    @property
    def body_bytes(self) -> int:
        """The longest body: each character may be an escape of six (or twelve) bytes."""
        return 12 * self.characters + 65_536


def is_loopback(host: str) -> bool:
    """Whether an address can be reached from this machine only."""
    if host in LOOPBACK_NAMES:
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
