"""What authors of adapters import: tables, passes, losses and streams, in one module with a version.

An adapter needs this module, the types of the model (`contentmodel`), and nothing of `contentmodel.engine`. The names
listed here keep their meaning within a `VERSION`. It rises when one is removed or changed, and the changelog says how
to follow. Names that are not listed may change at any time.
"""

from __future__ import annotations

from contentmodel.capabilities import Capabilities, CapabilityTable, ListedModel, Range
from contentmodel.engine.adapting import TableAdapter
from contentmodel.engine.context import DecodeContext, EncodeContext
from contentmodel.engine.json import camel_name, canonical, child_path, kind_of, parse, snake_name, steps_of, write
from contentmodel.engine.losses import reasons
from contentmodel.engine.losses.encoded import Encoded
from contentmodel.engine.losses.loss import Loss, LossError, Note, family_of, loss_of, significant, what_of
from contentmodel.engine.objects import list_of, object_at, object_of, objects_of, place_at, text_of
from contentmodel.engine.pipeline import media, passes
from contentmodel.engine.pipeline.added_tools import AddedTools
from contentmodel.engine.pipeline.apart import with_media_apart, with_media_back
from contentmodel.engine.pipeline.instructions import hoist_instructions, place_instructions, tell_instructions
from contentmodel.engine.pipeline.lowering import check_choices
from contentmodel.engine.pipeline.marks import (
    BEGUN,
    NO_RESULT,
    begun_before,
    needs_error_mark,
    with_error_read,
    with_error_told,
)
from contentmodel.engine.pipeline.names import Maps, SchemaMap, with_counted_calls
from contentmodel.engine.pipeline.origins import is_native
from contentmodel.engine.pipeline.pairing import with_fitting_calls
from contentmodel.engine.pipeline.steps import message_pass, payload_pass, request_pass, response_pass
from contentmodel.engine.pipeline.toolsets import Kinds, with_custom_calls, with_custom_results, with_known_tools
from contentmodel.engine.streams.decoder import (
    OpenBlock,
    StreamDecoder,
    laid_out,
    lay_over,
    lengthen,
    longer,
    longer_list,
    settle_entry,
)
from contentmodel.engine.streams.encoder import StreamEncoder
from contentmodel.engine.streams.outgoing import Outgoing, Written, growing, is_half_a_call
from contentmodel.engine.table import hints
from contentmodel.engine.table.codecs import (
    LIST,
    Allowed,
    ArgumentsObject,
    ArgumentsText,
    Codec,
    DataUri,
    Home,
    Pair,
    Place,
    Renamed,
    Sealed,
    is_data_uri,
    spread,
)
from contentmodel.engine.table.error_words import ErrorBody, ErrorWords
from contentmodel.engine.table.hints import Hint, escaped, wire_fields
from contentmodel.engine.table.introspect import fields_of
from contentmodel.engine.table.nested import Blocks, BlocksOrOne, One, OneOf, Outputs, Record, TextOrBlocks, WordsOf
from contentmodel.engine.table.respelling import number_of
from contentmodel.engine.table.roles import Roles
from contentmodel.engine.table.rows import Pieces
from contentmodel.engine.table.signs import is_error_alone
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
    row,
)
from contentmodel.limits import LimitHeaders
from contentmodel.rules import Alphabet, Broken, Find, FindByModel, Rules, Severity, Violation, objects, one_object

__all__ = [
    "AddedTools",
    "Aliases",
    "Allowed",
    "Alphabet",
    "ArgumentsObject",
    "ArgumentsText",
    "BEGUN",
    "Blocks",
    "BlocksOrOne",
    "Broken",
    "Capabilities",
    "CapabilityTable",
    "Codec",
    "Column",
    "Columns",
    "DataUri",
    "DecodeContext",
    "EncodeContext",
    "Encoded",
    "ErrorBody",
    "ErrorWords",
    "Failure",
    "Field",
    "Fields",
    "Filled",
    "Find",
    "FindByModel",
    "Gathered",
    "Group",
    "Hint",
    "Home",
    "Implied",
    "Kinds",
    "LIST",
    "LimitHeaders",
    "ListedModel",
    "Loss",
    "LossError",
    "Maps",
    "NO_RESULT",
    "Named",
    "Note",
    "One",
    "OneOf",
    "OpenBlock",
    "Outgoing",
    "Outputs",
    "Pair",
    "PairRow",
    "Pieces",
    "Place",
    "ProtobufJson",
    "Range",
    "Record",
    "Renamed",
    "Rest",
    "Roles",
    "Row",
    "Rules",
    "SchemaMap",
    "Sealed",
    "Severity",
    "Shape",
    "Sign",
    "Silent",
    "Spec",
    "StreamDecoder",
    "StreamEncoder",
    "Table",
    "TableAdapter",
    "TextOrBlocks",
    "Union",
    "VERSION",
    "Violation",
    "WordsOf",
    "Written",
    "begun_before",
    "camel_name",
    "canonical",
    "check_choices",
    "child_path",
    "escaped",
    "family_of",
    "fields_of",
    "growing",
    "hints",
    "hoist_instructions",
    "is_data_uri",
    "is_error_alone",
    "is_half_a_call",
    "is_native",
    "kind_of",
    "laid_out",
    "lay_over",
    "lengthen",
    "list_of",
    "longer",
    "longer_list",
    "loss_of",
    "media",
    "message_pass",
    "needs_error_mark",
    "number_of",
    "object_at",
    "object_of",
    "objects",
    "objects_of",
    "one_object",
    "parse",
    "passes",
    "payload_pass",
    "place_at",
    "place_instructions",
    "reasons",
    "request_pass",
    "response_pass",
    "row",
    "settle_entry",
    "significant",
    "snake_name",
    "spread",
    "steps_of",
    "tell_instructions",
    "text_of",
    "what_of",
    "wire_fields",
    "with_counted_calls",
    "with_custom_calls",
    "with_custom_results",
    "with_error_read",
    "with_error_told",
    "with_fitting_calls",
    "with_known_tools",
    "with_media_apart",
    "with_media_back",
    "write",
]

VERSION = 1
"""The version of this module's promises: it rises when a name is removed or changes its meaning."""
