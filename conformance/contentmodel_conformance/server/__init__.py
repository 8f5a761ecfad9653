"""A loopback server that answers in every API from a script: a fake provider for tests of clients.

It encodes answers with the adapters, streaming or not, records requests, and simulates faults.
"""

from contentmodel.extras import needs_extra

with needs_extra("conformance"):
    from contentmodel_conformance.server.app import Loopback
    from contentmodel_conformance.server.endpoints import ENDPOINTS, Endpoint
    from contentmodel_conformance.server.files import read_script
    from contentmodel_conformance.server.records import Recorded
    from contentmodel_conformance.server.running import LoopbackServer
    from contentmodel_conformance.server.script import Call, Fault, Script, ScriptError, Turn, TurnLike, as_turn, say

__all__ = [
    "Call",
    "ENDPOINTS",
    "Endpoint",
    "Fault",
    "Loopback",
    "LoopbackServer",
    "Recorded",
    "Script",
    "ScriptError",
    "Turn",
    "TurnLike",
    "as_turn",
    "read_script",
    "say",
]
