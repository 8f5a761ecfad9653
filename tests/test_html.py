"""The HTML page of a transcript: all content is text, not markup, and a browser runs none of it."""

from __future__ import annotations

import base64
import html
import json
import re
import struct
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from html.parser import HTMLParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("jinja2")

import contentmodel
from conftest import APIS, FEW, PROFILE, records
from contentmodel import (
    ChatMessage,
    ChatRequest,
    ChatResponse,
    Citation,
    DataContent,
    DocumentContent,
    EncodeError,
    ErrorContent,
    FunctionCallContent,
    FunctionResultContent,
    Loss,
    Origin,
    Protected,
    ReasoningContent,
    TextContent,
    UnknownContent,
    UriContent,
    Usage,
    unfold,
)
from contentmodel.cli.console import HOSTILE as HOSTILE_TO_TERMINALS
from contentmodel.content import CONTENT_TYPES, Span, ToolApprovalRequestContent, ToolApprovalResponseContent
from contentmodel.events import TurnStart
from contentmodel.history.log import LogEntry
from contentmodel.history.turns import StoredTurn, Turn
from contentmodel.html import page
from contentmodel.html.images import image_source, link_to
from contentmodel.html.nodes import HOSTILE, SHOWN, pieces
from contentmodel_conformance.strategies import model
from contentmodel_conformance.strategies.transcripts import transcripts

EXAMPLE = Path(__file__).parent.parent / "examples" / "agent_turns.anthropic.json"
VOID = {"meta", "img", "br", "hr"}
MARKUP = {
    *("p", "h3", "h4", "h5", "h6", "blockquote", "ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td"),
    *("em", "strong", "s", "code", "pre", "br", "hr"),
}
SCRIPT = "document.documentElement.setAttribute('data-ran','1');document.title='ran'"
EVIL = (
    f"<script>{SCRIPT}</script>",
    f'"><img src=x onerror="{SCRIPT}">',
    f"' onmouseover='{SCRIPT}' autofocus onfocus='{SCRIPT}",
    f'</title></style></div></bdi></time><svg onload="{SCRIPT}">',
    f"javascript:{SCRIPT}",
    f"data:text/html,<script>{SCRIPT}</script>",
    "{{ ''.__class__ }}{% for x in 1 %}&lt;b&gt;&amp;<!-- --> ]]>",
    "\u202egnp.exe\u202c\u2066 \x00\x1b[31m\ud83d \U000e0041 \r x \ufffe",
    "line\r\nline\n\tindented\n\n",
)


class Reader(HTMLParser):
    """Collect the tags of a page with their attributes, and its texts by class."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, list[str]]] = []
        self._open: list[tuple[str, str]] = []
        self.feed(text)
        self.close()
        assert self._open == [], "a tag is not closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.tags.append((tag, attributes))
        if tag in VOID:
            return
        name = (attributes.get("class") or tag).split()[0]
        self._open.append((tag, name))
        if name in ("words", "title", "label", "bit"):
            self.texts.append((name, []))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        names = [name for _, name in self._open]
        if "marker" in names or not {"words", "title", "label", "bit"} & set(names):
            return
        self.texts[-1][1].append(unescaped(data) if names[-1] == "escape" else data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError("the page has no comments")

    @property
    def words(self) -> str:
        """Return all texts of the transcript, in order."""
        return "".join("".join(parts) for name, parts in self.texts if name == "words")

    def all_of(self, name: str) -> list[str]:
        return ["".join(parts) for kind, parts in self.texts if kind == name]

    @property
    def skeleton(self) -> list[Any]:
        """Return the page without the texts of the transcript."""
        return [(tag, sorted(attributes), attributes.get("class")) for tag, attributes in self.tags]


def unescaped(text: str) -> str:
    return re.sub(r"\\x(..)|\\u(....)|\\U(.{8})", lambda m: chr(int("".join(filter(None, m.groups())), 16)), text)


def normalized(text: str) -> str:
    """Return a text as a page contains it, with normalized line ends."""
    return text.replace("\r\n", "\n")


ALLOWED = {
    "html": {"lang"},
    "head": set(),
    "meta": {"charset", "http-equiv", "content", "name"},
    "title": set(),
    "style": set(),
    "body": set(),
    "header": set(),
    "main": set(),
    "footer": set(),
    "article": {"class", "id"},
    "section": {"class"},
    "details": {"class"},
    "summary": set(),
    "div": {"class", "dir"},
    "p": {"class"},
    "h1": {"dir"},
    "h2": {"class"},
    "span": {"class"},
    "sup": {"class"},
    "bdi": {"class"},
    "time": {"class"},
    "dl": set(),
    "dt": set(),
    "dd": set(),
    "a": {"class", "href", "target", "rel"},
    "img": {"src", "alt"},
}
ALLOWED |= {tag: ALLOWED.get(tag, set()) for tag in MARKUP} | {"ol": {"start"}}
CLASS = re.compile(r"[a-z ]*")


def check(text: str) -> Reader:
    """Parse a page. Assert that its markup is the template's, and that it loads nothing."""
    text.encode("utf-8")
    assert not HOSTILE.search(text)
    read = Reader(text)
    for tag, attributes in read.tags:
        assert set(attributes) <= ALLOWED[tag], (tag, attributes)
        assert CLASS.fullmatch(attributes.get("class") or "")
        if tag == "img":
            assert re.match(
                r"data:image/(png|jpeg|gif|webp|avif|bmp);base64,[A-Za-z0-9+/=]+\Z", attributes["src"] or ""
            )
        if tag == "a" and re.fullmatch(r"#turn-\d+", attributes["href"] or ""):
            assert attributes["href"][1:] in {values.get("id") for _, values in read.tags}  # type: ignore[index]
        elif tag == "a":
            assert (attributes["href"] or "").startswith(("http://", "https://"))
            assert attributes["rel"] == "noopener noreferrer nofollow"
    names = [tag for tag, _ in read.tags]
    assert [names.count(tag) for tag in ("html", "title", "style", "h1")] == [1, 1, 1, 1]
    return read


def message(*contents: Any, role: str = "assistant", **more: Any) -> ChatMessage:
    return ChatMessage(role=role, contents=list(contents), **more)


def text(words: str) -> TextContent:
    return TextContent(text=words)


# -- texts -------------------------------------------------------------------------------------------------------------


@given(
    st.text(max_size=60) | st.sampled_from(EVIL) | st.text(alphabet="<>&\"'/ab=`\\{%\r\n\t\0\ud83d\u202e", max_size=40)
)
def test_page_contains_text_unchanged(words: str) -> None:
    read = check(page(message(text(words)), title=words or None))
    assert read.words == normalized(words)


@given(st.text(max_size=40) | st.sampled_from(EVIL))
def test_page_markup_is_independent_of_texts(words: str) -> None:
    """Texts of the same length and lines have the same tags, attributes and classes."""
    other = re.sub("[^\n]", lambda match: match.group() if HOSTILE.match(match.group()) else "x", normalized(words))
    pages = []
    for value in (words, other):
        call = FunctionCallContent(call_id="c", name="n" + value, arguments={"k" + value: "v" + value})
        result = FunctionResultContent(call_id="c", outputs=[text("r" + value)])
        user_message = message(text("t" + value), role="user")
        pages.append(check(page([user_message, message(call), message(result, role="tool")], title="T" + value)))
    assert pages[0].skeleton == pages[1].skeleton


MARKDOWN = """# Title

Some *soft* and **strong** words, `code`, ~~gone~~ and [a link](https://a.example/x).
A second line.

- one
- two
    1. nested

3. three

> quoted

| a | b |
|---|---|
| 1 | 2 |

```python
print("<b>")
```

---

![a map](https://a.example/map.png)
"""


def test_page_renders_markdown_of_assistant_and_keeps_its_source() -> None:
    shown = page([message(text(MARKDOWN)), message(text(MARKDOWN), role="user")])
    read = check(shown)
    assert read.words == MARKDOWN * 2
    (body,) = re.findall(r'<div class="markup" dir="auto">(.*?)</div>', shown, re.DOTALL)
    assert "<h3>Title</h3>" in body
    assert "<em>soft</em> and <strong>strong</strong> words, <code>code</code>, <s>gone</s> and " in body
    assert ">a link</a> [a.example].<br>A second line.</p>" in body
    assert "<ul><li>one</li><li>two<ol><li>nested</li></ol></li></ul>" in body
    assert '<ol start="3"><li>three</li></ol>' in body
    assert "<blockquote><p>quoted</p></blockquote>" in body
    assert "<tr><td>1</td><td>2</td></tr>" in body
    assert "<pre>print(&#34;&lt;b&gt;&#34;)\n</pre>" in body
    assert "<hr>" in body
    assert "<img" not in shown
    assert ">a map</a> [a.example]" in body


@pytest.mark.parametrize(
    "words",
    [
        "[x](javascript:alert(1)) *x*",
        "[x](data:text/html,<script>) *x*",
        '[x](https://a.example/" onclick="x) *x*',
        "<script>*x*</script>",
        "<https://user@a.example> *x*",
        "[x]: javascript:alert(1)\n\n[x]",
        '[x](https://a.example "title" onclick=x") *x*',
        "*\u202egnp*\x00\ud83d",
        "*\ue0000\ue001*",
        "&lt;b&gt; *x* &#0;",
        "![x](https://a.example/x.png) ![*y*](javascript:x)",
    ],
)
def test_page_shows_hostile_markdown_as_text(words: str) -> None:
    shown = page(message(text(words)))
    read = check(shown)
    assert read.words == normalized(words)
    assert {tag for tag, _ in read.tags if tag not in (MARKUP | {"a"})} <= set(ALLOWED) - {"img"}
    assert not re.search(r"<[^>]*\son\w+=", shown)
    assert not any("javascript" in (found.get("href") or "") for _, found in read.tags)


def test_page_shows_oversized_markdown_table_as_text() -> None:
    """The Markdown parser fills short rows, so this text of 6 kB would become a table of 65,000 cells."""
    wide = "|a" * 1_000 + "|\n" + "|-" * 1_000 + "|\n" + "|\n" * 1_000
    shown = page(message(text(wide)))
    assert check(shown).words == normalized(wide)
    assert "<td" not in shown
    assert "<td" in page(message(text("|a|b|\n|-|-|\n" + "|c|d|\n" * 100)))


@given(st.text(alphabet="*_`[]()!<>#-+.|~\\\n ax1:/\"'&", max_size=80))
def test_rendered_markdown_contains_only_allowed_elements(words: str) -> None:
    read = check(page(message(text(words))))
    assert read.words == words


def test_page_numbers_citations_in_markdown() -> None:
    words = "**Sunny** in Oslo."
    cited = [Citation(span=Span(start=0, end=9), url="https://a.example/1", title="One")]
    shown = page(message(TextContent(text=words, annotations=cited)))
    assert '<strong>Sunny</strong><sup class="marker">[1]</sup> in Oslo.' in shown
    assert check(shown).words == words


@pytest.mark.parametrize("piece", ["[", "*a_ ", "![", "[a](", "`", "> ", "- ", "| ", "a|b\n-|-\n"])
def test_page_shows_text_as_written_if_markdown_parsing_is_slow(piece: str) -> None:
    many = [message(text((piece * 20_000)[:20_000])) for _ in range(5)]
    shown = page(many)
    assert '<div class="markup"' not in shown
    assert len(check(shown).words) == 100_000


def test_page_folds_long_markdown() -> None:
    shown = page(message(text("\n\n".join(f"*paragraph* {number}" for number in range(200)))))
    opened, folded = re.findall(r'<div class="markup" dir="auto">(.*?)</div>', shown, re.DOTALL)
    assert opened.count("<p>") < 50
    assert opened.count("<p>") + folded.count("<p>") == 200


def test_page_renders_no_markdown_of_users_and_results() -> None:
    call = FunctionCallContent(call_id="c", name="n", arguments={})
    result = FunctionResultContent(call_id="c", outputs=[text("*r*")])
    shown = page([message(text("*u*"), role="user"), message(call), message(result, role="tool")])
    assert "<em>" not in shown


def test_page_shows_approval_between_call_and_result() -> None:
    call = FunctionCallContent(call_id="c", name="book", arguments={})
    asking = ToolApprovalRequestContent(request_id="c", name="book", arguments={})
    approval = ToolApprovalResponseContent(request_id="c", approved=True)
    result = FunctionResultContent(call_id="c", name="book", outputs=[text("booked")])
    flat = [message(call, asking), message(approval, role="user"), message(result, role="tool"), message(text("Done."))]
    numbered = [
        stored(turn(1, None, "assistant"), call, asking),
        stored(turn(2, 1, "user"), approval),
        StoredTurn(turn=turn(3, 2, "assistant"), messages=flat[2:]),
    ]
    for value in (flat, numbered):
        shown = page(value)
        places = [shown.index(words) for words in ("→ book", "? approve book", "approved", "booked", "Done.")]
        assert places == sorted(places)
        assert shown.count("? approve book") == 1
        check(shown)


def test_page_log_entry_names_tool_of_its_call() -> None:
    call = FunctionCallContent(call_id="toolu_01", name="weather", arguments={})
    log = [
        entry(1, "tool_use", "Looking up", turn="t1", content={"call_id": "toolu_01"}),
        entry(2, "tool_use", "Looking up", turn="t1", content={"call_id": "toolu_unknown"}),
        entry(3, "note", "odd", turn="t1", content={"call_id": [1]}),
    ]
    read = check(page([stored(turn(1, None, "assistant"), call)], log=log))
    assert read.all_of("bit").count("weather") == 1
    assert "toolu_unknown" not in "".join(read.all_of("bit"))


@pytest.mark.parametrize("size", [SHOWN - 1, SHOWN, SHOWN + 1, 100_000])
@pytest.mark.parametrize("piece", ["x", "x\n", "\r\n", "\u202e", "é\r\n"])
def test_page_folds_long_text_without_loss(size: int, piece: str) -> None:
    words = (piece * size)[:size]
    read = check(page(message(text(words))))
    assert read.words == normalized(words)
    is_long = len(words) > SHOWN or words.count("\n") > 50
    assert ("details", {"class": "more"}) in read.tags if is_long else ("details", {"class": "more"}) not in read.tags
    shown = "".join(read.texts[read.texts.index(next(t for t in read.texts if t[0] == "words"))][1])
    assert len(shown) <= SHOWN
    assert shown.count("\n") <= 50


def test_page_numbers_citations_at_their_end_in_folded_text() -> None:
    words = "a" * 5_000
    one = Citation(span=Span(start=0, end=3), url="https://a.example/1", title="One", cited_text="quoted")
    two = Citation(span=Span(start=10, end=4_000), url="javascript:alert(1)", title="Two")
    again = msgspec.structs.replace(one, span=Span(start=0, end=5_000))
    shown = page(message(TextContent(text=words, annotations=[one, two, again])))
    read = check(shown)
    assert read.words == words
    assert re.findall(r"(a+)<sup class=\"marker\">(\[\d\])", shown) == [
        ("aaa", "[1]"),
        ("a" * 2_500, "[2]"),
        ("a" * 1_000, "[1]"),
    ]
    assert [attributes["href"] for tag, attributes in read.tags if tag == "a"] == ["https://a.example/1"]
    assert "javascript:alert(1)" in read.all_of("bit")


@given(model.contents(depth=2))
def test_page_accepts_any_content(content: Any) -> None:
    check(page(content))


@pytest.mark.slow
@pytest.mark.parametrize("kind", CONTENT_TYPES, ids=lambda kind: kind.__name__)
@given(data=st.data())
def test_page_accepts_every_content_type(kind: Any, data: st.DataObject) -> None:
    check(page([data.draw(model.structs(kind)), data.draw(model.structs(kind))]))


@given(model.structs(ChatRequest) | model.structs(ChatResponse))
def test_page_accepts_any_request_and_response(value: Any) -> None:
    check(page(value))
    if isinstance(value, ChatResponse):
        assert check(page(list(unfold(value)))).skeleton


@pytest.mark.parametrize("api", APIS)
@FEW
@given(data=st.data())
def test_page_contains_all_texts_of_a_transcript(api: str, data: st.DataObject) -> None:
    request = data.draw(transcripts(api))
    read = check(page(request))
    for turn_message in request.messages:
        for content in turn_message.contents:
            if isinstance(content, TextContent | ReasoningContent):
                assert normalized(content.text) in read.words
            if isinstance(content, FunctionResultContent):
                assert all(normalized(o.text) in read.words for o in content.outputs if isinstance(o, TextContent))


@pytest.mark.slow
@pytest.mark.parametrize("api", APIS)
def test_page_accepts_recorded_traffic(api: str) -> None:
    adapter = contentmodel.adapter(api)
    found = [(kind, r) for kind in ("request", "response") for r in records(api, kind) if r["status"] in (200, None)]
    if not found:
        pytest.skip("CONTENTMODEL_CORPUS is not set")
    for kind, record in found if PROFILE == "deep" else found[::10]:
        value = getattr(adapter, f"decode_{kind}")(record["body"])
        check(page(value))


# -- calls and results -------------------------------------------------------------------------------------------------


def test_page_shows_result_next_to_its_call() -> None:
    call = FunctionCallContent(call_id="c1", name="weather", arguments={"city": "Oslo", "days": [1, 2]})
    result = FunctionResultContent(call_id="c1", outputs=[text("rain")])
    shown = page([message(call), message(result, role="tool"), message(text("It rains."))])
    read = check(shown)
    assert [tag for tag, _ in read.tags].count("article") == 2
    assert ("div", {"class": "exchange"}) in read.tags
    assert shown.index("weather") < shown.index("rain") < shown.index("It rains.")
    assert read.words == "Oslo[\n  1,\n  2\n]rainIt rains."


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('{"a": 1', '{"a": 1'),
        ("[1]", "[1]"),
        ('{"a":1,"a":2}', '{\n  "a": 1,\n  "a": 2\n}'),
        ('{"a":1.00000000000000000001}', '{\n  "a": 1.00000000000000000001\n}'),
        ('{"a":"b"}', "b"),
        ({"a": "\ud83d"}, "\ud83d"),
        ("", ""),
    ],
)
def test_page_shows_arguments_as_written(arguments: Any, expected: str) -> None:
    read = check(page(message(FunctionCallContent(call_id="1", name="f", arguments=arguments))))
    assert read.words == expected
    assert ("not a JSON object" in read.all_of("bit")) == (arguments in ('{"a": 1', "[1]"))


def test_page_marks_failed_result_with_code_and_message() -> None:
    failed = FunctionResultContent(
        call_id="x", outputs=[ErrorContent(code="timeout", message="30 s", details={"a": 1})]
    )
    shown = page(message(failed, role="tool"))
    assert {"timeout", "✗ result of x"} <= set(check(shown).all_of("label"))
    assert 'class="box error"' in shown


# -- media and links ---------------------------------------------------------------------------------------------------


def png(width: int = 2, height: int = 2) -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    rows = b"".join(b"\0" + b"\xff\0\0" * width for _ in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


SVG = f'<svg xmlns="http://www.w3.org/2000/svg" onload="{SCRIPT}"/>'.encode()


def test_page_embeds_image_bytes() -> None:
    urlsafe = base64.urlsafe_b64encode(png()).decode().rstrip("=")
    read = check(page(message(DataContent(data=urlsafe, media_type="IMAGE/PNG; a=b", name='"><b>'))))
    (image,) = [attributes for tag, attributes in read.tags if tag == "img"]
    assert base64.b64decode((image["src"] or "").partition(",")[2]) == png()
    assert image["alt"] == '"><b>'


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (SVG, "image/svg+xml"),
        (SVG, "image/png"),
        (b"<html>", "image/jpeg"),
        (png(), "text/html"),
        (png(), None),
        (b"", "image/png"),
    ],
)
def test_page_names_unsupported_image_without_embedding_it(data: bytes, media_type: str | None) -> None:
    content = DataContent(data=base64.b64encode(data).decode(), media_type=media_type, name="x.png")
    assert image_source(content) is None
    shown = page(message(content))
    assert "img" not in [tag for tag, _ in check(shown).tags]
    assert "x.png" in shown


def test_image_source_takes_media_type_from_bytes() -> None:
    source = image_source(DataContent.from_bytes(png(), "image/gif"))
    assert source is not None
    assert source.startswith("data:image/png;base64,")
    assert image_source(DataContent(data="not base64!", media_type="image/png")) is None


@pytest.mark.parametrize(
    "uri",
    [
        "javascript:alert(1)",
        " javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "java\nscript:alert(1)",
        "data:text/html,<script>",
        "vbscript:x",
        "file:///etc/passwd",
        "//example.com",
        "http:example.com",
        "https://",
        "https://bank.example@evil.example/",
        "https://a.example/\u202egpj.exe",
        "https://a.example/\x00",
        'https://a.example/"onclick=x',
        "https://a.example\\@b.example",
        "https://[::1",
        "",
    ],
)
def test_page_links_only_plain_web_addresses(uri: str) -> None:
    assert link_to(uri) == ""
    read = check(page(message(UriContent(uri=uri, media_type="image/png", title=uri))))
    assert {"a", "img"}.isdisjoint(tag for tag, _ in read.tags)


def test_page_shows_remote_image_as_link() -> None:
    read = check(page(message(UriContent(uri="https://a.example/i.png?x=1&y=é", media_type="image/png"))))
    assert "img" not in [tag for tag, _ in read.tags]
    (link,) = [attributes for tag, attributes in read.tags if tag == "a"]
    assert link["href"] == "https://a.example/i.png?x=1&y=é"


# -- nesting -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_page_shows_deeply_nested_content_as_json() -> None:
    content: Any = text("innermost")
    for _ in range(60):
        content = DocumentContent(parts=[content])
    assert "innermost" in check(page(message(content))).words
    for _ in range(20_000):
        content = DocumentContent(parts=[content])
    assert "nested too deeply" in check(page(message(content))).words


def test_page_accepts_deeply_nested_json() -> None:
    block: Any = 1
    for _ in range(100_000):
        block = [block]
    read = check(page(message(UnknownContent(api="x", block={"type": "deep", "deep": block}))))
    assert "deep" in read.all_of("label")
    while isinstance(block, list):  # Free the lists one by one: Python would free them recursively.
        block = block.pop()


# -- turns, the log, losses --------------------------------------------------------------------------------------------


def at(second: int) -> datetime:
    return datetime(2026, 3, 14, 9, 0, second, tzinfo=UTC)


def turn(number: int, previous: int | None, role: str, **more: Any) -> Turn:
    before = None if previous is None else f"t{previous}"
    fields = {"status": "complete", "started_at": at(number), "ended_at": at(number + 2), **more}
    return Turn(id=f"t{number}", conversation="c", previous=before, number=number, role=role, **fields)


def stored(made: Turn, *contents: Any) -> StoredTurn:
    return StoredTurn(turn=made, messages=[message(*contents, role=made.role)])


def entry(number: int, kind: str, words: str | None, **more: Any) -> LogEntry:
    return LogEntry(id=f"e{number}", conversation="c", number=number, kind=kind, text=words, created_at=at(30), **more)


TURNS = [
    stored(turn(1, None, "user"), text("Hello.")),
    stored(
        turn(2, 1, "assistant", model="m-1", status="failed", error=ErrorContent(message="broke off", code="e"),
             usage=Usage(input_tokens=1200, output_tokens=5)),
        text("Hi"),
    ),
    stored(turn(4, 2, "user"), text("Again.")),
]  # fmt: skip


def test_page_shows_times_status_and_usage_of_turns() -> None:
    read = check(page(TURNS))
    bits = read.all_of("bit")
    assert {"turn 2", "m-1", "failed", "2026-03-14 09:00:02 UTC", "2.0 s", "1,200 in", "5 out"} <= set(bits)
    assert "broke off" in read.words


def test_page_marks_branches() -> None:
    every = [part.turn for part in TURNS] + [turn(3, 2, "user"), turn(5, 1, "assistant")]
    read = check(page(TURNS, branches=every))
    assert read.all_of("label").count("one of 2 branches") == 2
    assert {"also:", "turn 3", "turn 5"} <= set(read.all_of("bit"))
    three = check(page([TURNS[0], stored(turn(9, 1, "user"), text("x")), stored(turn(5, 1, "user"))]))
    assert "follows" in three.all_of("label")
    links = [attributes["href"] for tag, attributes in three.tags if tag == "a"]
    # A branch links to its siblings on the page, and to its previous turn unless that is directly above.
    assert links == ["#turn-5", "#turn-1", "#turn-9"]
    assert [attributes["id"] for tag, attributes in three.tags if tag == "article"] == ["turn-1", "turn-9", "turn-5"]
    assert not any("branch" in label for label in check(page(TURNS)).all_of("label"))


def test_page_shows_log_entries_next_to_their_turns() -> None:
    log = [
        entry(1, "tool_use", "Searching <b>", turn="t2", content={"call_id": "c1"}),
        entry(2, "question", "A title?", content=ChatRequest(messages=[message(text("Title it."), role="user")])),
        entry(3, "title", "A greeting", parent="e2", content=ChatResponse()),
        entry(4, "task", "Look it up", turn="gone", content=[message(text("found"))]),
        entry(5, "note", None, content={"long": "x" * 200}),
        entry(6, "title", "Orphan", parent="nobody"),
    ]
    shown = page(TURNS, log=log)
    read = check(shown)
    assert read.all_of("title") == ["Orphan"]
    assert {"shown to the user", "shown to the user outside of these turns", "tool_use", "title", "task"} <= set(
        read.all_of("label")
    )
    assert not any("c1" in bit for bit in read.all_of("bit"))
    assert shown.index("Hi</div>") < shown.index("Searching &lt;b&gt;") < shown.index("Again.")
    for words in ("Title it.", "A title?", "A greeting", "found", "x" * 200):
        assert words in read.words
    assert shown.count("Searching") == 1


@pytest.mark.slow
def test_page_shows_nested_log_entries_of_any_depth() -> None:
    log = [entry(n, f"kind {n}", f"[{n}]", parent=f"e{n - 1}") for n in range(2_000)]
    read = check(page(TURNS, log=log))
    assert read.words.endswith("".join(f"[{n}]" for n in range(2_000)))


def test_page_accepts_request_with_turns() -> None:
    request = ChatRequest(model="m-9", messages=[m for part in TURNS for m in part.messages])
    read = check(page(request, turns=TURNS))
    assert read.words.count("Hello.") == 1
    assert {"m-9", "turn 4"} <= set(read.all_of("bit"))


def test_page_lists_losses() -> None:
    loss = Loss(path="$.a[0].<b>", kind="dropped", what="thing", why="no place")
    read = check(page(message(text("x")), losses=[loss]))
    assert {"$.a[0].<b>", "dropped", "no place"} <= set(read.all_of("bit"))
    assert "1 loss" in read.all_of("label")


def test_page_shows_extra_fields_and_hides_codec_notes() -> None:
    content = TextContent(text="x", extra={"anthropic-messages": {"cache_control": {"ttl": "1h"}, ":note": 1}})
    assert '"cache_control"' in check(page(message(content))).words
    only_notes = TextContent(text="x", extra={"anthropic-messages": {":note": 1}})
    assert check(page(message(only_notes))).words == "x"


def test_page_names_protected_data_without_showing_it() -> None:
    secret = Protected(issuer="anthropic", kind="signature", data="c2VjcmV0")
    shown = page(message(ReasoningContent(text="Hm.", protected=secret), TextContent(text="x", protected=secret)))
    assert "c2VjcmV0" not in shown
    assert check(shown).all_of("bit").count("signature by anthropic, 8 characters") == 2


@pytest.mark.parametrize("value", [1, "text", b"x", None, {"role": "user"}, [text("x"), 1], object()])
def test_page_rejects_values_that_are_not_model_types(value: Any) -> None:
    with pytest.raises(EncodeError, match="cannot be shown as a page: expected a request"):
        page(value)


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (TextContent(text=5), "$.text"),  # type: ignore[arg-type]
        ([Usage(input_tokens="x")], "$.input_tokens"),  # type: ignore[arg-type]
        ([message(TextContent(text=5))], "$.contents[0].text"),  # type: ignore[arg-type]
        (ChatRequest(messages=[message(TextContent(text=5))]), "$.messages[0].contents[0].text"),  # type: ignore[arg-type]
        (ChatResponse(choices=5), "$.choices"),  # type: ignore[arg-type]
        ([TurnStart(response=5)], "$.response"),  # type: ignore[arg-type]
    ],
)
def test_page_reports_path_of_value_with_wrong_type(value: Any, path: str) -> None:
    with pytest.raises(EncodeError, match=re.escape(f"at {path}")):
        page(value)


def test_page_rejects_turns_without_request() -> None:
    with pytest.raises(EncodeError, match="turns= needs a ChatRequest"):
        page(ChatResponse(), turns=[])


def test_page_accepts_empty_transcript() -> None:
    assert check(page(ChatRequest())).all_of("title") == ["Transcript"]
    assert check(page([])).words == ""


def test_html_escapes_all_characters_that_the_cli_escapes() -> None:
    terminal = {chr(c) for c in range(0x110000) if HOSTILE_TO_TERMINALS.match(chr(c))}
    assert {c for c in terminal if not HOSTILE.match(c)} == set()
    assert pieces("\x1b\u202e") == [("escape", "\\x1b\\u202e")]


# -- a browser ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def fetched() -> Iterator[tuple[str, list[str]]]:
    """Yield the address of a server, and the list of paths requested from it."""
    requested: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            requested.append(self.path)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", requested
    server.shutdown()
    thread.join()
    server.server_close()


def hostile_page(address: str) -> str:
    """Return a page with hostile text in every field of a transcript."""
    evil = (
        *EVIL,
        f'<img src="{address}/img">',
        f'<link rel=stylesheet href="{address}/css"><iframe src="{address}/frame">',
    )
    words = " ".join(evil)
    remote = UriContent(uri=f"{address}/remote.png", media_type="image/png", title=words, text=words)
    citation = Citation(url=f"{address}/cited", title=words, cited_text=words)
    call = FunctionCallContent(call_id=words, name=words, arguments={words: words, "n": {words: [words]}})
    result = FunctionResultContent(call_id=words, outputs=[text(words), ErrorContent(code=words, message=words)])
    contents = [
        TextContent(text=words, annotations=[citation], extra={words: {words: words}}),
        ReasoningContent(text=words, protected=Protected(issuer=words, kind=words, data="x")),
        call,
        remote,
        DataContent.from_bytes(SVG, "image/svg+xml", name=words),
        DataContent.from_bytes(png(40, 20), "image/png", name=words),
        UnknownContent(api=words, block={"type": words}),
        *(text(piece) for piece in evil),
    ]
    messages = [
        message(*contents, origin=Origin(api=words, issuer=words, model=words)),
        message(result, role=words, author_name=words),
    ]
    made = turn(1, None, "assistant", model=words, error=ErrorContent(code=words, message=words), stop_reason=words)
    log = [entry(1, "title", words, turn="t1", content={words: words})]
    request = ChatRequest(model=words, instructions=[text(words)])
    turns = [StoredTurn(turn=made, messages=messages)]
    return page(request, turns=turns, log=log, losses=[Loss(words, words, words, words)], title=words)


def open_folds(shown: str) -> str:
    """Return the page with everything unfolded."""
    return shown.replace("<details", "<details open")


def test_browser_runs_and_fetches_nothing_from_hostile_page(browser: Any, fetched: Any, tmp_path: Path) -> None:
    address, requested = fetched
    shown = hostile_page(address)
    check(shown)
    path = tmp_path / "hostile.html"
    path.write_text(open_folds(shown))
    dom = browser(path, "--dump-dom", "--virtual-time-budget=2000")
    assert "data-ran" not in dom.partition(">")[0] + dom.partition("<html")[2].partition(">")[0]
    # The browser parses exactly the tags of the page, in the same order.
    assert Reader(dom).skeleton == Reader(open_folds(shown)).skeleton
    assert Reader(dom).words == Reader(shown).words
    assert requested == []


def test_content_security_policy_blocks_injected_markup(browser: Any, fetched: Any, tmp_path: Path) -> None:
    """Even if escaping failed, the policy keeps the browser from running and loading anything."""
    address, requested = fetched
    hole = f'<script>{SCRIPT}</script><img src="{address}/img"><style>body{{background:url({address}/css)}}</style>'
    shown = page(message(text("x"))).replace("<main>", f"<main>{hole}")
    path = tmp_path / "hole.html"
    path.write_text(shown)
    assert 'data-ran="1"' not in browser(path, "--dump-dom", "--virtual-time-budget=2000")
    assert requested == []
    # Control: without the policy, the browser runs and loads the markup.
    path.write_text(re.sub(r'<meta http-equiv="Content-Security-Policy".*?>', "", shown, count=1))
    assert 'data-ran="1"' in browser(path, "--dump-dom", "--virtual-time-budget=2000")
    assert sorted(set(requested)) == ["/css", "/img"]


def example_page() -> str:
    return page(contentmodel.adapter("anthropic-messages").decode_request(json.loads(EXAMPLE.read_text())))


@pytest.mark.parametrize("width", [1200, 390])
def test_page_fits_window_width(browser: Any, width: int, tmp_path: Path) -> None:
    for name, shown in (("hostile", hostile_page("http://127.0.0.1:9")), ("example", example_page())):
        # Use a frame of that width: a browser window cannot be as narrow as a phone.
        measure = "var d=f.contentDocument.documentElement;document.body.setAttribute('data-width',d.scrollWidth)"
        style = f"border:0;width:{width}px;height:900px"
        frame = f'<iframe id="f" style="{style}" srcdoc="{html.escape(open_folds(shown))}"></iframe>'
        path = tmp_path / f"{name}.html"
        path.write_text(f"<!DOCTYPE html><body>{frame}<script>f.onload=function(){{{measure}}}</script>")
        dom = browser(path, "--dump-dom", "--virtual-time-budget=3000")
        found = re.search(r'data-width="(\d+)"', dom)
        assert found, "the frame was not measured"
        assert int(found[1]) == width


@pytest.mark.parametrize("width", [1200, 390])
def test_browser_screenshot_is_not_blank(browser: Any, width: int, tmp_path: Path) -> None:
    path, picture = tmp_path / "page.html", tmp_path / "page.png"
    path.write_text(example_page())
    browser(path, f"--window-size={width},1600", f"--screenshot={picture}")
    body = picture.read_bytes()
    assert struct.unpack(">II", body[16:24]) == (width, 1600)
    # A blank page would be a few kilobytes.
    assert len(body) > 50_000
