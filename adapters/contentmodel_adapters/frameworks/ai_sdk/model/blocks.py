"""The table of the AI SDK's model messages: what `streamText` accepts, and returns as `response.messages`.

Source: `types/content-part.ts` of @ai-sdk/provider-utils and `prompt/content-part.ts` of ai 7.0.173, 6.0.326 and
5.0.277 (seen 2026-11-23). `older.py` has the parts of version 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contentmodel.authoring import (
    ArgumentsObjectOrText,
    Blocks,
    CachePoints,
    Codec,
    DataUri,
    DecodeContext,
    EncodeContext,
    Field,
    Filled,
    Implied,
    Required,
    Roles,
    Row,
    Silent,
    Spec,
    Table,
    TextField,
    TextOrBlocks,
    Union,
    first_fitting,
    guests,
    hints,
    row,
)
from contentmodel.content.base import AIContent
from contentmodel.content.hosted import ImageGenerationToolResultContent
from contentmodel.content.media import DataContent, HostedFileContent, UriContent
from contentmodel.content.outcomes import CompactionContent
from contentmodel.content.text import JsonContent, TextContent
from contentmodel.content.tools import (
    FunctionCallContent,
    FunctionResultContent,
    ToolApprovalRequestContent,
    ToolApprovalResponseContent,
    ToolResultContent,
)
from contentmodel.message import ChatMessage, Origin
from contentmodel_adapters.frameworks.ai_sdk.guests import guests_of
from contentmodel_adapters.frameworks.ai_sdk.made_images import OrImage, images, is_made_image
from contentmodel_adapters.frameworks.ai_sdk.model import older
from contentmodel_adapters.frameworks.ai_sdk.openai_texts import keep_of_openai
from contentmodel_adapters.frameworks.ai_sdk.parts import (
    HOSTED_CALLS,
    HOSTED_RESULTS,
    KINDS,
    OF_GOOGLE,
    STAR,
    TOP,
    Base64,
    DataUrl,
    cache_points,
    call_suffix,
    callers,
    has_type,
    kind_of_tool,
    row_for_state,
    rows_of_model,
    usual_compaction,
    with_states,
)
from contentmodel_adapters.frameworks.ai_sdk.spelling import MODEL, item_id
from contentmodel_adapters.frameworks.search_results import OrLinks, links

API = "vercel-model-messages"
TABLE = Table(API)
OPTIONS = "providerOptions"
keep_of_openai(TABLE, OPTIONS)
CACHE_POINTS = CachePoints(cache_points(TABLE))
CACHED: dict[str, Spec] = {f"{OPTIONS}.anthropic.cacheControl": ("cache_point", CACHE_POINTS)}
CALLERS = callers(TABLE)
STORES = ("openai", "anthropic", "google")
"""The providers whose ids of files have rows."""

# -- media -------------------------------------------------------------------------------------------------------------

_DETAIL: dict[str, Spec] = {f"{OPTIONS}.openai.imageDetail": "detail", **CACHED}


def _named(
    name: str, model: type[Any], fields: dict[str, Spec], *others: Field, typed: str | None = None, **constants: Any
) -> Row:
    """Return a row of one form of a part. Its name begins with the type of the part.

    `typed` is the field with a data URL that must have the media type of the part.
    """
    constants = {"type": name.partition(".")[0], **constants}
    return Row(name, model, fields, *others, constants=constants, accepts=None if typed is None else has_type(typed))


def _links(name: str, at: str, fields: dict[str, Spec], **constants: Any) -> list[Row]:
    """Return the rows of links of one form: with a media type, or with a kind of media."""
    link: dict[str, Spec] = {at: ("uri", Required()), **fields}
    return [
        _named(f"{name}.kind", UriContent, {**link, "mediaType": ("kind", STAR)}, **constants),
        _named(f"{name}.top", UriContent, {**link, "mediaType": ("kind", TOP)}, **constants),
        _named(name, UriContent, {**link, "mediaType": "media_type"}, Silent("kind"), _ANY_TYPE, **constants),
    ]


_ANY_TYPE = Filled({"mediaType": "application/octet-stream"})


def _files(name: str, fields: dict[str, Spec]) -> list[Row]:
    """Return the rows of files: data and links, each alone or in an object with a type, and ids of stored files."""
    typed: dict[str, Spec] = {"mediaType": "media_type", **fields}
    data: dict[str, Spec] = {"data.data": ("data", Required())}
    text: dict[str, Spec] = {"data.text": ("text", Required())}
    return [
        _named(f"{name}.base64", DataContent, {"data": ("data", Base64()), **typed}, _ANY_TYPE),
        _named(f"{name}.url", DataContent, {"data": ("data", DataUrl()), **typed}, _ANY_TYPE, typed="data"),
        _named(f"{name}.typed", DataContent, {"data": (("media_type", "data"), DataUri()), **fields}, _ANY_TYPE),
        _named(f"{name}.data", DataContent, {**data, **typed}, _ANY_TYPE, **{"data.type": "data"}),
        _named(
            f"{name}.text",
            DataContent,
            {**text, **typed},
            _ANY_TYPE,
            **{"data.type": "text"},
        ),
        *_links(f"{name}.link", "data", fields),
        *_links(f"{name}.linked", "data.url", fields, **{"data.type": "url"}),
        *(
            _named(
                f"{name}.reference.{store}",
                HostedFileContent,
                {f"data.reference.{store}": "file_id", **typed},
                Silent("kind"),
                _ANY_TYPE,
                **{"data.type": "reference"},
            )
            for store in STORES
        ),
        *(
            _named(
                f"{name}.{store}", HostedFileContent, {f"data.{store}": "file_id", **typed}, Silent("kind"), _ANY_TYPE
            )
            for store in STORES
        ),
    ]


_FILE: dict[str, Spec] = {"filename": "name", **_DETAIL}
_IMAGE: dict[str, Spec] = {"mediaType": "media_type", **_DETAIL}
FILES = _files("file", _FILE)
IMAGES = [
    *older.images(CACHED),
    _named("image.base64", DataContent, {"image": ("data", Base64()), **_IMAGE}),
    _named("image.url", DataContent, {"image": ("data", DataUrl()), **_IMAGE}, typed="image"),
    _named("image.typed", DataContent, {"image": (("media_type", "data"), DataUri()), **_DETAIL}),
    _named("image.link", UriContent, {"image": ("uri", Required()), **_IMAGE}, Implied({"kind": "image"})),
    *(
        _named(f"image.{store}", HostedFileContent, {f"image.{store}": "file_id", **_IMAGE}, Implied({"kind": "image"}))
        for store in STORES
    ),
]

# -- results -----------------------------------------------------------------------------------------------------------

DENIED = "Tool call execution denied."
"""The text of a denied result without a reason, as the AI SDK sends it to models."""
_OUTPUT_ROWS = [
    row("text", TextContent, {"text": "text", **CACHED}),
    *FILES,
    _named("file-data", DataContent, {"data": ("data", Required()), "mediaType": "media_type", **_FILE}),
    older.IMAGE,
    _named("image-data", DataContent, {"data": ("data", Required()), "mediaType": "media_type", **_DETAIL}),
    _named("media", DataContent, {"data": ("data", Required()), "mediaType": "media_type"}),
    _named("file-url", UriContent, {"url": "uri", "mediaType": "media_type", **_DETAIL}, Silent("kind")),
    _named("image-url", UriContent, {"url": "uri", **_DETAIL}, Implied({"kind": "image"})),
    _named("file-id", HostedFileContent, {"fileId": "file_id", **CACHED}),
    _named("image-file-id", HostedFileContent, {"fileId": "file_id", **CACHED}, Implied({"kind": "image"})),
    *(
        _named(f"{name}.{store}", HostedFileContent, {f"{field}.{store}": "file_id", **CACHED}, *others)
        for name, field, *others in (
            ("file-id", "fileId"),
            ("image-file-id", "fileId", Implied({"kind": "image"})),
            ("file-reference", "providerReference"),
            ("image-file-reference", "providerReference", Implied({"kind": "image"})),
        )
        for store in STORES
    ),
    row("custom", JsonContent, {OPTIONS: "value"}),
]


def _usual_output(content: Any, rows: list[Row]) -> str | None:
    if content.__class__ is UriContent:
        return "image-url" if content.media_type is None and content.kind == "image" else "file-url"
    return "file.data" if content.__class__ is DataContent else None


OUTPUTS = TABLE.union(
    "output part", _OUTPUT_ROWS, find=first_fitting(_OUTPUT_ROWS, unknown=["file", "image"]), prefer=_usual_output
)


class Parts(Blocks[AIContent]):
    """The parts of an output. A JSON value of another API among them is a text."""

    def encode(self, value: list[AIContent], context: EncodeContext, owner: object) -> Any:
        if not context.completes:
            return self.union.encode_list(value, context)
        texts = [context.replaced(o, TextContent(text=o.text)) if isinstance(o, JsonContent) else o for o in value]
        return self.union.encode_list(texts, context)


class JsonOutput(Codec[list[AIContent]]):
    """An output that is one JSON value."""

    classes = (dict, list, str, int, float, bool)
    identity = False

    def decode(self, value: Any, context: Any, container: Any, key: str) -> list[AIContent]:
        return [JsonContent(value=value)]

    def encode(self, value: list[Any], context: EncodeContext, owner: object) -> Any:
        return context.plain_value(value[0], "value")

    def describe(self) -> str:
        return "any"


class Reason(Codec[list[AIContent]]):
    """The reason of a denied call, which is the text of its result."""

    classes = (str,)
    identity = False
    _text = TextField(TextContent, "text", between="\n")

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[AIContent]:
        return (
            [TextContent(text=value, extra=hints.FORM.extra(API, "string"))]
            if value == DENIED
            else [TextContent(text=value)]
        )

    def encode(self, value: list[Any], context: EncodeContext, owner: object) -> Any:
        text = self._text.encode(value, context, owner)
        return None if text == DENIED and hints.FORM.of(value[0], API) is None else text


LINKS, MADE_IMAGES = links(TABLE), images(TABLE)
_FORMS = ("text", "json", "error-text", "error-json", "execution-denied", "content")


def _results(kind: str, model: type[Any]) -> list[Row]:
    """Return the rows of results of one class: one for each type of output."""
    text = TextField(TextContent, "text", between="\n")
    special = {"WebSearch": OrLinks(JsonOutput(), LINKS), "ImageGeneration": OrImage(JsonOutput(), MADE_IMAGES)}
    values: dict[str, Spec] = {
        "text": ("outputs", text),
        "json": ("outputs", special.get(kind, JsonOutput())),
        "error-text": ("outputs", text),
        "error-json": ("outputs", JsonOutput()),
        "content": ("outputs", Parts(OUTPUTS)),
    }
    rows = []
    for form in _FORMS:
        implied: dict[str, Any] = {"is_error": True} if form.startswith("e") else {}
        implied.update({"outcome": "denied"} if form == "execution-denied" else {})
        output: dict[str, Spec] = (
            {"output.value": values[form]} if form in values else {"output.reason": ("outputs", Reason())}
        )
        filled: dict[str, Any] = {"toolCallId": "", "toolName": ""}
        if form in values:
            filled["output.value"] = {"content": [], "json": None, "error-json": None}.get(form, "")
        rows.append(
            Row(
                f"{kind}.{form}",
                model,
                {"toolCallId": "call_id", "toolName": "name", **output, **CACHED},
                Filled(filled),
                Implied(implied),
                Silent(*([] if form == "execution-denied" else ["outcome"])),
                constants={"type": "tool-result", "output.type": form},
            )
        )
    return rows


def _usual_result(content: Any, rows: list[Row]) -> Row:
    only = content.outputs[0] if len(content.outputs) == 1 else None
    if content.outcome == "denied" and all(output.__class__ is TextContent for output in content.outputs):
        form = "execution-denied"
    elif only.__class__ is JsonContent:
        form = "error-json" if content.is_error else "json"
    elif content.__class__ is ImageGenerationToolResultContent and is_made_image(content.output_list):
        form = "json"
    elif content.is_error:
        form = "error-text"
    else:
        form = (
            "text" if not content.outputs or (only.__class__ is TextContent and only.cache_point is None) else "content"
        )
    return rows[_FORMS.index(form)]


# -- calls -------------------------------------------------------------------------------------------------------------


def _calls(kind: str, model: type[Any]) -> list[Row]:
    constants = {} if kind == "Function" else {"providerExecuted": True}
    fields: dict[str, Spec] = {
        "toolCallId": "call_id",
        "toolName": "name",
        "input": ("arguments", ArgumentsObjectOrText()),
        **CACHED,
    }
    return with_states(
        kind,
        model,
        fields,
        Filled({"toolCallId": "", "toolName": "", "input": {}}),
        Silent("status"),
        at=OPTIONS,
        states=OF_GOOGLE,
        callers=CALLERS,
        constants={"type": "tool-call", **constants},
    )


def _form_of_output(wire: Mapping[str, Any]) -> Any:
    output: Any = wire.get("output")
    if "output" not in wire:
        return older.form_of_result(wire)
    return output.get("type") if output.__class__ is dict else None


# -- parts -------------------------------------------------------------------------------------------------------------


def _row_of(wire: dict[str, Any]) -> str | None:
    """Return the name of the row of a part; None if the part has no row."""
    kind: Any = wire.get("type")
    if kind == "tool-call" and wire.get("providerExecuted") is not True and older.is_call(wire):
        return older.CALL
    if kind == "tool-call":
        executed = wire.get("providerExecuted") is True
        return f"{kind_of_tool(wire.get('toolName')) if executed else 'Function'}{call_suffix(wire, OPTIONS)}"
    if kind == "tool-result":
        return f"{kind_of_tool(wire.get('toolName'))}.{_form_of_output(wire)}"
    return _find(wire)


def _row_of_answer(wire: dict[str, Any]) -> str | None:
    """Return the name of the row of a part of a tool message."""
    if wire.get("type") == "tool-result":
        return f"Function.{_form_of_output(wire)}"
    return _row_of(wire)


def _prefer(content: Any, rows: list[Row]) -> Row | str | None:
    """Return the usual row of a content. Files are written in the forms that are JSON, and that every version reads."""
    if content.__class__ is DataContent:
        return "file.base64"
    if content.__class__ is UriContent:
        by_kind = content.media_type is None and content.kind in KINDS
        return "file.link.kind" if by_kind else "file.link"
    if content.__class__ is HostedFileContent:
        return None
    if content.__class__ is CompactionContent:
        return usual_compaction(content, rows)
    return _usual_result(content, rows) if isinstance(content, ToolResultContent) else row_for_state(content, rows)


TEXT = with_states(
    "text", TextContent, {"text": "text", **CACHED}, at=OPTIONS, states=OF_GOOGLE, constants={"type": "text"}
)
APPROVAL = row(
    "tool-approval-request",
    ToolApprovalRequestContent,
    {"approvalId": "request_id"},
    Silent("name", "arguments", "server"),
)
ANSWER = row(
    "tool-approval-response",
    ToolApprovalResponseContent,
    {"approvalId": "request_id", "approved": "approved", "reason": "reason"},
)
_FILES = [*older.files(CACHED), *FILES]
MODEL_PARTS = [
    *older.reasoning(),
    *rows_of_model(OPTIONS, CACHED),
    *TEXT,
    *_FILES,
    *_files("reasoning-file", CACHED),
    APPROVAL,
]
_find = first_fitting(
    [*MODEL_PARTS, *IMAGES, ANSWER], unknown=["file", "reasoning-file", "image", "redacted-reasoning"]
)
USER_PARTS = TABLE.union("user part", [*TEXT, *_FILES, *IMAGES], find=_row_of, prefer=_prefer)
ASSISTANT_PARTS = TABLE.union(
    "assistant part",
    [
        *MODEL_PARTS,
        older.call(CACHED),
        *_calls("Function", FunctionCallContent),
        *(one for kind, model in HOSTED_CALLS.items() for one in _calls(kind, model)),
        *(one for kind, model in HOSTED_RESULTS.items() for one in _results(kind, model)),
    ],
    find=_row_of,
    prefer=_prefer,
)
ANSWERS = TABLE.union(
    "tool message part",
    [
        *_results("Function", FunctionResultContent),
        *older.results(Parts(OUTPUTS), CACHED),
        ANSWER,
    ],
    find=_row_of_answer,
    prefer=_prefer,
)

# -- messages ----------------------------------------------------------------------------------------------------------

GUESTS = guests_of(TABLE, MODEL)


class _Assistant(TextOrBlocks):
    """A text, or a list of parts. Some may be blocks of providers, which are decoded before: see `guests_in`."""

    def quick_decode(self, name: str, call: str, bind: Any) -> str:
        return call

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[AIContent]:
        contents = None if value.__class__ is str else _decoded(self.union, value, context)
        return super().decode(value, context, container, key) if contents is None else contents


class _Tool(Blocks[AIContent]):
    """A list of parts. Results may be blocks of providers, too."""

    def quick_decode(self, name: str, call: str, bind: Any) -> str:
        return call

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> list[AIContent]:
        return _decoded(self.union, value, context) or super().decode(value, context, container, key)


def decode_part(part: dict[str, Any]) -> Any:
    """Return the call or the result of a function that a part is."""
    union = ASSISTANT_PARTS if part.get("type") == "tool-call" else ANSWERS
    return union.decode(part, DecodeContext(API, Origin(api=API, issuer="")))


def guests_in(messages: list[Any], context: DecodeContext) -> None:
    """Decode the parts of a conversation that are blocks of providers. A call and its result may be in two messages."""
    lists = [wire.get("content") for wire in messages if wire.__class__ is dict and wire.get("role") in _OF_MODEL]
    parts = [part for some in lists if some.__class__ is list for part in some if part.__class__ is dict]
    if any(part.get("providerExecuted") is True or item_id(part, OPTIONS) for part in parts):
        decoded = guests.guests_in(parts, GUESTS, "", context)
        context.decoded = {id(parts[at]): contents[0] for at, contents in decoded.items()}


_OF_MODEL = ("assistant", "tool")


def _decoded(union: Union, value: list[Any], context: DecodeContext) -> list[AIContent] | None:
    """Return the contents of a list with blocks of providers; None if it has none."""
    if context.decoded.keys().isdisjoint(map(id, value)):
        return None
    contents = []
    for at, part in enumerate(value):
        content = context.decoded.get(id(part))
        decoded = union.decode_list([part], context) if content is None else [content]
        if content is None:
            context.trace(union, decoded, value, at, spread=False)
        contents += decoded
    return contents


ROLES = Roles(API, {"user": "user"}, elsewhere=("system", "assistant", "tool"))
SYSTEM = TABLE.record(
    "system message",
    ChatMessage,
    {"content": ("contents", TextField(TextContent, "text", between="\n\n"))},
    Implied({"role": "system"}),
    Filled({"content": ""}),
    Silent("message_id"),
    constants={"role": "system"},
)
USER = TABLE.record(
    "message",
    ChatMessage,
    {"role": ("role", ROLES), "content": ("contents", TextOrBlocks(USER_PARTS, "string"))},
    Filled({"content": []}),
    Silent("message_id"),
)
ASSISTANT = TABLE.record(
    "assistant message",
    ChatMessage,
    {"content": ("contents", _Assistant(ASSISTANT_PARTS, "list"))},
    Implied({"role": "assistant"}),
    Filled({"content": []}),
    Silent("message_id"),
    constants={"role": "assistant"},
)
TOOL = TABLE.record(
    "tool message",
    ChatMessage,
    {"content": ("contents", _Tool(ANSWERS))},
    Implied({"role": "tool"}),
    Filled({"content": []}),
    Silent("message_id"),
    constants={"role": "tool"},
)
TABLE.known_values("message.role", "system", "user", "assistant", "tool")
