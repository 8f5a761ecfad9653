"""Guests: blocks of a provider among the parts of another format.

A framework keeps the blocks of a provider in a spelling of its own, which its table declares as forms. Decoding spells
a part as the provider's block, and the provider's table decodes the block: the content is that of the provider, with
the hint `GUEST`. Encoding is the inverse. The code of neither side depends on that of the other.

A part is a guest only if the inverse of its form returns the same part. The framework's own rows decode any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from msgspec.structs import replace

from contentmodel import reasons
from contentmodel.content.base import AIContent
from contentmodel.content.media import DataContent, UriContent
from contentmodel.content.outcomes import UnknownContent
from contentmodel.content.tools import ToolCallContent
from contentmodel.encoded import Encoded
from contentmodel.engine.context import DecodeContext, EncodeContext
from contentmodel.engine.losses.inner import Other
from contentmodel.engine.table.forms import MISFIT, NOTHING, Form, merged, remainder, respelled, same
from contentmodel.engine.table.nested import Blocks
from contentmodel.engine.table.respelling import KEYS
from contentmodel.engine.table.unions import Union
from contentmodel.errors import DecodeError, UnknownApiError
from contentmodel.hints import GUEST, MINTED, REPEATED, Hint, escaped, wire_fields
from contentmodel.json import (
    Json,
    JsonArray,
    JsonObject,
    canonical,
    object_or_text,
    path_keys,
    wire_at,
    wire_path,
)
from contentmodel.losses import RESIDUE
from contentmodel.message import ChatMessage, Origin
from contentmodel.request import ChatRequest

if TYPE_CHECKING:
    from contentmodel.engine.table.rows import Row

TEXTS = Hint[dict[str, str]](None, "guest_texts", "the JSON texts of fields that a part has as text, by name")
KEPT = Hint[dict[str, JsonArray]](None, "guest_spelling", "the values of a part with another spelling, by path")
_MEDIA = (DataContent, UriContent)


class Parts(NamedTuple):
    """The fields of parts that mean the same for every provider of a format.

    `issuer` has the name of the provider, if parts have one, `call_id` the id of the call, and `file_id` that of the
    call which made a file. `implied` are values that a block implies: a part with another value of such a field is no
    guest. `texts` are fields with an object or its JSON text. `usual` are fields whose usual values follow from the
    block. If `is_joined`, a call and its result are the halves of one part. `around` is the path of the name of the
    provider in the object that has the list of parts, if they have none.
    """

    issuer: str
    call_id: str
    file_id: str = ""
    implied: Mapping[str, Json] = {}
    texts: Sequence[str] = ()
    usual: Sequence[str] = ()
    is_joined: bool = False
    around: str = ""


class Group(NamedTuple):
    """Parts that are one block, as one object: the index of each part that is a content, by its key in the object.

    A part that is alone has the key "". `files` are the indexes of further parts, which have no content of their own.
    `tool` is the name of the forms before a dot, if only the parts together show it.
    """

    whole: JsonObject
    at: Mapping[str, int]
    files: Sequence[int] = ()
    tool: str = ""


Place = tuple[JsonObject, str, str]
"""The container and the key of a value of a group, and the key of its part."""
Groups = Callable[[Sequence[JsonObject], Callable[[JsonObject], bool]], Iterable[Group]]
"""Yield the groups of parts that may be blocks of a provider. The second argument tests the name of the provider."""


def each_part(parts: Sequence[JsonObject], is_named: Callable[[JsonObject], bool]) -> Iterator[Group]:
    """Yield each part alone."""
    return (Group(part, {"": at}) for at, part in enumerate(parts) if is_named(part))


class Provider(Other):
    """A provider whose objects a format keeps."""

    @property
    def origin(self) -> Origin:
        """The origin of the provider's own values."""
        return Origin(api=self.api, issuer=self.adapter.issuer)

    def read(self, payload: JsonObject) -> tuple[list[ChatMessage], DecodeContext]:
        """Decode the messages of a request that has objects in the provider's own spelling. Also return its trace."""
        request, inner = self.adapter.read_request(payload)
        return request.messages, inner

    def read_answer(self, payload: JsonObject) -> list[ChatMessage]:
        """Decode the messages of an answer in the provider's own spelling; none if it has a fault."""
        try:
            answer = self.adapter.read_response(payload)
        except DecodeError:
            return []
        return [message for choice in answer.choices for message in choice.messages]

    def blocks(self, content: AIContent) -> JsonArray:
        """Encode a content of the provider as blocks. The losses are not reported."""
        return self.adapter.encode_blocks(
            [content], EncodeContext(self.api, self.adapter.issuer, "request", None, self.origin)
        )

    def write(self, messages: Sequence[ChatMessage], context: EncodeContext) -> JsonObject:
        """Encode messages of the provider with its table, without steps: the inverse of `read`. Report the losses."""
        inner = EncodeContext(self.api, self.adapter.issuer, "request", None, self.origin)
        self.adapter.aim(inner, None)
        request = ChatRequest(messages=[*messages], origin=self.origin)
        payload = self.adapter.request.encode(request, inner)
        Encoded(payload, request, inner).add_losses_to(context)
        return payload


class Values:
    """The values of a provider's items that a format keeps with contents of its own, in their residue.

    `types` are the classes of these contents. `paths` are the dotted paths of each value, by its name in the item. The
    first one with a value counts. `is_made` returns from the residue, and from the provider of the message, whether the
    provider made the item, if the paths do not show it.
    """

    def __init__(
        self,
        api: str,
        types: tuple[type[AIContent], ...],
        paths: Mapping[str, Sequence[str]],
        is_made: Callable[[JsonObject, str | None], bool] = lambda residue, issuer: True,
    ) -> None:
        self._api, self._types, self._paths, self._is_made = api, types, paths, is_made

    def describe(self) -> JsonObject:
        """Return the values as data: the types of the contents, and the paths of each value."""
        paths = {name: list(places) for name, places in self._paths.items()}
        return {"types": [kind.__name__ for kind in self._types], "paths": paths}

    def read(self, content: AIContent) -> JsonObject:
        """Return the values that are kept with a content, by their names in the item."""
        residue = (content.extra or {}).get(self._api, {}) if isinstance(content, self._types) else {}
        paths = {name: self._place(residue, name) for name in self._paths} if residue else {}
        return {name: wire_at(residue, path) for name, path in paths.items() if path is not None}

    def are_made(self, content: AIContent, origin: Origin) -> bool:
        """Return whether the provider made the item of a content. `origin` is that of its message."""
        return self._is_made((content.extra or {}).get(self._api, {}), origin.issuer)

    def without(self, content: AIContent, names: Iterable[str]) -> dict[str, JsonObject]:
        """Return the residue of a content without the values of these names, and without objects that become empty."""
        extra = {**(content.extra or {})}
        residue = extra.pop(self._api, {})
        for path in [self._place(residue, name) for name in names]:
            residue = residue if path is None else _without(residue, path_keys(path))
        return {**extra, self._api: residue} if residue else extra

    def _place(self, residue: JsonObject, name: str) -> str | None:
        return next((path for path in self._paths[name] if wire_at(residue, path) is not None), None)


def _without(wire: JsonObject, keys: Sequence[str]) -> JsonObject:
    first, *inner_keys = keys
    inner = _without(wire[first], inner_keys) if inner_keys else {}
    return {**{key: value for key, value in wire.items() if key != first}, **({first: inner} if inner else {})}


def values_in(message: ChatMessage, api: str) -> Values | None:
    """Return the values of an API that the format of a message keeps; None if there are none."""
    try:
        adapter = None if message.origin is None else Other(message.origin.api).adapter
    except UnknownApiError:
        return None
    table = getattr(adapter, "table", None)
    return None if table is None else table.of_items.get(api)


class Guest(Provider):
    """The blocks of a provider in a format: its API, the names that parts have for the provider, and the forms.

    `groups` finds the parts of each block, if a block may have several.
    """

    def __init__(
        self, api: str, issuers: Sequence[str], forms: Sequence[Form], parts: Parts, groups: Groups = each_part
    ) -> None:
        super().__init__(api)
        self.issuers, self.forms, self.parts = tuple(issuers), tuple(forms), parts
        self._groups = groups
        self._by_name = {form.name: form for form in forms}
        self._by_tool: dict[str, list[Form]] = {}
        self._by_constant: dict[str, dict[Json, list[Form]]] = {}
        """The forms by the path of their first constant in parts, and by its value."""
        for form in forms:
            self._by_tool.setdefault(form.name.partition(".")[0], []).append(form)
            path, value = next(iter(form.part.items()), ("", None))
            self._by_constant.setdefault(path, {}).setdefault(value, []).append(form)

    def describe(self) -> JsonObject:
        """Return the guest as data, for documentation, coverage and generators."""
        provider = {"api": self.api, "issuers": list(self.issuers)}
        names = {name: getattr(self.parts, name) for name in ("issuer", "call_id", "file_id", "around")}
        return {
            **provider,
            "parts": {
                **names,
                "texts": list(self.parts.texts),
                "usual": list(self.parts.usual),
                "is_joined": self.parts.is_joined,
            },
            "forms": [form.describe() for form in self.forms],
        }

    # -- decoding ------------------------------------------------------------------------------------------------------

    def decode(self, parts: JsonArray, issuer: str, context: DecodeContext) -> Iterator[tuple[Group, list[AIContent]]]:
        """Yield each group of parts that is a block, with its contents. `issuer` is that of parts without a name."""
        objects = [part if part.__class__ is dict else {} for part in parts]
        for group in self._groups(objects, lambda part: part.get(self.parts.issuer, issuer) in self.issuers):
            candidates = self._by_tool.get(group.tool, []) if group.tool else self._forms_of(group.whole)
            if not candidates or not self._is_implied(group):
                continue
            whole, texts = self._with_objects(group)
            for form in candidates:
                block = form.to_block(whole)
                if block is None or not all(form.reads(key, name) for key in texts for name in texts[key]):
                    continue
                contents = self._decoded(form, block, whole, group, texts, context)
                if contents is not None:
                    yield group, contents
                    break

    def _forms_of(self, whole: JsonObject) -> list[Form]:
        candidates = [(forms, wire_at(whole, path)) for path, forms in self._by_constant.items()]
        return [form for forms, value in candidates if value.__class__ is str for form in forms.get(value, ())]

    def _with_objects(self, group: Group) -> tuple[JsonObject, dict[str, dict[str, str]]]:
        """Return the parts of a group with objects in place of JSON texts, and these texts by the key of the part."""
        whole, texts_by_key = group.whole, {}
        for key in group.at:
            part = whole[key] if key else whole
            texts = {name: part[name] for name in self.parts.texts if part.get(name).__class__ is str}
            if not texts:
                continue
            read = {name: object_or_text(text) for name, text in texts.items()}
            objects = {name: value for name, value in read.items() if value.__class__ is dict}
            if objects:
                texts_by_key[key] = {name: texts[name] for name in objects}
                whole = {**whole, key: {**part, **objects}} if key else {**part, **objects}
        return whole, texts_by_key

    def _is_implied(self, group: Group) -> bool:
        parts = [group.whole[key] if key else group.whole for key in group.at]
        return all(part.get(name) in (None, value) for part in parts for name, value in self.parts.implied.items())

    def _decoded(
        self,
        form: Form,
        block: JsonObject,
        whole: JsonObject,
        group: Group,
        texts: Mapping[str, dict[str, str]],
        context: DecodeContext,
    ) -> list[AIContent] | None:
        back = form.to_part(block)
        spellings = form.spellings(whole, back) if form.respells and back is not None else {}
        if back is not None and spellings:
            usual = form.to_block(back)
            back = respelled(back, spellings) if usual is not None and same(usual, block) else None
        other_fields = MISFIT if back is None else remainder(whole, back)
        if back is None or other_fields is MISFIT or len(back.get("files", ())) != len(group.files):
            return None
        other_fields = {} if other_fields is NOTHING else other_fields
        inner = DecodeContext(self.api, self.origin)
        contents = self.adapter.decode_blocks([block], inner)
        if inner.has_faults or len(contents) != len(group.at) or any(c.__class__ is UnknownContent for c in contents):
            return None
        self._trace(form, block, contents, group, inner, context)
        # A list in the block may have other names than in the part.
        context.is_respelled = context.is_respelled or form.respells
        repeated = form.repeated(whole, self.parts.usual) if form.repeats or self.parts.usual else []
        marked = []
        for key, content in zip(group.at, contents, strict=True):
            part_fields = escaped(other_fields.get(key, {}) if key else other_fields)
            if key in texts:
                part_fields = {**part_fields, **TEXTS.entry(texts[key])}
            if spellings and (
                spelled := {path: values for path, values in spellings.items() if not key or path_keys(path)[0] == key}
            ):
                part_fields = {**part_fields, **KEPT.entry(spelled)}
            if repeated or self.parts.usual:
                part_fields = self._with_repeated(content, part_fields, repeated, f"{key}." if key else "")
            if key == form.keys[-1] and group.files:
                content = self._with_files(content, group, other_fields.get("files", {}), context)
            marked.append(context.replaced(content, self._marked(content, form, part_fields, context)))
        return marked

    def _with_files(self, result: Any, group: Group, other_fields: JsonObject, context: DecodeContext) -> Any:
        """Return a result whose media have the other fields of the parts of their files."""
        names = iter(group.whole["files"])
        outputs = []
        for output in result.output_list:
            name = next(names, None) if output.__class__ in _MEDIA else None
            if name is not None:
                context.trace(None, [output], group.whole["files"][name], None, spread=False)
                extra = {**(output.extra or {}), context.api: escaped(other_fields.get(name, {}))}
                output = context.replaced(output, replace(output, extra=extra))
            outputs.append(output)
        return context.replaced(result, replace(result, outputs=outputs))

    def _with_repeated(self, content: Any, part_fields: JsonObject, repeated: Sequence[str], start: str) -> JsonObject:
        """Return the other fields of a part with the hint of values that its block has elsewhere, as the call id."""
        names = [path.removeprefix(start) for path in repeated if path.startswith(start)]
        is_known = self.parts.call_id in self.parts.usual and MINTED.of(content, self.api) is None
        if is_known and content.call_id is not None and part_fields.get(self.parts.call_id) == content.call_id:
            names.append(self.parts.call_id)
        return {**part_fields, **REPEATED.entry(names)} if names else part_fields

    def _marked(self, content: Any, form: Form, part_fields: JsonObject, context: DecodeContext) -> AIContent:
        """Return a content with the hint of its form, and the other fields of its part. Its part may give it its id."""
        call_id = part_fields.get(self.parts.call_id)
        if content.call_id is None and call_id.__class__ is str:
            content = MINTED.on(replace(content, call_id=call_id), self.api, call_id)
        if form.executor is not None:
            content = replace(content, executor=form.executor)
        marked: AIContent = GUEST.on(content, self.api, form.name)
        return replace(marked, extra={**(marked.extra or {}), context.api: part_fields})

    def _trace(
        self,
        form: Form,
        block: JsonObject,
        contents: list[AIContent],
        group: Group,
        inner: DecodeContext,
        context: DecodeContext,
    ) -> None:
        """Record that the contents were decoded from their parts, which have the fields of the block at other places.

        The provider's table may decode a copy of the block, with a field at another place.
        """
        lifted = {field: str(origin) for _, original, field, origin in inner._moved if original is block}
        copy: Any = next((copy for copy, original, *_ in inner._moved if original is block), block)
        paths = {target: form.places.get(lifted.get(target, target), ()) for target in (*form.places, *lifted)}
        places = {
            target: [place for path in part_paths if (place := _place(path, group))]
            for target, part_paths in paths.items()
        }
        for key, content in zip(group.at, contents, strict=True):
            traced = dict(copy)
            self._move(traced, key, group, places, context)
            context.trace(self.adapter.block_rows, [content], traced, None, spread=False)
        for whole in (block,) if copy is block else (block, copy):
            self._move(whole, next(iter(group.at)), group, places, context)
        context.take_over(inner)

    def _move(
        self, block: JsonObject, key: str, group: Group, places: Mapping[str, list[Place]], context: DecodeContext
    ) -> None:
        """Record that a block is a copy of a part, whose fields are at these places. Those in the part come first."""
        part = group.whole[key] if key else group.whole
        context.copied(block, part)
        for target, sources in places.items():
            for container, name, _ in (
                sources if len(sources) < 2 else sorted(sources, key=lambda place: place[2] != key)
            ):
                context.copied(block, part, (target, (container, name)))
                first, *inside = path_keys(target)
                if len(inside) == 1 and block.get(first).__class__ is dict:
                    # The form made this object. A content may be decoded from it.
                    context.copied(block[first], part, (inside[0], (container, name)))

    # -- encoding ------------------------------------------------------------------------------------------------------

    def encode(
        self, contents: Sequence[Any], calls: dict[Any, JsonObject], context: EncodeContext
    ) -> list[JsonArray] | None:
        """Return the parts of each of the contents of one block; None if no form has it.

        A block that cannot hold an edited content has none. `calls` has the part of each call, by its id.
        """
        inner = EncodeContext(self.api, self.adapter.issuer, "request", context.policies, self.origin)
        plain = [inner.replaced(content, self._plain(content)) for content in contents]
        blocks = self.adapter.encode_blocks(plain, inner)
        if len(blocks) != 1 or any(loss[2] is not RESIDUE for loss in inner.pending_losses):
            return None
        named = next((name for content in contents if (name := GUEST.of(content, self.api))), "")
        first = [self._by_name[named]] if named in self._by_name else []
        for form in (*first, *self.forms):
            is_whole = form.executor is None and len(form.keys) == len(contents)
            whole = form.to_part(blocks[0]) if is_whole or form.holds(contents) else None
            if whole is not None:
                break
        else:
            return None
        if form.respells:
            whole = self._as_spelled(form, whole, contents, context)
        pairs = [*zip(form.keys, contents, strict=False)]
        if not all(self._complete(form, whole, key, content, calls, context) for key, content in pairs):
            return None
        again = form.to_block(whole) or {}
        if len(contents) < len(form.keys):
            again = form.without_parts(again, form.keys[len(contents) :])
        self._report(form, blocks[0], again, whole, contents, context)
        context.replacements += inner.replacements
        options, plain_ids = {"kept": (self.api, context.api)}, set(map(id, plain))
        inside = [loss[0] for loss in inner.pending_losses if id(loss[0]) not in plain_ids]
        context.pending_losses += [(owner, None, RESIDUE, None, options) for owner in inside]
        return [self._written(form, whole, key, content, context) for key, content in pairs]

    def _as_spelled(self, form: Form, whole: JsonObject, contents: Sequence[Any], context: EncodeContext) -> JsonObject:
        """Return a part with the spellings that were kept, if its block is the same with them."""
        spellings: dict[str, JsonArray] = {}
        for content in contents:
            spellings.update(KEPT.of(content, context.api) or {})
        if not spellings:
            return whole
        spelled = respelled(whole, spellings)
        again, usual = form.to_block(spelled), form.to_block(whole)
        return spelled if again is not None and same(again, usual) else whole

    def _plain(self, content: Any) -> Any:
        """Return a content with the residue of its provider alone. One that is no guest gets the usual names."""
        residue = (content.extra or {}).get(self.api, {})
        fields = (
            residue if GUEST.is_in(residue) else {name: value for name, value in residue.items() if name not in KEYS}
        )
        return replace(content, extra={self.api: fields} if fields else None)

    def _complete(
        self,
        form: Form,
        whole: JsonObject,
        key: str,
        content: Any,
        calls: dict[Any, JsonObject],
        context: EncodeContext,
    ) -> bool:
        """Add the fields of a part that its block does not have. Return False if it needs an id or its call."""
        part, part_fields = whole[key] if key else whole, (content.extra or {}).get(context.api)
        if part_fields is not None:
            part.update(merged(part, wire_fields(part_fields)))
        if part_fields is None or GUEST.of(content, self.api) is None:
            for name in form.of_call:
                if name not in calls.get(content.call_id, {}):
                    return False
                part[name] = calls[content.call_id][name]
            if self.parts.issuer:
                part[self.parts.issuer] = self.issuers[0]
            form.add(whole, key)
        if content.call_id is not None:
            part.setdefault(self.parts.call_id, content.call_id)
        elif self.parts.call_id not in part:
            return False
        if isinstance(content, ToolCallContent):
            calls[content.call_id] = part
        return True

    def _written(self, form: Form, whole: JsonObject, key: str, content: Any, context: EncodeContext) -> JsonArray:
        """Return the part of a content, after the parts of its files. Texts that have the same value are restored."""
        part, part_fields = whole[key] if key else whole, (content.extra or {}).get(context.api, {})
        texts = (TEXTS.read(part_fields) or {}).items()
        part.update({name: text for name, text in texts if same(object_or_text(text), part.get(name))})
        if key == "" or key != form.keys[-1]:
            return [part]
        media = [output.extra or {} for output in content.output_list if output.__class__ in _MEDIA]
        file_fields = [extra[context.api] for extra in media if context.api in extra]
        file_fields += [{self.parts.file_id: content.call_id} for _ in whole.get("files", {})]
        return [*map(merged, whole.get("files", {}).values(), map(wire_fields, file_fields)), part]

    def _report(
        self,
        form: Form,
        block: JsonObject,
        again: JsonObject,
        whole: JsonObject,
        contents: Sequence[Any],
        context: EncodeContext,
    ) -> None:
        """Report the values of a block that its parts do not have, and the residue of other APIs.

        `again` is the block that the parts spell.
        """
        lost = [*form.missing(block, again)]
        for content in contents:
            options = {"kept": (context.api,), "only": (self.api, {path_keys(path)[0] for path, _, _ in lost})}
            context.pending_losses.append((content, None, RESIDUE, None, options))
        for path, value, other in lost:
            self._report_value(path, value, other, contents, context)
        if form.renamed is not None and context.api not in (contents[0].extra or {}):
            context.report_loss(contents[0], "name", reasons.OTHER_VALUE, value=form.renamed)

    def _report_value(
        self, path: str, value: Json, other: Json, contents: Sequence[Any], context: EncodeContext
    ) -> None:
        """Report a value of a block at a dotted path, as that of the content that holds it. The parts have `other`."""
        for content in contents:
            row = cast("Row", self.adapter.block_rows.row_of(content))
            attribute, inside = row.attribute_at(wire_path("$", path)) or ("", "")
            if attribute and not inside and _are_reordered(value, other):
                context.report_loss(content, attribute, reasons.SEPARATE_COLUMN, column="some of them")
            elif attribute and not inside:
                context.report_lost_attributes(content, (attribute,))
            elif attribute:
                context.report_loss(content, f"{attribute}${inside}", reasons.NO_FIELD)
            if attribute:
                return
        key = path_keys(path)[0]
        if not any(key in (content.extra or {}).get(self.api, {}) for content in contents):
            context.report_loss(contents[0], key, reasons.NO_FIELD, api=self.api)


def _are_reordered(value: Json, other: Json) -> bool:
    """Return whether two lists have the same items."""
    return value.__class__ is other.__class__ is list and sorted(map(canonical, value)) == sorted(map(canonical, other))


def _place(path: str, group: Group) -> Place | None:
    """Return the container and the key of a value of a group, and the key of its part; None if it has no such value.

    A value in an object that is a JSON text has the place of the text.
    """
    first, *keys = path_keys(path) if "" not in group.at else ("", *path_keys(path))
    if first not in group.at:
        return None
    container, last = (group.whole[first] if first else group.whole), keys[-1]
    for key in keys[:-1]:
        inner = container.get(key)
        if inner.__class__ is not dict:
            last = key
            break
        container = inner
    return (container, last, first) if last in container else None


def guests_in(
    parts: JsonArray, guests: Sequence[Guest], issuer: str, context: DecodeContext
) -> dict[int, list[AIContent]]:
    """Return the contents of the parts that are guests, by index. The parts of files have none of their own."""
    decoded: dict[int, list[AIContent]] = {}
    for guest in guests:
        for group, contents in guest.decode(parts, issuer, context):
            decoded.update((at, []) for at in group.files)
            decoded.update({at: [content] for at, content in zip(group.at.values(), contents, strict=True)})
    return decoded


class GuestBlocks(Blocks[AIContent]):
    """A list of parts, some of which are guests. `issuer_of` returns the provider of the parts without a name."""

    def __init__(self, union: Union, guests: Sequence[Guest], issuer_of: Callable[[JsonObject], str]) -> None:
        super().__init__(union)
        self.guests, self._issuer_of = guests, issuer_of
        constants = [item for guest in guests for form in guest.forms for item in form.part.items()]
        self._kinds = {value for path, value in constants if path_keys(path)[-1] == union.tag}
        """The kinds of parts that forms have."""

    def decode(self, value: JsonArray, context: DecodeContext, container: JsonObject, key: str) -> list[AIContent]:
        kinds = [part.get(self.union.tag) for part in value if part.__class__ is dict]
        guests: dict[int, list[AIContent]] = {}
        if self._kinds.intersection([kind for kind in kinds if kind.__class__ is str]):
            guests = guests_in(value, self.guests, self._issuer_of(container), context)
        if not guests:
            return self.union.decode_list(value, context)
        contents = []
        for at, part in enumerate(value):
            decoded = guests.get(at)
            if decoded is None:
                decoded = self.union.decode_list([part], context)
                context.trace(self.union, decoded, value, at, spread=False)
            contents += decoded
        return contents

    def places(self, value: list[AIContent], wire: Json, path: str) -> Iterable[tuple[Any, str, Json, Any]]:
        # Parts beside guests have traces: a guest may be several parts.
        is_plain = wire.__class__ is list and not any(map(guest_api, [c for c in value if c.extra is not None]))
        return super().places(value, wire, path) if is_plain or wire.__class__ is not list else ()


def guest_api(content: AIContent) -> str | None:
    """Return the API of the provider of a guest; None if a content is no guest."""
    return next((api for api in content.extra or () if GUEST.of(content, api) is not None), None)
