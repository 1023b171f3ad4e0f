"""What a server serves, and its limits."""

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
    arrival
        Seconds within which a request must have arrived: its headers, and then its body.
    token
        What clients must show; None where anyone who can reach the server may use it.
    debug
        Tell clients what a failing model said. It may quote texts, paths and keys, so else only the log does.
    isolate
        Run the model in processes of their own, which can be ended whatever it is doing.
    documents
        Texts to pick from on the page.
    """

    host: str = "127.0.0.1"
    names: frozenset[str] = frozenset()
    characters: int = 400_000
    seconds: float = 20.0
    workers: int = 2
    waiting: int = 16
    arrival: float = 10.0
    token: str | None = field(default=None, repr=False)
    debug: bool = False
    isolate: bool = False
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
