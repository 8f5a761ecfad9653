"""Ask for a typed answer: make the request, read the answer, and ask again. Does no I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from msgspec.structs import replace

from contentmodel.adapter import Adapter, violations_of
from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.text import TextContent
from contentmodel.content.tools import FunctionCallContent, ToolCallContent
from contentmodel.errors import DecodeError, ToolArgumentsError
from contentmodel.json import Json, parse, write
from contentmodel.message import ChatMessage, contents_of, tool_result, user
from contentmodel.renames import SchemaMap
from contentmodel.request import ChatRequest, FunctionTool, ResponseFormat, Tool, ToolChoice
from contentmodel.response import ChatResponse
from contentmodel.typed.answers import OutputError, OutputMode, OutputReason, Try, Typed
from contentmodel.typed.outputs import InvalidValue, OutputType

T = TypeVar("T")

TOOL = "final_answer"
"""The name of the tool that takes the answer in the mode "tool"."""
_FORMAT = "$.options.response_format"
_TOOL_CHOICE = "$.options.tool_choice"
_AGAIN = ("invalid", "not_json", "empty")
"""The reasons for which the model may be asked again. A refusal and a cut answer are never repeated."""
_FENCE = re.compile(r"^\s*```[a-z]*\s*\n(.*?)\n?```\s*$", re.DOTALL)
_PROMPT = "Answer with one JSON value and nothing else, without a code fence. It must fit this JSON Schema:\n"


class _Fault(NamedTuple):
    reason: OutputReason
    message: str
    path: str = "$"
    text: str = ""


class _Form(NamedTuple):
    """A request in one mode, and the map of the schema that the API got in place of ours."""

    mode: OutputMode
    request: ChatRequest
    adapted: SchemaMap | None = None
    tool: str = ""


class Asking(Generic[T]):
    """One question to a model that is answered by a value.

        asking = Asking(request, City, adapter=adapter, model=model)
        while (typed := asking.answered(send(asking.request))) is None:
            pass

    `request` is the next request to send. Pass its answer to `answered`, which returns the typed answer, or None if the
    changed `request` must be sent; it raises OutputError if there is no value and no try is left.

    `mode` "auto" takes the first of "native", "tool" and "prompt" that the model of the API accepts with this request.
    `retries` is the number of further requests after an answer without a value. `tools` are offered by the caller, in
    addition to those of the request: with them, the answer may come after some calls.
    """

    def __init__(
        self,
        request: ChatRequest,
        output: Any,
        *,
        adapter: Adapter,
        model: str | None = None,
        policies: Mapping[str, str] | None = None,
        mode: OutputMode | None = None,
        retries: int = 0,
        tools: Sequence[Tool] = (),
    ) -> None:
        if retries < 0:
            raise ValueError(f"retries is {retries}: pass 0 or more")
        self._type: OutputType[T] = OutputType(output)
        self._adapter, self._model, self._policies = adapter, model, policies
        self._form = self._form_of(request, mode, tools)
        self.request = self._form.request
        self._left = retries
        self._tries: tuple[Try, ...] = ()

    @property
    def mode(self) -> OutputMode:
        """The place of the schema in the request."""
        return self._form.mode

    @property
    def tool(self) -> str:
        """The name of the tool that takes the answer; "" in other modes than "tool"."""
        return self._form.tool

    @property
    def is_wrapped(self) -> bool:
        """True if the JSON value is in the property "value" of an object."""
        return self._type.is_wrapped

    def answered(self, response: ChatResponse, transcript: ChatRequest | None = None) -> Typed[T] | None:
        """Return the typed answer, or None if the changed `request` must be sent. Raise OutputError.

        `transcript` is the request that continues the conversation after the answer, if more than one was sent.
        """
        found = self._read(response)
        if not isinstance(found, _Fault):
            self._tries += (Try(response=response),)
            return Typed(found[0], self.mode, self._tries)
        self._tries += (Try(response=response, error=f"{found.message} at {found.path}"),)
        if found.reason not in _AGAIN or self._left == 0:
            at = f" at {found.path}" if found.reason == "invalid" else ""
            tries = f" (after {len(self._tries)} tries)" if len(self._tries) > 1 else ""
            raise OutputError(
                f"no {self._type.name}: {found.message}{at}{tries}",
                reason=found.reason,
                path=found.path,
                text=found.text,
                tries=self._tries,
            )
        self._left -= 1
        if transcript is None:
            transcript = replace(self.request, messages=[*self.request.messages, *response.messages])
        messages = [*transcript.messages, *self._correction(response, found)]
        self.request = replace(transcript, messages=messages)
        return None

    # -- the request -------------------------------------------------------------------------------------------

    def _form_of(self, request: ChatRequest, mode: OutputMode | None, tools: Sequence[Tool]) -> _Form:
        if mode == "prompt":
            return self._prompt(request)
        if mode == "tool":
            return self._with_tool(request, tools)
        if mode == "native":
            return self._native(request, tools) or self._forced_native(request)
        if mode is not None:
            raise ValueError(f'mode is {mode!r}: expected "native", "tool", "prompt" or None')
        native = self._native(request, tools)
        if native is not None:
            return native
        called = self._with_tool(request, tools)
        return called if called.request.options.tool_choice is not None else self._prompt(request)

    def _forced_native(self, request: ChatRequest) -> _Form:
        return _Form("native", self._formatted(request, ResponseFormat(kind="json_schema", schema=self._type.schema)))

    def _native(self, request: ChatRequest, tools: Sequence[Tool]) -> _Form | None:
        """Return the request with the schema as its format; None if the model does not take it with this request."""
        form = ResponseFormat(
            kind="json_schema",
            schema=self._type.schema,
            name=self._type.name,
            description=self._type.description,
            strict=True,
        )
        offered = replace(request, tools=[*request.tools, *tools])
        encoded = self._adapter.encode_request(self._formatted(offered, form), self._policies, self._model)
        lost = {loss.path for loss in encoded.losses if loss.path.startswith(_FORMAT)}
        if _FORMAT in lost or not self._has_no_new_violation(offered, encoded.payload):
            return None
        # Not every API has these fields. Without them, the format means the same.
        unset = {name: None for name in ("name", "description", "strict") if f"{_FORMAT}.{name}" in lost}
        return _Form("native", self._formatted(request, replace(form, **unset)), encoded.format_map)

    def _has_no_new_violation(self, request: ChatRequest, payload: Any) -> bool:
        refused = self._refused(payload)
        if not refused:
            return True
        plain = self._adapter.encode_request(request, self._policies, self._model)
        return refused <= self._refused(plain.payload)

    def _refused(self, payload: Any) -> set[str]:
        found = violations_of(self._adapter, payload, self._model, self._policies)
        return {violation.rule for violation in found if violation.severity == "refused"}

    def _formatted(self, request: ChatRequest, form: ResponseFormat) -> ChatRequest:
        return replace(request, options=replace(request.options, response_format=form))

    def _with_tool(self, request: ChatRequest, tools: Sequence[Tool]) -> _Form:
        """Return the request with a tool that takes the answer."""
        taken = {getattr(tool, "name", None) for tool in (*request.tools, *tools)}
        name = TOOL
        while name in taken:
            name += "_"
        tool = FunctionTool(
            name=name,
            description=f"Give the final answer: {self._type.description or self._type.name}.",
            parameters=self._type.schema,
        )
        request = replace(request, tools=[*request.tools, tool])
        # With other tools, the model may call these first.
        choices = [ToolChoice(mode="required", tools=[name])] if len(request.tools) == 1 and not tools else []
        choices.append(ToolChoice(mode="required"))
        forced = (self._choosing(request, choice) for choice in choices)
        chosen = next(filter(self._takes_choice, forced), self._choosing(request, None))
        return _Form("tool", chosen, tool=name)

    def _choosing(self, request: ChatRequest, choice: ToolChoice | None) -> ChatRequest:
        return replace(request, options=replace(request.options, tool_choice=choice, response_format=None))

    def _takes_choice(self, request: ChatRequest) -> bool:
        """Return whether the model can be made to call the tool."""
        encoded = self._adapter.encode_request(request, self._policies, self._model)
        return not any(loss.path.startswith(_TOOL_CHOICE) for loss in encoded.losses)

    def _prompt(self, request: ChatRequest) -> _Form:
        text = TextContent(text=_PROMPT + write(self._type.schema).decode())
        options = replace(request.options, response_format=None)
        return _Form("prompt", replace(request, instructions=[*request.instructions, text], options=options))

    # -- the answer --------------------------------------------------------------------------------------------

    def _read(self, response: ChatResponse) -> tuple[T] | _Fault:
        failed = _failure_of(response)
        if failed is not None:
            return failed
        text = response.text
        if self.mode == "tool":
            call = self.call_in(response)
            if call is None:
                return _Fault("empty", f"the model did not call {self.tool}", text=text)
            try:
                return self._checked(call.arguments_object, str(call.arguments))
            except ToolArgumentsError as error:
                return _Fault("not_json", str(error), text=str(call.arguments))
        if not text.strip():
            called = ", ".join(str(call.name) for call in response.tool_calls)
            why = f"the model called {called} instead: run the tools with a ToolRunner" if called else "no text"
            return _Fault("empty", why)
        if self.mode == "prompt" and (fenced := _FENCE.match(text)):
            text = fenced[1]
        try:
            value = parse(text)
        except DecodeError as error:
            return _Fault("not_json", error.faults[0].message, error.faults[0].path, text)
        return self._checked(value, text)

    def call_in(self, response: ChatResponse) -> FunctionCallContent | None:
        """Return the call that has the answer, in the mode "tool"."""
        calls = (call for call in response.tool_calls if isinstance(call, FunctionCallContent))
        return next((call for call in calls if call.name == self.tool), None)

    def _checked(self, value: Json, text: str) -> tuple[T] | _Fault:
        adapted = self._form.adapted
        if adapted is not None:
            value = self._adapter.restore_arguments(value, adapted)
        try:
            return (self._type.read(value),)
        except InvalidValue as error:
            return _Fault("invalid", str(error), error.path, text)

    def _correction(self, response: ChatResponse, found: _Fault) -> list[ChatMessage]:
        """Return the messages that tell the model what is wrong: a result for each call, or a message of the user."""
        why = f"The answer is not valid: {found.message} at {found.path}. Answer again: it must fit the schema."
        calls: list[ToolCallContent] = response.tool_calls
        if not calls:
            return [user(f"{why} Call {self.tool}." if self.tool else why)]
        return [
            tool_result(call, why if call.name == self.tool else "This call did not run.", is_error=True)
            for call in calls
        ]


def _failure_of(response: ChatResponse) -> _Fault | None:
    """Return why an answer can have no value: an error, a refusal, or a limit that cut it short."""
    if response.error is not None:
        return _Fault("failed", response.error.message or "the API returned an error")
    reason = response.finish_reason.reason if response.finish_reason else None
    refusal = next((c for c in contents_of(response.messages) if isinstance(c, ErrorContent)), None)
    if refusal is not None or reason in ("refusal", "content_filter"):
        why = refusal.message if refusal is not None and refusal.message else "the model refused to answer"
        return _Fault("refused", why, text=response.text)
    if reason == "length":
        return _Fault("cut_short", "the answer reached its limit of tokens", text=response.text)
    if reason in ("error", "cancelled"):
        return _Fault("failed", f"the answer ended with {reason}", text=response.text)
    return None
