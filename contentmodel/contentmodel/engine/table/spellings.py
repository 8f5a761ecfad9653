"""Codecs of texts and constants that the wire spells differently from the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from contentmodel import reasons
from contentmodel.engine.context import DecodeContext, EncodeContext
from contentmodel.engine.table.codecs import Bind, Codec
from contentmodel.json import Json, JsonObject, without_nulls, write

T = TypeVar("T")


class NonEmpty(Codec[str]):
    """A text that is not empty. An empty one stays in the residue. If `mandatory`, the row rejects the object."""

    classes = (str,)

    def __init__(self, *, mandatory: bool = False) -> None:
        super().__init__()
        self.mandatory = mandatory

    def holds(self, value: object) -> bool:
        return value.__class__ is str and value != ""


class TextOrJson(Codec[str]):
    """A text, or an object or a list in its place, which becomes JSON text. `Verbatim` writes it back."""

    classes = (str, dict, list)
    identity = False

    def decode(self, value: Json, context: DecodeContext, container: JsonObject, key: str) -> str:
        return value if value.__class__ is str else write(value).decode()

    def encode(self, value: str, context: EncodeContext, owner: object) -> str:
        return value


class TextOrTexts(Codec[list[str]]):
    """A list of texts, or one text in its place. `Verbatim` writes the text back."""

    classes = (list, str)
    identity = False

    def holds(self, value: Any) -> bool:
        return value.__class__ is str or (value.__class__ is list and all(item.__class__ is str for item in value))

    def decode(self, value: Json, context: DecodeContext, container: JsonObject, key: str) -> list[str]:
        return [value] if value.__class__ is str else value

    def encode(self, value: list[str], context: EncodeContext, owner: object) -> list[str]:
        return value


class Affixed(Codec[str]):
    """A text between two constant texts, such as the name of a tool in the type `tool-weather`.

    A row does not accept an object without such a text. `values` are the accepted texts; if it is empty, all are.
    """

    classes = (str,)
    identity = False
    mandatory = True

    def __init__(self, before: str, after: str = "", *values: str) -> None:
        super().__init__()
        self._before, self._after, self._values = before, after, values

    def holds(self, value: Any) -> bool:
        is_affixed = value.__class__ is str and value.startswith(self._before) and value.endswith(self._after)
        return is_affixed and (not self._values or self._between(value) in self._values)

    def _between(self, value: str) -> str:
        return value.removeprefix(self._before).removesuffix(self._after)

    def decode(self, value: str, context: DecodeContext, container: JsonObject, key: str) -> str:
        return self._between(value)

    def encode(self, value: str, context: EncodeContext, owner: object) -> str:
        return f"{self._before}{value}{self._after}"

    def describe(self) -> str:
        return "str" if self._values else f"{self._before}*{self._after}"


class FixedName(Codec[str]):
    """The name of a tool that selects the row of its call. If a call of this class has another name, it is a loss."""

    classes = (str,)
    identity = False
    mandatory = True

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def holds(self, value: object) -> bool:
        return value == self._name

    def encode(self, value: str, context: EncodeContext, owner: object) -> str:
        if value != self._name:
            context.report_loss(owner, "name", reasons.OTHER_VALUE, value=self._name)
        return self._name


class OnlyItem(Codec[str]):
    """A list of exactly one text, or of one object that has only the text `key`. Other lists stay in the residue.

    Other fields of the object may be null: a row with such a field has the option `verbatim`.
    """

    classes = (list,)
    identity = False

    def __init__(self, key: str | None = None) -> None:
        super().__init__()
        self._key = key

    def holds(self, value: Any) -> bool:
        if value.__class__ is not list or len(value) != 1:
            return False
        if self._key is not None and (value[0].__class__ is not dict or without_nulls(value[0]).keys() != {self._key}):
            return False
        return self._text(value).__class__ is str

    def _text(self, value: Any) -> Any:
        return value[0] if self._key is None else value[0][self._key]

    def decode(self, value: Json, context: DecodeContext, container: JsonObject, key: str) -> str:
        return str(self._text(value))

    def encode(self, value: str, context: EncodeContext, owner: object) -> Json:
        return [value if self._key is None else {self._key: value}]


class Words(Codec[T]):
    """A map from values of the wire to values of the model. Any other value of the wire stays in the residue.

    If the map has no wire value for a value of the model, `otherwise(value, context, owner)` reports it.
    """

    identity = False

    def __init__(
        self,
        values: Mapping[Any, T],
        otherwise: Callable[[T, EncodeContext, Any], None] = lambda value, context, owner: None,
    ) -> None:
        super().__init__(*dict.fromkeys(map(type, values)))
        self._to_model, self._otherwise = dict(values), otherwise
        self._to_wire = {value: word for word, value in reversed([*values.items()])}
        self.known_values = frozenset(word for word in values if word.__class__ is str)

    def holds(self, value: object) -> bool:
        return value.__class__ in self.classes and value in self._to_model

    def decode(self, value: Json, context: DecodeContext, container: JsonObject, key: str) -> T:
        decoded: T = self._to_model[value]
        return decoded

    def encode(self, value: T, context: EncodeContext, owner: object) -> Json:
        if value not in self._to_wire:
            self._otherwise(value, context, owner)
        return self._to_wire.get(value)


class Roles(Codec[str]):
    """The role of a message.

    A role that the API does not define gives no rights in another API. In the model it is prefixed with the id of its
    API (`openai-chat:critic`). Every other API sends that message as the user's and reports a loss.
    """

    classes = (str,)
    identity = False
    other_hosts_add_values = False

    def __init__(
        self,
        api: str,
        to_model: Mapping[str, str],
        to_wire: Mapping[str, str] | None = None,
        *,
        elsewhere: tuple[str, ...] = (),
    ) -> None:
        """Map wire roles to roles of the model. Pass `to_wire` if it is not the inverse.

        `elsewhere` are further roles of the API, whose messages have their own rows.
        """
        self._prefix = f"{api}:"
        self.to_model = dict(to_model)
        self.known_values = frozenset((*to_model, *elsewhere))
        self.to_wire = dict(to_wire or {role: wire for wire, role in to_model.items()})

    def quick_decode(self, name: str, call: str, bind: Bind) -> str:
        return f"{bind('roles', self.to_model)}.get({name}) or {call}"

    def quick_encode(self, name: str, call: str, bind: Bind) -> str:
        return f"{bind('roles', self.to_wire)}.get({name}) or {call}"

    def decode(self, value: str, context: DecodeContext, container: JsonObject, key: str) -> str:
        return self.to_model.get(value) or f"{self._prefix}{value}"

    def encode(self, value: str, context: EncodeContext, owner: object) -> str:
        wire_role = self.to_wire.get(value)
        if wire_role is not None:
            return wire_role
        role = value.removeprefix(self._prefix)
        if role != value and role not in self.to_model:
            return role
        context.report_loss(owner, "role", reasons.NO_ROLE, role=value)
        return self.to_wire["user"]
