"""The matrix: it is correct and complete, and a failing adapter affects only its own cells."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import contentmodel
from chosen_formats import REPRESENTATIVES, chosen
from conftest import APIS, installed_adapter
from contentmodel import AIContent, Citation, FunctionCallContent, TextContent
from contentmodel.content import CONTENT_TYPES, WebSearchToolCallContent
from contentmodel_conformance import cli_matrix, coverage
from contentmodel_conformance.cli import app
from contentmodel_conformance.matrix import Cell, Matrix, installed, make_matrix
from contentmodel_conformance.matrix.cases import FOREIGN, ORIGINS, Case, covers, round_trip
from contentmodel_conformance.matrix.crossings import Crossing
from contentmodel_conformance.matrix.markdown import as_markdown, as_summary
from contentmodel_conformance.matrix.page import as_html
from contentmodel_conformance.matrix.places import INSTRUCTIONS, RESULT, places
from contentmodel_conformance.matrix.samples import fields_of, forms, with_field
from contentmodel_conformance.matrix.transcripts import FAMILIES
from contentmodel_conformance.matrix.views import groups, lines, sentence
from contentmodel_conformance.subject import kinds_of


def whole(test: Any) -> Any:
    """Mark a test that computes the matrix of many adapters: slow, and in the same process as the others."""
    return pytest.mark.slow(pytest.mark.xdist_group("matrix")(test))


TYPES = {kind.__name__: kind for kind in CONTENT_TYPES}
TRIED = {
    api: adapter
    for api, adapter in sorted(contentmodel.adapters().items())
    if api in (*REPRESENTATIVES, *APIS) or chosen().is_whole(api)
}
"""The adapters of the matrix. `make docs` makes that of all adapters, and compares its summary with the page."""
KINDS_BY_API = {api: kinds_of(adapter) for api, adapter in TRIED.items()}


@cache
def matrix() -> Matrix:
    return make_matrix(TRIED)


def cell(name: str, api: str, of: str = "request", origin: str = "foreign", of_matrix: Matrix | None = None) -> Cell:
    found = (of_matrix or matrix()).contents
    return next(c for c in found if (c.type, c.api, c.of, c.origin) == (name, api, of, origin))


def case(found: Cell, form: str, place: str, field: str | None = None) -> Case:
    return next(c for c in found.cases if (c.form, c.place, c.field) == (form, place, field))


def base(field: str) -> str:
    """Return the field of a case, without its variant."""
    return field.partition(" (")[0]


def crossing(source: str, target: str, family: str, of: str = "request") -> Crossing:
    found = matrix().crossings
    return next(c for c in found if (c.source, c.target, c.family, c.of) == (source, target, family, of))


# -- completeness ------------------------------------------------------------------------------------------------------


@whole
def test_every_type_has_a_cell_for_every_adapter() -> None:
    cells = Counter((c.type, c.api, c.of, c.origin) for c in matrix().contents)
    every = {
        (name, api, of, o) for name in TYPES for api, kinds in KINDS_BY_API.items() for of in kinds for o in ORIGINS
    }
    assert cells == Counter(every)
    assert all(c.cases for c in matrix().contents if c.of == "request")


@whole
def test_every_family_has_a_crossing_for_every_pair_of_apis() -> None:
    pairs = permutations(KINDS_BY_API, 2)
    crossed = Counter((c.source, c.target, c.of, c.family) for c in matrix().crossings)
    assert crossed == Counter(
        (a, b, f.of, f.name) for a, b in pairs for f in FAMILIES if f.of in KINDS_BY_API[a] and f.of in KINDS_BY_API[b]
    )


@whole
def test_format_without_answers_has_no_cells_of_answers() -> None:
    """The pages and tables of such a matrix have no columns for them."""
    made = matrix_of("hf-messages", "openai-chat")
    assert {(c.api, c.of) for c in made.contents} == {
        ("hf-messages", "request"),
        ("openai-chat", "request"),
        ("openai-chat", "response"),
    }
    assert {c.of for c in made.crossings} == {"request"}
    requests, answers = (part.split("\n\n")[1] for part in as_markdown(made).split("### In ")[1:3])
    assert requests.startswith("| content | `hf-messages` | `openai-chat` |")
    assert answers.startswith("| content | `openai-chat` |")
    assert as_html(made).count("<span>hf-messages</span><small>own, foreign</small>") == 1
    text = cli_matrix._text(made, [])
    assert re.search(r"^Text +●● +●● ●●$", text, re.MULTILINE)


@pytest.mark.parametrize("kind", CONTENT_TYPES, ids=lambda kind: kind.__name__)
def test_every_field_of_a_type_is_set_in_some_sample(kind: type[AIContent]) -> None:
    """The matrix finds the loss of a field only if an instance sets the field."""
    made = [form.content for form in forms(kind, "some-api", "someone")]
    made += [
        way.content
        for form in forms(kind, "some-api", "someone")
        for name in fields_of(kind)
        for way in with_field(form, name, "someone")
    ]
    set_fields = {
        name for content in made for name in kind.__struct_fields__ if getattr(content, name) != default(kind, name)
    }
    # Residue and status values are specific to an API; a result has the name of its call.
    exempt = {"extra", "status", "executor"}
    if kind.__name__.endswith(("ToolResultContent", "FunctionResultContent")):
        exempt |= {"name", "caller"}
    # A tool search has tools instead of outputs; an unknown block is kept whole.
    exempt |= {"outputs"} if "tools" in kind.__struct_fields__ else set()
    exempt |= {"annotations", "protected"} if kind.__name__ == "UnknownContent" else set()
    assert set(kind.__struct_fields__) - set_fields <= exempt


@cache
def default(kind: type[Any], name: str) -> Any:
    field = next(f for f in msgspec.structs.fields(kind) if f.name == name)
    return field.default_factory() if field.default_factory is not msgspec.NODEFAULT else field.default


@pytest.mark.parametrize("kind", CONTENT_TYPES, ids=lambda kind: kind.__name__)
def test_every_type_has_a_position_in_requests(kind: type[AIContent]) -> None:
    assert all(places(form.content, "request") for form in forms(kind, "some-api", "someone"))


@whole
def test_matrix_of_two_apis_equals_their_part_of_whole_matrix() -> None:
    """Other adapters do not change a cell."""
    apis = ("anthropic-messages", "openai-chat")
    made = make_matrix({api: contentmodel.adapter(api) for api in apis})
    assert made.contents == tuple(c for c in matrix().contents if c.api in apis)
    assert made.crossings == tuple(c for c in matrix().crossings if {c.source, c.target} == set(apis))


# -- correctness -------------------------------------------------------------------------------------------------------


WITHOUT_INSTRUCTIONS = {
    ("claude-code-session", "own"),
    ("claude-code-session", "foreign"),
    ("codex-rollout", "foreign"),
    ("gemini-cli-session", "own"),
    ("gemini-cli-session", "foreign"),
}
"""The agent that resumes a session has instructions of its own."""


@whole
@pytest.mark.parametrize("origin", ORIGINS)
@pytest.mark.parametrize(("api", "of"), [(api, of) for api, kinds in KINDS_BY_API.items() for of in kinds])
def test_text_and_function_calls_are_exact_for_every_api(api: str, origin: str, of: str) -> None:
    text = [each for each in cell("TextContent", api, of, origin).cases if each.field is None]
    if (api, origin) in WITHOUT_INSTRUCTIONS:
        (instructions,) = (each for each in text if each.place == INSTRUCTIONS)
        reason = f"dropped: they are instructions of another agent or application: the agent of {api} adds its own"
        assert instructions.why == (reason,)
        text.remove(instructions)
    if (api, origin) == ("sharegpt", "foreign"):
        # The scaffold has another message of the user before this one.
        (turn,) = (each for each in text if each.verdict != "exact")
        assert [why.partition(":")[0] for why in turn.why] == ["ChatMessage degraded"]
        assert "do not alternate" in turn.why[0]
        text.remove(turn)
    assert {each.verdict for each in text} == {"exact"}
    found = cell("FunctionCallContent", api, of, origin)
    of_google = api in ("google-generate-content", "google-interactions")
    if api == "gemini-cli-session" or (of_google and of == "request"):
        # The newest Gemini models require a signature, which the calls of others and of older models do not have.
        reasons = {each.why for each in found.cases if each.field is None}
        assert reasons == {
            ("protected synthesized: the model requires a signature, and the call has none: a placeholder is sent",)
        }
    elif (api, of, origin) == ("mistral-chat", "request", "foreign"):
        # The ids of Mistral have nine letters and digits, which the ids of others usually have not.
        reason = "mistral-chat does not accept these characters or this length"
        reasons = {each.why for each in found.cases if each.field is None}
        assert reasons == {(f"call_id degraded: {reason}: the value is replaced, and the maps can restore it",)}
    else:
        assert found.verdict == "exact"


def test_text_in_a_result_is_exact_for_an_api_with_strict_ids_and_roles() -> None:
    """The scaffold has neither an id that Mistral replaces, nor a user's message after a result."""
    found = round_trip(contentmodel.adapter("mistral-chat"), TextContent(text="It rains."), RESULT, "request", FOREIGN)
    assert (found.verdict, found.why) == ("exact", ())


@whole
def test_reasoning_is_exact_for_its_api_and_dropped_for_other_issuers() -> None:
    own = cell("ReasoningContent", "anthropic-messages", origin="own")
    assert case(own, "signed thoughts", "the assistant's turn").verdict == "exact"
    assert own.verdict == "exact"
    foreign = cell("ReasoningContent", "openai-chat")
    assert foreign.verdict == "dropped"
    assert {word for c in foreign.cases for word in c.why} == {
        "dropped: reasoning of another API is not sent to openai-chat"
    }
    assert crossing("anthropic-messages", "openai-chat", "reasoning").verdict == "dropped"


@whole
def test_data_is_dropped_only_for_media_types_that_api_does_not_accept() -> None:
    data = cell("DataContent", "anthropic-messages")
    assert data.verdict == "partly"
    assert case(data, "an image", "the user's turn").verdict == "exact"
    audio = case(data, "a sound", "the user's turn")
    assert (audio.verdict, audio.why) == ("dropped", ("dropped: anthropic-messages does not accept audio/wav",))


@whole
def test_hosted_call_is_exact_for_its_api_and_a_function_call_for_others() -> None:
    foreign = cell("WebSearchToolCallContent", "openai-chat")
    assert foreign.verdict == "degraded"
    assert {c.becomes for c in foreign.cases if c.field is None} == {("FunctionCallContent",)}
    assert cell("WebSearchToolCallContent", "openai-responses", origin="own").verdict == "exact"
    assert cell("WebSearchToolCallContent", "openai-chat", of="response").verdict == "dropped"


@whole
def test_citations_are_exact_only_for_kinds_of_their_api() -> None:
    text = cell("TextContent", "anthropic-messages", of="response", origin="own")
    assert case(text, "words", "the assistant's turn", "annotations (a quote of a page)").verdict == "exact"
    assert case(text, "words", "the assistant's turn", "annotations (a file)").verdict == "degraded"
    assert case(text, "words", "the assistant's turn", "protected").verdict == "absent"


@whole
def test_matrix_sentence_names_lost_fields() -> None:
    text = cell("TextContent", "openai-chat")
    assert set(text.lost) == {"annotations", "cache_point", "protected"}
    assert "without its annotations, protected, cache_point" in sentence(text)


@whole
def test_function_result_is_absent_in_responses() -> None:
    found = cell("FunctionResultContent", "openai-chat", of="response")
    assert (found.verdict, found.cases) == ("absent", ())


@whole
def test_crossing_that_writes_flag_as_text_is_degraded_but_restored() -> None:
    tools = crossing("anthropic-messages", "openai-chat", "tools")
    assert (tools.verdict, tools.returns) == ("degraded", True)
    assert crossing("anthropic-messages", "openai-chat", "text").verdict == "exact"


@whole
def test_crossing_is_absent_if_source_does_not_have_the_family() -> None:
    assert crossing("openai-chat", "openai-responses", "hosted tools").verdict == "absent"


@whole
def test_matrix_has_no_silent_cell_or_crossing() -> None:
    assert [(c.type, c.api, each) for c in matrix().contents for each in c.cases if each.verdict == "silent"] == []
    assert [c for c in matrix().crossings if c.verdict == "silent"] == []


@whole
def test_matrix_has_no_cell_or_crossing_with_an_error() -> None:
    assert [c for c in matrix().contents if c.verdict == "error"] == []
    assert [c for c in matrix().crossings if c.verdict == "error"] == []


# -- exact cases with any text -----------------------------------------------------------------------------------------

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Zl", "Zp")), min_size=1).filter(str.strip)
JSON_OBJECTS = st.dictionaries(st.text("abc", min_size=1), st.integers(-99, 99) | WORDS | st.booleans(), max_size=3)
FREE = {"text": WORDS, "message": WORDS, "title": WORDS, "reason": WORDS}


def exact_cases() -> list[tuple[str, str, str, Case]]:
    """Return the exact cases of contents with a foreign origin."""
    found = (c for c in matrix().contents if c.origin == "foreign" and c.api in APIS)
    return [
        (c.type, c.api, c.of, each) for c in found for each in c.cases if each.field is None and each.verdict == "exact"
    ]


def with_other_texts(draw: st.DrawFn, content: Any) -> Any:
    """Return the content with other texts, also in its nested contents."""
    changes: dict[str, Any] = {}
    for name in content.__struct_fields__:
        value = getattr(content, name)
        if isinstance(value, str) and name in FREE:
            changes[name] = draw(FREE[name])
        elif isinstance(value, list) and name in ("outputs", "parts"):
            changes[name] = [with_other_texts(draw, item) for item in value]
        elif isinstance(value, dict) and name == "arguments":
            changes[name] = draw(JSON_OBJECTS)
    return msgspec.structs.replace(content, **changes)


@whole
@given(data=st.data())
@pytest.mark.parametrize("api", APIS)
def test_exact_cases_of_matrix_survive_round_trip_with_any_text(api: str, data: st.DataObject) -> None:
    cases = [found for found in exact_cases() if found[1] == api]
    name, _, of, exact = data.draw(st.sampled_from(cases))
    form = next(f for f in forms(TYPES[name], FOREIGN.api, FOREIGN.issuer) if f.name == exact.form)
    content = with_other_texts(data.draw, form.content)
    outcome = round_trip(contentmodel.adapter(api), content, exact.place, of, FOREIGN)
    assert (outcome.verdict, outcome.why) == ("exact", ())


def test_covers_ignores_residue_and_finds_differences() -> None:
    text = TextContent(text="Hi.")
    assert covers(text, TextContent(text="Hi.", extra={"an-api": {"id": "1"}}))
    assert covers(
        FunctionCallContent(arguments={"a": 1}), FunctionCallContent(arguments='{"a": 1}', status="completed")
    )
    assert not covers(text, TextContent(text="Hi"))
    assert not covers(TextContent(text="Hi.", annotations=[Citation(url="u")]), text)
    assert not covers(FunctionCallContent(arguments={"a": 1}), FunctionCallContent(arguments='{"a": 1, "b": 2}'))
    assert not covers(FunctionCallContent(name="f"), WebSearchToolCallContent(name="f"))
    assert not covers([text], [text, text])


# -- adapters that fail ------------------------------------------------------------------------------------------------


class Wrapped:
    """Delegate to the Anthropic adapter, except for the given methods."""

    def __init__(self, **changed: Any) -> None:
        self._inner = contentmodel.adapter("anthropic-messages")
        vars(self).update(changed)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class Without:
    """Return an object that is not an adapter."""


def fail(*args: Any, **more: Any) -> Any:
    raise ZeroDivisionError("by <b>nothing</b> | at all\nnow")


BROKEN = {
    "encode": Wrapped(encode_request=fail, encode_response=fail),
    "decode": Wrapped(decode_request=fail, decode_response=fail, trace_request=fail, trace_response=fail),
    "gives nothing": Wrapped(encode_request=lambda *a, **k: None, encode_response=lambda *a, **k: None),
    "no adapter": Without(),
    "does not load": RuntimeError("its code fails"),
}


@whole
@pytest.mark.parametrize("broken", BROKEN)
def test_failing_adapter_gives_errors_only_in_its_own_cells(broken: str) -> None:
    name = 'a "broken" <api>'
    made = make_matrix({name: BROKEN[broken], "openai-chat": contentmodel.adapter("openai-chat")})
    for found in made.contents:
        if found.api == name:
            assert found.verdict == "error" or not found.cases
            assert all(c.why for c in found.cases)
        else:
            assert found.verdict != "error"
    # A crossing is absent if its source does not have the content.
    assert {c.verdict for c in made.crossings if c.source == name} == {"error"}
    assert {c.verdict for c in made.crossings if c.source != name} <= {"error", "absent"}
    assert name not in as_html(made)
    assert ids_of(as_html(made))
    assert as_markdown(made).count("\n| `Text` |") == 2


@whole
def test_adapter_with_failing_describe_gives_errors_for_own_origin() -> None:
    made = make_matrix({"x": Wrapped(describe=fail)})
    assert cell("TextContent", "x", of_matrix=made).verdict == "exact"
    assert cell("DataContent", "x", origin="own", of_matrix=made).verdict == "error"


@whole
def test_unreported_loss_of_signatures_gives_silent_cell() -> None:
    """Test an adapter that drops the signatures of its own reasoning without a loss."""

    def without_signatures(value: Any, *args: Any) -> Any:
        encoded = contentmodel.adapter("anthropic-messages").encode_request(value, *args)
        encoded.payload = json.loads(re.sub(rb',"signature":"[^"]*"', b"", encoded.to_json()))
        return encoded

    made = make_matrix({"x": Wrapped(encode_request=without_signatures)})
    assert cell("ReasoningContent", "x", origin="own", of_matrix=made).verdict == "silent"
    assert cell("TextContent", "x", origin="own", of_matrix=made).verdict == "exact"


@whole
def test_unreported_loss_of_results_gives_silent_crossing() -> None:
    """Test an adapter that drops results of tools without a loss."""

    def without_results(value: Any, *args: Any) -> Any:
        encoded = contentmodel.adapter("anthropic-messages").encode_request(value, *args)
        encoded.payload = json.loads(encoded.to_json().replace(b"18 degrees, cloudy.", b"-"))
        return encoded

    adapters = {
        "x": Wrapped(encode_request=without_results),
        "openai-responses": contentmodel.adapter("openai-responses"),
    }
    crossed = {(c.source, c.family): c for c in make_matrix(adapters).crossings if c.of == "request"}
    assert crossed["openai-responses", "text"].verdict == "silent"
    assert crossed["openai-responses", "text"].returns is False


@pytest.fixture
def broken_package(tmp_path: Path) -> Iterator[str]:
    """Create a package whose adapter cannot be imported."""
    (tmp_path / "stranger_adapter.py").write_text('raise RuntimeError("its <code> fails")\n')
    with installed_adapter(tmp_path, "stranger", "stranger_adapter"):
        yield "stranger"


@whole
def test_matrix_command_names_adapter_that_cannot_be_imported(broken_package: str) -> None:
    found = installed()
    assert isinstance(found[broken_package], RuntimeError)
    assert set(APIS) <= set(found)
    result = CliRunner().invoke(app, ["matrix", "--api", broken_package, "--api", "openai-chat"])
    assert result.exit_code == 0
    assert "stranger cannot be loaded: RuntimeError: its <code> fails" in " ".join(result.output.split())


# -- pages and text ----------------------------------------------------------------------------------------------------


def ids_of(page: str) -> set[str]:
    ids = Counter(re.findall(r'\bid="([^"]*)"', page))
    assert max(ids.values()) == 1
    assert set(re.findall(r'href="#([^"]*)"', page)) <= set(ids)
    return set(ids)


@whole
def test_matrix_page_has_no_external_resources_and_no_broken_links() -> None:
    page = as_html(matrix())
    assert ids_of(page)
    assert re.findall(r"<script|<link|<img|<iframe|@import|url\(|\bsrc=", page) == []
    assert {link for link in re.findall(r'href="([^"]*)"', page) if not link.startswith("#")} == set()
    assert 'name="viewport"' in page
    assert "prefers-color-scheme: dark" in page


@whole
def test_matrix_page_has_a_tooltip_with_its_verdict_for_every_sign() -> None:
    page = as_html(matrix())
    signs = re.findall(r'<a class="sign (\w+)".*?<span class="tip">(.*?)</span></a>', page)
    assert len(signs) == page.count('class="sign ')
    assert all(verdict in tooltip for verdict, tooltip in signs)


def test_matrix_page_and_markdown_escape_text_of_adapters() -> None:
    made = make_matrix({"<i>x": BROKEN["encode"], "y|`": BROKEN["does not load"]})
    page, text = as_html(made), as_markdown(made)
    assert "<i>" not in page
    assert "<b>" not in page
    assert "&lt;b&gt;nothing&lt;/b&gt; | at all now" in page
    assert r"&lt;b>nothing&lt;/b> \| at all now" in text
    assert "<b>" not in text


@whole
def test_summary_counts_families_of_each_pair() -> None:
    made = matrix_of("hf-messages", "openai-chat")
    counts = Counter(crossing.verdict for crossing in made.crossings if crossing.source == "openai-chat")
    page = as_summary(made)
    assert "families that are exact/degraded/dropped:" in page
    assert f"| 2 `openai-chat` | {counts['exact']}/{counts['degraded']}/{counts['dropped']} | - |" in page


@whole
def test_matrix_groups_list_each_type_once_for_each_api() -> None:
    for api in TRIED:
        found = Counter((g.of, g.origin, name) for g in groups(matrix(), api) for name in g.types)
        cells = {(c.of, c.origin, c.type) for c in matrix().contents if c.api == api and c.cases}
        assert found == Counter(cells)


@whole
def test_matrix_lines_contain_every_reason_of_every_case() -> None:
    for found in matrix().contents:
        text = "\n".join(map(str, lines(found)))
        for each in found.cases:
            words = each.why if each.verdict not in ("exact", "absent") else ()
            name = f"{base(each.field or '')} "
            assert all(word.removeprefix(name) in text for word in words)


# -- the commands ------------------------------------------------------------------------------------------------------


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, list(arguments))


@cache
def matrix_of(*apis: str) -> Matrix:
    return matrix() if apis in (tuple(TRIED), tuple(sorted(contentmodel.adapters()))) else make_matrix(installed(apis))


@pytest.fixture
def made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the command use the matrices that earlier tests have made."""
    monkeypatch.setattr(cli_matrix, "make_matrix", lambda adapters: matrix_of(*adapters))


@whole
@pytest.mark.usefixtures("made_once")
def test_matrix_command_writes_whole_matrix_as_json() -> None:
    result = run("matrix", "--format", "json")
    assert result.exit_code == 0
    assert msgspec.json.decode(result.stdout, type=Matrix) == matrix()


@whole
@pytest.mark.usefixtures("made_once")
@pytest.mark.parametrize(("form", "begins"), [("md", "# The matrix"), ("html", "<!doctype html>"), ("text", "content")])
def test_matrix_command_writes_to_a_file(form: str, begins: str, tmp_path: Path) -> None:
    path = tmp_path / "out"
    result = run("matrix", "--api", "openai-chat", "--api", "openai-responses", "--format", form, "-o", str(path))
    assert (result.exit_code, result.output) == (0, "")
    text = path.read_text()
    assert text.startswith(begins)
    assert "openai-responses" in text
    assert "anthropic-messages" not in text


@whole
def test_matrix_command_prints_reasons_for_named_api() -> None:
    result = run("matrix", "--api", "openai-chat")
    assert "reasoning of another API is not sent to openai-chat" in " ".join(result.output.split())


@pytest.mark.parametrize("name", ["matrix", "coverage"])
def test_command_suggests_a_name_for_unknown_api(name: str) -> None:
    result = run(name, "--api", "openai-chatt")
    assert result.exit_code == 2
    assert "did you mean openai-chat?" in " ".join(result.output.split())


@whole
def test_coverage_command_prints_sdk_versions_and_fails_if_type_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    result = run("coverage")
    assert result.exit_code == 0
    assert re.search(r"openai-responses +openai \d+\.\d+", result.output)
    known = coverage.sdk_types("openai-chat")
    extended = {**known, "tools": known["tools"] | {"tool_of_tomorrow"}}
    monkeypatch.setattr(coverage, "sdk_types", lambda api: extended)
    result = run("coverage", "--api", "openai-chat", "--format", "json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)[0]["missing"] == {"tools": ["tool_of_tomorrow"]}
    for form in ("text", "md"):
        result = run("coverage", "--api", "openai-chat", "--format", form)
        assert result.exit_code == 1
        assert "tool_of_tomorrow" in result.output


def test_coverage_command_fails_if_sdk_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def not_installed(api: str) -> Any:
        raise ImportError("no SDK")

    monkeypatch.setattr(coverage, "sdk_types", not_installed)
    result = run("coverage", "--api", "openai-chat")
    assert result.exit_code == 2
    assert 'this needs openai, which is not installed: pip install "contentmodel[openai]"' in " ".join(
        result.output.split()
    )


def test_coverage_notes_adapter_with_failing_describe() -> None:
    found = coverage.coverage("anthropic-messages", Wrapped(describe=fail))
    assert found.note.startswith("the adapter fails: ZeroDivisionError")


def test_matrix_and_coverage_commands_are_registered() -> None:
    assert cli_matrix.matrix.__doc__
    assert {"matrix", "coverage"} <= {c.callback.__name__ for c in app.registered_commands if c.callback}
