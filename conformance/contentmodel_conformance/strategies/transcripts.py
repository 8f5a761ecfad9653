"""Realistic transcripts of agents: parallel calls, failures, images in results, unanswered calls.

Drawn as model values with the origin of one API, so that its encoder writes them unchanged. `Limits` excludes what an
API does not support.
"""

from __future__ import annotations

import base64
from typing import Any

import msgspec
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from contentmodel import (
    AIContent,
    ChatChoice,
    ChatMessage,
    ChatOptions,
    ChatRequest,
    ChatResponse,
    Citation,
    DataContent,
    FinishReason,
    FunctionResultContent,
    Origin,
    Protected,
    ReasoningContent,
    TextContent,
    UriContent,
    Usage,
)
from contentmodel.content import CachePoint, Span, WebSearchToolCallContent, WebSearchToolResultContent
from contentmodel.content.tools import CustomToolCallContent, CustomToolResultContent
from contentmodel_conformance.strategies.toolsets import Toolset

__all__ = ["LIMITS", "Limits", "answers", "cited_answers", "transcripts"]


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """The contents that transcripts of one API can have."""

    issuer: str
    model: str
    signs: bool = True
    hosted_search: bool = True
    images_in_results: bool = True
    errors: bool = True
    systems_between: bool = True
    origin: str | None = None
    """For a store: the API that its conversations came from."""
    media: frozenset[str] = frozenset()
    """The contents that users send: "images", "documents" (with "unnamed": also without names), "texts", and links:
    "image links", "document links", "video links", and "stored links", which only the issuer can fetch. With "typed
    links", links have a media type instead of a kind. With "url-safe", some base64 is URL-safe."""
    images_in_answers: bool = False
    cites: str | None = None
    """The origin of generated answers with citations; None if answers of this API have no citations. It is another
    API if this one writes foreign citations as a list of sources."""
    several_texts: bool = True
    """True if results may have more than one text."""
    lifetimes: tuple[str, ...] = ()
    """The lifetimes of cache points, if the API has cache points."""
    tools: frozenset[str] = frozenset()
    """The kinds of tools; see `strategies.toolsets`."""
    older: str | None = None
    """Another model of the API, with other rules."""
    settings_of: tuple[str, ...] = ()
    """Further models to try settings with: old, new and unlisted ones."""

    @property
    def models(self) -> tuple[str, ...]:
        """The models to try rules with."""
        return (self.model,) if self.older is None else (self.model, self.older)


_WAYS = {"unnamed", "url-safe", "typed links"}
_SEEN = frozenset({"images", "documents", "image links"})
_OPENAI_LIFETIMES, _ANTHROPIC_LIFETIMES = ("30m", "12h"), ("5m", "1h")
_FILES: dict[str, Any] = {"issuer": "", "model": "m", "signs": False, "hosted_search": False}
_OF_FRAMEWORKS = _SEEN | {"document links", "typed links"}
LIMITS = {
    "openai-chat": Limits(
        issuer="openai",
        model="gpt-5.2",
        older="gpt-4.1",
        settings_of=("gpt-3.5-turbo", "gpt-4o-2024-08-06", "o3", "gpt-5-mini", "gpt-5.6", "gpt-6.1-sol", "gpt-9", "m"),
        signs=False,
        hosted_search=False,
        images_in_results=False,
        media=_SEEN,
        cites="openai-chat",
        lifetimes=_OPENAI_LIFETIMES,
        tools=frozenset({"bare", "custom", "choices"}),
    ),
    "openai-responses": Limits(
        issuer="openai",
        model="gpt-5.2",
        older="gpt-4.1",
        settings_of=("gpt-4o", "o4-mini", "openai/gpt-5", "gpt-5.1", "gpt-5.6-sol", "gpt-6-astra", "gpt-9", "m"),
        media=_SEEN | {"document links"},
        cites="openai-responses",
        lifetimes=_OPENAI_LIFETIMES,
        tools=frozenset({"bare", "custom", "namespaces", "hosted", "choices"}),
    ),
    "anthropic-messages": Limits(
        issuer="anthropic",
        model="claude-opus-4-8",
        older="claude-sonnet-4-5",
        settings_of=(
            *("claude-3-5-haiku-latest", "claude-opus-4-1@20250805", "us.anthropic.claude-opus-4-6-v1"),
            *("claude-opus-5", "claude-sonnet-5-5", "claude-haiku-5-5", "claude-opus-5-5", "claude-opus-9", "m"),
        ),
        media=_SEEN | {"document links", "texts", "unnamed"},
        lifetimes=_ANTHROPIC_LIFETIMES,
        tools=frozenset({"hosted"}),
    ),
    "bedrock-converse": Limits(
        issuer="anthropic",
        model="us.anthropic.claude-opus-4-8",
        older="us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        settings_of=(
            *("anthropic.claude-3-5-haiku-20241022-v1:0", "us.anthropic.claude-opus-4-6-v1", "amazon.nova-2-lite-v1:0"),
            *("us.amazon.nova-pro-v1:0", "openai.gpt-oss-120b-1:0", "us.deepseek.r1-v1:0", "m"),
        ),
        hosted_search=False,
        systems_between=False,
        media=frozenset({"images", "documents"}),
        lifetimes=_ANTHROPIC_LIFETIMES,
    ),
    "google-generate-content": Limits(
        issuer="google",
        model="gemini-3-pro",
        older="gemini-2.5-flash",
        settings_of=(
            *("gemini-2.0-flash", "models/gemini-2.5-pro", "gemini-2.5-flash-lite", "gemini-3-flash-preview"),
            *("gemini-3.1-pro-preview", "gemini-3.8-flash", "gemini-9-pro", "m"),
        ),
        hosted_search=False,
        systems_between=False,
        media=_SEEN | {"document links", "video links", "stored links", "typed links", "unnamed", "url-safe"},
        images_in_answers=True,
        cites="openai-responses",
        tools=frozenset({"bare", "openapi", "choices"}),
    ),
    "google-interactions": Limits(
        issuer="google",
        model="gemini-3-pro",
        older="gemini-2.5-flash",
        settings_of=(
            *("gemini-2.0-flash", "models/gemini-2.5-pro", "gemini-2.5-flash-lite", "gemini-3-flash-preview"),
            *("gemini-3.1-pro-preview", "gemini-3.8-flash", "gemini-9-pro", "m"),
        ),
        hosted_search=False,
        systems_between=False,
        media=_SEEN | {"document links", "video links", "stored links", "unnamed", "url-safe"},
        images_in_answers=True,
        cites="openai-responses",
        tools=frozenset({"bare", "choices"}),
    ),
    "mistral-chat": Limits(
        issuer="mistral",
        model="mistral-medium-latest",
        older="mistral-large-latest",
        settings_of=("magistral-medium-latest", "codestral-latest", "voxtral-small-latest", "mistral-tiny", "m"),
        signs=True,
        hosted_search=False,
        systems_between=False,
        media=frozenset({"images", "documents", "unnamed", "image links", "document links"}),
        tools=frozenset({"bare", "choices"}),
    ),
    "cohere-chat": Limits(
        issuer="cohere",
        model="command-a-reasoning-08-2025",
        older="command-r-plus-08-2024",
        settings_of=("command-a-03-2025", "command-a-vision-07-2025", "command-r7b-12-2024", "command-z-2030", "m"),
        signs=False,
        hosted_search=False,
        images_in_results=False,
        media=frozenset({"images", "image links"}),
        cites="openai-chat",
        tools=frozenset({"bare", "choices"}),
    ),
    # A store has no issuer: its protected values have their own.
    "turn-blocks": Limits(
        issuer="anthropic",
        model="claude-opus-4-8",
        origin="anthropic-messages",
        media=_SEEN | {"document links", "texts", "unnamed"},
        lifetimes=_ANTHROPIC_LIFETIMES,
    ),
    "langchain-messages": Limits(
        issuer="anthropic",
        model="claude-opus-4-8",
        media=_SEEN | {"document links", "texts", "unnamed"},
        hosted_search=False,
        lifetimes=_ANTHROPIC_LIFETIMES,
    ),
    # Files of conversations: no format has signatures or hosted tools.
    "openai-finetune": Limits(**_FILES, images_in_results=False, media=frozenset({"images", "image links"})),
    "hf-messages": Limits(**_FILES, media=frozenset({"images", "image links"})),
    "sharegpt": Limits(**_FILES, media=frozenset({"images", "image links"}), several_texts=False),
    "atif": Limits(**_FILES, images_in_results=False, media=frozenset({"image links"})),
    "meai": Limits(**_FILES, media=_OF_FRAMEWORKS),
    "agent-framework": Limits(**_FILES, media=_OF_FRAMEWORKS),
    "otel-gen-ai": Limits(**_FILES, media=_SEEN | {"document links", "unnamed"}, images_in_answers=True),
    "pydantic-ai-messages": Limits(
        **_FILES,
        media=_SEEN | {"document links", "unnamed"},
        images_in_answers=True,
        several_texts=False,
        lifetimes=_ANTHROPIC_LIFETIMES,
    ),
    # The formats of a framework have the values of every provider.
    "inspect-eval-log": Limits(
        issuer="anthropic",
        model="claude-opus-4-8",
        origin="anthropic-messages",
        media=_SEEN | {"document links"},
    ),
    "vercel-ui-messages": Limits(
        issuer="anthropic",
        model="claude-opus-4-8",
        origin="anthropic-messages",
        media=_SEEN | {"document links"},
    ),
    "vercel-model-messages": Limits(
        issuer="anthropic",
        model="claude-opus-4-8",
        origin="anthropic-messages",
        media=_SEEN | {"document links"},
    ),
    "mcp-sampling": Limits(**_FILES, systems_between=False, media=frozenset({"images"})),
    "ag-ui": Limits(
        issuer="anthropic",
        model="claude-opus-4-8",
        origin="anthropic-messages",
        hosted_search=False,
        media=_SEEN | {"document links"},
    ),
}
"""The limits of the APIs of this project."""

_SAMPLE_TEXTS = st.sampled_from(
    [
        *("Look it up.", "Done", "a\nb", "Ünïcödé ✅", "{}", "[1, 2]", 'It says "no".', "x" * 40, " padded ", "0"),
        *("e\u0301", "half \ud83d of it", "\udfff"),
    ]
)
_BLANK = st.sampled_from(["", " ", "\n\n"])
_IDS = st.sampled_from(["call_1", "call_2", "call.3", "id with blanks", "i" * 70, "ü", "a:0", "a.0"])
_FEW_IDS = st.sampled_from(["a", "b", "c"])
_PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(8)).decode()


_STORE = "https://generativelanguage.googleapis.com/v1beta/files/a-1"
_LINKS = {
    "image links": [
        UriContent(uri="https://example.org/a.png", kind="image", media_type="image/png"),
        UriContent(uri="https://example.org/pictures/7", kind="image", media_type="image/webp"),
    ],
    "document links": [
        UriContent(uri="https://example.org/a.pdf", kind="document", media_type="application/pdf"),
        UriContent(uri="https://example.org/papers/7", kind="document", media_type="application/pdf"),
        UriContent(uri="https://example.org/a.docx?v=2", kind="document", media_type="application/msword"),
    ],
    "video links": [
        UriContent(uri="https://example.org/a.mp4", media_type="video/mp4"),
        UriContent(uri="https://example.org/a.mp3", media_type="audio/mpeg"),
        UriContent(uri="https://youtu.be/a1", kind="video"),
    ],
    "stored links": [
        UriContent(uri="gs://bucket/a.png", media_type="image/png"),
        UriContent(uri=_STORE, media_type="application/pdf"),
    ],
}


@st.composite
def transcripts(
    draw: DrawFn, api: str, limits: Limits | None = None, *, longest: int = 6, few_ids: bool = False
) -> ChatRequest:
    """Draw a request that came from `api`, with one to `longest` exchanges, and a final user message.

    With `few_ids`, calls of different turns share ids.
    """
    limits = limits or LIMITS[api]
    writer = _Transcript(draw, limits, Origin(api=limits.origin or api, issuer=limits.issuer, model=limits.model))
    writer.few_ids = few_ids
    for _ in range(draw(st.integers(1, longest))):
        writer.exchange()
    writer.add_text("user", draw(_SAMPLE_TEXTS))
    tools, choice = writer.toolset.tools(), writer.toolset.choice()
    return ChatRequest(
        model=limits.model,
        instructions=[TextContent(text="Be brief.")] if draw(st.booleans()) else [],
        messages=writer.cached(),
        tools=tools,
        options=ChatOptions(max_output_tokens=4096, tool_choice=choice),
        origin=writer.origin,
    )


@st.composite
def answers(draw: DrawFn, api: str, limits: Limits | None = None) -> ChatResponse:
    """Draw an answer that came from `api`: reasoning, text and calls, a finish reason, and usage."""
    limits = limits or LIMITS[api]
    writer = _Transcript(draw, limits, Origin(api=limits.origin or api, issuer=limits.issuer, model=limits.model))
    called = writer.turn()
    message = (
        writer.messages[0]
        if writer.messages
        else ChatMessage(role="assistant", contents=[TextContent(text=draw(_SAMPLE_TEXTS))], origin=writer.origin)
    )
    reason = "tool_calls" if called else draw(st.sampled_from(["stop", "length"]))
    return ChatResponse(
        id="answer_1",
        model=limits.model,
        created=1_780_000_000,
        choices=[ChatChoice(messages=[message], finish_reason=FinishReason(reason=reason))],
        usage=draw(_usages()),
        origin=writer.origin,
    )


@st.composite
def cited_answers(draw: DrawFn, api: str, limits: Limits | None = None) -> ChatResponse:
    """Draw an answer of one text that cites one or more pages, some of them repeatedly."""
    limits = limits or LIMITS[api]
    origin = Origin(api=limits.cites or api, issuer=limits.issuer, model=limits.model)
    text = " ".join(draw(st.lists(_SAMPLE_TEXTS.filter(str.strip), min_size=1, max_size=3)))
    citations = []
    for page in draw(st.lists(st.integers(1, 4), min_size=1, max_size=4)):
        start = draw(st.integers(0, len(text) - 1))
        span = Span(start=start, end=draw(st.integers(start + 1, len(text))))
        citations.append(Citation(url=f"https://example.org/page/{page}", title=f"Page {page}", span=span))
    message = ChatMessage(role="assistant", contents=[TextContent(text=text, annotations=citations)], origin=origin)
    choice = ChatChoice(messages=[message], finish_reason=FinishReason(reason="stop"))
    return ChatResponse(id="answer_1", model=limits.model, created=1_780_000_000, choices=[choice], origin=origin)


@st.composite
def _usages(draw: DrawFn) -> Usage:
    """Draw the usage of an answer. Its counters all differ, so that swapped counters are found."""
    read, written, uncached = (draw(st.integers(low, low + 99)) for low in (100, 200, 300))
    reasoning_tokens, text_tokens = (draw(st.integers(low, low + 99)) for low in (1000, 2000))
    has = draw(st.booleans())
    return Usage(
        input_tokens=uncached + read + written,
        output_tokens=reasoning_tokens + text_tokens,
        cache_read_tokens=read if has else None,
        cache_write_tokens=written if has else None,
        reasoning_tokens=reasoning_tokens if has else None,
    )


class _Transcript:
    """Writes messages one by one, and keeps the unanswered calls."""

    def __init__(self, draw: DrawFn, limits: Limits, origin: Origin) -> None:
        self._draw = draw
        self._limits = limits
        self._open: list[Any] = []
        self._used: set[str] = set()
        self._turn: set[str | None] = set()
        """The ids of the calls of the current turn."""
        self.few_ids = False
        self.origin = origin
        self.toolset = Toolset(draw, origin.api, limits.tools)
        self.messages: list[ChatMessage] = []

    def exchange(self) -> None:
        """Add a user message, turns of the assistant, and results of some of their calls."""
        self._add("user", [TextContent(text=self._draw(_SAMPLE_TEXTS)), *self._attached()])
        if self._maybe(8) and self._limits.systems_between:
            self.add_text("system", self._draw(_SAMPLE_TEXTS))
        for _ in range(self._draw(st.integers(1, 3))):
            calls = self.turn()
            if not calls:
                # Some hosts send two assistant turns in a row.
                calls = self.turn() if self._maybe(6) else []
            if not calls:
                break
            self._answer(calls)

    def cached(self) -> list[ChatMessage]:
        """Return the messages, perhaps with cache points on the texts of one or two users."""
        lifetimes, messages = self._limits.lifetimes, list(self.messages)
        places = [at for at, message in enumerate(messages) if message.role == "user" and _has_text(message)]
        for at in (
            self._draw(st.lists(st.sampled_from(places), max_size=2, unique=True)) if lifetimes and places else ()
        ):
            point = CachePoint(ttl=self._draw(st.sampled_from([None, lifetimes[0]])))
            text = msgspec.structs.replace(messages[at].contents[0], cache_point=point)
            messages[at] = msgspec.structs.replace(messages[at], contents=[text, *messages[at].contents[1:]])
        return messages

    def add_text(self, role: str, text: str) -> None:
        self._add(role, [TextContent(text=text)])

    def _maybe(self, often: int) -> bool:
        return self._draw(st.integers(0, often)) == 0

    def _add(self, role: str, contents: list[Any]) -> None:
        self.messages.append(ChatMessage(role=role, contents=contents, origin=self.origin))

    def turn(self) -> list[Any]:
        """Add a turn of the assistant. Return its calls."""
        contents: list[AIContent] = []
        if self._maybe(2) and self._limits.signs:
            contents.append(self._thought())
        if self._maybe(2) and self._limits.hosted_search:
            contents += self._search()
        if self._maybe(1):
            contents.append(TextContent(text=self._draw(_BLANK if self._maybe(6) else _SAMPLE_TEXTS)))
        if self._limits.images_in_answers and self._maybe(6):
            contents.append(self._data("image/png"))
        self._turn.clear()
        calls = [self._call() for _ in range(self._draw(st.integers(0, 3)))]
        contents += calls
        if contents:
            self._add("assistant", contents)
        return calls

    def _attached(self) -> list[AIContent]:
        """Return the media of a user message: mostly none."""
        kinds = sorted(self._limits.media - _WAYS)
        if not kinds or not self._maybe(3):
            return []
        return [self._medium(kind) for kind in self._draw(st.lists(st.sampled_from(kinds), max_size=2))]

    def _medium(self, kind: str) -> AIContent:
        if kind == "images":
            return self._data("image/png")
        if kind == "documents":
            is_named = "unnamed" not in self._limits.media or self._draw(st.booleans())
            return self._data("application/pdf", "report.pdf" if is_named else None)
        if kind == "texts":
            return DataContent(text=self._draw(_SAMPLE_TEXTS), media_type="text/plain")
        link = self._draw(st.sampled_from(_LINKS[kind]))
        # An API sends either the kind or the media type of a link. Some links can have only a kind.
        if "typed links" in self._limits.media and link.media_type:
            return msgspec.structs.replace(link, kind=None)
        return msgspec.structs.replace(link, media_type=None)

    def _data(self, media_type: str, name: str | None = None) -> DataContent:
        """Return bytes in any base64 form that the API accepts, so that all digits of the alphabets occur."""
        data = base64.b64encode(self._draw(st.binary(min_size=2, max_size=9) | st.just(b"\xff\xfe\xfb"))).decode()
        if "url-safe" in self._limits.media and self._draw(st.booleans()):
            data = data.replace("+", "-").replace("/", "_").rstrip("=" if self._draw(st.booleans()) else "\0")
        return DataContent(data=data, media_type=media_type, name=name)

    def _thought(self) -> ReasoningContent:
        sealed = Protected(issuer=self._limits.issuer, kind="signature", data=self._opaque())
        return ReasoningContent(text=self._draw(_SAMPLE_TEXTS), protected=sealed)

    def _opaque(self) -> str:
        return base64.b64encode(self._draw(st.binary(min_size=6, max_size=9))).decode()

    def _search(self) -> list[AIContent]:
        call_id = self._id("srvtoolu_")
        pages: list[Any] = [UriContent(uri="https://example.org/a", title="A page")]
        return [
            WebSearchToolCallContent(
                call_id=call_id, name="web_search", arguments={"query": self._draw(_SAMPLE_TEXTS)}
            ),
            WebSearchToolResultContent(call_id=call_id, outputs=pages),
        ]

    def _id(self, prefix: str = "") -> str:
        drawn = prefix + self._draw(st.text("abcdef0123456789", min_size=8, max_size=8) if prefix else _IDS)
        while drawn in self._used and (prefix or not self._maybe(8)):
            drawn += "x"
        self._used.add(drawn)
        return drawn

    def _call(self) -> Any:
        if not self.few_ids:
            return self.toolset.call(self._id())
        call_id = self._draw(_FEW_IDS.filter(lambda drawn: drawn not in self._turn))
        self._turn.add(call_id)
        return msgspec.structs.replace(self.toolset.call("a"), call_id=call_id)

    def _answer(self, calls: list[Any]) -> None:
        """Add results of most calls, in any order. An unanswered call may get a late result in a later turn."""
        late = [self._open.pop()] if self._open and self._maybe(3) else []
        seldom = 1 if self.few_ids else 8
        answered = [call for call in self._draw(st.permutations(calls)) if not self._maybe(seldom)]
        self._open += [call for call in calls if all(call is not other for other in answered)]
        results = [self._result(call) for call in (*answered, *late)]
        if results:
            self._add("tool", list(results))

    def _result(self, call: Any) -> Any:
        outputs: list[Any] = [TextContent(text=self._draw(_SAMPLE_TEXTS))]
        if self._limits.several_texts and self._maybe(3):
            outputs += [TextContent(text=text) for text in self._draw(st.lists(_SAMPLE_TEXTS, min_size=1, max_size=2))]
        if self._limits.images_in_results and self._maybe(4):
            outputs.append(DataContent(data=_PIXEL, media_type="image/png"))
        failed = True if self._limits.errors and self._maybe(5) else None
        # Chat has one kind of result.
        is_custom = isinstance(call, CustomToolCallContent) and self.origin.api != "openai-chat"
        model = CustomToolResultContent if is_custom else FunctionResultContent
        return model(call_id=call.call_id, name=call.name, outputs=outputs, is_error=failed)


def _has_text(message: ChatMessage) -> bool:
    first = message.contents[0]
    return isinstance(first, TextContent) and first.text.strip() != ""
