"""A real server on a free port of loopback, in a thread, that ends with its test."""

import threading
import time
from contextlib import contextmanager

import pytest

from kedge.data.demo import review_model
from kedge.workbench import Settings


@contextmanager
def running(model, settings=None, **options):
    """Serve a model; gives the address."""
    import uvicorn

    from kedge.workbench import create_app
    from kedge.workbench.server import configure, listen

    listener = listen("127.0.0.1", 0)
    config = configure(create_app(model, settings, **options), settings or Settings())
    config.log_level, config.timeout_graceful_shutdown = "critical", 1
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    deadline = time.monotonic() + 20
    while not server.started and time.monotonic() < deadline:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10)
        listener.close()


@pytest.fixture(scope="session")
def serve():
    """Start servers: ``with serve(model, settings) as address``."""
    return running


@pytest.fixture(scope="session")
def address():
    """The address of a server of the embedded model."""
    documents = ("The soup was cold and the waiter was rude.", "Friendly staff, delicious food.")
    with running(review_model(), Settings(documents=documents, seconds=15)) as found:
        yield found
