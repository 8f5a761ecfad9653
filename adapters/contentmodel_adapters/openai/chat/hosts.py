"""The hosts of Chat Completions: one row for each, with its differences from OpenAI's API.

The encoder and the rules read the same row. No code depends on the name of a host. The rows are data, so they
have a file of their own. The functions below them return what follows from a row for a model, a request or a target.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec

from contentmodel.authoring import EncodeContext, Host, Severity, makers, object_of
from contentmodel.authoring import settings as forms
from contentmodel_adapters.common.reasoning import MAKERS, maker_of

API = "openai-chat"
SEEN = "2026-11-29"

SIGNED_CALL = "function.fields"
"""The row of calls with a signature in the field of LiteLLM."""


MESSAGE_ROLES = frozenset(("system", "user", "assistant", "tool", "function"))
WITH_DEVELOPER = MESSAGE_ROLES | {"developer"}
PLATFORM = frozenset(
    (
        *("audio", "metadata", "modalities", "moderation", "prediction", "prompt_cache_key", "prompt_cache_options"),
        *("prompt_cache_retention", "safety_identifier", "service_tier", "store", "verbosity", "web_search_options"),
    )
)
"""The fields of requests for features of OpenAI's platform (types/chat/completion_create_params.py of openai 3.52)."""


class Restriction(msgspec.Struct, frozen=True, kw_only=True):
    """Fields of requests that a host refuses or ignores.

    - `fields`: the fields, each with the values that are accepted or make no difference. `messages.name` is the name in
      messages.
    - `models`: the names of the models, as a regular expression. None if the restriction applies to all.
    - `thinking`: whether the restriction applies while the model thinks, or while it does not. None if to both.
    - `source`: the statement of the host, seen on the date `SEEN`.
    """

    fields: Mapping[str, tuple[Any, ...]]
    models: str | None = None
    thinking: bool | None = None
    severity: Severity = "refused"
    source: str


class Dialect(msgspec.Struct, frozen=True, kw_only=True):
    """A host of Chat Completions, and its differences from OpenAI's API.

    - `models`: the names of models that only this host serves, as a regular expression. A request to such a model
      needs no policy.
    - `reasoning`: the field of assistant messages for reasoning of any issuer.
    - `thinks`: the names of models that think by default, as a regular expression. While they think, the host refuses
      messages that have calls but not the field `reasoning`. None if the host requires no such field.
    - `roles`: the roles of messages that the host accepts.
    - `tools`: the types of tools that the host accepts, as a regular expression. The calls of the history have the same
      types: a custom tool and its calls become a function and its calls at a host without custom tools.
    - `fields`: the fields of requests that the host accepts, if it refuses any other; None if it ignores others.
    - `takes`: those of `PLATFORM` that the host takes; None if all.
    - `limit`: the field of requests for the limit of output tokens.
    - `state_field`: the field of assistant messages for reasoning with the opaque state of the model's maker.
    - `call_row`, `text_field`: the row of calls with a signature of Google, and the field of assistant messages for
      that of a text, if they are not the usual row and `state_field`.
    - `reads`: the issuers whose opaque state the host reads for any model.
    - `makers`: the makers whose opaque state the host reads for their own models. Each has the name of the format of
      the state at the host; None if the host names no format.
    - `signed`: the names of models that refuse calls without a signature of Google, as a regular expression.
    - `cache_control`: whether parts may have the field `cache_control`.
    - `top_k`: whether the host takes the option `top_k`.
    - `routes`: whether the host may serve the models of every maker. Else it serves its maker's models, and those with
      open weights.
    - `settings`: the fields of requests for settings of the reasoning, by attribute of ReasoningOptions. `form` is the
      form in which they express the amount of thinking.
    - `restrictions`: the fields of requests that the host documents as refused or ignored.
    - `source`: the documentation, seen on the date `SEEN`.
    """

    name: str
    models: str | None = None
    reasoning: str | None = None
    thinks: str | None = None
    roles: frozenset[str] = MESSAGE_ROLES
    tools: str = "function"
    fields: frozenset[str] | None = None
    takes: frozenset[str] | None = frozenset()
    limit: str = "max_completion_tokens"
    state_field: str | None = None
    call_row: str | None = None
    text_field: str | None = None
    reads: frozenset[str] = frozenset()
    makers: Mapping[str, str | None] = {}
    signed: str | None = None
    cache_control: bool = False
    top_k: bool = False
    routes: bool = False
    settings: Mapping[str, str] = {}
    form: forms.Form = forms.OPENAI
    restrictions: tuple[Restriction, ...] = ()
    source: str


SWITCH = forms.Form(off={"mode": "disabled"}, auto={"mode": "enabled"})
"""The form of hosts that turn thinking on and off."""
BUDGETED = forms.Form(off={"mode": "disabled"}, auto={"mode": "enabled"}, within={"mode": "enabled"})
"""The form of hosts that also take a budget."""


_COMMON = frozenset(
    (
        *("model", "messages", "stream", "temperature", "top_p", "max_tokens", "stop", "n"),
        *("tools", "tool_choice", "response_format", "reasoning_effort"),
    )
)
FIELDS_OF_GOOGLE = _COMMON | {"extra_body", "max_completion_tokens", "stream_options"}
"""The fields that the documentation of the endpoint shows, or that were tried (liliMozi/openhanako#2494)."""
FIELDS_OF_GROQ = _COMMON | frozenset(
    (
        *("citation_options", "compound_custom", "disable_tool_validation", "documents", "exclude_domains"),
        *("frequency_penalty", "function_call", "functions", "include_domains", "include_reasoning", "logit_bias"),
        *("logprobs", "max_completion_tokens", "parallel_tool_calls", "presence_penalty", "reasoning_format"),
        *("search_settings", "seed", "service_tier", "stream_options", "top_logprobs", "user"),
    )
)
"""The fields of groq 1.7.0 without `metadata` and `store`, which the host does not support."""
FIELDS_OF_MISTRAL = _COMMON | frozenset(
    (
        *("frequency_penalty", "guardrails", "logprobs", "metadata", "min_tokens", "parallel_tool_calls", "prediction"),
        *("presence_penalty", "prompt_cache_key", "prompt_mode", "random_seed", "repetition_penalty", "safe_prompt"),
        *("top_k", "top_logprobs"),
    )
)

UNFORCED = {"tool_choice": ("auto", "none")}
"""The fields of hosts that do not let a request force a call."""
_KIMI = "platform.kimi.ai/docs/guide/kimi-k2-6-quickstart, Parameters Differences and Tool Use Compatibility"
_KIMI_FIXED = r"kimi-k2\.[56].*"
_XAI = "docs.x.ai/docs/guides/reasoning"

AT_DEEPSEEK = (
    Restriction(
        fields=UNFORCED,
        thinking=True,
        source="api-docs.deepseek.com/quick_start/agent_integrations/oh_my_pi; deepseek-ai/DeepSeek-V3#1376",
    ),
    Restriction(
        fields={"logprobs": (False,), "top_logprobs": ()},
        models="deepseek-reasoner",
        source="api-docs.deepseek.com/guides/reasoning_model",
    ),
    Restriction(
        fields={"temperature": (), "presence_penalty": (0,), "frequency_penalty": (0,)},
        thinking=True,
        severity="ignored",
        source="api-docs.deepseek.com/guides/thinking_mode",
    ),
)
AT_MOONSHOT = (
    Restriction(
        fields={"top_p": (0.95,), "n": (1,), "presence_penalty": (0,), "frequency_penalty": (0,)},
        models=_KIMI_FIXED,
        source=_KIMI,
    ),
    Restriction(fields={"temperature": (1,)}, models=_KIMI_FIXED, thinking=True, source=_KIMI),
    Restriction(fields={"temperature": (0.6,)}, models=_KIMI_FIXED, thinking=False, source=_KIMI),
    Restriction(fields=UNFORCED, models=_KIMI_FIXED, thinking=True, source=_KIMI),
)
AT_ALIBABA = (
    Restriction(
        fields=UNFORCED,
        thinking=True,
        source="alibabacloud.com/help/en/model-studio/qwen-api-reference, tool_choice; cloudwego/eino#994",
    ),
)
AT_MINIMAX = (
    Restriction(
        fields={"presence_penalty": (0,), "frequency_penalty": (0,), "logit_bias": ({},)},
        severity="ignored",
        source="platform.minimax.io/docs/api-reference/text-openai-api, Important Note",
    ),
)
AT_GROQ = (
    Restriction(
        fields={"logprobs": (False,), "top_logprobs": (), "logit_bias": ({},), "messages.name": (), "n": (1,)},
        source="console.groq.com/docs/openai, Currently Unsupported OpenAI Features; sipeed/picoclaw#1196, "
        "CherryHQ/cherry-studio#11435, skye-harris/hass_local_openai_llm#59",
    ),
)
AT_GOOGLE = (
    Restriction(
        fields={"n": (1,)},
        models=r"(?:models/)?gemini-[3-9].*",
        source="googleapis/js-genai#1609, googleapis/python-genai#1723",
    ),
)
# req_llm 1.10, guides/cerebras.md, and inference-docs.cerebras.ai/resources/openai: these fields get a 400.
AT_CEREBRAS = (
    Restriction(
        fields=dict.fromkeys(
            (
                "frequency_penalty",
                "presence_penalty",
                "logit_bias",
                "parallel_tool_calls",
                "service_tier",
                "metadata",
                "store",
            ),
            (),
        ),
        source="inference-docs.cerebras.ai/resources/openai; livekit/agents#1274",
    ),
)
AT_XAI = (
    Restriction(fields={"metadata": ()}, source="esengine/DeepSeek-Reasonix#9822"),
    Restriction(
        fields={"presence_penalty": (), "frequency_penalty": (), "stop": ()},
        models=r"grok-(?:3-mini|4|code)(?!.*non-reasoning).*",
        source=_XAI,
    ),
    Restriction(
        fields={"reasoning_effort": ()},
        models=r"grok-(?:3|4|4-fast-reasoning)(?:-latest|-\d{4})?",
        source=_XAI,
    ),
    Restriction(
        fields={"logprobs": (False,), "top_logprobs": ()},
        models=r"grok-4\.20.*",
        severity="ignored",
        source="docs.x.ai/developers/models, Grok 4.20 Information",
    ),
)

DIALECTS: dict[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        Dialect(
            name="openai",
            roles=WITH_DEVELOPER,
            # From GPT-5 on: see the capabilities of the models.
            tools="function|custom",
            takes=None,
            source="developers.openai.com/api/reference/resources/chat; types/chat of openai 3.52",
        ),
        Dialect(
            name="compatible",
            routes=True,
            takes=None,
            source="vLLM, SGLang, llama.cpp, LM Studio and others: the templates of most models refuse the role "
            "developer (ogx-ai/ogx#6069, peonist-ai/halogen-flash-server#32), and servers refuse tools without a "
            "function (microsoft/foundry-local#1080, JiuliNuoyi/CodexRosetta#1)",
        ),
        Dialect(
            name="deepseek",
            models=makers.NAMES["deepseek"],
            reasoning="reasoning_content",
            thinks=r"deepseek-(?!chat$).*",
            limit="max_tokens",
            settings={"mode": "thinking.type"},
            form=SWITCH,
            restrictions=AT_DEEPSEEK,
            source="api-docs.deepseek.com/guides/thinking_mode, Tool Calls; earendil-works/pi#1048, "
            "eclipse-theia/theia#15144 (roles); vm0-ai/vm0#28274 (functions only)",
        ),
        Dialect(
            name="moonshot",
            models=makers.NAMES["moonshot"],
            reasoning="reasoning_content",
            thinks=r"kimi-k(?:2-thinking|2\.\d|[3-9]).*",
            tools="function|builtin_function",
            takes=frozenset(("prompt_cache_key", "safety_identifier")),
            settings={"mode": "thinking.type"},
            form=SWITCH,
            restrictions=AT_MOONSHOT,
            source="platform.kimi.ai/docs/api/chat (roles, fields), /guide/use-kimi-k2-thinking-model, "
            "/guide/use-web-search; openclaw/openclaw#21911, anomalyco/opencode#10996",
        ),
        Dialect(
            name="zai",
            models=makers.NAMES["zai"],
            reasoning="reasoning_content",
            tools="function|web_search|retrieval|mcp",
            limit="max_tokens",
            settings={"mode": "thinking.type"},
            form=SWITCH,
            source="docs.bigmodel.cn/api-reference, chat completions (four roles); "
            "docs.z.ai/guides/capabilities/thinking-mode; openclaw/openclaw#21911",
        ),
        Dialect(
            name="alibaba",
            # Groq, OpenRouter and Cerebras serve qwen/qwen3-32b and qwen-3-32b; Ollama serves qwen3:8b.
            models=r"(?:qwen(?!-3-)|qwq|qvq)[\w.]*-[^:/]+",
            reasoning="reasoning_content",
            takes=frozenset(("audio", "modalities")),
            top_k=True,
            settings={"mode": "enable_thinking", "budget_tokens": "thinking_budget"},
            form=msgspec.structs.replace(BUDGETED, switched_apart=()),
            restrictions=AT_ALIBABA,
            source="docs.qwencloud.com/api-reference/chat/openai-chat (roles), "
            "/developer-guides/text-generation/thinking (enable_thinking); "
            "BenedictKing/ccx#161, proma-ai/Proma#1496, earendil-works/pi#5117",
        ),
        Dialect(
            name="minimax",
            models=makers.NAMES["minimax"],
            reasoning="reasoning_details",
            restrictions=AT_MINIMAX,
            source="platform.minimax.io/docs/api-reference/text-openai-api; novita.ai/docs/guides/"
            "llm-interleaved-thinking; openclaw/openclaw#3022 (invalid role: developer)",
        ),
        Dialect(
            name="groq",
            models=r"groq/.*",
            reasoning="reasoning",
            roles=WITH_DEVELOPER,
            tools="function|browser_search|code_interpreter",
            fields=FIELDS_OF_GROQ,
            takes=frozenset(("service_tier",)),
            settings={"include": "reasoning_format"},
            restrictions=AT_GROQ,
            source="console.groq.com/docs/reasoning; groq 1.7.0, types/chat (roles, tools)",
        ),
        Dialect(
            name="xai",
            models=makers.NAMES["xai"],
            tools="function|live_search",
            restrictions=AT_XAI,
            source="docs.x.ai/docs/guides/reasoning, /function-calling; "
            "earendil-works/pi, packages/ai, detectCompat (roles)",
        ),
        Dialect(
            name="openrouter",
            routes=True,
            reasoning="reasoning_details",
            state_field="reasoning_details",
            makers={"anthropic": "anthropic-claude-v1"},
            cache_control=True,
            top_k=True,
            tools="function|openrouter:.*",
            takes=None,
            settings={
                "effort": "reasoning.effort",
                "budget_tokens": "reasoning.max_tokens",
                "mode": "reasoning.enabled",
                "include": "reasoning.exclude",
            },
            form=forms.Form(off={"mode": "disabled"}, auto={"mode": "enabled"}, within={}),
            source="openrouter.ai/docs/use-cases/reasoning-tokens, /docs/api-reference/overview; "
            "earendil-works/pi#5117, #5229 (roles)",
        ),
        Dialect(
            name="litellm",
            routes=True,
            reasoning="reasoning_content",
            state_field="thinking_blocks",
            # It ignores `extra_content` (litellm 1.110, seen 2026-11-27).
            call_row=SIGNED_CALL,
            text_field="provider_specific_fields",
            makers={"anthropic": None, "google": None},
            cache_control=True,
            top_k=True,
            # It passes on the types of tools of each provider.
            tools="(?!custom$).*",
            takes=None,
            settings={"mode": "thinking.type", "budget_tokens": "thinking.budget_tokens"},
            form=forms.Form(off={"mode": "disabled"}, auto={}, within={"mode": "enabled"}, budget_below_limit=True),
            source="docs.litellm.ai/docs/reasoning_content; BerriAI/litellm#24664 (roles), #31571 (custom tools)",
        ),
        Dialect(
            name="google",
            models=rf"(?:models/)?{makers.NAMES['google']}",
            reads=frozenset({"google"}),
            state_field="extra_content",
            signed=r"(?:models/)?gemini-[3-9].*",
            fields=FIELDS_OF_GOOGLE,
            restrictions=AT_GOOGLE,
            source="ai.google.dev/gemini-api/docs/thought-signatures, /openai; liliMozi/openhanako#394, #2494, "
            "leookun/cursor-byok#112, Vali-98/ChatterUI#227, MinLL/SkyrimNet-GamePlugin#77 (unknown fields)",
        ),
        Dialect(
            name="mistral",
            limit="max_tokens",
            tools="function|image_generation|document_library|connector",
            fields=FIELDS_OF_MISTRAL,
            takes=frozenset(("metadata", "prediction", "prompt_cache_key")),
            source="mistralai 3.7.0, models/chatcompletionrequest.py; charmbracelet/crush#1590 (unknown fields)",
        ),
        Dialect(
            name="cerebras",
            reasoning="reasoning",
            restrictions=AT_CEREBRAS,
            source="inference-docs.cerebras.ai/resources/openai; livekit/agents#1274; docs.getbifrost.ai, Cerebras",
        ),
    )
}
"""The hosts, by name. `compatible` is a server of which no more is known. The sources were seen on the date `SEEN`."""


def dialect_for(name: str | None, model: str | None) -> Dialect | None:
    """Return the dialect with this name, or of the only host that serves a model; None if neither is known.

    Raise ValueError if there is no dialect of this name.
    """
    if name is not None:
        if name not in DIALECTS:
            raise ValueError(f"unknown policy dialect={name}: expected {' | '.join(DIALECTS)}")
        return DIALECTS[name]
    if model is None:
        return None
    return next((d for d in DIALECTS.values() if d.models is not None and re.fullmatch(d.models, model)), None)


def host_of(model: str | None, policies: Mapping[str, str] | None) -> Host:
    """Return the differences of a host from OpenAI's API: the host that the policy `dialect` or the model names."""
    return _host_for((policies or {}).get("dialect"), model)


@lru_cache(maxsize=256)
def _host_for(name: str | None, model: str | None) -> Host:
    dialect = dialect_for(name, model)
    if dialect is None:
        return Host()
    maker = maker_of(model)
    form = dialect.makers.get(maker or "")
    return Host(
        issuers=dialect.reads | (dialect.makers.keys() & {maker or ""}),
        state_field=dialect.state_field,
        state_residue={} if form is None else {"format": form},
        fields=own_fields(dialect),
        cache_points=dialect.cache_control,
        serves=makers.EVERY if dialect.routes else makers.OPEN | {dialect.name},
        dialect=dialect,
        policies={} if dialect.reasoning is None else {"reasoning": dialect.reasoning},
    )


def row_of(context: EncodeContext) -> Dialect:
    """Return the row of the target's host. If it is unknown, that depends on whether the model is one of OpenAI's."""
    dialect: Dialect | None = context.host.dialect
    if dialect is not None:
        return dialect
    # A request without a model is for the API's own host.
    is_others = context.known.status == "other" and context.known.model is not None
    return DIALECTS["compatible" if is_others else "openai"]


def own_fields(dialect: Dialect) -> frozenset[str]:
    """Return the fields of a host that OpenAI does not have."""
    fields = {dialect.reasoning, dialect.state_field, *(path.partition(".")[0] for path in dialect.settings.values())}
    if "google" in dialect.reads or "google" in dialect.makers:
        fields.add("extra_content" if dialect.call_row is None else "provider_specific_fields")
    if dialect.cache_control:
        fields.add("cache_control")
    return frozenset(field for field in fields if field is not None)


def is_of_another_maker(maker: str | None, context: EncodeContext) -> bool:
    """Return whether the target's model is known to be of another maker than this one of `MAKERS`.

    False for a request of this API whose model is unchanged: all of it is sent back.
    """
    model, origin = context.target.model, context.origin
    if maker not in MAKERS or model is None or (context.native and origin is not None and origin.model == model):
        return False
    makers_model = maker_of(model)
    if makers_model is not None:
        return makers_model != maker
    dialect: Dialect | None = context.host.dialect
    serves = dialect is None or maker in dialect.makers or maker in dialect.reads
    return not serves or context.known.status in ("listed", "newest")


def requires_signed_calls(context: EncodeContext) -> bool:
    """Return whether the host refuses calls of the model without a signature of Google."""
    model: str | None = context.target.model
    dialect: Dialect | None = context.host.dialect
    signed = None if dialect is None else dialect.signed
    return signed is not None and model is not None and re.fullmatch(signed, model) is not None


def form_of(context: EncodeContext) -> forms.Form:
    """Return the form in which the host expresses the amount of thinking."""
    dialect = context.host.dialect
    return forms.OPENAI if dialect is None else dialect.form


def required_reasoning(request: Mapping[str, Any], host: Host) -> str | None:
    """Return the reasoning field that a host requires in each message with calls; None if it requires none."""
    dialect: Dialect | None = host.dialect
    if dialect is None or dialect.thinks is None:
        return None
    return dialect.reasoning if thinks_in(request, dialect) else None


def thinks_in(request: Mapping[str, Any], dialect: Dialect) -> bool:
    """Return whether the model of a request thinks: what the request sets, else what the model does by default."""
    switch = value_at(request, dialect.settings.get("mode", ""))
    if switch in ("disabled", False) or request.get("reasoning_effort") == "none":
        return False
    return switch in ("enabled", True) or (dialect.thinks is not None and names_model(request, dialect.thinks))


def value_at(wire: Mapping[str, Any], path: str) -> Any:
    """Return the value of a field, or of a field in an object: `thinking.type`."""
    outer, _, inner = path.partition(".")
    return object_of(wire, outer).get(inner) if inner else wire.get(outer)


def names_model(request: Mapping[str, Any], names: str) -> bool:
    """Return whether the model of a request has one of the names."""
    model = request.get("model")
    return isinstance(model, str) and re.fullmatch(names, model) is not None


def has_tool(dialect: Dialect, kind: object) -> bool:
    """Return whether a host has the tools of a type. A type that is no text is not known to be missing."""
    return not isinstance(kind, str) or re.fullmatch(dialect.tools, kind) is not None


def refuses_names(context: EncodeContext) -> bool:
    """Return whether the host refuses the names of messages."""
    dialect: Dialect | None = context.host.dialect
    rows = () if dialect is None else dialect.restrictions
    return any(row.severity == "refused" and "messages.name" in row.fields for row in rows)
