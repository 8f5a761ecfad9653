"""The hosts of Chat Completions: one row for each, with its differences from OpenAI's API.

The encoder and the rules read the same row. No code depends on the name of a host.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from contentmodel.authoring import makers
from contentmodel.authoring import settings as forms
from contentmodel_adapters.openai.chat import restrictions
from contentmodel_adapters.openai.chat.restrictions import Restriction

SEEN = "2026-11-29"

SIGNED_CALL = "function.fields"
"""The row of calls with a signature in the field of LiteLLM."""


ROLES = frozenset(("system", "user", "assistant", "tool", "function"))
WITH_DEVELOPER = ROLES | {"developer"}
PLATFORM = frozenset(
    (
        *("audio", "metadata", "modalities", "moderation", "prediction", "prompt_cache_key", "prompt_cache_options"),
        *("prompt_cache_retention", "safety_identifier", "service_tier", "store", "verbosity", "web_search_options"),
    )
)
"""The fields of requests for features of OpenAI's platform (types/chat/completion_create_params.py of openai 3.52)."""


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
    roles: frozenset[str] = ROLES
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
            restrictions=restrictions.DEEPSEEK,
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
            restrictions=restrictions.MOONSHOT,
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
            restrictions=restrictions.ALIBABA,
            source="docs.qwencloud.com/api-reference/chat/openai-chat (roles), "
            "/developer-guides/text-generation/thinking (enable_thinking); "
            "BenedictKing/ccx#161, proma-ai/Proma#1496, earendil-works/pi#5117",
        ),
        Dialect(
            name="minimax",
            models=makers.NAMES["minimax"],
            reasoning="reasoning_details",
            restrictions=restrictions.MINIMAX,
            source="platform.minimax.io/docs/api-reference/text-openai-api; novita.ai/docs/guides/"
            "llm-interleaved-thinking; openclaw/openclaw#3022 (invalid role: developer)",
        ),
        Dialect(
            name="groq",
            models=r"groq/.*",
            reasoning="reasoning",
            roles=WITH_DEVELOPER,
            tools="function|browser_search|code_interpreter",
            fields=restrictions.FIELDS_OF_GROQ,
            takes=frozenset(("service_tier",)),
            settings={"include": "reasoning_format"},
            restrictions=restrictions.GROQ,
            source="console.groq.com/docs/reasoning; groq 1.7.0, types/chat (roles, tools)",
        ),
        Dialect(
            name="xai",
            models=makers.NAMES["xai"],
            tools="function|live_search",
            restrictions=restrictions.XAI,
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
            fields=restrictions.FIELDS_OF_GOOGLE,
            restrictions=restrictions.GOOGLE,
            source="ai.google.dev/gemini-api/docs/thought-signatures, /openai; liliMozi/openhanako#394, #2494, "
            "leookun/cursor-byok#112, Vali-98/ChatterUI#227, MinLL/SkyrimNet-GamePlugin#77 (unknown fields)",
        ),
        Dialect(
            name="mistral",
            limit="max_tokens",
            tools="function|image_generation|document_library|connector",
            fields=restrictions.FIELDS_OF_MISTRAL,
            takes=frozenset(("metadata", "prediction", "prompt_cache_key")),
            source="mistralai 3.7.0, models/chatcompletionrequest.py; charmbracelet/crush#1590 (unknown fields)",
        ),
        Dialect(
            name="cerebras",
            reasoning="reasoning",
            restrictions=restrictions.CEREBRAS,
            source="inference-docs.cerebras.ai/resources/openai; livekit/agents#1274; docs.getbifrost.ai, Cerebras",
        ),
    )
}
"""The hosts, by name. `compatible` is a server of which no more is known. The sources were seen on the date `SEEN`."""
