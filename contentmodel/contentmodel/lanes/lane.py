"""The lane of a pair of APIs: the templates of answers, and of turns of requests, that were converted before.

An application gets answers of few shapes. Their conversion takes the model's way until a shape was seen twice; then a
template of it is made, and answers that fit take it. The lane is never needed: without it, all results are the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from os import environ
from typing import TYPE_CHECKING, Any

from contentmodel.adapter import Payload, as_json
from contentmodel.encoded import Encoded
from contentmodel.engine.losses.model_paths import ModelPaths
from contentmodel.errors import ContentModelError
from contentmodel.json import Json, JsonObject, value_at
from contentmodel.lanes.late import Late, is_due
from contentmodel.response import ChatResponse

if TYPE_CHECKING:
    from contentmodel.engine.adapting import TableAdapter
    from contentmodel.lanes.template import Outcome, Template
    from contentmodel.lanes.turns import Turns
    from contentmodel.lanes.values import Kind
    from contentmodel.renames import Renames

_LANES: dict[object, Lane | None] = {}
"""The lanes, by their adapters and policies."""
_MOST_LANES = 256
_MOST_CONTAINERS = 200
IS_ON = environ.get("CONTENTMODEL_LANES") != "off"
"""True if payloads may take lanes. The environment variable `CONTENTMODEL_LANES=off` turns them off."""


def lane_of(reader: Any, writer: Any, policies: Mapping[str, str] | None) -> Lane | None:
    """Return the lane of two adapters; None if one of them has none."""
    key = (reader, writer, tuple(sorted(policies.items()))) if policies else (reader, writer)
    try:
        return _LANES[key]
    except KeyError:
        pass
    if len(_LANES) >= _MOST_LANES:
        _LANES.clear()
    lane = _LANES[key] = Lane(reader, writer, policies) if may_have_lane(reader, writer) else None
    return lane


def may_have_lane(reader: Any, writer: Any) -> bool:
    """Return whether payloads of one adapter may take a lane to another one."""
    return IS_ON and getattr(reader, "has_lane", False) and getattr(writer, "has_lane", False)


class Lane:
    """The templates of one pair of APIs with the same policies: of answers, by their keys, and of turns of requests."""

    MOST_KEYS = 64
    """The largest number of sets of keys of an answer."""
    MOST = 32
    """The largest number of templates for the same keys. The one that was used last is tried first."""
    MOST_SHAPES = 1024
    """The largest number of shapes that are counted."""
    MOST_MODELS = 16
    """The largest number of models with templates of turns."""
    LONG = 16
    """The number of messages from which a request may be converted by its turns."""

    def __init__(self, reader: TableAdapter, writer: TableAdapter, policies: Mapping[str, str] | None) -> None:
        """Create the lane from the API of one adapter to that of another."""
        self.reader, self.writer, self._policies = reader, writer, policies
        self._templates: dict[tuple[str, ...], list[Template]] = {}
        self._seen: Counter[int] = Counter()
        self._turns: dict[object, Turns] = {}

    # -- requests ----------------------------------------------------------------------------------------------------

    def request(self, payload: Payload, model: str | None = None) -> Encoded:
        """Convert a request, for a model if one is given."""
        wire = as_json(payload, self.reader.api, self.reader.form)
        return self.turns(wire, model).converted(wire) if self.is_long(wire) else self.request_by_model(wire, model)

    def is_long(self, wire: Json) -> bool:
        """Return whether a request has so many messages that it may be converted by its turns."""
        messages = wire.get(self.reader.messages_field) if wire.__class__ is dict else None
        return messages.__class__ is list and len(messages) >= self.LONG

    def turns(self, wire: JsonObject, model: str | None) -> Turns:
        """Return the templates of turns for the model of a request, or for the one that is given."""
        key = model, wire.get(self.reader.model_field).__class__ is str and wire[self.reader.model_field]
        turns = self._turns.get(key)
        if turns is None:
            if len(self._turns) >= self.MOST_MODELS:
                self._turns.clear()
            by_model = partial(self.request_by_model, model=model)
            turns = self._turns[key] = self.new_turns(by_model)
        return turns

    def new_turns(self, by_model: Callable[[JsonObject], Encoded]) -> Turns:
        """Return the templates of turns, of which there are none yet. `by_model` converts a request."""
        from contentmodel.lanes.turns import Turns

        return Turns(self.reader, self.writer, by_model)

    def request_by_model(self, wire: Json, model: str | None = None) -> Encoded:
        """Convert a request through the model."""
        request, root, context = self.reader.trace_request(wire, is_plain=True)
        return self.writer.encode_request(request, self._policies, model).trace_to(root, context)

    # -- answers -----------------------------------------------------------------------------------------------------

    def answer(self, payload: Payload) -> Encoded:
        """Convert an answer."""
        wire = as_json(payload, self.reader.api, self.reader.form)
        if wire.__class__ is not dict:
            return self.answer_by_model(wire)
        filled = self.filled(wire)
        if filled is not None:
            return Repeated(wire, *filled, self, lambda: self.answer_by_model(wire))
        encoded = self.answer_by_model(wire)
        self.learn(wire, encoded)
        return encoded

    def filled(self, wire: JsonObject) -> tuple[Json, Template] | None:
        """Return what a template makes of an answer, and the template; None if the answer fits none."""
        keys = (*wire,)
        templates = self._templates.get(keys, [])
        for at, template in enumerate(templates):
            filled = template.fill(wire)
            if filled is not None:
                if at:
                    # A new list, because other threads may read this one.
                    self._templates[keys] = [template, *templates[:at], *templates[at + 1 :]]
                return filled, template
        return None

    def answer_by_model(self, wire: Json) -> Encoded:
        """Convert an answer through the model."""
        response, root, context = self.reader.trace_response(wire, is_plain=True)
        return self.writer.encode_response(response, self._policies).trace_to(root, context)

    def learn(self, wire: JsonObject, encoded: Encoded) -> None:
        """Make a template of an answer that fits none, if answers of its shape were converted by the model before."""
        shape = shape_of(wire)
        if shape is None:
            return
        if len(self._seen) >= self.MOST_SHAPES:
            self._seen.clear()
        self._seen[shape] += 1
        if is_due(self._seen[shape]):
            self._add(wire, encoded)

    def kinds_of(self, encoded: Encoded) -> Mapping[str, Kind] | None:
        """Return the kinds of values of an answer that was converted through the model; None if it is unusual."""
        from contentmodel.lanes.passing import kinds_of_answer

        response, source = encoded.value, encoded.source
        return kinds_of_answer(response, *source) if isinstance(response, ChatResponse) and source else None

    def template_of(self, wire: JsonObject, encoded: Encoded) -> Template | None:
        """Return the template of an answer that was converted through the model; None if it is unusual."""
        from contentmodel.lanes.template import template_of

        kinds = self.kinds_of(encoded)
        try:
            return None if kinds is None else template_of(wire, kinds, self.outcome(encoded), self._outcome_of)
        except ContentModelError:
            # The answer is invalid with other values.
            return None

    def _add(self, wire: JsonObject, encoded: Encoded) -> None:
        template = self.template_of(wire, encoded)
        if template is None:
            return
        if len(self._templates) >= self.MOST_KEYS:
            self._templates.clear()
        templates = self._templates.get((*wire,), [])
        self._templates[(*wire,)] = [template, *templates[: self.MOST - 1]]

    def _outcome_of(self, wire: JsonObject) -> Outcome:
        return self.outcome(self.answer_by_model(wire))

    def outcome(self, encoded: Encoded) -> Outcome:
        """Return what the template of an answer has to make."""
        from contentmodel.lanes.template import Outcome

        counts, facts = encoded.count_losses(), _facts_of(encoded)
        return Outcome(encoded.payload, encoded.losses, encoded.status, counts, facts)


def _facts_of(encoded: Encoded) -> tuple[str | None, str] | None:
    """Return the model of an answer, and the path of its time, "" if it has none; None if the time has no path."""
    from contentmodel.lanes.passing import path_of

    if encoded.created is None or encoded.source is None:
        return encoded.model, ""
    response: Any = encoded.value
    wire, context = encoded.source
    path = path_of(response, "created", context.paths(wire), ModelPaths([response], [], context.api))
    return (encoded.model, path) if path and value_at(wire, path) == encoded.created else None


def shape_of(value: Json) -> int | None:
    """Return a hash of the keys and lengths of JSON values; None if they have too many parts for a template."""
    keys: list[object] = []
    containers = [value]
    for container in containers:
        if len(containers) > _MOST_CONTAINERS:
            return None
        is_object = container.__class__ is dict
        keys.append((*container,) if is_object else len(container))
        containers += [
            part for part in (container.values() if is_object else container) if part.__class__ in (dict, list)
        ]
    return hash(tuple(keys))


class Repeated(Late):
    """The result of a template."""

    __slots__ = ("_template", "_wire")

    def __init__(
        self, wire: JsonObject, payload: Json, template: Template, lane: Lane, by_model: Callable[[], Encoded]
    ) -> None:
        """Create the result. `by_model` converts the same answer through the model."""
        super().__init__(payload, lane.reader, lane.writer, by_model, template.status)
        self._wire, self._template, self._losses = wire, template, template.losses

    @property
    def maps(self) -> Renames:
        """Empty: ids and names of an answer are not replaced."""
        from contentmodel.renames import Renames

        return Renames()

    @property
    def model(self) -> str | None:
        """The model that the source names."""
        return super().model if self._template.facts is None else self._template.facts[0]

    @property
    def created(self) -> float | int | str | None:
        """The time of the source."""
        facts = self._template.facts
        return super().created if facts is None else value_at(self._wire, facts[1]) if facts[1] else None

    def count_losses(self) -> Counter[str]:
        """Return the number of lost values by code."""
        return Counter(self._template.counts)
