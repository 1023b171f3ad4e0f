"""The workbench: a page on loopback, and the JSON endpoint behind it (``pip install 'kedge[serve]'``)."""

from kedge.workbench.settings import Settings

__all__ = ["Settings"]
