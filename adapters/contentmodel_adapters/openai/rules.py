"""The capabilities of OpenAI's models, and the rules that Chat Completions and Responses have in common."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

from msgspec.structs import replace

from contentmodel.authoring import (
    Broken,
    Capabilities,
    CapabilityTable,
    IdentifierRule,
    Range,
    Rules,
    child_path,
    listing,
    makers,
    one_object,
    settings,
)
from contentmodel.request import ReasoningOptions
from contentmodel_adapters.common.rules import (
    declares,
    declares_by_model,
    is_object,
    subschemas,
    table,
    unsampled,
)
from contentmodel_adapters.common.schemas import OPENAI_LOOSE, OPENAI_STRICT

# -- models ------------------------------------------------------------------------------------------------------------

_SEEN = "2026-11-22"
_DOCS = "developers.openai.com/api/docs"
_REASONING = f"{_DOCS}/guides/reasoning"
_LATEST = f"{_DOCS}/guides/latest-model, parameter compatibility"
_AZURE = "learn.microsoft.com/azure/ai-services/openai/how-to/reasoning"

_TO_HIGH = ("low", "medium", "high")
_TO_XHIGH = ("low", "medium", "high", "xhigh")
_TO_MAX = ("low", "medium", "high", "xhigh", "max")
_SAMPLED: dict[str, Range] = {"temperature": (0, 2), "top_p": (0, 1)}
_SAMPLED |= {"frequency_penalty": (-2, 2), "presence_penalty": (-2, 2)}
_FIXED: dict[str, Range] = {"temperature": (1, 1), "top_p": (1, 1)}
_FIXED |= {"frequency_penalty": (0, 0), "presence_penalty": (0, 0)}
_LIMIT = ("max_tokens",)
_REFUSED = ("max_tokens", "logit_bias", "logprobs", "top_logprobs")
_SEARCH = "web_search_options"
STOPS = 4
"""The largest number of stop sequences."""
_VISUAL = ("image", "document")
_WITH_AUDIO = ("image", "document", "audio")


def _unreasoning(
    *refused: str, media: tuple[str, ...] = _VISUAL, schemas: bool = True, sampled: bool = True
) -> Capabilities:
    """Return the capabilities of a model that does not reason."""
    return Capabilities(
        efforts=(),
        thinking=(),
        sampling=_SAMPLED if sampled else None,
        stop_sequences=STOPS,
        structured_output=schemas,
        strict_tools=schemas,
        media=media,
        cache_points=False,
        custom_tools=False,
        refused=refused,
    )


def _reasoning(
    *efforts: str,
    default: str = "medium",
    stops: int = STOPS,
    functions: bool = True,
    parallel: bool = True,
    refused: tuple[str, ...] = _LIMIT,
    cache_points: bool = False,
    custom: bool = True,
) -> Capabilities:
    """Return the capabilities of a reasoning model.

    If it can turn reasoning off, it takes sampling settings while reasoning is off.
    """
    stops_thinking = "none" in efforts
    return Capabilities(
        efforts=efforts,
        default_effort=default,
        thinking=("disabled", "adaptive") if stops_thinking else ("adaptive",),
        sampling=_SAMPLED if stops_thinking else _FIXED,
        sampling_while_thinking=_FIXED,
        stop_sequences=stops,
        functions_with_effort=functions,
        parallel_tool_calls=parallel,
        media=_VISUAL,
        cache_points=cache_points,
        custom_tools=custom,
        refused=refused,
    )


CUSTOM_TOOLS = (
    "developers.openai.com/api/docs/guides/function-calling, Custom tools; Arize-ai/openinference#2083 (introduced "
    "with GPT-5)"
)

_FIRST = Capabilities(
    efforts=(),
    thinking=("adaptive",),
    sampling=_FIXED,
    structured_output=False,
    strict_tools=False,
    parallel_tool_calls=False,
    media=(),
    instructions=False,
    cache_points=False,
    custom_tools=False,
    refused=_LIMIT,
)
# Cache points: gpt-5.6 and later (types/responses/response_create_params.py of openai 3.54, seen 2026-11-23).
_NEWEST = _reasoning(*_TO_MAX, functions=False, cache_points=True)

_row = listing(_SEEN)

_ROWS = [
    _row("GPT-6 Astra", r"gpt-6(?:\.2)?-astra(?:-law)?", _NEWEST, f"{_DOCS}/models/gpt-6-astra"),
    _row("GPT-6.1, GPT-6.2", r"gpt-6\.[12]-(?:sol|terra)", _NEWEST, f"{_DOCS}/models/gpt-6.1-sol"),
    _row(
        "GPT-6 Sol, GPT-6 Luna",
        r"gpt-6-(?:sol|luna)",
        _reasoning("none", *_TO_MAX, functions=False, cache_points=True),
        f"{_DOCS}/models/gpt-6-sol; {_LATEST}",
    ),
    _row(
        "GPT-5.6",
        r"gpt-5\.6(?:-(?:sol|terra|luna|cyber))?",
        _reasoning("none", *_TO_MAX, functions=False, cache_points=True),
        f"{_REASONING}; openai/openai-openapi#541; khoj-ai/khoj#1377",
    ),
    _row("GPT-5.5", r"gpt-5\.5", _reasoning("none", *_TO_XHIGH, functions=False), f"{_REASONING}; {_LATEST}"),
    _row("GPT-5.5 Pro", r"gpt-5\.5-pro", _reasoning(*_TO_XHIGH[1:], functions=False), f"{_DOCS}/models/gpt-5.5-pro"),
    _row(
        "GPT-5.4",
        r"gpt-5\.4(?:-mini|-nano)?",
        _reasoning("none", *_TO_XHIGH, default="none", functions=False),
        f"{_REASONING}; {_LATEST}",
    ),
    _row("GPT-5.4 Pro", r"gpt-5\.4-pro", _reasoning(*_TO_XHIGH[1:], functions=False), f"{_DOCS}/models/gpt-5.4-pro"),
    _row("GPT-5.2", r"gpt-5\.2", _reasoning("none", *_TO_XHIGH, default="none"), f"{_REASONING}; {_LATEST}"),
    _row("GPT-5.2 Pro", r"gpt-5\.2-pro", _reasoning(*_TO_XHIGH[1:]), f"{_DOCS}/models/gpt-5.2-pro"),
    _row(
        "GPT-5.1",
        r"gpt-5\.1(?:-mini)?",
        _reasoning("none", *_TO_HIGH, default="none"),
        f"{_REASONING}; anomalyco/opencode#4451",
    ),
    _row(
        "GPT-5.1 to GPT-5.3 Chat",
        r"gpt-5\.[123]-chat",
        _reasoning("medium"),
        f"{_DOCS}/models/gpt-5.1-chat-latest",
    ),
    _row(
        "Codex from GPT-5.1 Codex Max on",
        r"gpt-5\.(?:1-codex-max|[23]-codex.*)",
        _reasoning(*_TO_XHIGH),
        f"{_DOCS}/models/gpt-5.3-codex",
    ),
    _row("GPT-5 Codex, GPT-5.1 Codex", r"gpt-5(?:\.1)?-codex(?:-mini)?", _reasoning(*_TO_HIGH), _REASONING),
    _row("GPT-5 Pro", r"gpt-5-pro", _reasoning("high", default="high"), _REASONING),
    _row("GPT-5 Chat", r"gpt-5-chat", _unreasoning(), "BerriAI/litellm#13781"),
    _row(
        "GPT-5",
        r"gpt-5(?:-mini|-nano)?",
        _reasoning("minimal", *_TO_HIGH, stops=0, refused=(*_REFUSED, _SEARCH)),
        f"{_REASONING}; {_AZURE}",
    ),
    _row(
        "Deep research",
        r"o[34](?:-mini)?-deep-research",
        _reasoning("medium", custom=False),
        f"{_DOCS}/guides/deep-research",
    ),
    _row(
        "o3, o4-mini",
        r"o3|o4-mini",
        _reasoning(*_TO_HIGH, stops=0, parallel=False, custom=False, refused=(*_REFUSED, _SEARCH)),
        _AZURE,
    ),
    _row(
        "o1, o3-mini",
        r"o1|o3-mini",
        _reasoning(*_TO_HIGH, parallel=False, custom=False, refused=(*_REFUSED, _SEARCH)),
        _AZURE,
    ),
    _row("o1 Pro, o3 Pro", r"o[13]-pro", _reasoning(*_TO_HIGH, custom=False), f"{_DOCS}/models/o3-pro"),
    _row("o1-mini, o1-preview", r"o1-(?:mini|preview)", _FIRST, f"{_AZURE}; janhq/jan#4392, pydantic/pydantic-ai#974"),
    _row(
        "GPT-4o Search",
        r"gpt-4o(?:-mini)?-search-preview",
        _unreasoning(sampled=False),
        f"{_DOCS}/models/gpt-4o-search-preview",
    ),
    _row(
        "GPT Audio",
        r"gpt-audio.*|gpt-4o-(?:mini-)?(?:audio|realtime|transcribe).*",
        _unreasoning(media=_WITH_AUDIO, schemas=False),
        f"{_DOCS}/guides/audio",
    ),
    _row(
        "GPT-4o, GPT-4.1",
        r"gpt-4(?:o|\.1)(?:-mini)?|gpt-4\.1-nano|gpt-4\.5-preview|chatgpt-4o",
        _unreasoning(_SEARCH),
        f"{_DOCS}/models/gpt-4.1",
    ),
    _row("GPT-4", r"gpt-4(?:-.*)?", _unreasoning(schemas=False), f"{_DOCS}/guides/structured-outputs"),
    _row("GPT-3.5", r"gpt-3\.5.*", _unreasoning(schemas=False, media=()), f"{_DOCS}/guides/structured-outputs"),
]


def openai_table(api: str) -> CapabilityTable:
    """Return the capability table of OpenAI's models for one of its APIs.

    For models of other vendors behind the same API, the API's limit of stop sequences applies, and cache points and
    custom tools are not sent
    (types/chat/completion_create_params.py of openai 3.54, seen 2026-11-22).
    """
    return CapabilityTable(
        api,
        [replace(row, capabilities=_of_capabilities(row.capabilities, api)) for row in _ROWS],
        newest=_of_capabilities(_NEWEST, api),
        own=makers.NAMES["openai"],
        others=Capabilities(stop_sequences=STOPS, cache_points=False, custom_tools=False),
    )


def _of_capabilities(capabilities: Capabilities, api: str) -> Capabilities:
    """Return the capabilities of a model on an API: only Chat refuses functions beside an effort."""
    if api == "openai-chat":
        return capabilities
    return replace(capabilities, functions_with_effort=True)


# -- rules -------------------------------------------------------------------------------------------------------------

MODELS = rf"(?:ft:)?(?:{makers.NAMES['openai']})"
"""The names of OpenAI's models. Other hosts have these APIs, too, and few are as strict."""
IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
"""The media types of images that the models read."""
MEDIA_TYPES = (*IMAGES, "application/*", "text/*")
"""The media types that parts take inline."""
FORMAT_NAMES = IdentifierRule("[a-zA-Z0-9_-]", 64)
RANGES: dict[str, Range] = {"temperature": _SAMPLED["temperature"], "top_p": _SAMPLED["top_p"], "top_logprobs": (0, 20)}
PENALTIES: dict[str, Range] = {key: _SAMPLED[key] for key in ("presence_penalty", "frequency_penalty")}
_STRICT = f"{_DOCS}/guides/structured-outputs, Supported schemas"
_UNKNOWN_KEYWORDS = ["allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas"]
_UNKNOWN_KEYWORDS += ["propertyNames", "uniqueItems"]

Found: TypeAlias = Iterator[tuple[str, dict[str, Any]]]
"""Objects of a request, each with its path."""
Look: TypeAlias = Callable[[dict[str, Any]], Found]


class Schemas(NamedTuple):
    """The objects of a request that have schemas: its `functions`, and the `formats` of its answer, of any type.

    `inner`: the key of the object in a format that has the schema; None if the format has it.
    """

    functions: Look
    formats: Look
    inner: str | None = None

    def parameters(self, request: dict[str, Any]) -> Found:
        return (schema for at, function in self.functions(request) for schema in one_object(function, "parameters", at))

    def answers(self, request: dict[str, Any]) -> Found:
        """Yield the format of an answer with a schema: the object that has the name and the schema."""
        for at, answer in self.formats(request):
            if answer.get("type") == "json_schema":
                yield from [(at, answer)] if self.inner is None else one_object(answer, self.inner, at)

    def strict(self, request: dict[str, Any]) -> Found:
        """Yield the schemas of strict functions, and of a strict format."""
        for at, described in [*self.functions(request), *self.answers(request)]:
            if described.get("strict") is True:
                yield from one_object(described, "parameters", at)
                yield from one_object(described, "schema", at)

    def strict_parts(self, request: dict[str, Any]) -> Found:
        """Yield all schemas in those that are strict."""
        return ((at, schema) for root in self.strict(request) for at, schema, _ in subschemas(*root))


def declare_schemas(rules: Rules, schemas: Schemas) -> None:
    """Declare the rules on schemas."""
    rule = declares(rules, models=MODELS, seen="2026-11-21")

    @rule(
        "refused",
        fix="use type object, with the schema as a property",
        source="nspady/google-calendar-mcp#39, langchain-ai/langchainjs#9804",
    )
    def schemas_describe_objects(request: dict[str, Any]) -> Iterator[Broken]:
        """Function parameters and a strict response format must have type object, and no union at the top level."""
        for at, schema in dict([*schemas.strict(request), *schemas.parameters(request)]).items():
            if schema.get("type") != "object" and "$ref" not in schema:
                yield f"{at}.type", short(schema.get("type"))
            unions = [key for key in OPENAI_LOOSE.bare_root if key in schema]
            yield from ((child_path(at, key), f"{key} at the top level") for key in unions)

    @rule("refused", fix="add items", source="ogx-ai/ogx#3602, sigoden/aichat#1049, mark3labs/mcphost#35")
    def arrays_have_items(request: dict[str, Any]) -> Iterator[Broken]:
        """In function parameters, an array must have `items` or `prefixItems`."""
        for root in schemas.parameters(request):
            for at, schema, _ in subschemas(*root):
                if schema.get("type") == "array" and not {"items", "prefixItems"} & schema.keys():
                    yield at, "an array without items"

    @rule("refused", fix='set "additionalProperties": false, or remove strict', source=_STRICT)
    def strict_objects_are_closed(request: dict[str, Any]) -> Iterator[Broken]:
        """In a strict schema, every object must have additionalProperties false."""
        for at, schema in schemas.strict_parts(request):
            if is_object(schema) and schema.get("additionalProperties") is not False:
                yield f"{at}.additionalProperties", short(schema.get("additionalProperties"))

    @rule("refused", fix="add it to required, and make it nullable if it is optional", source=_STRICT)
    def strict_properties_are_required(request: dict[str, Any]) -> Iterator[Broken]:
        """In a strict schema, every property must be required."""
        for at, schema in schemas.strict_parts(request):
            listed = schema.get("required")
            required = {name for name in listed if isinstance(name, str)} if isinstance(listed, list) else set()
            missing = [name for name in table(schema, "properties") if name not in required]
            yield from ((child_path(f"{at}.properties", name), "not in required") for name in missing)

    @rule(
        "refused",
        fix="rewrite it with other keywords",
        source=f"{_STRICT}; openai/openai-agents-python#1884, openclaw/clownfish#280, anomalyco/opencode#12295",
    )
    def strict_schemas_use_known_keywords(request: dict[str, Any]) -> Iterator[Broken]:
        """A strict schema must not use allOf, oneOf, not, if, dependent..., propertyNames or uniqueItems."""
        for at, schema in schemas.strict_parts(request):
            unknown = [key for key in _UNKNOWN_KEYWORDS if key in schema]
            yield from ((child_path(at, key), f"{key} in a strict schema") for key in unknown)

    @rule("refused", fix="inline the definition", source="camel-ai/camel#3001, vectorize-io/hindsight#3944")
    def strict_references_have_no_siblings(request: dict[str, Any]) -> Iterator[Broken]:
        """In a strict schema, a $ref must have no sibling keywords except definitions."""
        for at, schema in schemas.strict_parts(request):
            siblings = sorted(schema.keys() - {"$ref", "$defs", "definitions", "$schema"})
            if "$ref" in schema and siblings:
                yield at, f"{', '.join(siblings):.60} next to a $ref"

    @rule("refused", fix="make the schema smaller, or remove strict", source=_STRICT)
    def strict_schema_limits(request: dict[str, Any]) -> Iterator[Broken]:
        """A strict schema must have at most 10 levels of objects, 5,000 properties and 1,000 enum values."""
        most = OPENAI_STRICT.most
        for root in schemas.strict(request):
            parts = [*subschemas(*root)]
            deep = [at for at, schema, level in parts if level == most["levels"] + 1 and is_object(schema)]
            yield from ((at, f"objects nested deeper than {most['levels']} levels") for at in deep)
            properties = sum(len(table(schema, "properties")) for _, schema, _ in parts)
            values = sum(len(schema["enum"]) for _, schema, _ in parts if isinstance(schema.get("enum"), list))
            if properties > most["properties"] or values > most["values"]:
                yield root[0], f"{properties} properties and {values} enum values"

    @rule("refused", fix="use letters, digits, _ and -", source="response_format_json_schema.py of openai 3.52.0")
    def response_formats_have_names(request: dict[str, Any]) -> Iterator[Broken]:
        """A JSON schema of a response format must have a name of 1 to 64 letters, digits, underscores and dashes."""
        for at, described in schemas.answers(request):
            if not FORMAT_NAMES.accepts(described.get("name")):
                yield f"{at}.name", short(described.get("name"))

    @declares_by_model(rules, seen="2026-11-22")(
        "refused", fix="ask for JSON in the prompt", source=f"{_DOCS}/guides/structured-outputs"
    )
    def structured_output_supported(request: dict[str, Any], capabilities: Capabilities) -> Iterator[Broken]:
        """GPT-3.5, GPT-4 and audio models accept no schema of the response."""
        for at, answer in schemas.formats(request) if not capabilities.structured_output else ():
            if answer.get("type") == "json_schema":
                yield at, f"a schema for {request.get('model')}"


def short(value: Any) -> str:
    """Return a short form of a value: nested lists and objects may be too deep to print, and integers too long."""
    items = value if isinstance(value, list) else (value,)
    is_plain = all(i is None or isinstance(i, str | float) or (isinstance(i, int) and abs(i) < 2**64) for i in items)
    return f"{value!r:.80}" if is_plain else type(value).__name__


def repeated(named: Iterable[Broken], seen: set[str]) -> Iterator[Broken]:
    """Yield the names that are in `seen` or occur again. Add all names to `seen`."""
    for path, name in named:
        if name in seen:
            yield path, f"duplicate {name!r:.80}"
        seen.add(name)


def media_type_in(url: Any) -> str:
    """Return the media type of a data URL, "" if it is none."""
    match = re.match(r"data:([^;,]{1,99})[;,]", url) if isinstance(url, str) else None
    return match[1].strip().lower() if match else ""


def is_unread_image(url: Any) -> bool:
    """Return whether an image in a data URL has a type that the models do not read."""
    return media_type_in(url) not in ("", "image/jpg", *IMAGES)


def without_json(formats: Found, texts: Iterable[Any]) -> Iterator[Broken]:
    """Yield the type of a format that is any JSON object if none of the texts mentions JSON."""
    for at, answer in formats:
        is_object_of_any_form = answer.get("type") == "json_object"
        if is_object_of_any_form and not any("json" in text.lower() for text in texts if isinstance(text, str)):
            yield f"{at}.type", "json_object, but no message contains JSON"


def beyond_limits(metadata: dict[str, Any], at: str = "$.metadata") -> Iterator[Broken]:
    """Yield what is beyond the limits of metadata: 16 keys of at most 64 characters, with strings of at most 512."""
    if len(metadata) > 16:
        yield at, f"{len(metadata)} keys"
    for key, value in metadata.items():
        if len(key) > 64 or not isinstance(value, str) or len(value) > 512:
            yield child_path(at, key), short(value)


_HARMLESS: dict[str, Any] = {"logit_bias": {}, "logprobs": False}
_SAMPLING = {key: key for key in _SAMPLED}


def unsupported(request: dict[str, Any], capabilities: Capabilities, at: str, effort: Any) -> Iterator[Broken]:
    """Yield the settings that a model does not accept: its effort, which is at the path `at`, and others."""
    model = request.get("model")
    if effort is not None and capabilities.efforts is not None and effort not in capabilities.efforts:
        yield at, f"{short(effort)} for {model}"
    requested = ReasoningOptions(effort=effort if isinstance(effort, str) else None)
    ranges = capabilities.sampled(thinks=settings.thinks(requested, capabilities))
    fields = {
        key: value for key in capabilities.refused if (value := request.get(key)) not in (None, _HARMLESS.get(key))
    }
    fields |= {"stop": request["stop"]} if capabilities.stop_sequences == 0 and request.get("stop") else {}
    if not capabilities.parallel_tool_calls and request.get("parallel_tool_calls") is not None:
        fields["parallel_tool_calls"] = request["parallel_tool_calls"]
    for key, value in [*unsampled(request, _SAMPLING, ranges), *fields.items()]:
        yield f"$.{key}", f"{short(value)} for {model}"
