"""Transcripts of a coding agent of any length, deterministic by seed, in the format of each API.

A transcript is generated as plain turns. Hand-written code then makes each API's payload from the turns. Nothing here
uses contentmodel, so that our converter does not shape the input of other libraries.

Sizes follow those of coding agents: tool results are log-normal (median 1.5 KB, mean 3 KB), thinking is about 600
characters, signatures 300 to 900, arguments 50 to 400.
"""

from __future__ import annotations

import json
import math
import random
import string
from dataclasses import dataclass
from typing import Any

APIS = ("anthropic-messages", "openai-chat", "openai-responses", "google-generate-content")

_MODELS = {
    "anthropic-messages": "claude-sonnet-4-5",
    "openai-chat": "gpt-4.1",
    "openai-responses": "gpt-5",
    "google-generate-content": "gemini-2.5-pro",
}

_VOCABULARY = (
    "the a of to and in is that it for on with as this not but from at or by be are was has have which when where "
    "function class method module import return value test error file line path config parser handler request "
    "response token stream buffer index list dict string number cache lock thread queue retry timeout commit branch "
    "merge diff patch build lint type check schema field row column table query index migration fixture assertion "
    "update read write delete create rename move copy search replace match pattern"
)
_WORDS = _VOCABULARY.split()

_TYPOGRAPHY = ("naïve", "café", "–", "“quoted”", "…", "→", "✅")

_CODE = (
    "def {a}({b}: str, {c}: int = 0) -> dict[str, int]:",
    '    """Return the {a} of {b}, or "{c}" if there is none."""',
    "    if {a} is None or len({b}) > {n}:",
    '        raise ValueError(f"unexpected {a}: {{{b}!r}}")',
    "    {a} = [{b}.{c}(x, key={n}) for x in self._{a} if x]",
    "        return {{'{a}': {n}, '{b}': {c}}}",
    "\t{a}.{b}.append({c})  # {b} before {c}",
    "{n:>6}\tfrom {a}.{b} import {c}",
    "src/{a}/{b}_{c}.py:{n}:        self.{a} = {b}({c})",
    "tests/test_{a}.py::test_{b}_{c} PASSED                    [ {n}%]",
    "C:\\Users\\{a}\\{b}\\{c}.txt   {n} bytes",
    "",
)


@dataclass(frozen=True)
class Tool:
    """A tool of the transcript."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True)
class Call:
    """A tool call with its result."""

    serial: str
    name: str
    arguments: dict[str, Any]
    result: str


@dataclass(frozen=True)
class Citation:
    """A citation of a web page."""

    url: str
    title: str
    quote: str
    opaque: str


@dataclass(frozen=True)
class Turn:
    """A turn of the assistant."""

    serial: str
    thinking: str
    signature: str
    text: str
    citation: Citation | None
    calls: tuple[Call, ...]


@dataclass(frozen=True)
class Transcript:
    """A conversation, in no API's format."""

    system: str
    prompt: str
    tools: tuple[Tool, ...]
    turns: tuple[Turn, ...]


# -- conversations -----------------------------------------------------------------------------------------------


def transcript(turns: int = 100, seed: int = 5) -> Transcript:
    """Return a conversation of one prompt and `turns` turns of an agent."""
    rng = random.Random(seed)
    return Transcript(
        system=_prose(rng, 6000),
        prompt=_prose(rng, 800),
        tools=tuple(_tool(rng, name) for name in _TOOLS),
        turns=tuple(_turn(rng, number) for number in range(turns)),
    )


def short_answer(seed: int = 11) -> Turn:
    """Return a typical answer of an agent: thinking, a few sentences, two tool calls."""
    rng = random.Random(seed)
    calls = (_call(rng, 0), _call(rng, 0))
    return Turn(_serial(rng), _prose(rng, 600), _opaque(rng, 600), _prose(rng, 300), None, calls)


def long_answer(seed: int = 13) -> Turn:
    """Return a long answer: thinking of 6,000 characters, text of 8,000, and six calls that write files."""
    rng = random.Random(seed)
    calls = tuple(
        Call(_serial(rng), "write_file", {"path": f"src/{_word(rng)}.py", "content": _code(rng, 4000)}, "")
        for _ in range(6)
    )
    return Turn(_serial(rng), _prose(rng, 6000), _opaque(rng, 900), _prose(rng, 8000), _citation(rng), calls)


_TOOLS = (
    "read_file",
    "write_file",
    "edit_file",
    "list_directory",
    "run_command",
    "search_text",
    "find_files",
    "fetch_page",
    "apply_patch",
    "run_tests",
    "git_log",
    "todo_write",
)


def _tool(rng: random.Random, name: str) -> Tool:
    properties: dict[str, Any] = {
        "path": {"type": "string", "description": _prose(rng, 80)},
        "pattern": {"type": "string", "description": _prose(rng, 120)},
        "limit": {"type": "integer", "minimum": 1, "description": _prose(rng, 60)},
        "mode": {"type": "string", "enum": ["content", "files", "count"], "description": _prose(rng, 60)},
        "paths": {"type": "array", "items": {"type": "string"}, "description": _prose(rng, 60)},
    }
    schema = {"type": "object", "properties": properties, "required": ["path"], "additionalProperties": False}
    return Tool(name, _prose(rng, 700), schema)


def _turn(rng: random.Random, number: int) -> Turn:
    return Turn(
        serial=_serial(rng),
        thinking=_prose(rng, max(80, round(rng.gauss(600, 150)))),
        signature=_opaque(rng, rng.randint(300, 900)),
        text=_prose(rng, rng.randint(60, 400)),
        citation=_citation(rng) if number % 10 == 4 else None,
        calls=tuple(_call(rng, _result_size(rng)) for _ in range(rng.randint(1, 3))),
    )


def _call(rng: random.Random, result_size: int) -> Call:
    arguments: dict[str, Any] = {"path": f"src/{_word(rng)}/{_word(rng)}.py", "pattern": ""}
    if rng.random() < 0.5:
        arguments["limit"] = rng.randint(1, 500)
    if rng.random() < 0.3:
        arguments["paths"] = [f"{_word(rng)}/{_word(rng)}.ts" for _ in range(3)]
    room = rng.randint(50, 400) - len(json.dumps(arguments, ensure_ascii=False))
    arguments["pattern"] = _code(rng, max(4, room))
    return Call(_serial(rng), rng.choice(_TOOLS), arguments, _code(rng, result_size))


def _result_size(rng: random.Random) -> int:
    # The mean of a log-normal is its median times exp(sigma² / 2): twice the median here.
    return max(20, round(rng.lognormvariate(math.log(1500), math.sqrt(2 * math.log(2)))))


def _citation(rng: random.Random) -> Citation:
    return Citation(
        f"https://docs.example.com/{_word(rng)}/{rng.randint(1, 9999)}",
        _prose(rng, 40),
        _prose(rng, 120),
        _opaque(rng, 120),
    )


def _word(rng: random.Random) -> str:
    return rng.choice(_WORDS)


def _prose(rng: random.Random, size: int) -> str:
    parts: list[str] = []
    length = 0
    while length < size:
        # Most prose of agents is ASCII; about one text in three has a dash or a tick.
        word = rng.choice(_WORDS) if rng.random() < 0.997 else rng.choice(_TYPOGRAPHY)
        if rng.random() < 0.05:
            word += rng.choice((".", ",", ":", ".\n\n", "\n- ", " `x`"))
        parts.append(word)
        length += len(word) + 1
    return " ".join(parts)[:size].rstrip() or "ok"


def _code(rng: random.Random, size: int) -> str:
    lines: list[str] = []
    length = 0
    while length < size:
        a, b, c = _word(rng), _word(rng), _word(rng)
        line = rng.choice(_CODE).format(a=a, b=b, c=c, n=rng.randint(1, 9999))
        lines.append(line)
        length += len(line) + 1
    return "\n".join(lines)[:size].rstrip() or "ok"


def _serial(rng: random.Random) -> str:
    return "".join(rng.choices(string.ascii_letters + string.digits, k=24))


def _opaque(rng: random.Random, size: int) -> str:
    # Base64 of bytes: its length is a multiple of four.
    return "".join(rng.choices(string.ascii_letters + string.digits + "+/", k=size // 4 * 4))


def _text_of(arguments: dict[str, Any]) -> str:
    # Compact, as OpenAI's models write it.
    return json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))


# -- requests ----------------------------------------------------------------------------------------------------


def request(api: str, conversation: Transcript) -> dict[str, Any]:
    """Return the next request of the agent, with all turns so far, in the format of `api`."""
    writers = {
        "anthropic-messages": _anthropic_request,
        "openai-chat": _chat_request,
        "openai-responses": _responses_request,
        "google-generate-content": _google_request,
    }
    return writers[api](conversation)


def _anthropic_request(conversation: Transcript) -> dict[str, Any]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": conversation.prompt}]
    for turn in conversation.turns:
        results: list[dict[str, Any]] = [
            {"type": "tool_result", "tool_use_id": f"toolu_{call.serial}", "content": call.result}
            for call in turn.calls
        ]
        messages.append({"role": "assistant", "content": _anthropic_content(turn)})
        messages.append({"role": "user", "content": results})
    messages[-1]["content"][-1]["cache_control"] = {"type": "ephemeral"}
    tools = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
        for tool in conversation.tools
    ]
    return {
        "model": _MODELS["anthropic-messages"],
        "max_tokens": 16000,
        "system": [{"type": "text", "text": conversation.system, "cache_control": {"type": "ephemeral"}}],
        "messages": messages,
        "tools": tools,
        "tool_choice": {"type": "auto"},
        "thinking": {"type": "enabled", "budget_tokens": 8000},
    }


def _anthropic_content(turn: Turn) -> list[dict[str, Any]]:
    text: dict[str, Any] = {"type": "text", "text": turn.text}
    if turn.citation is not None:
        text["citations"] = [
            {
                "type": "web_search_result_location",
                "url": turn.citation.url,
                "title": turn.citation.title,
                "cited_text": turn.citation.quote,
                "encrypted_index": turn.citation.opaque,
            }
        ]
    return [
        {"type": "thinking", "thinking": turn.thinking, "signature": turn.signature},
        text,
        *(
            {"type": "tool_use", "id": f"toolu_{call.serial}", "name": call.name, "input": call.arguments}
            for call in turn.calls
        ),
    ]


def _chat_request(conversation: Transcript) -> dict[str, Any]:
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": conversation.system},
        {"role": "user", "content": conversation.prompt},
    ]
    for turn in conversation.turns:
        # Chat Completions accepts neither reasoning nor citations in requests.
        messages.append({"role": "assistant", "content": turn.text, "tool_calls": _chat_calls(turn)})
        messages += (
            {"role": "tool", "tool_call_id": f"call_{call.serial}", "content": call.result} for call in turn.calls
        )
    tools = [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
        }
        for tool in conversation.tools
    ]
    return {
        "model": _MODELS["openai-chat"],
        "messages": messages,
        "max_completion_tokens": 16000,
        "tools": tools,
        "tool_choice": "auto",
    }


def _chat_calls(turn: Turn) -> list[dict[str, Any]]:
    return [
        {
            "id": f"call_{call.serial}",
            "type": "function",
            "function": {"name": call.name, "arguments": _text_of(call.arguments)},
        }
        for call in turn.calls
    ]


def _responses_request(conversation: Transcript) -> dict[str, Any]:
    items: list[dict[str, Any]] = [{"role": "user", "content": conversation.prompt}]
    for turn in conversation.turns:
        items += _responses_items(turn)
        items += (
            {"type": "function_call_output", "call_id": f"call_{call.serial}", "output": call.result}
            for call in turn.calls
        )
    return {
        "model": _MODELS["openai-responses"],
        "instructions": conversation.system,
        "input": items,
        "max_output_tokens": 16000,
        "tools": [_responses_tool(tool) for tool in conversation.tools],
        "tool_choice": "auto",
        "reasoning": {"effort": "medium", "summary": "auto"},
        "include": ["reasoning.encrypted_content"],
        "store": False,
    }


def _responses_tool(tool: Tool) -> dict[str, Any]:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        "strict": False,
    }


def _responses_items(turn: Turn) -> list[dict[str, Any]]:
    annotations = []
    if turn.citation is not None:
        annotations.append(
            {
                "type": "url_citation",
                "url": turn.citation.url,
                "title": turn.citation.title,
                "start_index": 0,
                "end_index": min(40, len(turn.text)),
            }
        )
    return [
        {
            "type": "reasoning",
            "id": f"rs_{turn.serial}",
            "summary": [{"type": "summary_text", "text": turn.thinking}],
            "encrypted_content": turn.signature,
        },
        {
            "type": "message",
            "id": f"msg_{turn.serial}",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": turn.text, "annotations": annotations}],
        },
        *(
            {
                "type": "function_call",
                "id": f"fc_{call.serial}",
                "call_id": f"call_{call.serial}",
                "name": call.name,
                "arguments": _text_of(call.arguments),
                "status": "completed",
            }
            for call in turn.calls
        ),
    ]


def _google_request(conversation: Transcript) -> dict[str, Any]:
    contents: list[dict[str, Any]] = [{"role": "user", "parts": [{"text": conversation.prompt}]}]
    for turn in conversation.turns:
        results = [
            {"functionResponse": {"name": call.name, "response": {"output": call.result}}} for call in turn.calls
        ]
        contents.append({"role": "model", "parts": _google_parts(turn)})
        contents.append({"role": "user", "parts": results})
    declarations = [
        {"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.parameters}
        for tool in conversation.tools
    ]
    return {
        "systemInstruction": {"parts": [{"text": conversation.system}]},
        "contents": contents,
        "tools": [{"functionDeclarations": declarations}],
        "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}},
        "generationConfig": {"maxOutputTokens": 16000, "thinkingConfig": {"includeThoughts": True}},
    }


def _google_parts(turn: Turn) -> list[dict[str, Any]]:
    calls: list[dict[str, Any]] = [{"functionCall": {"name": call.name, "args": call.arguments}} for call in turn.calls]
    # The signature of a thought is on the first call after it.
    for call in calls[:1]:
        call["thoughtSignature"] = turn.signature
    return [{"text": turn.thinking, "thought": True}, {"text": turn.text}, *calls]


# -- responses ---------------------------------------------------------------------------------------------------


def response(api: str, turn: Turn) -> dict[str, Any]:
    """Return one answer of a model, in the format of `api`."""
    writers = {
        "anthropic-messages": _anthropic_response,
        "openai-chat": _chat_response,
        "openai-responses": _responses_response,
        "google-generate-content": _google_response,
    }
    return writers[api](turn)


def _anthropic_response(turn: Turn) -> dict[str, Any]:
    return {
        "id": f"msg_{turn.serial}",
        "type": "message",
        "role": "assistant",
        "model": _MODELS["anthropic-messages"],
        "content": _anthropic_content(turn),
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 2095,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 51200,
            "output_tokens": 503,
            "service_tier": "standard",
        },
    }


def _chat_response(turn: Turn) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": turn.text, "refusal": None, "annotations": []}
    if turn.citation is not None:
        source = {"url": turn.citation.url, "title": turn.citation.title, "start_index": 0, "end_index": 40}
        message["annotations"] = [{"type": "url_citation", "url_citation": source}]
    message["tool_calls"] = _chat_calls(turn)
    return {
        "id": f"chatcmpl-{turn.serial}",
        "object": "chat.completion",
        "created": 1760000000,
        "model": _MODELS["openai-chat"],
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "tool_calls"}],
        "usage": {
            "prompt_tokens": 53295,
            "completion_tokens": 503,
            "total_tokens": 53798,
            "prompt_tokens_details": {"cached_tokens": 51200, "audio_tokens": 0},
            "completion_tokens_details": {
                "reasoning_tokens": 0,
                "audio_tokens": 0,
                "accepted_prediction_tokens": 0,
                "rejected_prediction_tokens": 0,
            },
        },
        "service_tier": "default",
        "system_fingerprint": "fp_0123456789",
    }


def _responses_response(turn: Turn) -> dict[str, Any]:
    return {
        "id": f"resp_{turn.serial}",
        "object": "response",
        "created_at": 1760000000,
        "status": "completed",
        "background": False,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "max_output_tokens": 16000,
        "model": _MODELS["openai-responses"],
        "output": _responses_items(turn),
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "reasoning": {"effort": "medium", "summary": "detailed"},
        "service_tier": "default",
        "store": False,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}, "verbosity": "medium"},
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": {
            "input_tokens": 53295,
            "input_tokens_details": {"cached_tokens": 51200, "cache_write_tokens": 0},
            "output_tokens": 503,
            "output_tokens_details": {"reasoning_tokens": 192},
            "total_tokens": 53798,
        },
        "user": None,
        "metadata": {},
    }


def _google_response(turn: Turn) -> dict[str, Any]:
    candidate: dict[str, Any] = {
        "content": {"parts": _google_parts(turn), "role": "model"},
        "finishReason": "STOP",
        "index": 0,
    }
    return {
        "candidates": [candidate],
        "usageMetadata": {
            "promptTokenCount": 53295,
            "cachedContentTokenCount": 51200,
            "candidatesTokenCount": 311,
            "thoughtsTokenCount": 192,
            "totalTokenCount": 53798,
        },
        "modelVersion": _MODELS["google-generate-content"],
        "responseId": turn.serial,
    }


# -- contents of a payload --------------------------------------------------------------------------------------


@dataclass
class Census:
    """The number of contents of each kind in a payload, to count what a conversion kept."""

    tools: int = 0
    calls: int = 0
    results: int = 0
    thinking: int = 0
    citations: int = 0


def census(api: str, payload: dict[str, Any]) -> Census:
    """Count the contents of a request or a response of `api`."""
    counters = {
        "anthropic-messages": _count_anthropic,
        "openai-chat": _count_chat,
        "openai-responses": _count_responses,
        "google-generate-content": _count_google,
    }
    counts = Census()
    for tool in payload.get("tools") or ():
        declared = tool.get("functionDeclarations") or tool.get("function_declarations") if tool else None
        counts.tools += len(declared) if declared else 1
    counters[api](payload, counts)
    return counts


def _blocks(content: Any) -> list[dict[str, Any]]:
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _count_anthropic(payload: dict[str, Any], counts: Census) -> None:
    for message in payload.get("messages") or [payload]:
        for block in _blocks(message.get("content")):
            kind = block.get("type")
            counts.calls += kind == "tool_use"
            counts.results += kind == "tool_result"
            counts.thinking += kind == "thinking"
            counts.citations += len(block.get("citations") or ())


def _count_chat(payload: dict[str, Any], counts: Census) -> None:
    for message in payload.get("messages") or [choice["message"] for choice in payload.get("choices", ())]:
        counts.calls += len(message.get("tool_calls") or ())
        counts.results += message.get("role") == "tool"
        thought = message.get("reasoning_content") or message.get("reasoning") or message.get("thinking_blocks")
        counts.thinking += bool(thought)
        counts.citations += len(message.get("annotations") or ())


def _count_responses(payload: dict[str, Any], counts: Census) -> None:
    for item in payload.get("input") or payload.get("output") or ():
        kind = item.get("type")
        counts.calls += kind == "function_call"
        counts.results += kind == "function_call_output"
        counts.thinking += kind == "reasoning"
        for part in _blocks(item.get("content")):
            counts.citations += len(part.get("annotations") or ())


def _count_google(payload: dict[str, Any], counts: Census) -> None:
    for content in payload.get("contents") or [choice["content"] for choice in payload.get("candidates", ())]:
        for part in content.get("parts", ()):
            counts.calls += "functionCall" in part or "function_call" in part
            counts.results += "functionResponse" in part or "function_response" in part
            counts.thinking += part.get("thought") is True
