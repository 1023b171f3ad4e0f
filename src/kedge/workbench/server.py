"""Running the application: a listening socket, and connections that cannot be held open by silence."""

import asyncio
import json
import socket
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from kedge.workbench.security import not_arrived
from kedge.workbench.settings import Settings

__all__ = ["configure", "listen", "run"]


def listen(host: str, port: int) -> socket.socket:
    """A listening socket whose connections send what they have at once.

    Without TCP_NODELAY an answer of two small packets waits about 40 ms for the client's delayed
    acknowledgement of the first; connections take the setting over from the socket that accepted them.
    """
    family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
    listener = socket.create_server((host, port), family=family)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def configure(app: Any, settings: Settings) -> uvicorn.Config:
    """How uvicorn serves the application."""

    class Protocol(_Impatient):
        arrival = settings.arrival

    return uvicorn.Config(
        app,
        http=Protocol,
        ws="none",
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=2,
        # Those who are worked for, those who wait, those who only look, and some room.
        limit_concurrency=4 * (settings.workers + settings.waiting) + 64,
    )


def run(app: Any, settings: Settings, listener: socket.socket) -> None:
    """Serve until interrupted."""
    uvicorn.Server(configure(app, settings)).run(sockets=[listener])


class _Impatient(H11Protocol):
    """Closes a connection whose request line and headers do not arrive in time.

    uvicorn itself waits for ever for the rest of a request that has begun.
    """

    arrival: float
    _alarm: asyncio.TimerHandle | None = None
    _begun = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        if self._alarm is None and (self.cycle is None or self.cycle.response_complete):
            self._wait()
        self._begun = True
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()  # the headers are here; the application has a clock for the body

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        self._begun = False
        self._stop_waiting()
        super().on_response_complete()

    def _unsupported_upgrade_warning(self) -> None:
        """An upgrade is refused by the application, not worth a line in the log."""

    def _wait(self) -> None:
        self._stop_waiting()
        self._alarm = self.loop.call_later(self.arrival, self._give_up)

    def _give_up(self) -> None:
        """Close the connection; a client that has begun a request is told why."""
        if self._begun:
            self.transport.write(_too_slow(self.arrival))
        self.transport.close()

    def _stop_waiting(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None


def _too_slow(seconds: float) -> bytes:
    """The answer to a request whose headers did not arrive."""
    body = json.dumps({"error": {"kind": "too_slow", "message": not_arrived(seconds)}})
    headers = f"content-type: application/json\r\ncontent-length: {len(body)}\r\nconnection: close"
    return f"HTTP/1.1 408 Request Timeout\r\n{headers}\r\n\r\n{body}".encode()
