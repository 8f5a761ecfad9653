"""Serve conversations over HTTP: store turns while they run, and stream them to clients.

Needs `contentmodel[server]`, and an ASGI server.
"""

from contentmodel.extras import needs_extra

with needs_extra("server"):
    from contentmodel.server.app import RunContext, create_app
    from contentmodel.server.hub import Hub, Live
    from contentmodel.server.limits import Limits
    from contentmodel.server.log import EncodedEvent, Log, Reader
    from contentmodel.server.sse import EventReader

__all__ = ["EventReader", "Hub", "Limits", "Live", "Log", "Reader", "RunContext", "EncodedEvent", "create_app"]
