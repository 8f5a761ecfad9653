"""Tool parts: one wire object is a call, its approval and its result. The field `state` tells which of them it has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec

from contentmodel.authoring import (
    Affixed,
    ArgumentsObjectOrText,
    Codec,
    DecodeContext,
    EncodeContext,
    Field,
    Fields,
    Filled,
    Implied,
    Place,
    Row,
    Silent,
    Spec,
    TextField,
    Union,
    Words,
    guests,
    hints,
    reasons,
    spread,
)
from contentmodel.content.base import AIContent
from contentmodel.content.outcomes import UnknownContent
from contentmodel.content.text import JsonContent, TextContent
from contentmodel.content.tools import (
    FunctionCallContent,
    FunctionResultContent,
    ToolApprovalRequestContent,
    ToolApprovalResponseContent,
    ToolCallContent,
    ToolResultContent,
)
from contentmodel.message import Origin
from contentmodel_adapters.common.approvals import APPROVAL_ID, approval_id, report_request
from contentmodel_adapters.frameworks import mcp_blocks
from contentmodel_adapters.frameworks.ai_sdk.guests import guests_of
from contentmodel_adapters.frameworks.ai_sdk.made_images import OrImage, images
from contentmodel_adapters.frameworks.ai_sdk.parts import (
    HOSTED_CALLS,
    HOSTED_RESULTS,
    KIND_OF,
    OF_GOOGLE,
    call_suffix,
    callers,
    is_of_server,
    kind_of_tool,
    report_kind,
    report_outcome,
    row_for_state,
    with_states,
)
from contentmodel_adapters.frameworks.ai_sdk.spelling import UI, item_id, name_of
from contentmodel_adapters.frameworks.ai_sdk.ui.blocks import API, TABLE
from contentmodel_adapters.frameworks.search_results import OrLinks, links

CALL_METADATA = "callProviderMetadata"
DENIED = "Tool call execution denied."
"""The text of a denied result without a reason, as the AI SDK sends it to models."""

# -- calls -------------------------------------------------------------------------------------------------------------


CALLERS = callers(TABLE)
RAW = "raw."
"""The beginning of the names of rows of failed calls whose only arguments are the text that the model wrote."""


def _calls(kind: str, model: type[Any]) -> list[Row]:
    """Return the rows of calls of one class: static and dynamic tools, with and without a signature."""
    constants = {} if kind == "Function" else {"providerExecuted": True}

    def made(form: str, named: dict[str, Spec], empty: dict[str, str], arguments: str, **typed: str) -> list[Row]:
        fields: dict[str, Spec] = {
            **named,
            "toolCallId": "call_id",
            arguments: ("arguments", ArgumentsObjectOrText()),
        }
        filled, others = Filled({**empty, "toolCallId": "", arguments: {}}), Silent("status")
        name, constant = f"{form}.{kind}", {**typed, **constants}
        states: dict[str, Any] = {"at": CALL_METADATA, "states": OF_GOOGLE, "callers": CALLERS}
        return with_states(name, model, fields, filled, others, **states, constants=constant)

    return [
        row
        for raw, arguments in (("", "input"), (RAW, "rawInput"))
        for row in (
            *made(f"{raw}tool", {"type": ("name", Affixed("tool-"))}, {"type": "tool-"}, arguments),
            *made(f"{raw}dynamic", {"toolName": "name"}, {"toolName": ""}, arguments, type="dynamic-tool"),
        )
    ]


def _row_of_call(wire: Mapping[str, Any]) -> str:
    is_dynamic = wire["type"] == "dynamic-tool"
    name = wire.get("toolName") if is_dynamic else wire["type"][len("tool-") :]
    kind = "Function"
    if wire.get("providerExecuted") is True:
        kind = kind_of_tool(name)
    raw = RAW if wire.get("input") is None and wire.get("rawInput").__class__ in (str, dict) else ""
    return f"{raw}{'dynamic' if is_dynamic else 'tool'}.{kind}{call_suffix(wire, CALL_METADATA)}"


def _usual_call(content: Any, rows: list[Row]) -> Row:
    is_dynamic = content.name is None or is_of_server(content)
    form = "dynamic." if is_dynamic else "tool."
    return row_for_state(content, [one for one in rows if one.name.startswith(form)])


CALLS = TABLE.union(
    "tool part",
    [
        *_calls("Function", FunctionCallContent),
        *(one for kind, model in HOSTED_CALLS.items() for one in _calls(kind, model)),
    ],
    find=_row_of_call,
    prefer=_usual_call,
)

# -- results -----------------------------------------------------------------------------------------------------------

BLOCKS = TABLE.union(
    "output block",
    mcp_blocks.rows({}),
    prefer=lambda content, rows: rows[0] if len(rows) == 1 or content.media_kind != "audio" else rows[1],
)


class Output(Codec[Any]):
    """The output of a tool, any JSON value.

    A text is a text, and the result of an MCP tool (`{"content": [...]}`) a list of contents. Other values are JSON.
    """

    classes = (dict, list, str, int, float, bool)
    identity = False

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[AIContent]:
        if value.__class__ is str:
            return [TextContent(text=value)]
        if not _is_of_mcp(value):
            return [JsonContent(value=value)]
        contents: list[AIContent] = BLOCKS.decode_list(value["content"], context)
        if len(contents) == 1 and contents[0].__class__ is TextContent:
            contents[0] = hints.FORM.on(contents[0], API, "list")
        return contents

    def places(self, value: Any, wire: Any, path: str) -> Iterable[Place]:
        if _is_of_mcp(wire):
            return spread(value, wire["content"], f"{path}.content", BLOCKS)
        return [(value[0], path, wire, None)] if value else []

    def encode(self, value: Any, context: EncodeContext, owner: object) -> Any:
        only = value[0] if len(value) == 1 else None
        failed = getattr(owner, "is_error", None)
        only = None if failed else only
        if only.__class__ is JsonContent:
            is_plain = _is_plain(only.value) or (context.native and _has_succeeded(only.value))
            return context.plain_value(only, "value" if is_plain else "text")
        if only.__class__ is TextContent and hints.FORM.of(only, API) != "list":
            return context.plain_value(only, "text")
        contents = [context.replaced(o, TextContent(text=o.text)) if o.__class__ is JsonContent else o for o in value]
        blocks = BLOCKS.encode_list(contents, context)
        if not failed:
            # Results of other APIs have no flag: without it, they have succeeded.
            flag = {"isError": False} if failed is False and context.native else {}
            return {"content": blocks, **flag} if blocks else ""
        # Without a block, it is not the result of an MCP tool.
        return {"content": blocks or [{"type": "text", "text": ""}], "isError": True}

    def describe(self) -> str:
        return "any"


def _is_plain(value: Any) -> bool:
    """Return whether a value decodes as JSON, and not as text or contents."""
    return value.__class__ in (dict, list, int, float, bool) and not _is_of_mcp(value)


def _is_of_mcp(value: Any) -> bool:
    """Return whether a value has the form of the result of an MCP tool, which may have failed."""
    is_result = value.__class__ is dict and value.get("isError", False).__class__ is bool
    blocks = value.get("content") if is_result else None
    if blocks.__class__ is not list or not blocks:
        return False
    return all(block.__class__ is dict and _is_block(block) for block in blocks)


def _has_succeeded(value: Any) -> bool:
    """Return whether a value may be such a result with the flag of a success. Stored documents have it as JSON."""
    return value.__class__ is dict and value.get("isError") is False


def _is_block(block: dict[str, Any]) -> bool:
    needs = {"text": ("text",), "image": ("data", "mimeType"), "audio": ("data", "mimeType"), "resource_link": ("uri",)}
    fields = needs.get(block.get("type", "")) if block.get("type").__class__ is str else None
    return fields is not None and all(block.get(field).__class__ is str for field in fields)


LINKS, MADE_IMAGES = links(TABLE), images(TABLE)
_PRELIMINARY = Words({True: "preliminary"}, lambda value, context, owner: report_outcome(owner, context))
"""The flag of a preliminary result, which a later one will replace."""


def _results(kind: str, model: type[Any]) -> list[Row]:
    """Return the rows of results of one class: one for each state."""
    special = {
        "WebSearch": OrLinks(Output(), LINKS),
        "ImageGeneration": OrImage(Output(), MADE_IMAGES, is_untyped=True),
    }
    available: dict[str, Spec] = {
        "output": ("outputs", special.get(kind, Output())),
        "preliminary": ("outcome", _PRELIMINARY),
    }
    error: dict[str, Spec] = {"errorText": ("outputs", TextField(TextContent, "text", between="\n"))}
    failed, denied = Implied({"is_error": True}), Implied({"is_error": True, "outcome": "denied"})

    def made(state: str, fields: dict[str, Spec], *others: Field) -> Row:
        return Row(f"{kind}.{state}", model, fields, *others, constants={"state": state})

    return [
        made("output-available", available, Silent("name", "call_id", "is_error"), Filled({"output": None})),
        made("output-error", error, Silent("name", "call_id"), failed, Filled({"errorText": ""})),
        made("output-denied", {}, Silent("name", "call_id", "outputs"), denied),
        made("approval-responded", {}, Silent("name", "call_id", "outputs"), denied),
    ]


def _usual_result(content: Any, rows: list[Row]) -> Row:
    if content.outcome == "denied":
        return rows[2]
    is_text = all(output.__class__ is TextContent for output in content.outputs)
    return rows[1] if content.is_error and is_text else rows[0]


OF_CLASS: dict[str, type[Any]] = {"Function": FunctionResultContent, **HOSTED_RESULTS}
RESULTS = {
    kind: TABLE.union(f"result of {kind}", _results(kind, model), tag="state", prefer=_usual_result)
    for kind, model in OF_CLASS.items()
}
APPROVAL = TABLE.record("approval", ToolApprovalRequestContent, {"id": "request_id"}, Silent("name", "arguments"))
RESPONSE = TABLE.record(
    "approval response",
    ToolApprovalResponseContent,
    {"id": "request_id", "approved": "approved", "reason": "reason"},
)


# -- parts -------------------------------------------------------------------------------------------------------------

GUESTS = guests_of(TABLE, UI)
_OF_RESULT = ("state", "output", "errorText", "preliminary", "resultProviderMetadata")
_ANSWERED = ("output-available", "output-error", "output-denied")
_HAS_APPROVAL = ("approval-requested", "approval-responded", *_ANSWERED)
_OF_RESPONSE = ("approved", "reason")


class ToolPart(msgspec.Struct):
    """The contents of one tool part: a call, the request for its approval, the response, and the result.

    The call and the result are unknown contents if they are halves of a block of a provider: see `is_half`.
    """

    call: Any = None
    request: Any = None
    response: Any = None
    result: Any = None
    index: int = 0
    """The index among the parts of the message."""

    @property
    def is_hosted(self) -> bool:
        """True if the provider runs the tool: the result is in the message of its call."""
        if isinstance(self.call, UnknownContent):
            return bool(self.call.block.get("providerExecuted"))
        return getattr(self.call, "executor", None) == "provider"

    @property
    def name(self) -> Any:
        """The name of the tool."""
        return name_of(self.call.block) if isinstance(self.call, UnknownContent) else self.call.name


def is_half(content: Any, context: EncodeContext) -> bool:
    """Return whether a content is the fields of a call or a result that is a block of a provider: see `with_guests`."""
    if not isinstance(content, UnknownContent) or content.api != API:
        return False
    original: object = content
    originals = context.originals()
    while original.__class__ is UnknownContent and id(original) in originals:
        original = originals[id(original)]
    return isinstance(original, ToolCallContent | ToolResultContent)


def is_result(half: UnknownContent) -> bool:
    """Return whether a half is that of a result."""
    block: Any = half.block
    return "type" not in block


def is_tool_part(part: Mapping[str, Any]) -> bool:
    """Return whether a part is of a tool."""
    kind = part.get("type")
    return kind.__class__ is str and (kind == "dynamic-tool" or kind.startswith("tool-"))


class Halves(NamedTuple):
    """The fields of a tool part that are of its call, and of its result, with the approval."""

    call: dict[str, Any]
    result: dict[str, Any] | None
    answer: dict[str, Any] | None


def halves_of(wire: dict[str, Any], context: DecodeContext) -> Halves:
    """Return the halves of a tool part."""
    state = wire.get("state")
    answer = _approval_of(wire, state)
    answered = state in _ANSWERED or (state == "approval-responded" and (answer or {}).get("approved") is False)
    if state == "output-denied" and (answer or {}).get("approved") is not False:
        answered = False
    if state == "output-error" and wire.get("errorText").__class__ is not str:
        answered = False
    if wire.get("toolCallId").__class__ is not str or (state in _ANSWERED and not answered):
        # Encoding finds the call by its id, and derives the state from the approval and the result.
        answer = None
        # Only the approval shows that a call was denied.
        answered = answered and state not in ("output-denied", "approval-responded")
    used = {"state"} if _follows(state, wire, answer) else set()
    used |= {"approval"} if answer is not None else set()
    result_fields = {key: wire[key] for key in _OF_RESULT if key in wire} if answered else {}
    if state in ("output-denied", "approval-responded"):
        result_fields = {"state": state} if answered else {}
    return Halves(context.without(wire, {*result_fields, *used}), result_fields if answered else None, answer)


Found = Mapping[str, Any]
"""The contents of a part that is a block of a provider: its call and its result."""


def decode_half(half: dict[str, Any]) -> Any:
    """Return the call or the result of a function that half a part is."""
    context = DecodeContext(API, Origin(api=API, issuer=""))
    if "input" in half:
        return CALLS.decode(half, context)
    fields = {name: value for name, value in half.items() if name != "toolCallId"}
    result = RESULTS["Function"].decode(fields, context)
    return msgspec.structs.replace(result, call_id=half["toolCallId"])


def guests_in(parts: list[Any], halves: Mapping[int, Halves], context: DecodeContext) -> dict[int, Found]:
    """Return the contents of the parts that are blocks of providers, by index."""
    wires: list[dict[str, Any]] = []
    places: list[tuple[int, str]] = []
    for index, (call, result, _) in halves.items():
        whole = parts[index]
        is_hosted = whole.get("providerExecuted") is True or item_id(whole, CALL_METADATA) is not None
        if not is_hosted or whole.get("state") in (None, "input-streaming"):
            continue
        wires.append(call)
        places.append((index, "call"))
        if result is not None:
            wires.append({**result, "toolCallId": whole.get("toolCallId")})
            context.copied(wires[-1], whole)
            places.append((index, "result"))
    guest_halves: dict[int, Any] = {}
    for at, contents in guests.guests_in(wires, GUESTS, "", context).items() if wires else ():
        index, key = places[at]
        guest_halves.setdefault(index, {})[key] = contents[0]
    for index, decoded in [*guest_halves.items()]:
        is_split = "result" not in decoded and halves[index].result is not None
        if is_split and decoded["call"].call_id != parts[index].get("toolCallId"):
            # The result is no block of the provider. The id of the part joins the two again.
            del guest_halves[index]
    return guest_halves


def decode_tool(
    halves: Halves, context: DecodeContext, parts: list[Any], index: int, guest: Found = MappingProxyType({})
) -> ToolPart:
    """Return the contents of a tool part. `guest` has those that are blocks of a provider."""
    wire, answer, result_fields = parts[index], halves.answer, halves.result
    call = guest.get("call")
    if call is None:
        call = CALLS.decode(halves.call, context)
        context.trace(CALLS, [call], parts, index, spread=False)
    if not isinstance(call, ToolCallContent):
        return ToolPart(call=call)
    if wire.get("state") == "input-streaming":
        call = context.replace(call, status="incomplete")
    if "state" not in wire:
        call = context.replaced(call, hints.ABSENT.on(call, API, ["state"]))
    part = ToolPart(call=call)
    if answer is not None:
        part.request, part.response = _decode_approval(answer, part, context, wire)
    if result_fields is not None:
        part.result = guest.get("result") or _decode_result(result_fields, part, context, wire, parts, index)
    return part


def _approval_of(wire: Mapping[str, Any], state: Any) -> dict[str, Any] | None:
    """Return the approval of a part, if it fits the state of the part."""
    approval = wire.get("approval")
    if state not in _HAS_APPROVAL or approval.__class__ is not dict or approval.get("id").__class__ is not str:
        return None
    has_answer = approval.get("approved").__class__ is bool
    return approval if has_answer is (state != "approval-requested") else None


def _follows(state: Any, wire: Mapping[str, Any], answer: dict[str, Any] | None) -> bool:
    """Return whether the state follows from the contents of the part."""
    if state in ("input-available", "input-streaming"):
        return True
    return state in ("approval-requested", "approval-responded") and answer is not None


def _decode_approval(answer: dict[str, Any], part: ToolPart, context: DecodeContext, wire: dict[str, Any]) -> Any:
    call = part.call
    response_fields = {key: answer[key] for key in _OF_RESPONSE if key in answer} if "approved" in answer else {}
    decoded = request = APPROVAL.decode(context.without(answer, response_fields), context)
    context.trace(APPROVAL, [decoded], wire, "approval", spread=False)
    changed = {"name": call.name, "arguments": call.arguments}
    if not part.is_hosted and call.call_id is not None:
        # In the model, the approval of a call that the application runs has the id of the call.
        changed["request_id"] = call.call_id
        request = APPROVAL_ID.on(request, API, request.request_id)
    request = context.replaced(decoded, msgspec.structs.replace(request, **changed))
    if not response_fields:
        return request, None
    response_fields["id"] = answer["id"]
    context.copied(response_fields, answer)
    response = RESPONSE.decode(response_fields, context)
    context.trace(RESPONSE, [response], wire, "approval", spread=False)
    return request, context.replace(response, request_id=request.request_id)


def _decode_result(
    result_fields: dict[str, Any],
    part: ToolPart,
    context: DecodeContext,
    wire: dict[str, Any],
    parts: list[Any],
    index: int,
) -> Any:
    context.copied(result_fields, wire)
    kind = KIND_OF.get(part.call.__class__, "Function")
    if guests.guest_api(part.call) is not None:
        # A block of a provider may have another class than the name of its part shows.
        kind = kind_of_tool(name_of(wire)) if part.is_hosted else "Function"
    union = RESULTS[kind]
    result = union.decode(result_fields, context)
    changed: dict[str, Any] = {"call_id": part.call.call_id}
    if result.outcome == "denied":
        changed["outputs"] = [TextContent(text=_reason_of(part))]
    output: Any = result_fields.get("output")
    if output.__class__ is dict and _is_of_mcp(output):
        others = {key: value for key, value in output.items() if key not in ("content", "isError")}
        extra = result.extra or {}
        own_extra = {**extra.get(API, {}), **({"output": others} if others else {})}
        if "isError" in output:
            changed["is_error"] = output["isError"]
            if output["isError"] and all(output.__class__ is TextContent for output in result.outputs):
                own_extra.update(hints.ROW.entry(f"{KIND_OF.get(result.__class__, 'Function')}.output-available"))
        changed["extra"] = {**extra, API: own_extra} if own_extra else result.extra
    layout = _Flagged(union) if "is_error" in changed else union
    context.trace(layout, [result], parts, index, spread=False)
    return context.replace(result, **changed)


class _Flagged(Fields):
    """The layout of the result of an MCP tool with the flag of a failure, which is in the output."""

    def __init__(self, union: Union) -> None:
        super().__init__({"outputs": "output", "is_error": "output.isError", "outcome": "preliminary"})
        self._union = union

    def places(self, value: Any, wire: Any, path: str) -> Iterator[Place]:
        layout = self._union.row_of(value)
        yield from () if layout is None else layout.places(value, wire, path)


def _reason_of(part: ToolPart) -> str:
    """Return the text of a denied result."""
    return DENIED if part.response is None or part.response.reason is None else part.response.reason


def encode_tool(part: ToolPart, context: EncodeContext) -> dict[str, Any]:
    """Return the wire object of a call, its approval and its result."""
    if part.call is None:
        result, request = part.result, part.request or part.response
        call_id = result.call_id if result is not None else request.request_id
        name = result.name if result is not None else getattr(request, "name", None)
        part.call = FunctionCallContent(call_id=call_id, name=name, arguments=getattr(request, "arguments", None) or {})
        for content in (part.request, part.response):
            if content is not None:
                context.report_loss(content, None, reasons.CALL_OF_APPROVAL)
    elif part.is_hosted:
        for content in (part.call, part.result):
            if content is not None and not isinstance(content, UnknownContent):
                report_kind(content, part.name, context)
    wire: dict[str, Any] = (
        {**part.call.block} if isinstance(part.call, UnknownContent) else CALLS.encode_one(part.call, context)
    )
    if context.completes:
        _fit(part, context)
    state, status = _state_of(part), getattr(part.call, "status", None)
    if part.request is not None or part.response is not None:
        wire["approval"] = _encode_approval(part, context)
    if part.result is not None and isinstance(part.result, UnknownContent):
        wire.update(part.result.block)
    elif part.result is not None:
        wire.update(_encode_result(part, context))
    elif state not in ("input-available", "input-streaming") or status is not None:
        wire["state"] = state
    elif "state" not in (hints.ABSENT.of(part.call, API) or ()):
        wire.setdefault("state", state)
    return wire


def _fit(part: ToolPart, context: EncodeContext) -> None:
    """Remove approvals that a part cannot have: unanswered ones beside a result, and all of them in version 5."""
    no_approvals = context.policies.get("ai_sdk") == "5"
    if no_approvals or (part.result is not None and part.response is None):
        for content in (part.request, part.response):
            if content is not None:
                context.report_loss(content, None, reasons.NO_FIELD)
        part.request = part.response = None
    if part.result is None or part.response is None or isinstance(part.result, UnknownContent):
        return
    if part.response.approved is False and part.result.outcome != "denied":
        denied = context.replace(part.result, outcome="denied", is_error=True)
        if part.result.is_error is not True:
            context.report_loss(part.result, "is_error", reasons.OTHER_VALUE, value=True)
        part.result = denied


def _state_of(part: ToolPart) -> str:
    if part.response is not None:
        return "approval-responded"
    if part.request is not None:
        return "approval-requested"
    is_streaming = getattr(part.call, "status", None) == "incomplete"
    return "input-streaming" if is_streaming else "input-available"


def _encode_approval(part: ToolPart, context: EncodeContext) -> dict[str, Any]:
    request, response = part.request, part.response
    wire: dict[str, Any] = {} if response is None else RESPONSE.encode(response, context)
    if request is None:
        return wire
    wire.update(APPROVAL.encode(request, context))
    call: Any = (
        context.originals().get(id(part.call), part.call) if isinstance(part.call, UnknownContent) else part.call
    )
    report_request(request, call, context)
    original = approval_id(request)
    if original is not None and request.request_id == call.call_id:
        wire["id"] = original
    return wire


def _encode_result(part: ToolPart, context: EncodeContext) -> dict[str, Any]:
    result = part.result
    if result.outcome == "denied":
        if part.response is None or part.response.approved:
            report_outcome(result, context)
            result = context.replace(result, outcome=None, is_error=True)
        elif [getattr(output, "text", None) for output in result.outputs] != [_reason_of(part)]:
            context.report_loss(result, "outputs", reasons.NO_FIELD)
        elif not context.native:
            context.report_loss(result, "outputs", reasons.REPEATED_REASON)
    elif result.is_error:
        report_outcome(result, context)
    if result.is_error and not context.native:
        context.report_loss(result, "is_error", reasons.IN_STATE)
    wire: dict[str, Any] = RESULTS[KIND_OF.get(result.__class__, "Function")].encode_one(result, context)
    others: Any = (result.extra or {}).get(API, {}).get("output")
    if others.__class__ is dict and wire.get("output").__class__ is dict and "content" in wire["output"]:
        wire["output"] = {**others, **wire["output"]}
    return wire


def attach(part: ToolPart, content: AIContent) -> None:
    """Add an approval or a result to the part of its call."""
    if isinstance(content, ToolApprovalRequestContent):
        part.request = content
    elif isinstance(content, ToolApprovalResponseContent):
        part.response = content
    else:
        part.result = content
