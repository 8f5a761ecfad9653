"""Time the stages of a request that is converted through the model one by one, to show where its time goes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import msgspec
from measure import Timing, Work

import contentmodel
from contentmodel.engine.adapting import TableAdapter
from contentmodel.engine.context import EncodeContext
from contentmodel.engine.pipeline.steps import apply_request_steps, apply_steps
from contentmodel.lanes.lane import Lane

STAGES = ("parse", "decode", "steps", "encode", "payload steps", "write", "losses")

_parse = msgspec.json.Decoder().decode


def stages(data: bytes, source: str, target: str) -> dict[str, Work]:
    """Return the work of each stage, or of several stages together, from which `durations` finds each one."""
    reader, writer = _table_adapter(source), _table_adapter(target)
    request = reader.decode_request(data)
    ready, context = _stepped(request, writer)
    rows = writer.request.encode(ready, context)
    encoded = writer.encode_request(request)
    lane = Lane(reader, writer, None)
    return {
        "parse": partial(_parse, data),
        "parse and decode": partial(reader.decode_request, data),
        "steps": partial(_stepped, request, writer),
        "encode": lambda: writer.request.encode(ready, _context(request, writer)),
        "payload steps": lambda: apply_steps(rows, writer._payload_plan, _context(request, writer), ready),
        "write": encoded.to_json,
        "convert": lambda: lane.request_by_model(_parse(data)).to_json(),
        "convert and read losses": lambda: lane.request_by_model(_parse(data)).losses,
    }


def durations(timings: Mapping[str, Timing]) -> dict[str, float]:
    """Return the seconds of each stage, given the timings of the work of `stages`."""
    best = {name: timing.best for name, timing in timings.items()}
    best["decode"] = best["parse and decode"] - best["parse"]
    best["losses"] = best["convert and read losses"] - (best["convert"] - best["write"])
    return {name: max(best[name], 0.0) for name in STAGES}


def _table_adapter(api: str) -> TableAdapter:
    adapter: Any = contentmodel.adapter(api)
    return adapter  # type: ignore[no-any-return]


def _context(request: Any, writer: TableAdapter) -> EncodeContext:
    context = EncodeContext(writer.api, writer.issuer, "request", None, request.origin)
    writer.aim(context, request.model)
    return context


def _stepped(request: Any, writer: TableAdapter) -> tuple[Any, EncodeContext]:
    context = _context(request, writer)
    return apply_request_steps(request, writer._request_plan, context), context
