"""The workbench: a page on loopback, and the JSON endpoint behind it (``pip install 'kedge[serve]'``)."""

from typing import Any, Unpack

from kedge.errors import MissingDependency
from kedge.options import OptionsGiven, with_options
from kedge.workbench.settings import Settings

__all__ = ["Settings", "create_app"]


@with_options()
def create_app(model: Any, settings: Settings | None = None, **options: Unpack[OptionsGiven]) -> Any:
    """An ASGI application that explains one model, for uvicorn or any other such server.

    Parameters
    ----------
    model
        The classifier: whatever ``kedge.as_model`` recognises.
    settings
        Limits and addresses; loopback and the defaults of ``Settings`` without.
    options
        Defaults for requests that do not set them, listed below.
    """
    try:
        from kedge.workbench.app import create_app as create
    except ImportError as error:
        if (error.name or "").partition(".")[0] == "kedge":
            raise
        raise MissingDependency("The workbench needs FastAPI: pip install 'kedge[serve]'.") from None
    return create(model, settings, **options)
