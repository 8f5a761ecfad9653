"""Read the events of a run of AG-UI, and write them.

    run = read_run(response.iter_bytes())
    messages = contentmodel.adapter("ag-ui").decode_request(run).messages

A run may call a model several times, and contains the results of tools. So its events are read as a conversation, not
as one answer: the input of a run (`RunAgentInput`) whose `messages` are those after the run.

Source: ag_ui/_generated/models.py of ag-ui-protocol 1.0.0, and `defaultApplyEvents`, `transformChunks`, `verifyEvents`
and `CompatibilityBoundary` of the npm package @ag-ui/client 1.0.0 (seen 2026-11-23).
"""

from contentmodel.interop.ag_ui.events import EVENT_TYPES, is_event
from contentmodel.interop.ag_ui.reading import RunReader, read_run
from contentmodel.interop.ag_ui.streaming import RunWriter, run_events
from contentmodel.interop.ag_ui.writing import write_run

__all__ = ["EVENT_TYPES", "RunReader", "RunWriter", "is_event", "read_run", "run_events", "write_run"]
