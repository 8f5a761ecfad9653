"""The HTTP interface of Converse (docs.aws.amazon.com/bedrock/latest/APIReference, seen 2026-11-23)."""

from __future__ import annotations

from contentmodel.authoring import HttpApi, HttpMethod


def _method(verb: str) -> HttpMethod:
    return HttpMethod(path=f"/model/{{model}}/{verb}", routes=(f"/model/{{model:path}}/{verb}",))


HTTP = HttpApi(
    base_url="https://bedrock-runtime.us-east-1.amazonaws.com",
    generate=_method("converse"),
    stream=_method("converse-stream"),
    # An API key of Bedrock. Signatures of requests (SigV4) are made by the SDKs only.
    key_variables=("AWS_BEARER_TOKEN_BEDROCK",),
    request_id="x-amzn-requestid",
    path_field="modelId",
    keep_alive=b"",
    comments=False,
)
