"""Broken adapters that drop or change content."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

from contentmodel import (
    ChatMessage,
    ChatRequest,
    ErrorContent,
    FunctionCallContent,
    FunctionResultContent,
    HostedToolCallContent,
    HostedToolResultContent,
    Loss,
    ReasoningContent,
    TextContent,
    UnknownContent,
)
from contentmodel.content.tools import ToolCallContent, ToolResultContent
from contentmodel_conformance.mutants.broken import (
    ANTHROPIC,
    CHAT,
    GOOGLE,
    Broken,
    changed,
    each_content,
    messages_of,
    mutant,
    replace,
    with_contents,
    with_messages,
)

# -- dropped content ---------------------------------------------------------------------------------------------------


@mutant(CHAT, "identity/unknown", "identity/sdk")
class DropsUnknownFields(Broken):
    """Drop the unknown fields of messages and contents."""

    def decoded(self, kind: str, value: Any) -> Any:
        plain = each_content(value, lambda content: replace(content, extra=None))
        return with_messages(plain, [replace(message, extra=None) for message in messages_of(plain)])


@mutant("openai-responses", "identity/unknown")
class DropsUnknownBlocks(Broken):
    """Drop blocks of unknown types."""

    def decoded(self, kind: str, value: Any) -> Any:
        return each_content(value, lambda content: None if isinstance(content, UnknownContent) else content)


@mutant("openai-responses", "hosted/unknown")
class DecodesNewToolsAsUnknown(Broken):
    """Decode the call and the result of an unknown hosted tool as unknown blocks."""

    def decoded(self, kind: str, value: Any) -> Any:
        return each_content(value, _without_new_tool)


def _without_new_tool(content: Any) -> Any:
    is_new = content.__class__ in (HostedToolCallContent, HostedToolResultContent)
    return UnknownContent(api="openai-responses") if is_new else content


@mutant(ANTHROPIC, "hosted-failures/listed")
class HidesFailures(Broken):
    """Decode the outputs of a failed hosted tool without its error."""

    def decoded(self, kind: str, value: Any) -> Any:
        return each_content(value, _without_error)


@mutant("bedrock-converse", "hosted-failures/listed")
class HidesFailuresBehindFlags(HidesFailures):
    """Decode a failed hosted tool with only a flag: its outputs have no error."""


@mutant("google-generate-content", "hosted/unknown")
class ReadsToolsAsUnknownParts(Broken):
    """Decode the parts of an unknown hosted tool as unknown blocks."""

    def decoded(self, kind: str, value: Any) -> Any:
        return each_content(value, _without_new_tool)


def _without_error(content: Any) -> Any:
    if not isinstance(content, HostedToolResultContent):
        return content
    return replace(content, outputs=[output for output in content.output_list if not isinstance(output, ErrorContent)])


@mutant("openai-responses", "handmade/listed")
class ForgetsWhoSearches(Broken):
    """Drop the executor of a tool search."""

    def written(self, kind: str, payload: Any, value: Any) -> Any:
        return changed(payload, _without_execution)


def _without_execution(value: Any) -> Any:
    if not isinstance(value, dict) or value.get("type") != "tool_search_call":
        return value
    return {key: item for key, item in value.items() if key != "execution"}


@mutant(CHAT, "texts-apart/foreign")
class JoinsTexts(Broken):
    """Join the texts of an answer, also if other content is between them."""

    def written(self, kind: str, payload: Any, value: Any) -> Any:
        return changed(payload, lambda item: item.replace("\n\n", "") if isinstance(item, str) else item)


@mutant(CHAT, "identity/sdk")
class LosesNull(Broken):
    """Decode a field that is null as a missing field."""

    def read(self, kind: str, payload: Any) -> Any:
        return changed(payload, _without_null)


def _without_null(value: Any) -> Any:
    return {key: item for key, item in value.items() if item is not None} if isinstance(value, dict) else value


@mutant(ANTHROPIC, "identity/sdk", "stability/own")
class ForgetsTheSignature(Broken):
    """Decode reasoning without its signature."""

    def decoded(self, kind: str, value: Any) -> Any:
        return each_content(value, lambda c: replace(c, protected=None) if isinstance(c, ReasoningContent) else c)


@mutant(CHAT, "identity/sdk")
class ForgetsUsage(Broken):
    """Decode an answer without its usage."""

    def decoded(self, kind: str, value: Any) -> Any:
        return replace(value, usage=None) if kind == "response" else value


@mutant(CHAT, "identity/sdk")
class KeepsOneAnswer(Broken):
    """Keep only the first choice of an answer."""

    def decoded(self, kind: str, value: Any) -> Any:
        return replace(value, choices=value.choices[:1]) if kind == "response" else value


@mutant(ANTHROPIC, "section/foreign")
class DropsForeignResults(Broken):
    """Drop tool results of other APIs, and report no loss."""

    def to_write(self, kind: str, value: Any) -> Any:
        if not self.is_foreign(value):
            return value
        return each_content(value, lambda c: None if isinstance(c, FunctionResultContent) else c)


@mutant(CHAT, "accounting/crossing", "restoration/crossing", "section/foreign")
class NeverReportsLosses(Broken):
    """Report no losses."""

    def claimed(self, losses: Any, value: Any) -> Any:
        return ()


@mutant(CHAT, "identity/sdk")
class ReportsFalseLosses(Broken):
    """Report a loss of a value that is not lost."""

    def claimed(self, losses: Any, value: Any) -> Any:
        return (*losses, Loss("$.model", "dropped", "the model", "as a precaution"))


@mutant(CHAT, "honesty/foreign")
class ExcusesEverything(Broken):
    """Drop the first message of another API's request, and report the whole payload as lost."""

    def to_write(self, kind: str, value: Any) -> Any:
        return replace(value, messages=value.messages[1:]) if kind == "request" and self.is_foreign(value) else value

    def claimed(self, losses: Any, value: Any) -> Any:
        return (Loss("$", "dropped", "a part of it", "not everything fits"),) if self.is_foreign(value) else losses


@mutant(CHAT, "precision/crossing")
class ReportsLossesTooWide(Broken):
    """Report all messages of another API's request as degraded, so that a dropped message is not noticed."""

    def claimed(self, losses: Any, value: Any) -> Any:
        if not isinstance(value, ChatRequest) or not self.is_foreign(value):
            return losses
        return (*losses, Loss("$.messages", "degraded", "the messages", "the texts differ here"))


# -- changed content ---------------------------------------------------------------------------------------------------


@mutant(CHAT, "identity/table")
class ReserialisesArguments(Broken):
    """Parse the text of arguments, and write it with other white space."""

    def decoded(self, kind: str, value: Any) -> Any:
        return each_content(value, _reserialised)


def _reserialised(content: Any) -> Any:
    if not isinstance(content, FunctionCallContent) or not isinstance(content.arguments, str):
        return content
    try:
        return replace(content, arguments=json.dumps(json.loads(content.arguments)))
    except ValueError:
        return content


@mutant(CHAT, "acceptance/foreign")
class WritesNumbersAsFloats(Broken):
    """Encode 1 as 1.0, which a strict server refuses as an integer."""

    def written(self, kind: str, payload: Any, value: Any) -> Any:
        return changed(payload, lambda item: float(item) if item.__class__ is int and abs(item) < 2**53 else item)


@mutant(CHAT, "identity/sdk")
class WritesOneAsTrue(Broken):
    """Encode 1 as true and 0 as false, which Python treats as equal."""

    def written(self, kind: str, payload: Any, value: Any) -> Any:
        return changed(payload, lambda item: bool(item) if item.__class__ is int and item in (0, 1) else item)


@mutant(CHAT, "stability/foreign")
class TrimsText(Broken):
    """Strip white space from both ends of texts."""

    def decoded(self, kind: str, value: Any) -> Any:
        return each_content(value, lambda c: replace(c, text=c.text.strip()) if isinstance(c, TextContent) else c)


@mutant(ANTHROPIC, "stability/foreign")
class TidiesCharacters(Broken):
    """Normalize texts to composed characters, so that their bytes change."""

    def decoded(self, kind: str, value: Any) -> Any:
        def tidy(content: Any) -> Any:
            is_text = isinstance(content, TextContent)
            return replace(content, text=unicodedata.normalize("NFC", content.text)) if is_text else content

        return each_content(value, tidy)


@mutant(ANTHROPIC, "section/foreign")
class CompletesAnswersWithCalls(Broken):
    """Encode an answer of another API with unanswered calls as a complete answer."""

    def written(self, kind: str, payload: Any, value: Any) -> Any:
        return {**payload, "stop_reason": "end_turn"} if kind == "response" and self.is_foreign(value) else payload


@mutant(ANTHROPIC, "section/settings")
class DropsToolChoice(Broken):
    """Drop the tool choice of another API's request."""

    def written(self, kind: str, payload: Any, value: Any) -> Any:
        if kind == "request" and self.is_foreign(value):
            payload.pop("tool_choice", None)
        return payload


@mutant(CHAT, "section/settings")
class DropsForeignSettings(Broken):
    """Drop the temperature of another API's request, and report no loss."""

    def written(self, kind: str, payload: Any, value: Any) -> Any:
        if kind == "request" and self.is_foreign(value):
            payload.pop("temperature", None)
        return payload


@mutant(CHAT, "policies/foreign")
class IgnoresPolicies(Broken):
    """Ignore the caller's policies, so that reasoning is not sent as text."""

    def encode_request(self, request: Any, policies: Any = None, model: str | None = None) -> Any:
        return super().encode_request(request, None, model)


@mutant(CHAT, "addressing/foreign")
class SendsToTheOldModel(Broken):
    """Send a request to the model in it instead of the model that the caller names."""

    def encode_request(self, request: Any, policies: Any = None, model: str | None = None) -> Any:
        return super().encode_request(request, policies)


@mutant(ANTHROPIC, "identity/sdk")
class MergesTextAcrossCalls(Broken):
    """Join texts that have a call between them."""

    def decoded(self, kind: str, value: Any) -> Any:
        return with_contents(value, _merged)


def _merged(contents: list[Any]) -> list[Any]:
    texts = [content for content in contents if isinstance(content, TextContent)]
    if len(texts) < 2:
        return contents
    whole = replace(texts[0], text="".join(text.text for text in texts))
    return [whole, *(content for content in contents if not isinstance(content, TextContent))]


@mutant(ANTHROPIC, "identity/sdk")
class ReordersParallelResults(Broken):
    """Reverse the results of parallel calls."""

    def decoded(self, kind: str, value: Any) -> Any:
        return with_contents(value, _reversed_results)


def _reversed_results(contents: list[Any]) -> list[Any]:
    turned = iter([content for content in contents if isinstance(content, ToolResultContent)][::-1])
    return [next(turned) if isinstance(content, ToolResultContent) else content for content in contents]


@mutant(CHAT, "pairing/foreign")
class ReordersForeignResults(Broken):
    """Reverse the results of parallel calls of other APIs."""

    def written(self, kind: str, payload: Any, value: Any) -> Any:
        if kind == "request" and self.is_foreign(value):
            results = iter([m for m in payload["messages"] if m["role"] == "tool"][::-1])
            payload["messages"] = [next(results) if m["role"] == "tool" else m for m in payload["messages"]]
        return payload


@mutant(CHAT, "pairing/foreign")
class SwapsForeignResults(Broken):
    """Swap the outputs of parallel calls of other APIs."""

    def to_write(self, kind: str, value: Any) -> Any:
        return with_contents(value, _swapped) if self.is_foreign(value) else value


def _swapped(contents: list[Any]) -> list[Any]:
    outputs = iter([content.outputs for content in contents if isinstance(content, ToolResultContent)][::-1])
    return [replace(c, outputs=next(outputs)) if isinstance(c, ToolResultContent) else c for c in contents]


@mutant(CHAT, "section/foreign")
class CollidesIds(Broken):
    """Shorten the call ids of other APIs, so that some of them are equal."""

    def to_write(self, kind: str, value: Any) -> Any:
        return each_content(value, _with_short_id) if self.is_foreign(value) else value


def _with_short_id(content: Any) -> Any:
    is_named = isinstance(content, ToolCallContent | ToolResultContent) and content.call_id
    return replace(content, call_id=content.call_id[:5]) if is_named else content


@mutant(ANTHROPIC, "opacity/crossing", other=GOOGLE)
class SendsForeignSignatures(Broken):
    """Send signatures of other issuers to this adapter's API."""

    def to_write(self, kind: str, value: Any) -> Any:
        return each_content(value, self._signed) if self.is_foreign(value) else value

    def _signed(self, content: Any) -> Any:
        if not isinstance(content, ReasoningContent) or content.protected is None:
            return content
        return replace(content, protected=replace(content.protected, issuer=self.inner.issuer))


@mutant(CHAT, "prefixes/foreign", "prefixes/own")
class RewritesEarlierTurns(Broken):
    """Shorten the texts before the last turn, so that no cached prefix is valid."""

    def to_write(self, kind: str, value: Any) -> Any:
        if kind == "response":
            return value
        *earlier, last = value.messages
        return replace(value, messages=[*(_shortened(message) for message in earlier), last])


def _shortened(message: ChatMessage) -> ChatMessage:
    contents = [replace(c, text=c.text[:3]) if isinstance(c, TextContent) else c for c in message.contents]
    return replace(message, contents=contents)


@mutant(CHAT, "acceptance/foreign")
class WritesUndefinedRoles(Broken):
    """Encode messages with a role that the API does not define."""

    def written(self, kind: str, payload: Any, value: Any) -> Any:
        if kind == "request" and self.is_foreign(value):
            payload["messages"] = [
                {**m, "role": "human" if m["role"] == "user" else m["role"]} for m in payload["messages"]
            ]
        return payload


@mutant(ANTHROPIC, "rules/foreign")
class ForgetsToAnswerCalls(Broken):
    """Leave calls of other APIs without results, which the API refuses."""

    def written(self, kind: str, payload: Any, value: Any) -> Any:
        if kind == "request" and self.is_foreign(value):
            payload["messages"] = [m for m in payload["messages"] if not _is_result(m)]
        return payload


def _is_result(message: Any) -> bool:
    content = message["content"]
    return isinstance(content, list) and any(block.get("type") == "tool_result" for block in content)


@mutant("openai-responses", "replay/sdk")
class ReplaysAnswersUnchanged(Broken):
    """Send answers back with fields that requests must not have."""

    def to_write(self, kind: str, value: Any) -> Any:
        if kind != "request":
            return value
        messages = [replace(m, origin=m.origin and replace(m.origin, is_answer=False)) for m in value.messages]
        return replace(value, messages=messages)


@mutant(GOOGLE, "replay/sdk")
class AddsAnswerFieldsToRequests(Broken):
    """Add a field that only answers have to requests."""

    def written(self, kind: str, payload: Any, value: Any) -> Any:
        return {**payload, "responseId": "1"} if kind == "request" else payload


@mutant(ANTHROPIC, "errors/crossing")
class CopiesErrorCodes(Broken):
    """Encode the error code of another API unchanged."""

    def written(self, kind: str, payload: Any, value: Any) -> Any:
        error = getattr(value, "error", None)
        if error is None or error.code is None or kind == "request":
            return payload
        return {**payload, "error": {**payload["error"], "type": error.code}}
