"""A client for generateContent that uses Google's SDK."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from contentmodel_adapters.common.calls import Call
from contentmodel_adapters.google import clients
from contentmodel_adapters.google.generate_content.table import API

if TYPE_CHECKING:
    from google import genai

COMPLETE, STREAM = "generateContent", "streamGenerateContent?alt=sse"


def url_of(sdk: genai.Client, model: str, verb: str) -> str:
    """Return the path of a model's method.

    A bare name is one of Google's models (transformers `t_model` of the SDK). Raise ValueError for any other text.
    """
    if sdk.vertexai and not model.startswith(("projects/", "models/", "publishers/")):
        publisher, _, name = model.rpartition("/")
        model = f"publishers/{publisher or 'google'}/models/{name}"
    elif not sdk.vertexai and not model.startswith(("models/", "tunedModels/")):
        model = f"models/{model}"
    if ".." in model or "?" in model or "&" in model:
        raise ValueError(f"{API}: {model!r} is not a model name")
    return f"{model}:{verb}"


class OfModel(clients.Paths):
    """The paths of generateContent name the model."""

    api = API
    has_stream_field = False
    policies: Mapping[str, str] | None

    def choices(self) -> Mapping[str, str] | None:
        """Return the policies of an encoding, with the host of the SDK's client. The caller's take precedence."""
        return {"dialect": "vertex" if self.sdk.vertexai else "gemini", **(self.policies or {})}

    def path_of(self, call: Call, *, stream: bool) -> str:
        return url_of(self.sdk, call.model, STREAM if stream else COMPLETE)


class Client(OfModel, clients.SyncClient):
    """A ChatClient for generateContent over `google.genai.Client`."""


class AsyncClient(OfModel, clients.AsyncClient):
    """An AsyncChatClient for generateContent over `google.genai.Client`."""
