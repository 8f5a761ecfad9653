"""Conversion of media and of result texts: the target accepts them, and changes are losses."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contentmodel
from contentmodel import (
    ChatChoice,
    ChatMessage,
    ChatRequest,
    ChatResponse,
    DataContent,
    HostedFileContent,
    Origin,
    UriContent,
    convert,
)
from contentmodel.auditing import audit
from contentmodel.content.media import standard_base64

CHAT, RESPONSES, ANTHROPIC, GEMINI = APIS_BY_NAME = (
    "openai-chat",
    "openai-responses",
    "anthropic-messages",
    "google-generate-content",
)
MODELS = {CHAT: "gpt-4.1", RESPONSES: "gpt-5.2", ANTHROPIC: "claude-opus-4-8", GEMINI: "gemini-2.5-pro"}
OTHERS = (CHAT, RESPONSES, ANTHROPIC)
BYTES = b"\xfb\xff\xfe\x00\x01"
URL_SAFE, STANDARD = "-__-AAE=", "+//+AAE="


def of_user(api: str, *parts: dict[str, Any]) -> dict[str, Any]:
    """Return a request of one message of the user."""
    if api == GEMINI:
        return {"contents": [{"role": "user", "parts": list(parts)}]}
    message = {"role": "user", "content": list(parts)}
    if api == RESPONSES:
        return {"model": MODELS[api], "input": [message]}
    limit = {"max_tokens": 100} if api == ANTHROPIC else {}
    return {"model": MODELS[api], **limit, "messages": [message]}


def parts_of(payload: dict[str, Any], turn: int = 0) -> list[dict[str, Any]]:
    """Return the parts of a message of any API; a string is one text."""
    message = payload.get("messages", payload.get("contents", payload.get("input")))[turn]
    parts = message.get("parts", message.get("content"))
    return [{"type": "text", "text": parts}] if isinstance(parts, str) else parts


def crossed(source: str, target: str, payload: dict[str, Any]) -> Any:
    """Convert a request. Check that the target accepts it, and that every value is accounted for."""
    encoded = convert(payload, source=source, target=target, kind="request")
    assert contentmodel.check(encoded.payload, api=target, model=MODELS[target]) == []
    assert audit(payload, encoded) == []
    return encoded


def inline(data: str, media_type: str = "image/png", **more: str) -> dict[str, Any]:
    return {"inlineData": {"data": data, "mimeType": media_type, **more}}


def document(kind: str, media_type: str, data: str) -> dict[str, Any]:
    return {"type": "document", "source": {"type": kind, "media_type": media_type, "data": data}}


def linked(uri: str, media_type: str | None = None) -> dict[str, Any]:
    return {"fileData": {"fileUri": uri, **({"mimeType": media_type} if media_type else {})}}


# -- base64 ------------------------------------------------------------------------------------------------------------


@given(
    st.binary(max_size=40),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["", " ", "\n", "\r\n"]),
)
def test_standard_base64_accepts_both_alphabets_with_or_without_padding_and_whitespace(
    data: bytes, is_url_safe: bool, is_padded: bool, between: str
) -> None:
    text = (base64.urlsafe_b64encode if is_url_safe else base64.b64encode)(data).decode()
    variant = between.join(text if is_padded else text.rstrip("="))
    assert standard_base64(variant) == base64.b64encode(data).decode()


@pytest.mark.parametrize("text", ["%%%", "A", "AAAAA", "AA=A", "====", "é", "AAA\u0660", "data:image/png;base64,AAAA"])
def test_standard_base64_rejects_invalid_text(text: str) -> None:
    assert standard_base64(text) is None
    with pytest.raises(ValueError, match="not base64"):
        DataContent(data=text).to_bytes()


@pytest.mark.parametrize("target", OTHERS)
@pytest.mark.parametrize("media_type", ["image/png", "application/pdf"])
def test_url_safe_base64_converts_to_standard_base64(target: str, media_type: str) -> None:
    encoded = crossed(GEMINI, target, of_user(GEMINI, inline(URL_SAFE.rstrip("="), media_type, displayName="a")))
    assert STANDARD in str(encoded.payload)
    (content,) = contentmodel.adapter(target).decode_request(encoded.payload).messages[0].contents
    assert content.to_bytes() == BYTES
    about = [loss for loss in encoded.losses if ".data" in loss.path and loss.is_significant]
    assert about == []


@pytest.mark.parametrize("target", [ANTHROPIC, GEMINI, RESPONSES, CHAT])
@pytest.mark.parametrize(
    ("data", "name", "media_type"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(4), None, "image/png"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", None, "image/webp"),
        (b"%PDF-1.7", None, "application/pdf"),
        (b"a,b", "table.txt", "text/plain"),
    ],
)
def test_missing_media_type_is_guessed_from_name_or_first_bytes(
    target: str, data: bytes, name: str | None, media_type: str
) -> None:
    content = DataContent(data=base64.b64encode(data).decode(), name=name)
    request = ChatRequest(model=MODELS[target], messages=[ChatMessage(role="user", contents=[content])])
    encoded = contentmodel.adapter(target).encode_request(request)
    assert media_type in str(encoded.payload)
    codes = {loss.code: loss.path for loss in encoded.losses}
    assert codes["guessed-media-type"].startswith("$.messages[0].contents[0]")
    assert contentmodel.check(encoded.payload, api=target, model=MODELS[target]) == []


# -- names of files ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", [CHAT, RESPONSES])
@pytest.mark.parametrize(
    ("source", "part"),
    [
        (ANTHROPIC, document("base64", "application/pdf", "JVBERg==")),
        (ANTHROPIC, document("text", "text/plain", "Hello.")),
        (GEMINI, inline("JVBERg==", "application/pdf")),
        (GEMINI, inline("YSxi", "text/csv")),
    ],
)
def test_file_without_name_gets_a_name_that_is_removed_on_conversion_back(
    target: str, source: str, part: dict[str, Any]
) -> None:
    payload = of_user(source, part)
    encoded = crossed(source, target, payload)
    (written,) = parts_of(encoded.payload)
    name = written.get("file", written)["filename"]
    assert name.startswith("document-")
    assert name.endswith((".pdf", ".txt", ".csv"))
    assert [loss.kind for loss in encoded.losses if loss.code == "file-name"] == ["synthesized"]
    back = convert(encoded.payload, source=target, target=source, kind="request")
    assert name not in str(back.payload)
    if "Hello." not in str(part):
        # A document that was sent as text is restored as base64.
        assert parts_of(back.payload) == [part]


# -- links -------------------------------------------------------------------------------------------------------------

PAPER, PICTURE = "https://example.org/papers/7", "https://example.org/pictures/7"
DOCUMENT_LINKS = {
    ANTHROPIC: {"type": "document", "source": {"type": "url", "url": PAPER}},
    RESPONSES: {"type": "input_file", "file_url": PAPER},
    GEMINI: linked(PAPER, "application/pdf"),
}
IMAGE_LINKS = {
    ANTHROPIC: {"type": "image", "source": {"type": "url", "url": PICTURE}},
    CHAT: {"type": "image_url", "image_url": {"url": PICTURE}},
    RESPONSES: {"type": "input_image", "image_url": PICTURE, "detail": "auto"},
    GEMINI: linked(PICTURE, "image/jpeg"),
}


@pytest.mark.parametrize("links", [DOCUMENT_LINKS, IMAGE_LINKS], ids=["document", "image"])
@pytest.mark.parametrize("source", APIS_BY_NAME)
@pytest.mark.parametrize("target", APIS_BY_NAME)
def test_link_keeps_its_kind(source: str, target: str, links: dict[str, dict[str, Any]]) -> None:
    if source not in links or source == target:
        return
    part = {key: value for key, value in links[source].items() if key != "detail"}
    encoded = crossed(source, target, of_user(source, part))
    address = PAPER if links is DOCUMENT_LINKS else PICTURE
    (written,) = parts_of(encoded.payload)
    assert written == links.get(target, {"type": "text", "text": address})
    if target == CHAT and links is DOCUMENT_LINKS:
        assert "link-to-kind" in [loss.code for loss in encoded.losses]


@pytest.mark.parametrize("target", OTHERS)
@pytest.mark.parametrize(
    "part",
    [
        linked("https://example.org/a.mp3", "audio/mpeg"),
        linked("https://example.org/a", "video/mp4"),
        linked("https://www.youtube.com/watch?v=1"),
        linked("https://generativelanguage.googleapis.com/v1beta/files/a1", "application/pdf"),
        linked("gs://bucket/a.png", "image/png"),
    ],
)
def test_link_becomes_text_if_target_cannot_fetch_it(target: str, part: dict[str, Any]) -> None:
    encoded = crossed(GEMINI, target, of_user(GEMINI, part))
    assert [block["text"] for block in parts_of(encoded.payload)] == [part["fileData"]["fileUri"]]
    losses = [loss for loss in encoded.losses if loss.path.startswith("$.contents")]
    # The text has only the link. Its media type, for example, is lost.
    assert [loss.kind for loss in losses if loss.path.endswith("]")] == ["degraded"]
    assert {loss.kind for loss in losses} <= {"degraded", "dropped"}


def test_document_link_becomes_text_if_target_fetches_only_pdf() -> None:
    part = {"type": "input_file", "file_url": "https://example.org/a.docx?v=1"}
    assert [b["type"] for b in parts_of(crossed(RESPONSES, ANTHROPIC, of_user(RESPONSES, part)).payload)] == ["text"]


@pytest.mark.parametrize("target", APIS_BY_NAME)
def test_link_without_known_kind_becomes_text(target: str) -> None:
    link = UriContent(uri="https://example.org/7")
    request = ChatRequest(model=MODELS[target], messages=[ChatMessage(role="user", contents=[link])])
    encoded = contentmodel.adapter(target).encode_request(request)
    assert [part["text"] for part in parts_of(encoded.payload)] == ["https://example.org/7"]
    assert "link-without-kind" in [loss.code for loss in encoded.losses]


@pytest.mark.parametrize("target", [ANTHROPIC, GEMINI])
def test_data_uri_becomes_inline_data(target: str) -> None:
    link = UriContent(uri="data:image/png;base64,+/8=")
    request = ChatRequest(model=MODELS[target], messages=[ChatMessage(role="user", contents=[link])])
    payload = contentmodel.adapter(target).encode_request(request).payload
    (content,) = contentmodel.adapter(target).decode_request(payload).messages[0].contents
    assert isinstance(content, DataContent)
    assert content.to_bytes() == b"\xfb\xff"


# -- media of the assistant --------------------------------------------------------------------------------------------

LINKED = linked("https://example.org/a.png", "image/png")
DRAWN = {
    "contents": [
        {"role": "user", "parts": [{"text": "Draw."}]},
        {"role": "model", "parts": [{"text": "Here."}, inline("AAAA"), LINKED]},
        {"role": "user", "parts": [{"text": "Again."}]},
    ]
}


@pytest.mark.parametrize("target", OTHERS)
def test_assistant_media_are_dropped_and_reported_if_target_does_not_accept_them(target: str) -> None:
    encoded = crossed(GEMINI, target, DRAWN)
    assert "AAAA" not in str(encoded.payload)
    assert ("$.contents[1].parts[1]", "media-of-assistant") in [(loss.path, loss.code) for loss in encoded.losses]
    assert "https://example.org/a.png" in str(encoded.payload)


@pytest.mark.parametrize("target", [ANTHROPIC, RESPONSES])
def test_audio_of_response_becomes_its_transcript_if_target_has_no_media_in_responses(target: str) -> None:
    audio = DataContent(data="AAAA", media_type="audio/wav", transcript="Good morning.")
    message = ChatMessage(role="assistant", contents=[audio])
    response = ChatResponse(
        model="gpt-audio", choices=[ChatChoice(messages=[message])], origin=Origin(api=CHAT, issuer="openai")
    )
    encoded = contentmodel.adapter(target).encode_response(response)
    assert "Good morning." in str(encoded.payload)
    lost = [(loss.code, loss.path.rpartition(".")[2]) for loss in encoded.losses if loss.family == "media"]
    assert sorted(lost) == [("no-field", "data"), ("no-field", "media_type"), ("transcript", "contents[0]")]


# -- detail ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("detail", ["low", "high", "auto", "original"])
def test_image_detail_converts_between_chat_and_responses(detail: str) -> None:
    part = {"type": "image_url", "image_url": {"url": PICTURE, "detail": detail}}
    encoded = crossed(CHAT, RESPONSES, of_user(CHAT, part))
    assert parts_of(encoded.payload) == [{"type": "input_image", "image_url": PICTURE, "detail": detail}]
    assert encoded.losses == ()
    assert parts_of(convert(encoded.payload, source=RESPONSES, target=CHAT).payload) == [part]
    (loss,) = (each for each in crossed(CHAT, ANTHROPIC, of_user(CHAT, part)).losses if "detail" in each.path)
    assert (loss.path, loss.code) == ("$.messages[0].content[0].image_url.detail", "no-field")


# -- requests without sendable contents --------------------------------------------------------------------------------


@pytest.mark.parametrize("target", OTHERS)
def test_user_message_without_sendable_contents_gets_placeholder(target: str) -> None:
    encoded = crossed(GEMINI, target, of_user(GEMINI, inline("AAAA", "video/mp4")))
    assert [part["text"] for part in parts_of(encoded.payload)] == ["[nothing of this message could be sent]"]
    codes = {loss.code: loss.path for loss in encoded.losses}
    assert codes["unsupported-media-type"] == "$.contents[0].parts[0]"
    assert codes["placeholder-message"] == "$.contents[0]"


@pytest.mark.parametrize("target", APIS_BY_NAME)
def test_user_message_with_only_a_foreign_hosted_file_gets_placeholder(target: str) -> None:
    origin = Origin(api="elsewhere", issuer="elsewhere")
    message = ChatMessage(role="user", contents=[HostedFileContent(file_id="f1")], origin=origin)
    encoded = contentmodel.adapter(target).encode_request(ChatRequest(model=MODELS[target], messages=[message]))
    assert contentmodel.check(encoded.payload, api=target, model=MODELS[target]) == []
    assert len(parts_of(encoded.payload)) == 1


@pytest.mark.parametrize("target", [ANTHROPIC, GEMINI])
def test_request_with_only_instructions_gets_placeholder_user_turn(target: str) -> None:
    payload = {"model": "gpt-4.1", "messages": [{"role": "system", "content": "Be brief."}]}
    encoded = crossed(CHAT, target, payload)
    assert "Be brief." in str(encoded.payload.get("system", encoded.payload.get("systemInstruction")))
    assert [part["text"] for part in parts_of(encoded.payload)] == ["[the conversation has no message yet]"]
    assert ("synthesized", "$.messages") in [(loss.kind, loss.path) for loss in encoded.losses]


# -- values ------------------------------------------------------------------------------------------------------------


def test_data_content_from_path_sets_media_type_and_name(tmp_path: Path) -> None:
    (tmp_path / "paper.PDF").write_bytes(BYTES)
    content = DataContent.from_path(tmp_path / "paper.PDF")
    assert (content.media_type, content.name, content.to_bytes()) == ("application/pdf", "paper.PDF", BYTES)
    (tmp_path / "blob.unknown-ending").write_bytes(b"")
    assert DataContent.from_path(str(tmp_path / "blob.unknown-ending")).media_type == "application/octet-stream"
    assert DataContent.from_path(tmp_path / "paper.PDF", media_type="a/b").media_type == "a/b"
    with pytest.raises(FileNotFoundError):
        DataContent.from_path(tmp_path / "nothing")


@given(st.binary(max_size=20), st.sampled_from(["image/png", "text/plain;charset=utf-8"]))
def test_data_uri_survives_a_round_trip(data: bytes, media_type: str) -> None:
    content = DataContent.from_bytes(data, media_type)
    assert DataContent.from_data_uri(content.data_uri) == content
    url_safe = DataContent(data=base64.urlsafe_b64encode(data).decode(), media_type=media_type)
    assert url_safe.data_uri == content.data_uri


@pytest.mark.parametrize(
    ("uri", "media_type", "data"),
    [
        ("data:,a%20b", "text/plain", b"a b"),
        ("DATA:text/html,<b>%C3%BC", "text/html", b"<b>\xc3\xbc"),
        ("data:image/png;base64,%2B/8=", "image/png", b"\xfb\xff"),
        ("data:;base64,", "text/plain", b""),
    ],
)
def test_from_data_uri_reads_media_type_and_bytes(uri: str, media_type: str, data: bytes) -> None:
    content = DataContent.from_data_uri(uri)
    assert (content.media_type, content.to_bytes()) == (media_type, data)


def test_from_data_uri_rejects_bytes() -> None:
    wrong: Any = b"data:,a"
    with pytest.raises(TypeError, match="expected a data URI, got bytes"):
        DataContent.from_data_uri(wrong)


@pytest.mark.parametrize("uri", ["https://example.org/a.png", "data:image/png;base64", "image/png", ""])
def test_from_data_uri_rejects_other_uris(uri: str) -> None:
    with pytest.raises(ValueError, match="expected a data URI"):
        DataContent.from_data_uri(uri)


def test_data_content_rejects_bytes_and_suggests_from_bytes() -> None:
    with pytest.raises(TypeError, match="from_bytes"):
        DataContent(data=b"\x00", media_type="image/png")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (UriContent(uri="https://example.org/a.png"), "image"),
        (UriContent(uri="https://example.org/a.png?size=1#top"), "image"),
        (UriContent(uri="https://example.org/?file=a.png"), None),
        (UriContent(uri="https://example.png"), None),
        (UriContent(uri="https://example.org/a.png", media_type="application/pdf"), "document"),
        (UriContent(uri="https://example.org/a.png", kind="video"), "video"),
        (DataContent(media_type="Audio/WAV; rate=1"), "audio"),
        (DataContent(text="a", name="a.md"), "document"),
        (DataContent(), None),
        (HostedFileContent(file_id="f", name="a.mp4"), "video"),
        (HostedFileContent(file_id="f", kind="image"), "image"),
    ],
)
def test_media_kind_comes_from_kind_media_type_or_file_extension(content: Any, kind: str | None) -> None:
    assert content.media_kind == kind


def test_link_that_became_text_is_reported_as_degraded_only() -> None:
    document = {"type": "document", "source": {"type": "url", "url": "https://example.org/a.pdf"}}
    payload = {"model": "m", "max_tokens": 99, "messages": [{"role": "user", "content": [document]}]}
    encoded = contentmodel.convert(payload, source="anthropic-messages", target="openai-chat")
    assert [loss.kind for loss in encoded.losses if loss.path.startswith("$.messages")] == ["degraded"]
    encoded.payload["messages"][0]["content"] = ""
    assert contentmodel.audit(payload, encoded) != []


IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw=="}}


def conversation_with(*outputs: Any, first: Any = "Look.", **result: Any) -> dict[str, Any]:
    """Return a request of Claude with one call, whose result has these outputs."""
    call = {"type": "tool_use", "id": "t1", "name": "look", "input": {}}
    answer = {"type": "tool_result", "tool_use_id": "t1", "content": list(outputs), **result}
    turns = (("user", first), ("assistant", [call]), ("user", [answer]))
    messages = [{"role": role, "content": content} for role, content in turns]
    return {"model": "claude-opus-4-8", "max_tokens": 9, "messages": messages}


@pytest.mark.parametrize("target", [CHAT, RESPONSES, GEMINI, "bedrock-converse", "google-interactions"])
def test_images_of_a_document_follow_its_texts(target: str) -> None:
    """Documents of Claude may contain images (beta_content_block_source_content_param.py of its SDK)."""
    document = {"type": "document", "title": "Report", "source": {"type": "content"}}
    document["source"]["content"] = [{"type": "text", "text": "Figure 1"}, IMAGE]  # type: ignore[index]
    payload = conversation_with(document, first=[document, {"type": "text", "text": "Look."}])
    assert contentmodel.convert(payload, source=ANTHROPIC, target=ANTHROPIC, kind="request").payload == payload
    encoded = contentmodel.convert(payload, source=ANTHROPIC, target=target, model=MODELS.get(target))
    assert json.dumps(encoded.payload).count("iVBORw==") == 2
    assert json.dumps(encoded.payload).count("Figure 1") == 2
    moved = [loss.path for loss in encoded.losses if loss.code == "media-after-document"]
    content = "content[0].source.content[1]"
    assert moved == [f"$.messages[0].{content}", f"$.messages[2].content[0].{content}"]
    assert contentmodel.audit(payload, encoded) == []


@pytest.mark.parametrize("target", [CHAT, GEMINI, "bedrock-converse"])
def test_image_in_a_document_without_text_is_kept(target: str) -> None:
    only = {"type": "document", "source": {"type": "content", "content": [IMAGE]}, "citations": {"enabled": True}}
    encoded = contentmodel.convert(conversation_with(only), source=ANTHROPIC, target=target)
    assert json.dumps(encoded.payload).count("iVBORw==") == 1
    assert contentmodel.audit(conversation_with(only), encoded) == []


@pytest.mark.parametrize(
    "target",
    [CHAT, RESPONSES, GEMINI, "bedrock-converse", "cohere-chat", "langchain-messages", "pydantic-ai-messages"],
)
def test_names_of_found_tools_are_sent_as_text(target: str) -> None:
    """An application may search its tools itself (tool-search-tool, "Custom tool search implementation")."""
    names = ("mcp__mail__send", "mcp__mail__read")
    payload = conversation_with(*({"type": "tool_reference", "tool_name": name} for name in names))
    encoded = contentmodel.convert(payload, source=ANTHROPIC, target=target)
    assert all(name in json.dumps(encoded.payload) for name in names)
    places = [loss.path for loss in encoded.losses if loss.code == "as-text"]
    assert places == [f"$.messages[2].content[0].content[{index}]" for index in range(2)]
    assert contentmodel.audit(payload, encoded) == []
