"""Documents of Pydantic AI that its own adapter writes: every type of part, and fields that few documents have."""

from __future__ import annotations

import warnings
from typing import Any

from pydantic_ai.messages import (
    AudioUrl,
    BinaryContent,
    CachePoint,
    CapabilityLoadDeltaPart,
    Citation,
    CompactionPart,
    ContentCitationAnchor,
    DocumentCitationSource,
    DocumentUrl,
    FilePart,
    ImageUrl,
    InstructionBaselinePart,
    InstructionDeltaPart,
    InstructionPart,
    MarkerCitationAnchor,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    ModelSettingsDeltaPart,
    NativeToolCallPart,
    NativeToolReturnPart,
    RetryFeedbackPart,
    RetryInfo,
    RetryPromptPart,
    SpeechPart,
    StructuredContent,
    SystemPromptPart,
    TextContent,
    TextPart,
    ThinkingPart,
    ToolAvailabilityDeltaPart,
    ToolCallPart,
    ToolReturnPart,
    UploadedFile,
    UserPromptPart,
    VideoUrl,
    WebCitationSource,
)
from pydantic_ai.usage import RequestUsage

PIXEL = b"\x89PNG\r\n\x1a\n\xff\xfe"
IMAGE = BinaryContent(PIXEL, media_type="image/png")
SPEECH = BinaryContent(b"RIFF", media_type="audio/wav")
WEB = WebCitationSource("https://example.org", title="Example", excerpts=["a passage"])


def messages() -> list[ModelMessage]:
    """Return messages with every type of part."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        legacy = [
            RetryPromptPart("wrong city", tool_name="weather", tool_call_id="c1"),
            RetryPromptPart("return JSON"),
        ]
    return [
        ModelRequest(
            parts=[
                SystemPromptPart("Be brief.", dynamic_ref="f"),
                UserPromptPart(
                    [
                        "Compare.",
                        ImageUrl("https://example.org/a.png", vendor_metadata={"detail": "low"}),
                        IMAGE,
                        CachePoint(ttl="1h"),
                        TextContent("a note", metadata={"from": "app"}),
                        TextContent("plain"),
                        StructuredContent({"page": 1}, tag="state"),
                        DocumentUrl("https://example.org/a.pdf"),
                        AudioUrl("https://example.org/a.mp3"),
                        VideoUrl("https://youtu.be/a1"),
                        UploadedFile("file-1", "openai", media_type="application/pdf"),
                    ]
                ),
            ],
            instructions="Answer in English.",
            run_id="r1",
            conversation_id="v1",
            metadata={"user": 1},
        ),
        ModelResponse(
            parts=[
                ThinkingPart("Hm.", signature="c2ln", provider_name="anthropic"),
                ThinkingPart("", id="redacted_thinking", signature="cmVk", provider_name="anthropic"),
                ThinkingPart("Summary", id="rs_1", signature="ZW5j", provider_name="openai"),
                ThinkingPart("", provider_name="google", provider_details={"thought_signature": "Z29v"}),
                TextPart(
                    "It rains [1].",
                    citations=[
                        Citation(
                            [WEB, DocumentCitationSource(document_id="f1")],
                            anchor=ContentCitationAnchor(start=0, end=8),
                        ),
                        Citation([WEB], anchor=MarkerCitationAnchor(start=9, end=12)),
                        Citation([DocumentCitationSource(title="Paper", excerpts=["a", "b"])]),
                    ],
                ),
                NativeToolCallPart("web_search", {"query": "rain"}, "s1", provider_name="anthropic"),
                NativeToolReturnPart("web_search", [{"title": "Example"}], "s1", provider_name="anthropic"),
                NativeToolCallPart("x_search", '{"q": 1}', "s2", provider_name="xai", provider_details={"a": 1}),
                NativeToolReturnPart("x_search", "none", "s2", provider_name="xai"),
                NativeToolCallPart(
                    "mcp_server:deep",
                    {"action": "call_tool", "tool_name": "ask", "tool_args": {"q": "?"}},
                    "s3",
                    provider_name="openai",
                ),
                NativeToolReturnPart("mcp_server:deep", {"output": "!", "error": None}, "s3", provider_name="openai"),
                FilePart(IMAGE),
                SpeechPart(speaker="assistant", transcript="Hello.", audio=SPEECH),
                CompactionPart("So far.", provider_name="anthropic"),
                CompactionPart(
                    None, id="cmp_1", provider_name="openai", provider_details={"encrypted_content": "Y21w"}
                ),
                ToolCallPart("weather", {"city": "Oslo"}, "c1"),
                ToolCallPart("weather", '{"city": "Bergen"}', "c2", provider_details={"thought_signature": "YQ=="}),
                ToolCallPart("now", None, "c3"),
            ],
            usage=RequestUsage(
                input_tokens=20,
                output_tokens=9,
                cache_read_tokens=5,
                output_reasoning_tokens=3,
                details={"reasoning_tokens": 3},
            ),
            model_name="claude-opus-4-8",
            provider_name="anthropic",
            provider_response_id="msg_1",
            finish_reason="tool_call",
        ),
        ModelRequest(
            parts=[
                ToolReturnPart("weather", {"rain": True}, "c1", metadata={"ms": 12}),
                ToolReturnPart("weather", ["See", IMAGE, ImageUrl("https://example.org/b.png"), {"k": 1}], "c2"),
                ToolReturnPart("now", "no clock", "c3", outcome="failed"),
                *legacy,
                ToolReturnPart("weather", [{"msg": "city"}], "c4", outcome="retried"),
                RetryFeedbackPart("again", retry=RetryInfo(cause="model_retry")),
                RetryFeedbackPart(
                    [{"type": "missing", "loc": ("a",), "msg": "Field required", "input": {}}],
                    retry=RetryInfo(cause="validation_error"),
                ),
                SpeechPart(speaker="user", transcript="Hello?"),
                SpeechPart(speaker="user", audio=SPEECH),
                SpeechPart(speaker="user"),
                CompactionPart("Earlier: nothing."),
                ToolAvailabilityDeltaPart(tools_added=["now"]),
                CapabilityLoadDeltaPart(loaded=["clock"]),
                ModelSettingsDeltaPart(settings={"thinking": "high"}),
                InstructionDeltaPart(id=None, content="Answer in Norwegian."),
                InstructionDeltaPart(id=None, content=None),
                InstructionBaselinePart(instructions=[InstructionPart("Answer in English.")]),
            ],
            instructions="Answer in English.",
        ),
        ModelResponse(parts=[]),
        ModelRequest(parts=[]),
        ModelRequest(parts=[UserPromptPart([])]),
        ModelRequest(
            parts=[UserPromptPart(["only"]), UserPromptPart([CachePoint(), "x", CachePoint()]), UserPromptPart("z")]
        ),
    ]


def document() -> list[dict[str, Any]]:
    """Return them as the JSON of `ModelMessagesTypeAdapter`, with all fields."""
    dumped: list[dict[str, Any]] = ModelMessagesTypeAdapter.dump_python(messages(), mode="json")
    return [_timed(message) for message in dumped]


def _timed(value: Any) -> Any:
    """Return JSON with the same time in each field that the library fills from the clock."""
    if isinstance(value, list):
        return [_timed(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: TIME if key == "timestamp" and item else _timed(item) for key, item in value.items()}


TIME = "2026-11-23T10:00:00Z"


def short(value: Any) -> Any:
    """Return JSON without null members, as people write it."""
    if isinstance(value, list):
        return [short(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: short(item) for key, item in value.items() if item is not None or key == "media_type"}


OLDER: list[Any] = [
    {
        "kind": "request",
        "parts": [
            {"part_kind": "user-prompt", "content": "q"},
            {"part_kind": "tool-availability-delta", "added": ["forecast"]},
        ],
    },
    {
        "kind": "response",
        "parts": [{"part_kind": "text", "content": "a"}],
        "usage": {"requests": 1, "request_tokens": 5, "response_tokens": 2, "total_tokens": 7, "details": None},
        "vendor_id": "resp_1",
        "vendor_details": {"finish_reason": "stop"},
    },
]
"""Messages with the names of fields before version 1.0, which Pydantic AI reads."""
