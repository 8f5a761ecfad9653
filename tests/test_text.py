"""Citations have units, and stay correct when texts are edited or merged."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from contentmodel import Citation, Protected, TextContent
from contentmodel.content import Span, convert_span, join_texts, splice_text
from contentmodel.content.text import SpanConverter
from contentmodel.display import count_of

TEXTS = st.text(alphabet=st.sampled_from("aé𝄞😀 \n"), max_size=20)
UNITS = st.sampled_from(["codepoint", "utf16", "byte"])


@st.composite
def cited(draw: st.DrawFn) -> tuple[TextContent, str]:
    """A text with one citation, and the words that it cites."""
    text = draw(TEXTS)
    start, end = sorted((draw(st.integers(0, len(text))), draw(st.integers(0, len(text)))))
    span = convert_span(text, Span(start=start, end=end), draw(UNITS))
    return TextContent(text=text, annotations=[Citation(url="https://a.example", span=span)]), text[start:end]


def words(content: TextContent) -> list[str]:
    """Return the cited texts."""
    spans = [convert_span(content.text, c.span, "codepoint") for c in content.annotations or () if c.span]
    return [content.text[span.start or 0 : span.end] for span in spans]


@given(cited(), UNITS)
def test_convert_span_selects_same_text_in_every_unit(pair: tuple[TextContent, str], unit: str) -> None:
    content, cited_text = pair
    span = content.annotations[0].span  # type: ignore[index]
    converted = convert_span(content.text, span, unit)
    assert converted.unit == unit
    assert convert_span(content.text, converted, span.unit) == span
    assert words(content) == [cited_text]


@given(cited(), cited())
def test_join_texts_keeps_cited_texts(one: tuple[TextContent, str], other: tuple[TextContent, str]) -> None:
    joined = join_texts(one[0], other[0])
    assert joined.text == one[0].text + other[0].text
    assert words(joined) == [one[1], other[1]]


@given(TEXTS, TEXTS)
def test_join_texts_gives_span_to_citation_without_span(one: str, other: str) -> None:
    joined = join_texts(TextContent(text=one, annotations=[Citation(url="u")]), TextContent(text=other))
    assert words(joined) == [one]


@given(cited(), st.data(), TEXTS)
def test_splice_outside_citation_keeps_cited_text(pair: tuple[TextContent, str], data: st.DataObject, new: str) -> None:
    content, cited_text = pair
    span = convert_span(content.text, content.annotations[0].span, "codepoint")  # type: ignore[index]
    assume(cited_text)
    before = data.draw(st.booleans())
    low, high = (0, span.start or 0) if before else (span.end or 0, len(content.text))
    start, end = sorted((data.draw(st.integers(low, high)), data.draw(st.integers(low, high))))
    edited = splice_text(content, start, end, new)
    assert edited.text == content.text[:start] + new + content.text[end:]
    assert words(edited) == [cited_text]


def test_splice_removes_citation_of_replaced_text() -> None:
    content = TextContent(text="one two three", annotations=[Citation(url="u", span=Span(start=4, end=7))])
    assert splice_text(content, 3, 8, "!").annotations is None
    assert words(splice_text(content, 5, 13, "")) == ["t"]
    assert words(splice_text(content, 0, 5, "")) == ["wo"]


def test_join_texts_rejects_signed_text() -> None:
    signed = TextContent(text="a", protected=Protected(issuer="google", kind="signature", data="x"))
    with pytest.raises(ValueError, match="signature"):
        join_texts(signed, TextContent(text="b"))


def test_convert_span_rejects_unknown_unit() -> None:
    with pytest.raises(ValueError, match="expected one of codepoint, utf16, byte"):
        convert_span("abc", Span(start=0, end=1, unit="grapheme"), "byte")


@pytest.mark.parametrize(
    ("number", "noun", "text"),
    [(0, "byte", "0 bytes"), (1, "byte", "1 byte"), (1, "loss", "1 loss"), (2400, "loss", "2,400 losses")],
)
def test_count_of_returns_singular_or_plural(number: int, noun: str, text: str) -> None:
    assert count_of(number, noun) == text


def test_span_in_an_unknown_unit_becomes_the_whole_text() -> None:
    converter = SpanConverter("a\u00e9")
    assert converter.convert(Span(start=1, end=2, unit="word"), "byte") == Span(start=0, end=3, unit="byte")
    with pytest.raises(ValueError, match="unknown text unit"):
        convert_span("a", Span(start=0, end=1, unit="word"), "byte")
