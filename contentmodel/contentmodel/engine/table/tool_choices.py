"""Tool choice: a string or an object, in each API's form. The exact form is kept if it is not the usual one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from typing import Any, Literal

import msgspec

from contentmodel import reasons
from contentmodel.engine.context import DecodeContext, EncodeContext
from contentmodel.engine.table.codecs import Codec
from contentmodel.hints import Hint
from contentmodel.json import object_of, objects_of, put_at, wire_at, without_nulls
from contentmodel.request import CustomTool, HostedTool, ToolChoice

RAW = Hint[str | dict[str, Any]](None, "raw", "the tool choice of the payload, if it has an unusual spelling")
WHOLE = Hint[Literal[True]](None, "whole", "a tool choice has all that the one of the payload had")

NO_MODES: Mapping[str, str] = {}


class Choice(Codec[ToolChoice]):
    """Decode and encode a tool choice.

    `read` decodes an object (None: not understood). `write` encodes a choice as a string or object (None: cannot); it
    also gets the tools of the request, because some APIs refer to a tool by its kind. A string is a mode. If `write`
    would spell a choice in another way than the payload, the hint `RAW` keeps the payload's form, and an edit of the
    choice overrides it. If the choice has all that the payload had, it has the hint `WHOLE`. A choice among several
    tools falls back to its mode, any other one to `fallback`. `modes` maps the modes of the API whose names differ to
    those of the model; `synonyms` maps those that only some hosts take. `strings=False` is for APIs whose choices are
    objects. `tagged` is the field of an object that names its form or mode, and the API's values of it. Without both,
    the API has only strings, and `modes` has all of them. `usual` returns a choice in the form of `write`.
    """

    identity = False

    def __init__(
        self,
        read: Callable[[dict[str, Any]], ToolChoice | None],
        write: Callable[[ToolChoice, list[Any]], Any],
        *,
        strings: bool = True,
        tagged: tuple[str, Iterable[str]] | None = None,
        fallback: Any = "auto",
        modes: Mapping[str, str] = NO_MODES,
        synonyms: Mapping[str, str] = NO_MODES,
        usual: Callable[[Any], Any] = lambda value: value,
    ) -> None:
        super().__init__(*((str,) if strings else ()), *((dict,) if tagged or not strings else ()))
        usual_modes = ("auto", "none", "required") if tagged else ()
        self.known_values = frozenset((*usual_modes, *modes)) if strings else None
        self.tagged = (tagged[0], frozenset(tagged[1])) if tagged else None
        self._read, self._write, self._fallback, self._usual = read, write, fallback, usual
        self._modes, self._synonyms = {**modes, **synonyms}, synonyms

    def decode(self, value: Any, context: DecodeContext, container: Any, key: str) -> ToolChoice:
        meant = without_nulls(value)
        choice = self._choice_of(meant)
        if choice is not None and self._write(choice, []) == self._write(choice, _customs(choice, container)) == value:
            return choice
        choice = choice or ToolChoice(mode="other")
        customs = [CustomTool(name=name) for name in choice.tools or ()]
        said = self._synonyms.get(value, value) if isinstance(value, str) else meant
        whole = WHOLE.entry(True) if self._write(choice, customs) == self._usual(said) else {}
        return msgspec.structs.replace(choice, extra={context.api: {**RAW.entry(value), **whole}})

    def encode(self, value: ToolChoice, context: EncodeContext, owner: Any) -> Any:
        fields = (value.extra or {}).get(context.api)
        raw = None if fields is None else RAW.read(fields)
        if raw is not None:
            raw_choice = self._choice_of(without_nulls(raw))
            if value.mode == "other" or (raw_choice is not None and _same(raw_choice, value)):
                return raw
        elif not all(WHOLE.is_in(residue) for residue in (value.extra or {}).values()):
            context.report_loss(owner, "options.tool_choice", reasons.TOOL_CHOICE_PARTS)
        return self._written(value, context, owner)

    def _choice_of(self, value: Any) -> ToolChoice | None:
        return ToolChoice(mode=self._modes.get(value, value)) if isinstance(value, str) else self._read(value)

    def _written(self, value: ToolChoice, context: EncodeContext, owner: Any) -> Any:
        tools = list(leaves(owner.tools))
        choice = value if context.native else _by_kind(value, tools)
        written = self._write(choice, tools)
        if written is not None:
            return written
        context.report_loss(owner, "options.tool_choice", reasons.NO_TOOL_CHOICE)
        by_mode = self._write(ToolChoice(mode=choice.mode), tools) if choice.hosted is None else None
        return self._fallback if by_mode is None else by_mode

    def describe(self) -> str:
        return "tool choice"


class ToolOrMode(Choice):
    """A choice of an API that has modes, and objects that name one tool.

    The name of the tool is at the dotted path `name`, beside `constants`. `modes` maps the modes of the model to the
    values of the API: strings, or objects with one key.
    """

    def __init__(self, name: str, constants: Mapping[str, Any], modes: Mapping[str, Any]) -> None:
        self._name, self._constants, self._values = name, constants, modes
        strings = {value: mode for mode, value in modes.items() if isinstance(value, str)}
        super().__init__(
            self._read_object,
            self._write_value,
            strings=bool(strings),
            tagged=("type", [constants["type"]]) if "type" in constants else None,
            fallback=modes["auto"],
            modes={value: mode for value, mode in strings.items() if value != mode},
        )

    def _read_object(self, value: dict[str, Any]) -> ToolChoice | None:
        name = wire_at(value, self._name)
        if isinstance(name, str):
            return ToolChoice(mode="required", tools=[name])
        objects = {mode: written for mode, written in self._values.items() if isinstance(written, dict)}
        return next((ToolChoice(mode=mode) for mode, written in objects.items() if written.keys() & value.keys()), None)

    def _write_value(self, choice: ToolChoice, tools: list[Any]) -> Any:
        names = choice.tools or []
        if choice.hosted is not None or len(names) > 1 or (names and choice.mode != "required"):
            return None
        if not names:
            return deepcopy(self._values.get(choice.mode))
        wire = dict(self._constants)
        put_at(wire, self._name, names[0])
        return wire


def leaves(tools: Iterable[Any]) -> Iterable[Any]:
    """Return the tools, with each group replaced by its members."""
    for tool in tools:
        yield from getattr(tool, "tools", (tool,))


def custom_names(tools: Iterable[Any]) -> frozenset[str]:
    """Return the names of the tools that take free text."""
    return frozenset(tool.name for tool in tools if isinstance(tool, CustomTool))


def _customs(choice: ToolChoice, payload: dict[str, Any]) -> list[CustomTool]:
    """Return the tools of a payload that take free text, if the choice refers to tools by name."""
    if not choice.tools:
        return []
    tools = objects_of(payload, "tools")
    members = [member for tool in tools for member in objects_of(tool, "tools")]
    customs = [tool for tool in (*tools, *members) if tool.get("type") == "custom"]
    names = [object_of(tool, "custom").get("name", tool.get("name")) for tool in customs]
    return [CustomTool(name=name) for name in names if isinstance(name, str)]


def _by_kind(choice: ToolChoice, tools: list[Any]) -> ToolChoice:
    """Return the choice of one hosted tool by its kind, if another API chose it by its name."""
    names = choice.tools or []
    kind = next((t.kind for t in tools if isinstance(t, HostedTool) and [t.name] == names), None)
    return choice if kind is None else ToolChoice(mode=choice.mode, hosted=kind)


def _same(one: ToolChoice, other: ToolChoice) -> bool:
    return (one.mode, one.tools, one.hosted) == (other.mode, other.tools, other.hosted)
