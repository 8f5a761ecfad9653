"""Rules of data sets with messages: which rows chat templates and trainers refuse or mishandle."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contentmodel.authoring import Broken, Rules, objects
from contentmodel_adapters.common import rules
from contentmodel_adapters.datasets.hf.blocks import CALL, RESULT
from contentmodel_adapters.datasets.hf.padding import API, LITERALS, nulls_in

RULES = Rules(API)
SOURCE = "huggingface.co/docs/transformers/chat_templating; docs/trl/dataset_formats"
rules.declare(RULES, ("system", "developer", "user", "assistant", "tool", CALL, RESULT), SOURCE)


@RULES.rule("harmful", fix="write an object", source=f"{SOURCE}, tool calling")
def arguments_are_objects(document: dict[str, Any]) -> Iterator[Broken]:
    """The arguments of a call must be an object: templates write a string with JSON text with escaped quotes."""
    for path, message in objects(document, "messages"):
        for at, call in objects(message, "tool_calls", path):
            function = call.get("function", call)
            if isinstance(function, dict) and isinstance(function.get("arguments"), str):
                yield f"{at}{'.function' if 'function' in call else ''}.arguments", "a string with JSON text"


@RULES.rule(
    "harmful", fix="remove the nulls, or use the type Json() of datasets 4.8", source="modelscope/ms-swift#10125"
)
def tools_are_not_padded(document: dict[str, Any]) -> Iterator[Broken]:
    """The schema of a tool must have no nulls: Arrow adds the keys of all rows to each row."""
    for path, tool in objects(document, "tools"):
        function = tool.get("function")
        if isinstance(function, dict) and any(nulls_in(function.get("parameters"), LITERALS)):
            yield f"{path}.function.parameters", "null values"
