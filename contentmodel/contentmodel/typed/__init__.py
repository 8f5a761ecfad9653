"""Typed answers: ask a model for a value of a type, and get it checked.

answer = client.complete("The capital of Norway?", output=City)
answer.output
"""

from contentmodel.typed.answers import OutputError, OutputMode, OutputReason, Try, Typed
from contentmodel.typed.asking import Asking
from contentmodel.typed.outputs import OutputType, Schema
from contentmodel.typed.streams import AsyncTypedStream, TypedStream

__all__ = [
    "Asking",
    "AsyncTypedStream",
    "OutputError",
    "OutputMode",
    "OutputReason",
    "OutputType",
    "Schema",
    "Try",
    "Typed",
    "TypedStream",
]
