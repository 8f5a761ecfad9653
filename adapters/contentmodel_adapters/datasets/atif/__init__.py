"""The adapter of ATIF trajectories, the runs of agents that Harbor and its readers store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contentmodel.authoring import OF_MESSAGES, EncodeContext, media, payload_step
from contentmodel.request import ChatRequest
from contentmodel_adapters.common import documents
from contentmodel_adapters.datasets.atif.blocks import API, REQUEST, TABLE
from contentmodel_adapters.datasets.atif.rules import RULES

VERSION = "ATIF-v1.7"
"""The version of trajectories that are converted from other formats. Later versions add audio."""
IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")
READS = media.MediaSupport((), IMAGES, ("http", "https", "file", ""), in_answers=True, typed_links=True)


def with_required(payload: dict[str, Any], request: ChatRequest, context: EncodeContext) -> dict[str, Any]:
    """Add the fields that every trajectory needs: the version, the agent, and the numbers of the steps."""
    agent = {"name": "unknown", "version": "unknown", **payload.get("agent", {})}
    steps = [{"step_id": number, **step} for number, step in enumerate(payload.get("steps", ()), 1)]
    return {"schema_version": VERSION, **payload, "agent": agent, "steps": steps}


class Atif(documents.DocumentAdapter):
    """The adapter of trajectories. The fields of the run stay in the residue."""

    api = API
    table = TABLE
    rules = RULES
    request = REQUEST
    requires = {"steps": list}
    records = frozenset(OF_MESSAGES)
    meaningless = {"step_id": None, "message": ""}
    request_steps = documents.usual_steps(READS)
    request_payload_steps = (payload_step(with_required),)

    def recognises(self, payload: dict[str, Any]) -> Mapping[str, float]:
        """Return the confidence that a payload is a trajectory: it has steps, and a version that begins with ATIF."""
        if not isinstance(payload.get("steps"), list):
            return {}
        version = payload.get("schema_version")
        return {"request": 1.0 if isinstance(version, str) and version.startswith("ATIF-") else 0.3}


adapter = Atif()
