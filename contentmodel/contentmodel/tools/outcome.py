"""Convert the results of tools to contents. All conversion of Python values for a model happens here."""

from __future__ import annotations

import dataclasses
import json
import math
import traceback
from collections.abc import Iterable, Mapping, Set
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any, overload
from uuid import UUID

import msgspec

from contentmodel.content import Content, result_type
from contentmodel.content.base import AIContent, content_tag
from contentmodel.content.media import DataContent, MediaContent
from contentmodel.content.outcomes import ErrorContent
from contentmodel.content.text import JsonContent, TextContent
from contentmodel.content.tools import (
    FunctionCallContent,
    FunctionResultContent,
    ToolCallContent,
    ToolResultContent,
)
from contentmodel.hints import minted
from contentmodel.tools.faults import ToolInputError

MAX_DEPTH = 200
"""The maximum nesting of a result; a value that contains itself exceeds it."""


class ToolOutcome(msgspec.Struct, frozen=True):
    """The outcome of a run of a tool.

    `results` are for the model: any value that `contents_of` accepts, or the list of contents that it returns. `note`
    is text for the model about the run. `display` is text for the user. `artifact` is the application's form of the
    result, a JSON value: the result of the call keeps it, and no model gets it.
    """

    results: Any
    note: str | None = None
    display: str | None = None
    artifact: Any = None

    @property
    def contents(self) -> list[AIContent]:
        """`results` as contents, followed by the note."""
        contents = _contents(self.results)
        return contents if self.note is None else [*contents, TextContent(text=self.note)]

    @property
    def error(self) -> ErrorContent | None:
        """The first error in the results, or None."""
        return next((content for content in self.contents if isinstance(content, ErrorContent)), None)

    @property
    def text(self) -> str:
        """The texts and error messages of the results, one per line."""
        return "\n".join(
            content.message if isinstance(content, ErrorContent) else content.text
            for content in _contents(self.results)
            if isinstance(content, ErrorContent | TextContent | JsonContent)
        )

    @property
    def shown(self) -> str:
        """The results as text for a user, one line each: texts, error messages, and descriptions of other contents."""
        return "\n".join(map(_line, _contents(self.results)))


def _line(content: Any) -> str:
    if isinstance(content, ErrorContent):
        return content.message
    return content.text if isinstance(content, TextContent | JsonContent) else f"[{_description(content)}]"


def _description(content: AIContent) -> str:
    """Return a short description of a content, such as "image image/png, 12 KB"."""
    if not isinstance(content, MediaContent):
        return content_tag(type(content).__name__).replace("_", " ")
    kind = content.media_kind if content.media_kind in ("image", "audio", "video") else "file"
    place = _size(content) if isinstance(content, DataContent) else getattr(content, "uri", content.name or "")
    head = " ".join(filter(None, (kind, content.media_type)))
    return ", ".join(filter(None, (head, place)))


def _size(content: DataContent) -> str:
    text = content.text
    size = len(content.data.rstrip("=")) * 3 // 4 if text is None else len(text.encode("utf-8", "replace"))
    return f"{size:,} bytes" if size < 1000 else f"{round(size / 1000):,} KB"


class NotSerialisable(Exception):
    """A value in a result has no JSON form."""

    def __init__(self, subject: str, path: str) -> None:
        super().__init__(f"the tool's result cannot be sent: {subject} at {path} is not JSON")


def contents_of(value: Any) -> ToolOutcome:
    """Convert a tool's return value to an outcome whose `results` are a list of contents. Never raises.

    | returned | results |
    |---|---|
    | str | one text |
    | a content; a list of contents, in which strings are texts | these contents |
    | None, bool, number, dict, list, dataclass, pydantic model, msgspec Struct, date, UUID, ... | its JSON as text |
    | ToolOutcome | its results by these rules; an artifact without a JSON form adds an error |
    | bytes, and other values without a JSON form | an error with the type and the path |
    """
    if not isinstance(value, ToolOutcome):
        return ToolOutcome(_contents(value))
    contents, artifact = _contents(value.results), None
    if value.artifact is not None:
        json_or_error = _contents({"artifact": value.artifact})[0]
        if isinstance(json_or_error, TextContent):
            artifact = json.loads(json_or_error.text)["artifact"]
        else:
            contents = [*contents, json_or_error]
    return ToolOutcome(contents, _writable_or_none(value.note), _writable_or_none(value.display), artifact)


@overload
def result_of(
    call: FunctionCallContent, outcome: ToolOutcome | BaseException | Any, *, details: bool = False
) -> FunctionResultContent: ...


@overload
def result_of(
    call: ToolCallContent, outcome: ToolOutcome | BaseException | Any, *, details: bool = False
) -> ToolResultContent: ...


def result_of(
    call: ToolCallContent, outcome: ToolOutcome | BaseException | Any, *, details: bool = False
) -> ToolResultContent:
    """Return the result of `call`, from an outcome, a return value or an exception.

    A failure is an ErrorContent among the outputs, and sets `is_error`. The model gets an exception's message. Its type
    and traceback are added only with `details`.
    """
    if isinstance(outcome, BaseException):
        outputs: list[AIContent] = [error_of(outcome, details=details)]
        artifact = None
    else:
        converted = contents_of(outcome)
        outputs, artifact = converted.contents, converted.artifact
    failed = any(isinstance(output, ErrorContent) for output in outputs)
    return result_type(call)(
        call_id=call.call_id,
        name=call.name,
        executor=call.executor,
        outputs=list(outputs),
        is_error=True if failed else None,
        artifact=artifact,
        extra=minted(call),
    )


def error_of(error: BaseException, *, details: bool = False) -> ErrorContent:
    """Convert an exception to content. Faults of arguments are added as data; `details` adds type and traceback."""
    if isinstance(error, ToolInputError):
        return ErrorContent(message=str(error), code="invalid_arguments", details=error.to_json())
    code = "timeout" if isinstance(error, TimeoutError) else "tool_failed"
    more = {"type": type(error).__name__, "traceback": "".join(traceback.format_exception(error))} if details else None
    return ErrorContent(message=_message(error), code=code, details=more)


def _message(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception:
        text = ""
    return writable(text) or f"the tool failed: {type(error).__name__}"


def _contents(value: Any) -> list[AIContent]:
    if isinstance(value, AIContent):
        return [_sound(value)]
    if isinstance(value, str):
        return [TextContent(text=writable(value))]
    if isinstance(value, list | tuple) and any(isinstance(item, AIContent) for item in value):
        return [content for item in value for content in _contents(item)]
    try:
        text = json.dumps(_plain(value, "$", 0), ensure_ascii=False, allow_nan=False)
    except NotSerialisable as error:
        return [ErrorContent(message=str(error), code="result_not_serialisable")]
    except Exception as error:
        # The value's own methods may raise anything.
        subject = f"a value of type {type(value).__name__} ({type(error).__name__} when read)"
        return [ErrorContent(message=str(NotSerialisable(subject, "$")), code="result_not_serialisable")]
    return [TextContent(text=writable(text))]


def _sound(content: AIContent) -> AIContent:
    """Return a content as decoded from its own JSON: a tool may have put values of a wrong type into its fields."""
    try:
        decoded = msgspec.json.decode(_encoded(content), type=Content)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        subject = f"a {type(content).__name__} with an invalid field ({error})"
        return ErrorContent(message=str(NotSerialisable(subject, "$")), code="result_not_serialisable")
    return content if decoded == content else decoded


def _encoded(content: AIContent) -> bytes:
    try:
        return msgspec.json.encode(content)
    except UnicodeEncodeError:
        return msgspec.json.encode(_whole(msgspec.to_builtins(content)))


def _whole(value: Any) -> Any:
    """Return a value with `writable` applied to all texts in it."""
    if isinstance(value, dict):
        return {_whole(key): _whole(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return writable(value) if isinstance(value, str) else value


def writable(text: str) -> str:
    """Replace lone surrogates, which file names or program output may contain: no API accepts them."""
    return text.encode("utf-8", "replace").decode()


def _writable_or_none(value: Any) -> str | None:
    return None if value is None else writable(str(value))


def _plain(value: Any, path: str, depth: int) -> Any:
    """Return `value` as plain JSON. Raise NotSerialisable with the path of a value without a JSON form."""
    if depth > MAX_DEPTH:
        raise NotSerialisable(f"nesting of more than {MAX_DEPTH} levels", _short(path))
    if isinstance(value, Enum):
        return _plain(value.value, path, depth + 1)
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise NotSerialisable(f"the number {value}", _short(path))
        return value
    if isinstance(value, Mapping):
        return {_key(key, path): _plain(item, f"{path}.{key}", depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple | Set):
        return [_plain(item, f"{path}[{index}]", depth + 1) for index, item in enumerate(value)]
    return _plain(_opened(value, path), path, depth + 1)


def _opened(value: Any, path: str) -> Any:
    """Convert one level of an object to simpler values."""
    if isinstance(value, datetime | date | time | timedelta | Decimal | UUID):
        return msgspec.to_builtins(value)
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, msgspec.Struct):
        config = value.__struct_config__
        tag = {} if config.tag is None else {config.tag_field or "type": config.tag}
        return {**tag, **_fields(value, msgspec.structs.fields(value), "encode_name")}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _fields(value, dataclasses.fields(value), "name")
    if callable(getattr(value, "model_dump", None)) and not isinstance(value, type):
        return value.model_dump(mode="json")
    subject = f"a value of type {type(value).__name__}"
    if isinstance(value, bytes | bytearray | memoryview):
        subject += " (return a DataContent, which has a media type)"
    raise NotSerialisable(subject, _short(path))


def _fields(value: Any, fields: Iterable[Any], written: str) -> dict[str, Any]:
    return {getattr(field, written): getattr(value, field.name) for field in fields}


def _key(key: Any, path: str) -> str:
    if isinstance(key, Enum):
        key = key.value
    if isinstance(key, str):
        return key
    if isinstance(key, bool | int | float | UUID | date):
        name: str = json.dumps(key) if isinstance(key, bool | int | float) else str(key)
        return name
    raise NotSerialisable(f"a key of type {type(key).__name__}", _short(path))


def _short(path: str) -> str:
    return path if len(path) <= 120 else f"{path[:60]}…{path[-40:]}"
