"""Dask's scheduler and worker without the web servers that both start beside themselves: Dask has no setting for that.

Those answer without TLS and without a token, and any page of a browser can ask them.
"""

from __future__ import annotations

from distributed import Scheduler, Worker


class _Quiet:
    def start_http_server(self, *_routes: object, **_more: object) -> None:
        """None."""


class QuietScheduler(_Quiet, Scheduler):  # type: ignore[misc]
    """Listens for workers and clients alone."""


class QuietWorker(_Quiet, Worker):  # type: ignore[misc]
    """Listens for the scheduler and other workers alone."""
