"""Encode streams: texts and reasoning as they grow, calls whole."""

from __future__ import annotations

from typing import Any

from contentmodel import HostedToolCallContent, HostedToolResultContent, ReasoningContent, TextContent
from contentmodel.authoring import TEXT_HERE, JoiningEncoder, OutgoingBlock, UnknownDelta, growing_event, list_of
from contentmodel_adapters.mistral.stream import without_text
from contentmodel_adapters.mistral.table import is_text

CHUNK = "chat.completion.chunk"


class Encoder(JoiningEncoder):
    """Write the chunks of one answer."""

    choices = True
    argument_texts = True

    def __init__(self, adapter: Any, policies: Any = None) -> None:
        super().__init__(adapter, policies)
        self._head: dict[str, Any] = {}
        self._begun: set[tuple[int, int]] = set()
        """The numbers of the choices and messages that have begun."""
        self._messages: dict[int, int] = {}
        """The message of each choice that is written: results of Mistral's tools are messages of their own."""
        self._after_result: set[int] = set()
        self._with_index: set[int] = set()
        """The choices with calls of Mistral's tools, of which each message has an index."""

    def begin(self, payload: dict[str, Any]) -> None:
        head = {key: value for key, value in payload.items() if key not in ("choices", "usage")}
        self._head = {"id": "", "created": 0, "model": "", **head, "object": CHUNK}

    def _event(self, number: int, delta: dict[str, Any], **rest: Any) -> dict[str, Any]:
        message = self._messages.get(number, 0)
        role = {} if (number, message) in self._begun else {"role": "assistant"}
        self._begun.add((number, message))
        index = {"index": message} if message or number in self._with_index else {}
        choice = {"index": number, "delta": {**index, **role, **delta}, "finish_reason": None, **rest}
        return {**self._head, "choices": [choice]}

    def _begin_message(self, block: OutgoingBlock) -> None:
        """Begin another message of the choice, if the block is a result of one of Mistral's tools or follows one."""
        is_result = isinstance(block.content, HostedToolResultContent) and self.is_native
        if is_result or block.choice in self._after_result:
            self._messages[block.choice] = self._messages.get(block.choice, 0) + 1
        if isinstance(block.content, HostedToolCallContent) and self.is_native:
            self._with_index.add(block.choice)
        (self._after_result.add if is_result else self._after_result.discard)(block.choice)

    def _chunk(self, number: int, delta: dict[str, Any], **rest: Any) -> None:
        self.put(self._event(number, delta, **rest))

    def open_block(self, block: OutgoingBlock) -> None:
        if not isinstance(block.content, TextContent | ReasoningContent) or self._inner(block.content):
            return
        message = self.encode_start(block.content)
        if "content" not in message:
            return
        self._begin_message(block)
        if (block.choice, self._messages.get(block.choice, 0)) not in self._begun:
            self._chunk(block.choice, {"content": ""})
        part = {"type": "text", "text": TEXT_HERE}
        content: Any = TEXT_HERE if isinstance(message["content"], str) else [part]
        block.state = content is TEXT_HERE
        if isinstance(block.content, ReasoningContent):
            content = [{"type": "thinking", "thinking": [part]}]
        block.grow = growing_event(self.stream_format, self._event(block.choice, {"content": content}))
        if isinstance(block.content, TextContent):
            block.grow = self.joining(block, block.grow)
        self.write_begun(block)

    def _inner(self, content: Any) -> list[Any]:
        """Return the parts of reasoning in the residue, which are not text."""
        own = (content.extra or {}).get(self.api, {})
        return [inner for inner in list_of(own, "thinking") if not is_text(inner)]

    def hold_delta(self, block: OutgoingBlock, delta: Any) -> None:
        if isinstance(delta, UnknownDelta) and delta.api == self.api:
            block.state = (block.state or 0) + 1
            self._chunk(block.choice, {"content": [{"type": "thinking", "thinking": [delta.delta]}]})
        else:
            super().hold_delta(block, delta)

    def close_block(self, block: OutgoingBlock) -> None:
        if block.grow is None:
            self._begin_message(block)
        delta = {key: value for key, value in self.encode_block(block).items() if (key, value) != ("role", "assistant")}
        text = getattr(block.content, "text", None)
        if block.grow is not None and isinstance(text, str):
            self.write_rest(block, text)
            parts = [without_text(part) for part in list_of(delta, "content")]
            if inner := self._inner(block.content)[block.state or 0 :]:
                parts = [{**part, "thinking": inner} for part in parts]
            # The content of the whole answer may be a list with this text, and not a string.
            is_more = inner or any(len(part) > 2 for part in parts) or (block.state is True and parts)
            delta = {"content": parts} if is_more else {}
            self.add_text(block, text if isinstance(block.content, TextContent) else "")
        elif isinstance(delta.get("content"), str):
            delta["content"] = self.add_text(block, delta["content"])
        if delta:
            self._chunk(block.choice, delta)

    def put_message(self, choice: int, message: dict[str, Any]) -> None:
        self._chunk(choice, message)

    def finish(self, event: Any) -> None:
        self._end_choices(event)
        self.put_raw(b"data: [DONE]\n\n")

    def fail(self, event: Any, payload: dict[str, Any]) -> None:
        self._end_choices(event, is_failed=True)
        self.put(payload)

    def _put_fields(self, number: int, message: dict[str, Any]) -> None:
        """Write the fields of one of several messages that belong to no block."""
        delta = {key: value for key, value in message.items() if key != "role"}
        if delta.get("index") in range(self._messages.get(number, 0) + 1):
            last, self._messages[number] = self._messages.get(number, 0), delta["index"]
            self._chunk(number, delta)
            self._messages[number] = last

    def _end_choices(self, event: Any, *, is_failed: bool = False) -> None:
        """Write the last chunk of each choice, with the fields that belong to no block."""
        payload = self.encode_envelope(event)
        choices = payload.pop("choices", [])
        self._head |= {key: value for key, value in payload.items() if key != "object"}
        for number, choice in enumerate(choices):
            delta = {key: value for key, value in choice.pop("message", {}).items() if key != "role"}
            for message in choice.pop("messages", ()):
                self._put_fields(number, message)
            choice.pop("index", None)
            if is_failed and (event.response.choices[number].finish_reason is None or not self.is_native):
                choice.pop("finish_reason", None)
            self._chunk(number, delta, **choice)
