"""Roles of messages: the codec between an API's roles and the model's."""

from __future__ import annotations

from collections.abc import Mapping

from contentmodel.engine.context import DecodeContext, EncodeContext
from contentmodel.engine.json import JsonObject
from contentmodel.engine.losses import reasons
from contentmodel.engine.table.codecs import Bind, Codec


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
        known = self.to_wire.get(value)
        if known is not None:
            return known
        own = value.removeprefix(self._prefix)
        if own != value and own not in self.to_model:
            return own
        context.report_loss(owner, "role", reasons.NO_ROLE, role=value)
        return self.to_wire["user"]
