"""The HTTP interface of Messages (platform.claude.com/docs/en/api/overview and .../versioning, seen 2026-11-23)."""

from __future__ import annotations

from contentmodel.authoring import HttpApi, HttpMethod, TokenCounting

_COUNTED = (
    # The parameters of types/beta/message_count_tokens_params.py of anthropic 2.12.
    *("model", "messages", "system", "tools", "tool_choice", "thinking", "output_config", "cache_control"),
    *("context_management", "compaction", "mcp_servers", "billing_policy", "speed"),
)
HTTP = HttpApi(
    base_url="https://api.anthropic.com",
    generate=HttpMethod(path="/v1/messages", routes=("/v1/messages",)),
    count=TokenCounting(
        method=HttpMethod(path="/v1/messages/count_tokens", routes=("/v1/messages/count_tokens",)),
        fields=_COUNTED,
        result="input_tokens",
    ),
    key_header="x-api-key",
    key_prefix="",
    key_variables=("ANTHROPIC_API_KEY",),
    headers={"anthropic-version": "2023-06-01"},
    forwarded=("anthropic-version", "anthropic-beta"),
    request_id="request-id",
    keep_alive=b'event: ping\ndata: {"type": "ping"}\n\n',
)


def _invoke(verb: str) -> HttpMethod:
    """Return a method of Bedrock (docs.aws.amazon.com/bedrock/latest/APIReference, API_runtime_InvokeModel)."""
    return HttpMethod(path=f"/model/{{model}}/{verb}", routes=(f"/model/{{model:path}}/{verb}",))


def _predict(model: str, verb: str) -> HttpMethod:
    """Return a method of Vertex AI. The base URL of an upstream ends in the publisher, that of the SDK in `/v1`."""
    path = f"/models/{model}:{verb}"
    return HttpMethod(
        path=path, routes=(f"/v1/projects/{{project}}/locations/{{location}}/publishers/anthropic{path}",)
    )


HOSTS = {
    "bedrock": HttpApi(
        base_url="https://bedrock-runtime.us-east-1.amazonaws.com",
        generate=_invoke("invoke"),
        stream=_invoke("invoke-with-response-stream"),
        # An API key of Bedrock. Signatures of requests (SigV4) are made by the SDKs only.
        key_variables=("AWS_BEARER_TOKEN_BEDROCK",),
        request_id="x-amzn-requestid",
        path_field="model",
        keep_alive=b"",
        comments=False,
    ),
    "vertex": HttpApi(
        base_url="https://aiplatform.googleapis.com/v1/projects/{project}/locations/{location}/publishers/anthropic",
        generate=_predict("{model}", "rawPredict"),
        stream=_predict("{model}", "streamRawPredict"),
        count=TokenCounting(method=_predict("count-tokens", "rawPredict"), fields=_COUNTED, result="input_tokens"),
        # An access token, in the variable of gcloud. The SDK asks Google for one.
        key_variables=("CLOUDSDK_AUTH_ACCESS_TOKEN",),
        forwarded=("anthropic-beta",),
        path_field="model",
        keep_alive=HTTP.keep_alive,
    ),
}
"""The HTTP interfaces of the hosts that have the model in the path."""
