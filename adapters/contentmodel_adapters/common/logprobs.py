"""Log probabilities of tokens, which Chat Completions, Mistral and Ollama have in one form.

Chat Completions and Mistral have the list of tokens in the field `content` of an object, Ollama has only the list
(chat_completion_token_logprob.py of openai 3.54, chatcompletionresponsechoicelogprobs.py of mistralai 3.7.0, and
`Logprob` in _types.py of ollama 0.6.3; seen 2026-11-27).
"""

from __future__ import annotations

from typing import Any

from contentmodel.authoring import EncodeContext, ProviderOnly, child_path, reasons

FIELDS = ("token", "logprob", "bytes", "top_logprobs")


class TokenLogprobs(ProviderOnly):
    """The log probabilities of an answer. Those of an API with the same tokens are sent, any others are lost."""

    def __init__(self, *classes: type) -> None:
        """Create the codec. If the only class is `list`, the API has the list of tokens without an object."""
        super().__init__("logprobs", *classes)
        self._is_list = classes == (list,)

    def encode(self, value: Any, context: EncodeContext, owner: object) -> Any:
        is_object = value.__class__ is dict
        tokens = value.get("content") if is_object else value
        if context.native or context.has_no_origin or not _are_tokens(tokens):
            return super().encode(value, context, owner)
        for key in (key for key in value if key != "content" and value[key] is not None) if is_object else ():
            context.report_loss(owner, child_path("logprobs$", key), reasons.NO_FIELD)
        at = "logprobs$.content" if is_object else "logprobs$"
        made = [_encode_token(token, f"{at}[{index}]", context, owner) for index, token in enumerate(tokens)]
        return made if self._is_list else {"content": made, "refusal": None}


def _encode_token(token: dict[str, Any], at: str, context: EncodeContext, owner: object) -> dict[str, Any]:
    for key in token:
        if key not in FIELDS:
            context.report_loss(owner, child_path(at, key), reasons.NO_FIELD)
    made = {"token": token["token"], "bytes": token.get("bytes"), "logprob": token["logprob"]}
    # The alternatives have no alternatives.
    if ".top_logprobs[" in at:
        return made
    others = enumerate(token.get("top_logprobs") or ())
    return {**made, "top_logprobs": [_encode_token(o, f"{at}.top_logprobs[{i}]", context, owner) for i, o in others]}


def _are_tokens(value: Any, *, depth: int = 2) -> bool:
    return value.__class__ is list and all(_is_token(item, depth) for item in value)


def _is_token(value: Any, depth: int) -> bool:
    if value.__class__ is not dict or value.get("token").__class__ is not str:
        return False
    if value.get("logprob").__class__ not in (int, float):
        return False
    code = value.get("bytes")
    others = value.get("top_logprobs")
    is_text = code is None or (code.__class__ is list and all(item.__class__ is int for item in code))
    return is_text and (others is None or (depth > 1 and _are_tokens(others, depth=depth - 1)))
