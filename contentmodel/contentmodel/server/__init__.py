"""Serve conversations over HTTP: store turns while they run, and stream them to clients.

Needs `contentmodel[server]`, and an ASGI server.
"""

from contentmodel.extras import needs_extra

# Including those of the extras that `server` contains, so that one command installs all of them.
_MODULES = ("cryptography", "starlette", "sqlalchemy", "docstring_parser", "jsonschema", "pydantic", "re2")

with needs_extra("server", *_MODULES):
    from contentmodel.server.app import RunContext, create_app
    from contentmodel.server.hub import Hub, Live
    from contentmodel.server.limits import Limits
    from contentmodel.server.log import EncodedEvent, Log, Reader
    from contentmodel.server.sse import EventReader

__all__ = ["EventReader", "Hub", "Limits", "Live", "Log", "Reader", "RunContext", "EncodedEvent", "create_app"]
