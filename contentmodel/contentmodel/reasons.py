"""Reasons of losses: one entry each, with a stable code, the kind of loss and the text for people.

To report a loss, pass an entry of this table to `EncodeContext.report_loss`, and the values that its text names:

    context.report_loss(message, "role", reasons.NO_ROLE, role=message.role)

`{target}` is replaced by the target API. To add a reason, add an entry here: a code in kebab-case that never changes,
and one sentence with the event and its cause. An adapter outside of this project makes its own entries with `dropped`,
`degraded`, `moved`, `synthesized` and `insignificant`; their codes begin with its API's id.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import get_args

import msgspec

from contentmodel.json import JsonObject
from contentmodel.literals import LossKind

KINDS: tuple[LossKind, ...] = get_args(LossKind)
"""The kinds of losses; docs/losses.md explains each."""


class Reason(msgspec.Struct, frozen=True):
    """A reason of a loss: `code` for programs, `kind` of loss, and `why`, a template of the text for people."""

    code: str
    kind: LossKind
    why: str

    def text(self, target: str, values: JsonObject) -> str:
        """Return the text for people, with the target API and the values filled in. Equal texts are one object."""
        return sys.intern(self.why.format(target=target, **values)) if values else _text_of(self.why, target)


@lru_cache(4096)
def _text_of(why: str, target: str) -> str:
    return sys.intern(why.format(target=target))


def dropped(code: str, why: str) -> Reason:
    """Return a reason for a value that is missing in the target."""
    return Reason(code, "dropped", why)


def degraded(code: str, why: str) -> Reason:
    """Return a reason for a value that is less specific in the target."""
    return Reason(code, "degraded", why)


def moved(code: str, why: str) -> Reason:
    """Return a reason for a value that is at another place or in another order in the target."""
    return Reason(code, "moved", why)


def synthesized(code: str, why: str) -> Reason:
    """Return a reason for a value that the source does not have."""
    return Reason(code, "synthesized", why)


def insignificant(code: str, why: str) -> Reason:
    """Return a reason for a missing value that has no meaning to any reader."""
    return Reason(code, "insignificant", why)


UNLISTED = "unlisted"
"""The code of a loss whose reason is a plain text."""


def unlisted(kind: LossKind, why: str) -> Reason:
    """Return a reason made of a plain text."""
    return Reason(UNLISTED, kind, why.replace("{", "{{").replace("}", "}}"))


# Fields and enum values
NO_FIELD = dropped("no-field", "{target} has no field for it here")
PROVIDER_FIELD = dropped("provider-field", "this field is specific to {source}")
UNSUPPORTED_VALUE = dropped("unsupported-value", "{target} does not accept the value {value!r} here")
OTHER_VALUE = degraded("other-value", "{target} supports only the value {value} here")
ERROR_CONVERTED = insignificant("error-converted", "{target} has another error type with the same meaning")
FAILED_ANSWER = insignificant("failed-answer", "{target} gets the error of this answer as the body of an error")
ERROR_WORDS = synthesized(
    "error-words", "clients of {target} recognize this kind of error by the words {words!r}: they are added"
)
NO_ERROR_TYPE = degraded("no-error-type", "{target} has no error type with this meaning")
PROVIDER_FORM = dropped("provider-form", "this value has a form that only its own API can read")
FOREIGN_SETTINGS = dropped("foreign-settings", "the settings of another API's tool have no meaning to {target}")

# Insignificant losses
MEANINGLESS_FIELD = insignificant(
    "meaningless-field", "this field is specific to {source}, and it has no meaning elsewhere"
)
REPEATED_SETTING = insignificant("repeated-setting", "it repeats a setting of the request")
USUAL_VALUE = insignificant(
    "usual-value", "{target} has no field for it here, and a missing field has the same meaning"
)
SCHEMA_NAME = insignificant("schema-name", "{target} does not name the schema of an answer, and no model reads it")
ALWAYS_STRICT = insignificant("always-strict", "{target} enforces the schema of an answer without being asked to")
MESSAGE_ID = insignificant("message-id", "{target} assigns message ids itself")
ZERO_COUNT = insignificant("zero-count", "{target} has no such counter, and its value is zero")
TOKEN_SUM = insignificant("token-sum", "it is the sum of counters that {target} has")
IN_URL = insignificant("in-url", "{target} has it in the URL of the request, not in the body")
IN_HEADER = insignificant("in-header", "{target} has it in a header of the request, not in the body")
MESSAGE_RECORD = insignificant(
    "message-record", "{target} has no field for this record about a message, which models never receive"
)
EDITED_RECORD = dropped("edited-record", "{target} has it in other lines, which keep the decoded value")
AGENT_INSTRUCTIONS = dropped(
    "agent-instructions",
    "they are instructions of another agent or application: the agent of {target} adds its own",
)
REFUSAL_AS_TEXT = degraded("refusal-as-text", "{target} has no refusals here: it is sent as text")
ARTIFACT = insignificant("artifact", "it is a value of the application, which is never sent to a model")
USUAL_OUTCOME = insignificant("usual-outcome", "the error flag of the result has the same meaning as {value}")
UNKNOWN_TIME = insignificant("unknown-time", "{target} requires a time, and the source has none: 1970-01-01 is written")
CACHE_POINT = insignificant("cache-point", "{target} has no cache points here: only the cost of the request changes")
CACHE_LIFETIME = insignificant(
    "cache-lifetime", "{target} does not accept this lifetime of a cache point here: its default applies"
)
CACHE_POINT_LIMIT = insignificant(
    "cache-point-limit", "{target} accepts {limit} cache points at most: those with the longest prompts are kept"
)
SCHEMA_ANNOTATION = insignificant(
    "schema-annotation", "{target} does not accept {keyword}, which does not restrict any value: {why}"
)

# Settings
FOREIGN_MODEL = degraded(
    "foreign-model", "{found}, which {target} does not have: name a model of {target} (model=, or --model)"
)
NO_MODEL = synthesized("no-model", "{target} requires a model, and the request has none: the model is empty")
REFUSED_SETTING = dropped("refused-setting", "{target} refuses it here: {rule}")
OUTPUT_LIMIT = synthesized(
    "output-limit", "{target} requires a limit of output tokens, and the request has none: a default is sent"
)
THINKING_UNSUPPORTED = dropped("thinking-unsupported", "{why}")
THINKING_ADJUSTED = degraded("thinking-adjusted", "{why}")
THINKING_CONVERTED = insignificant("thinking-converted", "{target} has another field with the same meaning")
SAMPLING_UNSUPPORTED = dropped("sampling-unsupported", "{why}")
SAMPLING_CLIPPED = degraded("sampling-clipped", "{why}")
SAMPLING_DEFAULT = insignificant("sampling-default", "{why}: the result is the same without the setting")
STOP_SEQUENCE_LIMIT = dropped("stop-sequence-limit", "{why}")
PARALLEL_UNSUPPORTED = dropped("parallel-unsupported", "{why}")
ANSWER_SCHEMA_UNSUPPORTED = dropped("answer-schema-unsupported", "{why}")
STRICT_UNSUPPORTED = dropped("strict-unsupported", "{why}")
NO_EFFORT_LEVEL = dropped("no-effort-level", "{target} has no reasoning effort {level!r}")
NO_MODALITY = dropped("no-modality", "{target} does not support all of these output modalities")
VOICE = synthesized(
    "voice", "{target} requires a voice and a format for audio output, and the request has none: defaults are sent"
)
NO_AUDIO_OUTPUT = dropped("no-audio-output", "the model {model!r} has no audio output")
NO_TOOL_CHOICE = degraded("no-tool-choice", "{target} does not support this tool choice: a less specific one is sent")
CHOICE_WITHOUT_TOOLS = dropped("choice-without-tools", "no tool of the request is sent")
TOOL_CHOICE_PARTS = degraded("tool-choice-parts", "some fields of the tool choice are specific to its own API")
PARALLEL_WITHOUT_TOOLS = dropped("parallel-without-tools", "the request has no tools")
PARALLEL_WITHOUT_CALLS = dropped("parallel-without-calls", "the tool choice forbids tool calls")

# Messages
NO_ROLE = degraded("no-role", "{target} has no role {role!r}: the message is sent as a user message")
INSTRUCTIONS_AS_USER = degraded(
    "instructions-as-user",
    "{target} does not accept instructions at this position: the message is sent as a user message",
)
SEPARATE_INSTRUCTIONS = moved(
    "separate-instructions", "{target} has instructions in a separate field, outside of the messages"
)
PLACEHOLDER_MESSAGE = synthesized(
    "placeholder-message", "no content of this message can be sent: a placeholder text replaces it"
)
NO_USER_MESSAGE = synthesized(
    "no-user-message", "{target} requires a user message, and the request has no content: a placeholder text is sent"
)
EMPTY_MESSAGE = dropped("empty-message", "no content of this message can be sent")
OWN_APPROVAL = insignificant(
    "own-approval", "the application runs this call itself, so {target} does not need the approval"
)
APPROVAL_ANSWER = dropped("approval-answer", "{target} has no approvals, and no result shows this answer")
PENDING_APPROVAL = dropped("pending-approval", "{target} has no approvals: it does not get that the call waits for one")
DENIAL_AS_RESULT = degraded("denial-as-result", "{target} has no approvals: the denial of the call becomes its result")
WRONG_ROLE = dropped("wrong-role", "its message has the role {role!r}, and {target} accepts it only from the assistant")
NO_ROLE_IN_ANSWER = dropped("no-role-in-answer", "answers of {target} have no messages with the role {role!r}")
USER_TURN_FIRST = synthesized(
    "user-turn-first", "{target} requires a user message before this one: a placeholder text is sent"
)
CONTINUED = synthesized(
    "continued",
    "the model refuses to continue an answer: a message of the user that asks for it is sent after this one",
)
CONTINUED_BEFORE = insignificant(
    "continued-before", "an earlier conversion added it: the model could not continue an answer"
)
NO_BRANCHES = dropped("no-branches", "{target} holds one conversation without branches")
ANSWER_FIELDS = degraded("answer-field", "requests to {target} do not accept the field {name!r} here")

# Contents
NO_BLOCK = dropped("no-block", "{target} has no {place} that can hold it")
UNSUPPORTED_CONTENT = dropped("unsupported-content", "{target} cannot represent it")
UNSUPPORTED_IN_MESSAGE = dropped("unsupported-in-message", "{target} cannot represent it in this message")
SEPARATE_COLUMN = moved(
    "separate-column", "{target} has {column} in a separate field: the position among the other contents is lost"
)
UNKNOWN_BLOCK = dropped("unknown-block", "this block is specific to {source}")
AS_TEXT = degraded("as-text", "it is sent to {target} as text")
BLANK_TEXT = dropped("blank-text", "{target} refuses text that is empty or only white space")
ONE_OUTPUT = dropped("one-output", "{target} accepts only one output here")
TEXT_ONLY = dropped("text-only", "{target} accepts only text here")
UNREADABLE_COMPACTION = dropped("unreadable-compaction", "{target} cannot read the compaction of another provider")

# Reasoning
OPAQUE_STATE = dropped("opaque-state", "opaque state of {issuer} has no meaning to {target}")
REASONING_KIND = insignificant("reasoning-kind", "{target} does not distinguish kinds of reasoning: its text is sent")
REPEATED_TEXT = insignificant("repeated-text", "the text repeats the one before it, and {target} gets it once")
FOREIGN_REASONING = dropped("foreign-reasoning", "reasoning of another API is not sent to {target}")
REASONING_AS_TEXT = degraded("reasoning-as-text", "the policy for reasoning sends it as visible text")
STATE_INVALID = dropped(
    "state-invalid",
    "this gateway did not sign it for this place: it was changed or moved, or signed with another key",
)
STATE_OF_OTHER_ACCOUNT = dropped(
    "state-of-other-account", "another upstream or another account issued it, and {target} could not read it"
)
NO_CARRIER = dropped("no-carrier", "clients of {target} have no field that could send it back, or it is too large")
PLACEHOLDER_SIGNATURE = synthesized(
    "placeholder-signature", "the model requires a signature, and the call has none: a placeholder is sent"
)

# Calls and results
EMPTY_ARGUMENTS = insignificant("empty-arguments", "{target} gets an empty object instead of a text without arguments")
ARGUMENTS_SPELLING = degraded(
    "arguments-spelling", "{target} has arguments as an object: the formatting of their JSON text is lost"
)
ARGUMENTS_AS_OBJECT = degraded(
    "arguments-as-object",
    "{target} has arguments as an object, and this text is none: it is sent as the only property of one",
)
CALL_ID = synthesized("call-id", "{target} requires an id, and the source has none: a generated id is sent")
CALL_NAME = synthesized(
    "call-name", "{target} requires the name of a tool, and the call has none: it is sent as a call of `tool`"
)
REPEATED_CALL_ID = degraded(
    "repeated-call-id", "an earlier call has this id: the id is replaced, and the maps can restore it"
)
ID_OF_CALL = degraded("id-of-call", "the call of this result has another id, or none: the result gets the call's id")
AUTHOR_NAME = degraded("author-name", "{target} refuses some of these characters in names of authors, or this length")
NAME_OF_CALL = degraded("name-of-call", "the call of this result has another name: the result gets that name")
RESERVED_NAME = degraded(
    "reserved-name", "{target} has a hosted tool with this name: the name is replaced, and the maps can restore it"
)
MAPPED_NAME = degraded(
    "mapped-name",
    "{target} does not accept these characters or this length: the value is replaced, and the maps can restore it",
)
INTERRUPTED_STATUS = dropped("interrupted-status", "{target} cannot represent an interrupted call")
OUTCOME = degraded("outcome", "{target} gets the failure of the call, but not that it is {value}")
JSON_FORM = degraded("json-form", "{target} has another form for this value: decoding it returns other outputs")
NO_ERROR_FLAG = degraded("no-error-flag", "{target} has no error flag: a text reports the failure")
ERROR_KEY = degraded("error-key", '{target} has no error flag: the key "error" reports the failure')
FAILURE_MARK = insignificant("failure-mark", "{target} has another mark for a failed result")
ERROR_AS_TEXT = degraded("error-as-text", "an error in a tool result is sent as text")
UNMATCHED_RESULT = degraded("unmatched-result", "it answers no pending call: it is sent as user text")
MISSING_RESULT = synthesized(
    "missing-result", "{target} requires a result for every call, and this call has none: a placeholder is sent"
)
RESULT_MOVED = moved(
    "result-moved", "{target} requires the results directly after their calls: it is sent before the instructions"
)
CALL_AFTER_RESULTS = moved(
    "call-after-results", "results of hosted calls come first: the call is sent after them, next to its own result"
)
IN_STATE = insignificant("in-state", "{target} has it as the state of the call, or as the type of the output")
REPEATED_REASON = insignificant(
    "repeated-reason", "{target} has the reason of a denied call only once, in the approval"
)
REPEATED_STATE = insignificant(
    "repeated-state", "{target} has the encrypted content of an item only once, not for each part"
)
REPEATED_VALUE = insignificant(
    "repeated-value", "{target} has it in another field of the same block, or in another spelling"
)
REPEATED_CITATION = insignificant("repeated-citation", "{target} has each citation of a text only once")
REPEATED_CALL = insignificant("repeated-call", "{target} has the arguments of a call only once, in the call")
REPEATED_ID = insignificant("repeated-id", "{target} has the id of a call only once, among its arguments")
CALL_OF_APPROVAL = synthesized(
    "call-of-approval",
    "{target} has approvals in their calls, and the source has no call: one is made from the approval",
)
RESULT_WITH_CALL = moved(
    "result-with-call", "{target} has each result in its call: results get the order of their calls"
)
MEDIA_AFTER_RESULT = moved(
    "media-after-result", "{target} accepts only text in such a tool result: the media follow in a user message"
)
MEDIA_AFTER_DOCUMENT = moved(
    "media-after-document", "{target} has no document with media inside: the media follow the document"
)
ONE_RESULT_KIND = degraded("one-result-kind", "{target} has one kind of tool result, and it does not name its tool")

# Hosted tools
PENDING_HOSTED_CALL = dropped(
    "pending-hosted-call", "the hosted call has no result yet, and only its own provider can continue it"
)
CITED_SOURCE = degraded("cited-source", "{target} gets the citations of this source, but not the source itself")
FOREIGN_HOSTED_TOOL = dropped("foreign-hosted-tool", "{target} cannot represent a hosted tool of another provider")
TOOL_MAPPED = degraded(
    "tool-mapped", "the option for tools converts it to a call of {tool}, which does the same with other arguments"
)
TOOL_BY_NAME = degraded(
    "tool-by-name", "{target} has only the name of a hosted tool, from which its type cannot be restored"
)
TOOL_ARGUMENT = dropped("tool-argument", "{tool} has no argument for it")
HOSTED_AS_TEXT = degraded("hosted-as-text", "the policy for hosted tools sends it as text")
AS_FUNCTION_CALL = degraded("as-function-call", "it is sent to {target} as a function call")
AS_FUNCTION_RESULT = degraded("as-function-result", "it is sent to {target} as a function result")
ERROR_ADDED = synthesized(
    "error-added", "{target} reports this result as failed: decoding adds an error to its outputs"
)
TEXT_AS_ERROR = degraded("text-as-error", "{target} reports this result as failed: decoding reads its texts as errors")
STORED_WITH_ITEM = dropped("stored-with-item", "{target} reads it from the item of this id, which it stores")
STORED_ELSEWHERE = dropped("stored-elsewhere", "another provider stores it, and {target} cannot load it")

# Tool definitions and schemas
GRAMMAR_AS_TEXT = degraded(
    "grammar-as-text", "{target} does not support grammars: the description of the input has the grammar"
)
NO_TEXT_FORMAT = dropped("no-text-format", "{target} does not support this format of free text")
NEEDS_SETTINGS = dropped("needs-settings", "{target} requires {needs} for this tool, and the request has none")
TOOL_SETTING = dropped("tool-setting", "the tool {tag} of {target} has no such setting")
KINDRED_TOOL = degraded("kindred-tool", "{target} has no such tool: its tool {tool} does the same")
NO_HOSTED_TOOL = dropped("no-hosted-tool", "{target} has no such hosted tool")
FIXED_NAME = insignificant("fixed-name", "{target} has a name of its own for this tool, or none")
NAMESPACE_IN_NAME = degraded(
    "namespace-in-name", "{target} has no namespaces: the name contains the namespace, and the maps can restore it"
)
TOOLS_IN_ONE_LIST = moved("tools-in-one-list", "{target} has only one list of tools: the added tools are moved to it")
REPEATED_TOOL = dropped("repeated-tool", "{target} accepts only one tool of each name")
NOT_STRICT = dropped("not-strict", "{target} cannot enforce the schema: {why}")
REFUSED_SCHEMA = dropped("refused-schema", "{target} refuses this schema: {why}")
SCHEMA_KEYWORD = dropped("schema-keyword", "{target} does not support this {keyword}: {why}")
SCHEMA_REMOVED = dropped("schema-removed", "{target} cannot express this schema: {why}")
SCHEMA_CONVERTED = degraded("schema-converted", "{target} has another form for {keyword}: {why}")

# Media
NO_MEDIA_IN_ANSWER = dropped("no-media-in-answer", "answers of {target} have no media")
LINK_AS_TEXT = degraded("link-as-text", "{target} cannot fetch this link: the address is sent as text")
DOCUMENT_TEXT = degraded("document-text", "{target} gets the text of the document instead of base64")
DOCUMENT_AS_BASE64 = degraded("document-as-base64", "{target} gets the document as base64 instead of text")
DOCUMENT_AS_TEXT = degraded(
    "document-as-text", "{target} does not accept {media_type}: the document is sent as plain text"
)
UNSUPPORTED_MEDIA_TYPE = dropped("unsupported-media-type", "{target} does not accept {media_type}")
MEDIA_TYPE_NAME = degraded("media-type-name", "{target} uses the name {media_type} for this media type")
MEDIA_OF_ASSISTANT = dropped("media-of-assistant", "assistant messages of {target} have no media")
TRANSCRIPT = degraded("transcript", "{target} does not accept audio here: the transcript is sent as text")
LINK_TO_KIND = degraded(
    "link-to-kind", "{target} does not accept links to this kind of media ({medium}): the address is sent as text"
)
LINK_WITHOUT_KIND = degraded(
    "link-without-kind", "the link has neither kind nor media type: {target} gets the address as text"
)
DATA_URI = degraded("data-uri", "{target} gets the content of the data URI as inline data")
GUESSED_MEDIA_TYPE = synthesized(
    "guessed-media-type", "{target} requires a media type, and the source has none: {media_type} is a guess"
)
NO_MEDIA_TYPE = dropped("no-media-type", "it is no media type, which has the form type/subtype")
UNTYPED_DATA = dropped("untyped-data", "{target} requires a media type, and neither the name nor the data shows one")
NOT_BASE64 = dropped("not-base64", "its data is not valid base64")
NO_DATA = dropped("no-data", "it has no data, and {target} refuses media without data")
BASE64_SPELLING = insignificant("base64-spelling", "{target} gets the same bytes as standard, padded base64")
FILE_NAME = synthesized("file-name", "{target} requires a file name, and the source has none: a generated name is sent")
GENERATED_FILE_NAME = insignificant("generated-file-name", "the name was generated for an API that requires one")
ONE_IMAGE = dropped("one-image", "{target} accepts only one image here")

# Citations
NO_CITATION_IN_REQUEST = dropped(
    "citation-in-request", "requests to {target} accept citations only in answers of {target} itself"
)
CITATION_WITHOUT_URL = dropped("citation-without-url", "{target} supports only citations with a URL")
CITATION_UNITS = insignificant(
    "citation-units", "{target} counts from another start or in another unit: the span covers the same text"
)

# Answers
ONE_CHOICE = dropped("one-choice", "answers of {target} have only one choice")
TOKEN_COUNTER_DIFFERS = degraded("token-counter-differs", "this counter includes other tokens in {target}")
STOP_SEQUENCE = dropped("stop-sequence", "{target} does not report which stop sequence ended the answer")
NO_FINISH_REASON = degraded("no-finish-reason", "{target} has no finish reason {value}")
TIME_DROPPED = dropped("time-form", "{target} has the time {form}, and this time cannot be converted")
TIME_REWRITTEN = degraded("time-rewritten", "{target} has the time {form}")
WHOLE_NUMBER = degraded("whole-number", "{target} accepts only whole numbers here: the value is rounded")
TIME_ROUNDED = degraded("time-rounded", "{target} has the time in whole seconds since 1970")

# Streams
CHANGED_AFTER_WRITE = dropped("changed-after-write", "it changed after it was written to the stream")
INTERRUPTED_CALL = dropped("interrupted-call", "the call was interrupted")
AFTER_BLOCK = dropped("after-block", "it arrived after the block was complete")
FINISH_REASON = synthesized(
    "finish-reason", "{target} requires a finish reason, and the source has none: the usual one is sent"
)

# MCP
MCP_EDITED_VALUE = dropped("mcp-edited-value", "the text was edited and no longer matches this value")
MCP_NO_CLASS = degraded("mcp-no-class", "the installed mcp package has no class for it")
MCP_DOCUMENT_PARTS = degraded(
    "mcp-document-parts", "MCP has no documents with parts: each part becomes a separate block"
)
MCP_NO_BLOCK = dropped("mcp-no-block", "MCP has no block for it")
MCP_URI = synthesized("mcp-uri", "MCP requires a URI for every resource: a generated one is sent")
MCP_TEXT_WITH_URI = degraded("mcp-text-with-uri", "MCP has one kind of text with a URI: decoding returns TextContent")
MCP_BASE64 = degraded("mcp-base64", "MCP has standard, padded base64: the original form is lost")
MCP_LINK_NAME = synthesized("mcp-link-name", "MCP requires a name for every link: the title or the URI is sent")

NULL_MEMBERS = dropped(
    "null-members", "{target} cannot keep null members here: readers remove them, because Arrow adds such members"
)

# Rows of tool files
ROW_TEXT_FIRST = moved("row-text-first", "a row has its text before its calls")
ROW_NO_CONTENT = dropped("row-no-content", "rows have only text, function calls and results")
ROW_RESULT_BY_NAME = degraded(
    "row-result-by-name",
    "a row refers to its call only by the function name, and another call of this function is pending",
)
ROW_ERROR_AS_TEXT = degraded("row-error-as-text", "a row has only the text of an error")
ROW_NO_OUTPUT = dropped("row-no-output", "a row has only the text of a result")
ROW_NO_FIELD = dropped("row-no-field", "rows have no field for it")
ROW_NO_NAME = dropped("row-no-name", "{tool} has no parameter for a name")
ROW_NO_CALL = dropped("row-no-call", "{tool} has neither a parameter function_call nor functionCall")

REASONS = {entry.code: entry for entry in list(globals().values()) if isinstance(entry, Reason)}
"""All reasons of this project, by code."""
