"""The API for authors of adapters: tables, passes, losses and streams, in one versioned module.

An adapter imports this module and the types of the model (`contentmodel`), and nothing of `contentmodel.engine`. The
names listed here are stable within a `VERSION`. If a name is removed or changed, `VERSION` rises and the changelog
describes the migration. Names that are not listed may change at any time.
"""

from __future__ import annotations

from contentmodel import makers
from contentmodel.capabilities import Capabilities, CapabilityTable, ListedModel, Range, listing
from contentmodel.engine import chat
from contentmodel.engine.adapting import TableAdapter
from contentmodel.engine.context import DecodeContext, EncodeContext
from contentmodel.engine.free_text import free_text_row, is_free_text
from contentmodel.engine.host import Host
from contentmodel.engine.json import (
    DUMPERS,
    camel_name,
    canonical,
    child_path,
    dotted_key,
    kind_of,
    object_or_text,
    parse,
    set_fields,
    snake_name,
    steps_of,
    whole_number,
    write,
)
from contentmodel.engine.lines import parse_lines, write_lines
from contentmodel.engine.losses import reasons
from contentmodel.engine.losses.encoded import Encoded
from contentmodel.engine.losses.inner import TOKEN, InnerPayload, InnerTrace, translated
from contentmodel.engine.losses.loss import Loss, LossError, PendingLoss, family_of, loss_of, significant, what_of
from contentmodel.engine.losses.reasons import Reason
from contentmodel.engine.losses.records import OF_MESSAGES
from contentmodel.engine.losses.weight import may_hold_content, strings_in, texts_in, weighed
from contentmodel.engine.objects import list_of, object_at, object_of, objects_of, place_at, runs, text_of
from contentmodel.engine.pipeline import foreign, media, settings
from contentmodel.engine.pipeline.added_tools import AddedTools
from contentmodel.engine.pipeline.answer_roles import without_user_messages
from contentmodel.engine.pipeline.blank_texts import WITHOUT_BLANK_TEXTS, without_blank_instructions
from contentmodel.engine.pipeline.call_ids import with_minted_ids
from contentmodel.engine.pipeline.census import Fact
from contentmodel.engine.pipeline.chat_messages import AnswerMessage, ChatMessages, ResultMessage
from contentmodel.engine.pipeline.detached_media import BEHIND, with_detached_media, with_media_back
from contentmodel.engine.pipeline.guests import with_guests, with_whole_guests, without_guest
from contentmodel.engine.pipeline.instructions import hoist_instructions, instructions_as_text, place_instructions
from contentmodel.engine.pipeline.json_schemas import with_json_schemas, with_named_types
from contentmodel.engine.pipeline.lowering import check_choices, readable_reasoning
from contentmodel.engine.pipeline.names import Renames, SchemaMap
from contentmodel.engine.pipeline.normalizing import as_text_content, normalized_request
from contentmodel.engine.pipeline.origins import is_native, stays
from contentmodel.engine.pipeline.pairing import NEEDS_OF_CALLS, with_fitting_calls
from contentmodel.engine.pipeline.same_fields import with_fields_of
from contentmodel.engine.pipeline.sentinels import (
    BEGUN,
    NO_RESULT,
    begun_before,
    needs_error_mark,
    with_error_mark,
    with_error_read,
)
from contentmodel.engine.pipeline.steps import (
    Made,
    Turns,
    content_step,
    each_output,
    needs,
    payload_step,
    request_step,
    response_step,
    transcript_step,
    turn_step,
)
from contentmodel.engine.pipeline.token_counts import counted, counted_usage
from contentmodel.engine.pipeline.toolsets import (
    FREE_TEXT_ROW,
    OTHER_KINDS,
    Kinds,
    types_after_fitting,
    with_custom_calls,
    with_custom_results,
    with_known_tools,
    without_settings_of_tools,
)
from contentmodel.engine.requests_only import RequestsOnly
from contentmodel.engine.streams.amending import AmendingEncoder, citations_of_piece
from contentmodel.engine.streams.block_decoder import BlockDecoder, decode_call
from contentmodel.engine.streams.block_encoder import BlockEncoder, BlockParts, NamedEvent
from contentmodel.engine.streams.choices import ChoiceOrder
from contentmodel.engine.streams.decoder import (
    BlockState,
    StreamDecoder,
    layout_of,
)
from contentmodel.engine.streams.encoder import StreamEncoder
from contentmodel.engine.streams.formats import EVENT_STREAM, INVOKE_STREAM, LINES, SSE, StreamFormat
from contentmodel.engine.streams.joined_texts import JoinedTexts, JoiningEncoder, with_normalized_texts
from contentmodel.engine.streams.merging import append_text, extended, extended_list, join_base64, merge_into
from contentmodel.engine.streams.outgoing import (
    TEXT_HERE,
    OutgoingBlock,
    Written,
    growing,
    growing_event,
    is_incomplete_call,
)
from contentmodel.engine.streams.stream_losses import Place as BlockPlace
from contentmodel.engine.table import forms, guests, hints, tool_choices
from contentmodel.engine.table.as_sent import AsSent
from contentmodel.engine.table.codecs import (
    LIST,
    ArgumentsObject,
    ArgumentsObjectOrText,
    ArgumentsText,
    Codec,
    Constant,
    DataUri,
    EnumString,
    MappedEnum,
    MintedId,
    Opaque,
    Pair,
    Place,
    ProviderOnly,
    Required,
    WholeNumber,
    is_data_uri,
    spread,
)
from contentmodel.engine.table.error_types import ErrorBody, ErrorFields, ErrorTypes
from contentmodel.engine.table.finish_reasons import FinishReasons, finished_by_calls
from contentmodel.engine.table.forms import Form
from contentmodel.engine.table.guests import Guest, GuestBlocks
from contentmodel.engine.table.hints import Hint, escaped, minted_id, wire_fields
from contentmodel.engine.table.introspect import fields_of
from contentmodel.engine.table.message_lists import MessageList
from contentmodel.engine.table.nested import (
    Blocks,
    BlocksOrOne,
    CachePoints,
    EachBlock,
    NonEmptyText,
    NonEmptyTextOrBlocks,
    One,
    OneOf,
    Outputs,
    Record,
    TextField,
    TextOrBlocks,
    TextParts,
)
from contentmodel.engine.table.object_lists import ObjectList
from contentmodel.engine.table.respelling import KEYS as SPELLINGS
from contentmodel.engine.table.respelling import number_of
from contentmodel.engine.table.roles import Roles
from contentmodel.engine.table.rows import Pieces
from contentmodel.engine.table.signs import has_explicit_error
from contentmodel.engine.table.spellings import Affixed, FixedName, NonEmpty, OnlyItem, TextOrJson, TextOrTexts, Words
from contentmodel.engine.table.tables import (
    Aliases,
    Column,
    Columns,
    Failure,
    Field,
    Fields,
    Filled,
    Gathered,
    Group,
    Implied,
    Inlined,
    Named,
    PairRow,
    ProtobufJson,
    Rest,
    Row,
    Shape,
    Sign,
    Silent,
    Spec,
    Table,
    Union,
    enum_at,
    row,
    same_options,
)
from contentmodel.engine.table.tool_choices import Choice, ToolOrMode, custom_names
from contentmodel.engine.table.unions import first_fitting
from contentmodel.engine.times import date_of, seconds_of, whole_seconds, with_date
from contentmodel.events import (
    ArgumentsDelta,
    CitationDelta,
    Layout,
    MediaDelta,
    ReasoningDelta,
    SignatureDelta,
    TextDelta,
    UnknownDelta,
    WireEvent,
)
from contentmodel.http_api import HttpApi, HttpMethod, TokenCounting
from contentmodel.limits import LimitHeaders
from contentmodel.message import contents_of
from contentmodel.rules import (
    MODEL_RULE,
    Broken,
    Find,
    FindByModel,
    IdentifierRule,
    Rules,
    Severity,
    Violation,
    objects,
    objects_along,
    one_object,
)

__all__ = [
    "AddedTools",
    "Affixed",
    "Aliases",
    "AmendingEncoder",
    "AnswerMessage",
    "ArgumentsDelta",
    "ArgumentsObject",
    "ArgumentsObjectOrText",
    "ArgumentsText",
    "AsSent",
    "BEGUN",
    "BEHIND",
    "BlockDecoder",
    "BlockEncoder",
    "BlockParts",
    "BlockPlace",
    "BlockState",
    "Blocks",
    "BlocksOrOne",
    "Broken",
    "CachePoints",
    "Capabilities",
    "CapabilityTable",
    "ChatMessages",
    "Choice",
    "ChoiceOrder",
    "CitationDelta",
    "Codec",
    "Column",
    "Columns",
    "Constant",
    "DUMPERS",
    "DataUri",
    "DecodeContext",
    "EVENT_STREAM",
    "EachBlock",
    "EncodeContext",
    "Encoded",
    "EnumString",
    "ErrorBody",
    "ErrorFields",
    "ErrorTypes",
    "FREE_TEXT_ROW",
    "Fact",
    "Failure",
    "Field",
    "Fields",
    "Filled",
    "Find",
    "FindByModel",
    "FinishReasons",
    "FixedName",
    "Form",
    "Gathered",
    "Group",
    "Guest",
    "GuestBlocks",
    "Hint",
    "Host",
    "HttpApi",
    "HttpMethod",
    "INVOKE_STREAM",
    "IdentifierRule",
    "Implied",
    "Inlined",
    "InnerPayload",
    "InnerTrace",
    "JoinedTexts",
    "JoiningEncoder",
    "Kinds",
    "LINES",
    "LIST",
    "Layout",
    "LimitHeaders",
    "ListedModel",
    "Loss",
    "LossError",
    "MODEL_RULE",
    "Made",
    "MappedEnum",
    "MediaDelta",
    "MessageList",
    "MintedId",
    "NEEDS_OF_CALLS",
    "NO_RESULT",
    "Named",
    "NamedEvent",
    "NonEmpty",
    "NonEmptyText",
    "NonEmptyTextOrBlocks",
    "OF_MESSAGES",
    "OTHER_KINDS",
    "ObjectList",
    "One",
    "OneOf",
    "OnlyItem",
    "Opaque",
    "OutgoingBlock",
    "Outputs",
    "Pair",
    "PairRow",
    "PendingLoss",
    "Pieces",
    "Place",
    "ProtobufJson",
    "ProviderOnly",
    "Range",
    "Reason",
    "ReasoningDelta",
    "Record",
    "Renames",
    "RequestsOnly",
    "Required",
    "Rest",
    "ResultMessage",
    "Roles",
    "Row",
    "Rules",
    "SPELLINGS",
    "SSE",
    "SchemaMap",
    "Severity",
    "Shape",
    "Sign",
    "SignatureDelta",
    "Silent",
    "Spec",
    "StreamDecoder",
    "StreamEncoder",
    "StreamFormat",
    "TEXT_HERE",
    "TOKEN",
    "Table",
    "TableAdapter",
    "TextDelta",
    "TextField",
    "TextOrBlocks",
    "TextOrJson",
    "TextOrTexts",
    "TextParts",
    "TokenCounting",
    "ToolOrMode",
    "Turns",
    "Union",
    "UnknownDelta",
    "VERSION",
    "Violation",
    "WITHOUT_BLANK_TEXTS",
    "WholeNumber",
    "WireEvent",
    "Words",
    "Written",
    "append_text",
    "as_text_content",
    "begun_before",
    "camel_name",
    "canonical",
    "chat",
    "check_choices",
    "child_path",
    "citations_of_piece",
    "content_step",
    "contents_of",
    "counted",
    "counted_usage",
    "custom_names",
    "date_of",
    "decode_call",
    "dotted_key",
    "each_output",
    "enum_at",
    "escaped",
    "extended",
    "extended_list",
    "family_of",
    "fields_of",
    "finished_by_calls",
    "first_fitting",
    "foreign",
    "forms",
    "free_text_row",
    "growing",
    "growing_event",
    "guests",
    "has_explicit_error",
    "hints",
    "hoist_instructions",
    "instructions_as_text",
    "is_data_uri",
    "is_free_text",
    "is_incomplete_call",
    "is_native",
    "join_base64",
    "kind_of",
    "layout_of",
    "list_of",
    "listing",
    "loss_of",
    "makers",
    "may_hold_content",
    "media",
    "merge_into",
    "minted_id",
    "needs",
    "needs_error_mark",
    "normalized_request",
    "number_of",
    "object_at",
    "object_of",
    "object_or_text",
    "objects",
    "objects_along",
    "objects_of",
    "one_object",
    "parse",
    "parse_lines",
    "payload_step",
    "place_at",
    "place_instructions",
    "readable_reasoning",
    "reasons",
    "request_step",
    "response_step",
    "row",
    "runs",
    "same_options",
    "seconds_of",
    "set_fields",
    "settings",
    "significant",
    "snake_name",
    "spread",
    "stays",
    "steps_of",
    "strings_in",
    "text_of",
    "texts_in",
    "tool_choices",
    "transcript_step",
    "translated",
    "turn_step",
    "types_after_fitting",
    "weighed",
    "what_of",
    "whole_number",
    "whole_seconds",
    "wire_fields",
    "with_custom_calls",
    "with_custom_results",
    "with_date",
    "with_detached_media",
    "with_error_mark",
    "with_error_read",
    "with_fields_of",
    "with_fitting_calls",
    "with_guests",
    "with_json_schemas",
    "with_known_tools",
    "with_media_back",
    "with_minted_ids",
    "with_named_types",
    "with_normalized_texts",
    "with_whole_guests",
    "without_blank_instructions",
    "without_guest",
    "without_settings_of_tools",
    "without_user_messages",
    "write",
    "write_lines",
]

VERSION = 1
"""The version of this module. It rises if a name is removed or its meaning changes."""
