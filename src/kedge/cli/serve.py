"""``kedge serve``: the workbench on loopback."""

import errno
import re
import secrets
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from kedge.cli.models import EMBEDDED, load_model
from kedge.cli.options import model_options
from kedge.errors import MissingDependency, OptionError
from kedge.workbench.settings import Settings, is_loopback

__all__ = ["command"]

# Embedded reviews to pick from: enough to play with, few enough for a menu.
_PICKED = 24
# What can stand in an address and in a cookie as it is.
_TOKEN = re.compile(r"[A-Za-z0-9_-]{8,200}")


@click.command("serve", short_help="Open the workbench: explanations as you type.")
@model_options
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8350,
    show_default=True,
    help="The port; 0 picks a free one.",
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="The address to listen on; anything but loopback can be reached by others.",
)
@click.option("--allow-host", multiple=True, help="Another host name by which clients may reach the server.")
@click.option("--documents", type=click.Path(dir_okay=False), help="Texts to choose from, one per line.")
@click.option(
    "--time-limit", type=float, default=20.0, show_default=True, help="Time limit per request, in seconds."
)
@click.option(
    "--max-characters", type=int, default=400_000, show_default=True, help="The longest text accepted."
)
@click.option("--workers", type=int, default=2, show_default=True, help="Requests served at the same time.")
@click.option(
    "--token", metavar="TEXT", help="The token that clients must send; generated if --host is not loopback."
)
@click.option("--no-token", is_flag=True, help="Let anyone who can reach the server use it.")
@click.option("--isolate", is_flag=True, help="Run the model in separate processes that can be killed.")
@click.option("--debug", is_flag=True, help="Show clients the error message of a failing model.")
@click.option("--open/--no-open", "browse", default=None, help="Open the page in a browser, or not.")
def command(
    model: str,
    trust: bool,
    outputs: str,
    port: int,
    host: str,
    allow_host: tuple[str, ...],
    documents: str | None,
    time_limit: float,
    max_characters: int,
    workers: int,
    token: str | None,
    no_token: bool,
    isolate: bool,
    debug: bool,
    browse: bool | None,
) -> None:
    """Open the workbench: a page that explains texts as you type, and the JSON endpoint behind it."""
    if time_limit <= 0 or max_characters < 1 or workers < 1:
        raise OptionError("--time-limit, --max-characters and --workers must be positive.")
    if token is not None and (no_token or not _TOKEN.fullmatch(token)):
        raise OptionError(
            "--token and --no-token contradict each other."
            if no_token
            else "--token needs at least eight characters: letters, digits, - and _."
        )
    if token is None and not no_token and not is_loopback(host):
        token = secrets.token_urlsafe(24)
    settings = Settings(
        host=host,
        names=frozenset(name.lower() for name in allow_host),
        characters=max_characters,
        seconds=time_limit,
        workers=workers,
        token=token,
        isolate=isolate,
        debug=debug,
        documents=_documents(documents, model),
    )
    create_app, server = _workbench()
    with _listening(server.listen, host, port) as listener:
        app = create_app(load_model(model, trust=trust), settings, outputs=outputs)
        shown = f"[{host}]" if ":" in host else host
        url = f"http://{shown}:{listener.getsockname()[1]}/" + (f"?token={token}" if token else "")
        if not is_loopback(host) and token is None:
            click.echo("kedge: anyone who can reach this address can use the model.", err=True)
        click.echo(f"kedge workbench on {url}  (Ctrl+C to stop)")
        if browse if browse is not None else sys.stdout.isatty():
            click.launch(url)
        server.run(app, settings, listener)


def _workbench() -> Any:
    """What makes the application, and what serves it."""
    try:
        from kedge.workbench import server
        from kedge.workbench.app import create_app
    except ImportError as error:
        if (error.name or "").partition(".")[0] == "kedge":
            raise
        raise MissingDependency(
            "The workbench needs FastAPI and uvicorn: pip install 'kedge[serve]'."
        ) from None
    return create_app, server


def _listening(listen: Callable[[str, int], socket.socket], host: str, port: int) -> socket.socket:
    """Take the port before anything is announced, so that a port in use is a clear sentence."""
    try:
        return listen(host, port)
    except (socket.gaierror, UnicodeError) as error:  # the latter for names that no host can have
        reason = getattr(error, "strerror", None) or str(error)
        raise OptionError(f"There is no address {host!r} ({reason}); choose another --host.") from None
    except OSError as error:
        reason = error.strerror or str(error)
        other = "--host" if error.errno == errno.EADDRNOTAVAIL else "--port"
        raise OptionError(f"{host}:{port} cannot be opened: {reason}; choose another {other}.") from None


def _documents(file: str | None, model: str) -> tuple[str, ...]:
    if file is None:
        if model != EMBEDDED:
            return ()
        from kedge.cli.demo import REVIEW
        from kedge.data.demo import reviews

        return (REVIEW, *reviews()[0][: _PICKED - 1])
    try:
        lines = Path(file).read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise OptionError(f"{file} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise OptionError(f"{file} is not UTF-8 text.") from None
    return tuple(line for line in lines if line.strip())
