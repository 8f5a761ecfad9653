"""The ids of the items of the Responses API: the table, the steps and streams give each item of an answer one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from contentmodel.authoring import object_or_text, text_of, write
from contentmodel_adapters.openai.responses.items import ENDED

# The prefixes of item ids in recorded answers (seen 2026-11-22). The last four are not recorded.
PREFIXES = {
    "message": "msg",
    "reasoning": "rs",
    "function_call": "fc",
    "function_call_output": "fc",
    "custom_tool_call": "ctc",
    "custom_tool_call_output": "ctc",
    "web_search_call": "ws",
    "file_search_call": "fs",
    "code_interpreter_call": "ci",
    "image_generation_call": "ig",
    "mcp_call": "mcp",
    "mcp_list_tools": "mcpl",
    "mcp_approval_request": "mcpr",
    "local_shell_call": "lsh",
    "shell_call": "sh",
    "shell_call_output": "sho",
    "apply_patch_call": "apc",
    "tool_search_call": "tsc",
    "tool_search_output": "tso",
    "program": "cm",
    "program_output": "cmo",
    "compaction": "cmp",
    "computer_call": "cu",
    "computer_call_output": "cuo",
    "apply_patch_call_output": "apco",
    "local_shell_call_output": "lsho",
}

_STORED = re.compile(r"resp_([0-9a-f]{32})")


class ItemIds:
    """Generate ids for the items of one answer that have none.

    Clients refuse items without an id, and calls without a status (@ai-sdk/openai 3.0, seen 2026-11-22).

    An id is a hash of the answer's id, or of its time and model if it has none, of the id of the call, and of the
    number of the item among those of its kind. So the items of a conversation differ, and an answer has the same ids
    whether it is streamed or not.

    If the answer's id is `resp_` and 32 hexadecimal digits, the ids of its items begin with these digits, so that a
    server that stores answers finds the answer of an item. (OpenAI's ids begin with the same digits, too.)
    """

    def __init__(self, answer: Mapping[str, Any]) -> None:
        self._answer = answer.get("id") or [answer.get("created_at"), answer.get("model")]
        stored = _STORED.fullmatch(text_of(answer, "id"))
        self._begin = stored[1] if stored is not None else ""
        self._counts: Counter[bytes] = Counter()

    def named(self, item: dict[str, Any]) -> dict[str, Any]:
        """Return an item with an id: its own, or a new one."""
        prefix = PREFIXES.get(text_of(item, "type"))
        if prefix is None or item.get("id"):
            return item
        key = write([prefix, self._answer, item.get("call_id")])
        self._counts[key] += 1
        digits = sha256(b"%b%d" % (key, self._counts[key])).hexdigest()
        return with_id(item, f"{prefix}_{self._begin}{digits[: 16 if self._begin else 32]}")


def with_id(item: dict[str, Any], item_id: str) -> dict[str, Any]:
    """Return an item of an answer with this id, its first field. A call gets a status if it has none."""
    status = _status_of(item) if item.get("type") in ("function_call", "custom_tool_call") else {}
    return {"id": item_id, **status, **{name: value for name, value in item.items() if name != "id"}}


def _status_of(call: dict[str, Any]) -> dict[str, Any]:
    """Return the status of a call. One whose arguments are no object was cut off: it must not look complete.

    The status of a function call may be "incomplete" (openai 3.52, response_function_tool_call.py, seen 2026-11-29).
    """
    arguments = text_of(call, "arguments")
    is_cut_off = arguments != "" and object_or_text(arguments).__class__ is str
    return {"status": "incomplete"} if is_cut_off else ENDED
