"""Reasons of losses: one entry each, with a stable code, the kind of loss and the text for people.

To report a loss, pass an entry of this table to `EncodeContext.report_loss`, and the values that its text names:

    context.report_loss(message, "role", reasons.NO_ROLE, role=message.role)

`{target}` is replaced by the target API. To add a reason, add an entry here: a code in kebab-case that never changes,
and one sentence with the event and its cause. An adapter outside of this project makes its own entries with `dropped`,
`degraded`, `moved`, `synthesized` and `insignificant`; their codes begin with its API's id.
"""

from __future__ import annotations

from typing import get_args

import msgspec

from contentmodel.engine.json import JsonObject
from contentmodel.literals import LossKind

KINDS: tuple[LossKind, ...] = get_args(LossKind)
"""The kinds of losses; docs/losses.md explains each."""


class Reason(msgspec.Struct, frozen=True):
    """A reason of a loss: `code` for programs, `kind` of loss, and `why`, a template of the text for people."""

    code: str
    kind: LossKind
    why: str

    def text(self, target: str, values: JsonObject) -> str:
        """Return the text for people, with the target API and the values filled in."""
        return self.why.format(target=target, **values)


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
PROVIDER_FIELD = dropped("provider-field", "only {source} has this field")
NO_WORD = dropped("no-word", "{target} has no word for {word!r}")
OTHER_WORD = degraded("other-word", "{target} has no other word than {word} here")
ERROR_REWORDED = insignificant("error-reworded", "{target} has another word for this kind of error")
NO_ERROR_WORD = degraded("no-error-word", "{target} has no word for this kind of error")
OTHER_FORM = dropped("other-form", "{target} has another form for it")
FOREIGN_SETTINGS = dropped("foreign-settings", "the settings of another API's tool mean nothing to {target}")
FOREIGN_FORM = dropped("foreign-form", "{target} has other words for it")

# Insignificant losses
MEANINGLESS_FIELD = insignificant("meaningless-field", "only {source} has this field, and it tells nothing elsewhere")
REPEATED_SETTING = insignificant("repeated-setting", "the answer repeats it from its request")
USUAL_VALUE = insignificant("usual-value", "{target} has no field for it here, and it is what a missing field means")
MESSAGE_ID = insignificant("message-id", "{target} names its messages itself")
ZERO_COUNT = insignificant("zero-count", "{target} has no such counter, and it is zero")
TOKEN_SUM = insignificant("token-sum", "it is the sum of the counters that {target} has")
IN_URL = insignificant("in-url", "{target} has it in the URL of the request")
UNKNOWN_TIME = insignificant("unknown-time", "{target} requires a time, and the source has none: it is 0")
SCHEMA_ANNOTATION = insignificant("schema-annotation", "{target} and {keyword}, which asserts nothing: {why}")

# Settings
OTHER_MODEL = degraded("other-model", "the caller named another model")
NO_MODEL = synthesized("no-model", "{target} requires a model, and the request does not name one")
REFUSED_SETTING = dropped("refused-setting", "{target} refuses it here: {rule}")
OUTPUT_LIMIT = synthesized("output-limit", "{target} requires a limit of output tokens")
THINKING_NOT_TAKEN = dropped("thinking-not-taken", "{why}")
THINKING_FITTED = degraded("thinking-fitted", "{why}")
THINKING_REWORDED = insignificant("thinking-reworded", "{target} has another field that means the same")
SAMPLING_NOT_TAKEN = dropped("sampling-not-taken", "{why}")
SAMPLING_CLIPPED = degraded("sampling-clipped", "{why}")
SAMPLING_DEFAULT = insignificant("sampling-default", "{why}: it is the same without it")
STOP_SEQUENCE_LIMIT = dropped("stop-sequence-limit", "{why}")
PARALLEL_NOT_TAKEN = dropped("parallel-not-taken", "{why}")
FORMAT_NOT_TAKEN = dropped("answer-schema-not-taken", "{why}")
STRICT_NOT_TAKEN = dropped("strict-not-taken", "{why}")
NO_LEVEL = dropped("no-effort-level", "{target} has no level {level!r}")
NO_MODALITY = dropped("no-modality", "{target} does not answer with all of these modalities")
VOICE = synthesized("voice", "{target} requires a voice and a format for answers in audio")
NO_VOICE = dropped("no-voice", "the model {model!r} does not answer in audio")
NO_TOOL_CHOICE = degraded("no-tool-choice", "{target} has no such tool choice")
TOOL_CHOICE_PARTS = degraded("tool-choice-parts", "only its own API knows what else the tool choice asks for")
PARALLEL_WITHOUT_TOOLS = dropped("parallel-without-tools", "there are no tools to call")
PARALLEL_WITHOUT_CALLS = dropped("parallel-without-calls", "the tool choice allows no calls")

# Messages
NO_ROLE = degraded("no-role", "{target} has no role {role!r}: sent as the user's")
NO_INSTRUCTIONS_HERE = degraded(
    "instructions-as-user", "{target} has no such message in a conversation: sent as the user's"
)
INSTRUCTIONS_APART = moved("instructions-apart", "{target} has instructions apart from the messages")
LEFT_OUT = synthesized("left-out", "nothing that was in it can be sent: a text says so")
NO_TURN = synthesized("no-turn", "{target} requires a message of the user")
EMPTY_MESSAGE = dropped("empty-message", "nothing that was in it can be sent")
OWN_QUESTION = insignificant(
    "own-approval", "it approves a call that the application runs itself, and {target} did not ask for it"
)
WRONG_ROLE = dropped(
    "wrong-role", "a message of the role {role!r} holds it, and only the assistant thinks and calls tools"
)
OTHERS_MESSAGE = dropped("not-of-the-model", "an answer of {target} has no messages of the role {role!r}")
BEGUN_BEFORE = synthesized("user-turn-first", "{target} requires a user's turn before this one")
ANSWER_FIELDS = degraded("answer-field", "requests of {target} do not take {name!r} here")

# Contents
NO_BLOCK = dropped("no-block", "{target} has no {place} for it")
NO_PLACE = dropped("no-place", "{target} has no place for it")
NO_PLACE_IN_MESSAGE = dropped("no-place-in-message", "{target} has no place for it in this message")
COLUMN_APART = moved("column-apart", "{target} keeps {column} apart: its place among the other contents is lost")
UNKNOWN_BLOCK = dropped("unknown-block", "only {source} knows this block")
AS_TEXT = degraded("as-text", "{target} gets its words as text")
BLANK_TEXT = dropped("blank-text", "{target} takes no text that is empty or white space alone")
ONE_OUTPUT = dropped("one-output", "{target} has room for one output here")
WORDS_ALONE = dropped("words-alone", "{target} has room for text alone here")
UNREADABLE_COMPACTION = dropped("unreadable-compaction", "{target} cannot read what another provider compacted")

# Reasoning
OPAQUE_STATE = dropped("opaque-state", "opaque state of {issuer} means nothing to {target}")
FOREIGN_REASONING = dropped("foreign-reasoning", "reasoning of another issuer is not sent to {target}")
REASONING_AS_TEXT = degraded("reasoning-as-text", "reasoning became visible text, as the policy says")
PLACEHOLDER_SIGNATURE = synthesized("placeholder-signature", "the model requires a signature, and the call has none")

# Calls and results
EMPTY_ARGUMENTS = insignificant("empty-arguments", "{target} gets an empty object in the place of an empty text")
SPELLING = degraded("arguments-spelling", "the arguments are an object here: the spelling of their JSON text is lost")
ARGUMENTS_AS_OBJECT = degraded("arguments-as-object", "{target} takes no text here: it is one property of an object")
CALL_ID = synthesized("call-id", "{target} requires an id")
REPEATED_CALL_ID = degraded("repeated-call-id", "two calls of one turn have this id: one of them gets another")
NAME_OF_CALL = degraded("name-of-call", "the call that it answers has another name, and it gets that one")
RESERVED_NAME = degraded("reserved-name", "a hosted tool has this name in {target}: the maps have what replaces it")
MAPPED_NAME = degraded("mapped-name", "{target} takes other letters or fewer: the maps have what replaces it")
BROKEN_CALL = dropped("broken-call", "{target} has no word for a call that broke off")
NO_ERROR_FLAG = degraded("no-error-flag", "{target} has no flag for a failure: a text states it")
ERROR_KEY = degraded("error-key", '{target} has no flag for a failure: it is the key "error"')
ERROR_AS_TEXT = degraded("error-as-text", "an error in a result is sent as text")
LATE_RESULT = degraded("late-result", "no call before it is pending: it is sent as text")
MISSING_RESULT = synthesized("missing-result", "{target} requires a result for every call, and this one has none")
AFTER_RESULTS = dropped("after-results", "it follows when all calls of its turn are answered")
CALL_AFTER_RESULTS = moved("call-after-results", "its result comes after those of the provider's own calls")
MEDIA_AFTER_RESULT = moved(
    "media-after-result", "such results of {target} hold text alone: it follows in a user's message"
)
ONE_RESULT_KIND = degraded("one-result-kind", "{target} has one kind of result, which does not name its tool")

# Hosted tools
PENDING_HOSTED_CALL = dropped(
    "pending-hosted-call", "only its own provider can go on with the call: there is no result yet"
)
CITED_SOURCE = degraded("cited-source", "{target} gets the citations of this source, and not the source itself")
FOREIGN_HOSTED_TOOL = dropped("foreign-hosted-tool", "{target} has no block for what another provider's tool did")
HOSTED_AS_TEXT = degraded("hosted-as-text", "its words became text, as the policy says")
AS_FUNCTION_CALL = degraded("as-function-call", "{target} gets it as a function call")
AS_FUNCTION_RESULT = degraded("as-function-result", "{target} gets it as a function result")
ERROR_ADDED = synthesized("error-added", "a failed result of {target} has an error among its outputs")
TEXT_AS_ERROR = degraded("text-as-error", "{target} takes the texts of a failed result for its error")
STORED_ELSEWHERE = dropped("stored-elsewhere", "{target} cannot look up what another provider stores")

# Tool definitions and schemas
GRAMMAR_AS_TEXT = degraded("grammar-as-text", "{target} has no grammars: the description of the input has this one")
NO_TEXT_FORMAT = dropped("no-text-format", "{target} has no format of this kind for free text")
NEEDS_SETTINGS = dropped("needs-settings", "{target} needs {needs} for this tool, which the request does not have")
TOOL_SETTING = dropped("tool-setting", "{tag} of {target} does not have this setting")
NO_HOSTED_TOOL = dropped("no-hosted-tool", "{target} has no such tool")
NAMESPACE_IN_NAME = degraded(
    "namespace-in-name", "{target} has no namespaces: the name holds it, and the maps have both"
)
TOOLS_IN_ONE_LIST = moved("tools-in-one-list", "{target} has all tools in one list: those that are added are in it")
REPEATED_TOOL = dropped("repeated-tool", "{target} takes no two tools of one name")
NOT_STRICT = dropped("not-strict", "{target} cannot enforce the schema: {why}")
REFUSED_SCHEMA = dropped("refused-schema", "{target} takes no such schema: {why}")
SCHEMA_KEYWORD = dropped("schema-keyword", "{target} and {keyword}: {why}")
SCHEMA_REWORDED = degraded("schema-reworded", "{target} and {keyword}: {why}")

# Media
NO_MEDIA_IN_ANSWER = dropped("no-media-in-answer", "answers of {target} hold no media")
NO_LINK = degraded("link-as-text", "{target} fetches no such link: it gets its words as text")
DOCUMENT_TEXT = degraded("document-text", "{target} gets the text of the document in the place of base64")
DOCUMENT_AS_BASE64 = degraded("document-as-base64", "{target} gets the document as base64")
DOCUMENT_AS_TEXT = degraded("document-as-text", "{target} does not read {media_type}: it gets the text")
NO_MEDIA_TYPE = dropped("media-type", "{target} does not read {media_type}")
MEDIA_ALIAS = degraded("media-type-name", "{target} knows it as {media_type}")
NO_MEDIA_OF_ASSISTANT = dropped("media-of-assistant", "messages of the assistant hold no media in {target}")
TRANSCRIPT = degraded("transcript", "{target} has no place for the audio: it gets its transcript as text")
NO_LINK_TO = degraded("link-to-kind", "{target} fetches no such {medium}: it gets the address as text")
LINK_OF_NO_KIND = degraded(
    "link-of-no-kind", "neither kind nor media_type tell what the link leads to: {target} gets the address as text"
)
DATA_URI = degraded("data-uri", "{target} gets what is in the data URI")
GUESSED_MEDIA_TYPE = synthesized("guessed-media-type", "{target} requires a media type: {media_type} is a guess")
UNTYPED_DATA = dropped("untyped-data", "{target} requires a media type, and neither name nor data tell one")
NO_BASE64 = dropped("not-base64", "its data is not base64")
BASE64_SPELLING = insignificant("base64-spelling", "{target} gets the same bytes in the standard alphabet, padded")
FILE_NAME = synthesized("file-name", "{target} requires a file name")
MADE_NAME = insignificant("made-file-name", "the name was made for an API that requires one")
ONE_IMAGE = dropped("one-image", "{target} has room for one image here")

# Citations
NO_CITATION_IN_REQUEST = dropped(
    "citation-in-request", "requests of {target} have citations in the API's own messages alone"
)
CITATION_WITHOUT_URL = dropped("citation-without-url", "{target} cites addresses alone")
CITATION_UNITS = insignificant(
    "citation-units", "{target} counts from elsewhere or in another unit: the span is the same"
)

# Answers
ONE_CHOICE = dropped("one-choice", "{target} has one answer")
TOKENS_COUNTED = degraded("tokens-counted", "{target} counts other tokens in it")
STOP_SEQUENCE = dropped("stop-sequence", "{target} does not tell which sequence stopped it")
NO_FINISH_REASON = degraded("no-finish-reason", "{target} has no word for {word}")
TIME_DROPPED = dropped("time-form", "{target} has the time {form}")
TIME_REWRITTEN = degraded("time-rewritten", "{target} has the time {form}")
TIME_ROUNDED = degraded("time-rounded", "{target} has the time in whole seconds since 1970")

# Streams
WRITTEN_BEFORE = dropped("written-before-change", "the stream had it already when it changed")
HALF_A_CALL = dropped("half-a-call", "the call broke off")
AFTER_BLOCK = dropped("after-block", "it came when the block was complete")
FINISH_REASON = synthesized("finish-reason", "{target} ends a stream with a finish reason")

# MCP
MCP_EDITED_VALUE = dropped("mcp-edited-value", "the text was edited and no longer spells this value")
MCP_NO_CLASS = degraded("mcp-no-class", "the installed package mcp has no class for it")
MCP_DOCUMENT_PARTS = degraded("mcp-document-parts", "MCP has no document of parts: each part is a block of its own")
MCP_NO_BLOCK = dropped("mcp-no-block", "MCP has no block for it")
MCP_URI = synthesized("mcp-uri", "every resource of MCP has a uri")
MCP_TEXT_WITH_URI = degraded("mcp-text-with-uri", "MCP has one kind of text with a uri: it is read as TextContent")
MCP_BASE64 = degraded("mcp-base64", "MCP has standard, padded base64: the spelling is lost")
MCP_LINK_NAME = synthesized("mcp-link-name", "every link of MCP has a name")

# Rows of tool files
ROW_TEXT_FIRST = moved("row-text-first", "rows have the text before the calls")
ROW_NO_CONTENT = dropped("row-no-content", "rows hold texts, function calls and results")
ROW_RESULT_BY_NAME = degraded(
    "row-result-by-name", "a row names the function of its call alone, and another call of this function is open"
)
ROW_ERROR_AS_TEXT = degraded("row-error-as-text", "a row has the text of an error alone")
ROW_NO_OUTPUT = dropped("row-no-output", "a row holds the text of a result")
ROW_NO_FIELD = dropped("row-no-field", "rows have no place for it")
ROW_NO_NAME = dropped("row-no-name", "{tool} takes no name")
ROW_NO_CALL = dropped("row-no-call", "{tool} takes neither function_call nor functionCall")

REASONS = {entry.code: entry for entry in list(globals().values()) if isinstance(entry, Reason)}
"""All reasons of this project, by code."""
