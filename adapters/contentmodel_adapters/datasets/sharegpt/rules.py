"""Conversations that the readers of the ShareGPT form refuse or skip.

Sources (seen 2026-11-23): data/README.md of hiyouga/LLaMA-Factory, and its src/llamafactory/data/converter.py,
formatter.py and mm_plugin.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from contentmodel.authoring import Broken, Rules, list_of, objects, objects_of
from contentmodel_adapters.common import rules
from contentmodel_adapters.datasets.json_texts import calls_of, objects_of_text
from contentmodel_adapters.datasets.sharegpt.blocks import API, CALL, ROLES, first_uneven
from contentmodel_adapters.datasets.sharegpt.placeholders import LISTS, counts_of

RULES = Rules(API)
SOURCE = "hiyouga/LLaMA-Factory"
rules.declare_roles(RULES, ROLES, f"{SOURCE}, data/README.md", messages="conversations", key="from")


@RULES.rule("refused", fix="write a JSON object with `name` and `arguments`", source=f"{SOURCE}, data/formatter.py")
def calls_are_json(document: dict[str, Any]) -> Iterator[Broken]:
    """The value of a call must be the JSON text of an object with a name and arguments, or of a list of them."""
    for path, message in objects(document, "conversations"):
        if message.get("from") == CALL and calls_of(message.get("value")) is None:
            yield f"{path}.value", f"{message.get('value')!r:.60}"


@RULES.rule("refused", fix="write one placeholder for each medium", source=f"{SOURCE}, data/mm_plugin.py")
def placeholders_match_media(document: dict[str, Any]) -> Iterator[Broken]:
    """There must be as many `<image>` in the values as images; likewise for videos and audios."""
    counts = counts_of(objects_of(document, "conversations"))
    for kind, name in LISTS.items():
        media = len(list_of(document, name))
        if counts[kind] != media:
            yield f"$.{name}", f"{media} in the list, {counts[kind]} of <{kind}> in the values"


@RULES.rule("harmful", fix="write the JSON text of the list", source=f"{SOURCE}, data/formatter.py")
def tools_are_json_text(document: dict[str, Any]) -> Iterator[Broken]:
    """The tools must be the JSON text of a list of objects."""
    tools = document.get("tools")
    if tools not in (None, "", "[]") and objects_of_text(tools) is None:
        yield "$.tools", f"{tools!r:.60}"


@RULES.rule("harmful", fix="join the messages, or put the other side between them", source=f"{SOURCE}, data/README.md")
def sides_alternate(document: dict[str, Any]) -> Iterator[Broken]:
    """After a first system message, users and results must alternate with answers and calls. Others are skipped."""
    messages = list(objects(document, "conversations"))
    names = [message.get("from") for _, message in messages]
    uneven = first_uneven(names)
    if uneven is not None:
        yield f"{messages[uneven][0]}.from", f"{names[uneven]!r:.60} at position {uneven + 1}"
    elif (len(names) - (names[:1] == ["system"])) % 2:
        yield "$.conversations", "no answer at the end"
