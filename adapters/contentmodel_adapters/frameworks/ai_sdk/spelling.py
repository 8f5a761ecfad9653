"""The spelling of the parts of tools in the two formats of the AI SDK: the same values under other names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from contentmodel.authoring import forms, guests, object_or_text, write

Fields = dict[str, Any]
ISSUERS = ("openai", "azure")
"""The names of OpenAI in the values of providers."""
ID, TEXT, OBJECT, LIST = forms.Leaf(str, required=True), forms.Leaf(str), forms.Leaf(dict), forms.Leaf(list)
NULLABLE = forms.Leaf(nullable=True)
SPELLED = forms.Leaf(str, required=True, repeats=True)
"""A name or an id that the block has as a field of another role."""
PARTS = guests.Parts(issuer="", call_id="toolCallId", texts=("input",), usual=("toolName", "type", "toolCallId"))


class Spelling(NamedTuple):
    """The names of the fields of a format: the constants of calls and results, and the paths of their values."""

    call: Fields
    result: Fields
    failure: Fields
    value: str
    error: str
    """The path of the value of a failed result."""
    of_call: str
    of_result: str
    """The fields with the values of providers."""
    is_split: bool
    """True if results are parts of their own, with the name of the tool."""

    def names(self, name: str) -> tuple[Fields, Fields]:
        """Return the fields of new calls, and of new results, with the name of the tool."""
        if self.is_split:
            return {"toolName": name}, {"toolName": name}
        return {"type": f"tool-{name}"}, {}

    def named(self, before: str, *, of_server: bool) -> list[tuple[Fields, Fields]]:
        """Return the forms in which a call has the name of its block, with the constant text `before` it.

        Each has constants and a field. The usual form is the first one.
        """
        dynamic: Fields = {"toolName": ("name", forms.Affix(before, required=True, repeats=bool(before)))}
        if self.is_split:
            return [({}, dynamic)]
        static: Fields = {"type": ("name", forms.Affix(f"tool-{before}", required=True, repeats=True))}
        spellings: list[tuple[Fields, Fields]] = [({"type": "dynamic-tool"}, dynamic), ({}, static)]
        return spellings if of_server else spellings[::-1]

    def value_of(self, part: Mapping[str, Any]) -> Any:
        """Return the value of a result, which may be JSON text; None if the part is no result."""
        for constants, path in ((self.result, self.value), (self.failure, self.error)):
            if all(at_path(part, key) == value for key, value in constants.items()):
                output = at_path(part, path)
                return object_or_text(output) if output.__class__ is str else output
        return None

    def calls_in(self, parts: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Yield the calls of tools that a provider runs, or that have the id of an item, with their indexes."""
        for at, part in enumerate(parts):
            is_hosted = all(part.get(key) == value for key, value in self.call.items())
            if part.get("toolCallId").__class__ is str and (is_hosted or item_id(part, self.of_call) is not None):
                yield at, part

    def pairs_in(self, parts: Sequence[Mapping[str, Any]]) -> tuple[dict[int, int], list[int]]:
        """Return the index of the result of each call that has one, by that of the call, and the other calls."""
        calls: dict[str, int] = {}
        paired: dict[int, int] = {}
        called = {at for at, _ in self.calls_in(parts)}
        for at, part in enumerate(parts):
            call_id = part.get("toolCallId")
            if call_id.__class__ is not str:
                continue
            if at in called:
                calls[call_id] = at
            elif call_id in calls and (part.get("type") == "tool-result" if self.is_split else "state" in part):
                paired[calls.pop(call_id)] = at
        return paired, list(calls.values())


MODEL = Spelling(
    call={"type": "tool-call", "providerExecuted": True},
    result={"type": "tool-result", "output.type": "json"},
    failure={"type": "tool-result", "output.type": "error-json"},
    value="output.value",
    error="output.value",
    of_call="providerOptions",
    of_result="providerOptions",
    is_split=True,
)
UI = Spelling(
    call={"providerExecuted": True},
    result={"state": "output-available"},
    failure={"state": "output-error"},
    value="output",
    error="errorText",
    of_call="callProviderMetadata",
    of_result="resultProviderMetadata",
    is_split=False,
)


def at_path(value: Any, path: str) -> Any:
    """Return the value at a dotted path of a part; None if there is none."""
    for key in path.split("."):
        value = value.get(key) if value.__class__ is dict else None
    return value


def name_of(part: Mapping[str, Any]) -> str:
    """Return the name of the tool of a call."""
    name = part.get("toolName")
    return name if name.__class__ is str else str(part.get("type")).removeprefix("tool-")


def item_id(part: Mapping[str, Any], at: str) -> str | None:
    """Return the id of the item of OpenAI that a call has in its field `at`; None for other parts."""
    metadata = part.get(at) if "input" in part else None
    ids = (at_path(metadata, f"{issuer}.itemId") for issuer in ISSUERS) if metadata.__class__ is dict else ()
    return next((item for item in ids if item.__class__ is str), None)


def either(
    at: Sequence[str], names: Sequence[str], key: str, path: str, *, required: bool = True, repeats: bool = True
) -> Fields:
    """Return the field of a text `path` of a block, which parts have in the values of a provider with several names."""
    paths = tuple(f"{one}.{name}.{key}" for one in at for name in names)
    return {paths: (path, forms.Either(len(paths), str, required=required, repeats=repeats))}  # type: ignore[dict-item]


def under(key: str, fields: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return fields of one of the parts of a form."""
    return {f"{key}.{path}": value for path, value in fields.items()}


class Failure(forms.Leaf):
    """The value of a failed result: an object, or its JSON text, as UI messages have it."""

    part_classes = (dict, str)
    keeps = True

    def __init__(
        self,
        to_block: Callable[[Fields], Any],
        to_part: Callable[[Any], Any],
        *classes: type,
        as_text: bool,
        example: Fields,
    ) -> None:
        super().__init__(required=True)
        self.block_classes = classes
        self.repeats = (0,) if as_text else ()
        self._to_block, self._to_part, self._as_text = to_block, to_part, as_text
        self.examples = (self._written(example),)

    def to_block(self, value: Any) -> Any:
        failure = object_or_text(value) if value.__class__ is str else value
        return self._to_block(failure) if failure.__class__ is dict else forms.MISFIT

    def to_part(self, value: Any) -> Any:
        return self._written(self._to_part(value))

    def _written(self, value: Any) -> Any:
        return write(value).decode() if self._as_text and value is not forms.MISFIT else value
