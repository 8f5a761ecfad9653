"""Measure a prototype of a typed decode of whole payloads against the engine, which does not use it.

    python benchmarks/typed_decode.py            times, for the payloads of transcripts.py
    python benchmarks/typed_decode.py --quick    a short run, for a first look

msgspec decodes the bytes of a payload into Structs that `typed_forms.py` generates from the rows of an adapter's table,
in one of three variants. "structs": plain Structs, which a function converts to contents. "subclasses": subclasses of
the contents' classes. "classes set": the same, but each object's class is set to the model's afterwards. If a message
or a payload does not match, the engine decodes it. Times are CPU time of the thread, the best of many, each with its
ratio to the engine's time. If CONTENTMODEL_CORPUS is set to a folder of recorded traffic, its matches are counted.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial, reduce
from operator import or_
from pathlib import Path
from typing import Annotated, Any, cast

import msgspec
import typed_by_hand
from measure import Work, measure
from msgspec import UNSET, Meta, Raw, ValidationError
from msgspec.structs import force_setattr
from report import Table, milliseconds
from transcripts import long_answer, request, response, short_answer, transcript
from typed_forms import CLASSES_SET, STRUCTS, SUBCLASSES, Forms

import contentmodel
from contentmodel.authoring import DecodeContext, EncodeContext, with_error_read, with_media_back
from contentmodel.engine.table.codecs import Codec
from contentmodel.engine.table.nested import Blocks
from contentmodel.engine.table.rows import Row
from contentmodel.message import ChatMessage
from contentmodel_adapters.anthropic.messages import messages as anthropic
from contentmodel_adapters.anthropic.messages.blocks import CONTENT
from contentmodel_adapters.common.answer import waiting
from contentmodel_adapters.openai.chat import messages as chat
from contentmodel_adapters.openai.chat.blocks import TOOL_RESULT
from contentmodel_adapters.openai.chat.response import CHOICE

# What msgspec raises for what does not fit, and for text that the engine reads and msgspec does not.
MISFITS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

parse = msgspec.json.Decoder().decode
write = msgspec.json.Encoder().encode


# -- whole payloads ------------------------------------------------------------------------------------------------


class Typed:
    """The typed decode of requests and answers of one API, with the engine behind it."""

    def __init__(self, api: str, variant: str) -> None:
        self.adapter = cast("Any", contentmodel.adapter(api))
        self.forms = Forms(variant)
        self.routes: Counter[str] = Counter()
        """Counts payloads and messages by the way they were decoded."""
        self.builders: dict[str, Any] = {}
        """Functions that make Structs of messages, by role."""
        self.makers = self._makers()
        message: Any = reduce(or_, self.makers)
        many: Any = Annotated[list[message], Meta(min_length=1)]
        self.request = self._envelope(self.adapter.request, "request", messages=many)
        self.raw_request = self._envelope(self.adapter.request, "request", messages=list[Raw])
        self.one = msgspec.json.Decoder(message)

    def _makers(self) -> dict[Any, Callable[..., Any]]:
        """Return the functions that make messages, by the Structs of the roles."""
        raise NotImplementedError

    def _envelope(self, row: Row, name: str, **typed: Any) -> Envelope:
        known = [*row.known_keys(), *self.adapter.table.kept.get(name, ())]
        return Envelope(list(dict.fromkeys(known)), typed)

    def engine_message(self, wire: Any, context: DecodeContext) -> ChatMessage:
        """Decode a message with the engine."""
        raise NotImplementedError

    def decode_request(self, data: bytes) -> Any:
        """Decode into Structs; if something does not fit, message by message; and if that fails, as the engine does."""
        try:
            messages, rest = self.request.decode(data)
        except MISFITS:
            return self.decode_by_message(data)
        self.routes["whole"] += 1
        makers = self.makers
        return self._request(rest, lambda context: [makers[w.__class__](w, context) for w in messages])

    def decode_by_message(self, data: bytes) -> Any:
        """Decode each message into a Struct, or as the engine does."""
        try:
            raws, rest = self.raw_request.decode(data)
        except MISFITS:
            self.routes["not at all"] += 1
            return self.adapter.decode_request(data)
        self.routes["by message"] += 1
        return self._request(rest, lambda context: [self._message(raw, context) for raw in raws])

    def _message(self, raw: Raw, context: DecodeContext) -> ChatMessage:
        try:
            wire = self.one.decode(raw)
        except MISFITS:
            self.routes["messages of the engine"] += 1
            return self.engine_message(parse(raw), context)
        self.routes["messages that fit"] += 1
        made: ChatMessage = self.makers[wire.__class__](wire, context)
        return made

    def _request(self, rest: dict[str, Any], messages: Callable[[DecodeContext], list[ChatMessage]]) -> Any:
        context = DecodeContext(self.adapter.api, self.adapter.origin_of(rest))
        value = self.adapter._decode_row(_Given(self.adapter.request, messages), rest, context)
        context.finish(rest)
        return value

    def decode_response(self, data: bytes) -> Any:
        """Decode into Structs, or as the engine does."""
        try:
            value = self.typed_response(data)
        except MISFITS:
            self.routes["not at all"] += 1
            return self.adapter.decode_response(data)
        self.routes["whole"] += 1
        return value

    def typed_response(self, data: bytes) -> Any:
        """Decode an answer into Structs. ValidationError if it does not fit."""
        raise NotImplementedError

    def build(self, messages: list[ChatMessage]) -> list[Any]:
        """Return Structs of messages, to be written. Misfit if one has none."""
        return [self.builders[message.role](message) for message in messages]


class Envelope:
    """The object around the part that is typed, whose other known fields are plain JSON values."""

    def __init__(self, known: list[str], typed: Mapping[str, Any]) -> None:
        self.keys = [key for key in known if key not in typed]
        (self.key,) = typed
        fields: list[Any] = [*typed.items(), *((key, Any, UNSET) for key in self.keys)]
        self.struct: Any = msgspec.defstruct("Envelope", fields, forbid_unknown_fields=True)
        self._decode = msgspec.json.Decoder(self.struct).decode

    def decode(self, data: bytes) -> tuple[Any, dict[str, Any]]:
        """Return the typed part and the rest. ValidationError if one of them does not fit."""
        return self.opened(self._decode(data))

    def opened(self, made: Any) -> tuple[Any, dict[str, Any]]:
        """Return the same of a Struct."""
        return getattr(made, self.key), {k: v for k in self.keys if (v := getattr(made, k)) is not UNSET}


@dataclass
class _Given:
    """The row of a request whose messages are decoded already."""

    row: Row
    messages: Callable[[DecodeContext], list[ChatMessage]]

    def decode(self, wire: dict[str, Any], context: DecodeContext) -> Any:
        request = self.row.decode(wire, context)
        force_setattr(request, "messages", with_media_back(self.messages(context), context))
        return request


class TypedAnthropic(Typed):
    """Requests and answers of the Messages API."""

    def __init__(self, variant: str) -> None:
        super().__init__("anthropic-messages", variant)
        kind, made = self.forms.typed(Blocks(CONTENT), "w")
        self._contents = self.forms.function("w", f"return {made}")
        self.response = self._envelope(self.adapter.response, "response", content=kind)

    def _makers(self) -> dict[Any, Callable[..., Any]]:
        forms = {role: self.forms.form(anthropic.MESSAGE, ("role", role)) for role in anthropic.ROLES.to_model}
        self.builders = {role: form.build for role, form in forms.items()}
        self.builders["tool"] = self.builders["user"]
        makers: dict[Any, Any] = {form.struct: form.make for form in forms.values()}
        made = forms["user"].make
        makers[forms["user"].struct] = lambda wire, context: anthropic._as_tool_message(made(wire, context))
        return makers

    def engine_message(self, wire: Any, context: DecodeContext) -> ChatMessage:
        message: ChatMessage = anthropic.MESSAGE.decode(wire, context)
        return anthropic._as_tool_message(message) if message.role == "user" else message

    def typed_response(self, data: bytes) -> Any:
        blocks, rest = self.response.decode(data)
        context = DecodeContext(self.adapter.api, self.adapter.answer_origin(rest))
        value = self.adapter._decode_row(self.adapter.response, rest, context)
        context.finish(rest)
        if not value.choices:
            raise ValidationError("no answer")
        value.choices[0].messages[0].contents.extend(self._contents(blocks))
        return value


def _with_citations(make: Callable[..., Any], wire: Any, context: DecodeContext) -> ChatMessage:
    message: ChatMessage = make(wire, context)
    if wire.annotations:
        return chat._attach_citations(message, {"annotations": wire.annotations}, context)
    return message


class TypedChat(Typed):
    """Requests and answers of Chat Completions."""

    def __init__(self, variant: str) -> None:
        super().__init__("openai-chat", variant)
        answer = next(struct for struct in self.makers if struct.__struct_config__.tag == "assistant")
        self._answer = self.makers[answer]
        self.choice = Envelope(list(CHOICE.known_keys()), {"message": answer})
        choice: Any = self.choice.struct
        self.response = self._envelope(self.adapter.response, "response", choices=list[choice])

    def _makers(self) -> dict[Any, Callable[..., Any]]:
        conversation = {role: self.forms.form(chat.PLAIN, ("role", role)) for role in chat.ROLES.to_model}
        conversation["assistant"] = self.forms.form(chat.ASSISTANT, ("role", "assistant"))
        self.builders = {role: form.build for role, form in conversation.items()}
        makers: dict[Any, Any] = {form.struct: form.make for form in conversation.values()}
        makers[conversation["assistant"].struct] = partial(_with_citations, conversation["assistant"].make)
        result = self.forms.form(TOOL_RESULT, ("role", "tool"))
        make, self.build_result = result.make, result.build
        makers[result.struct] = lambda wire, context: ChatMessage(
            role="tool", contents=[with_error_read(make(wire))], origin=context.origin
        )
        return makers

    def engine_message(self, wire: Any, context: DecodeContext) -> ChatMessage:
        if wire.__class__ is not dict or wire.get("role").__class__ is not str:
            raise ValidationError("no message")
        return chat.decode_message(wire, context)

    def typed_response(self, data: bytes) -> Any:
        choices, rest = self.response.decode(data)
        context = DecodeContext(self.adapter.api, self.adapter.answer_origin(rest))
        value = self.adapter._decode_row(self.adapter.response, rest, context)
        for made in choices:
            message, others = self.choice.opened(made)
            choice = CHOICE.decode(others, context)
            choice.messages.append(self._answer(message, context))
            value.choices.append(waiting(choice))
        context.finish(rest)
        return value

    def build(self, messages: list[ChatMessage]) -> list[Any]:
        built: list[Any] = []
        for message in messages:
            if message.role == "tool":
                built += [self.build_result(content) for content in message.contents]
            else:
                built.append(self.builders[message.role](message))
        return built


# -- measuring -----------------------------------------------------------------------------------------------------

APIS: dict[str, tuple[type[Any], type[Codec]]] = {
    "anthropic-messages": (TypedAnthropic, anthropic.Messages),
    "openai-chat": (TypedChat, chat.Messages),
}
ENGINE = "engine"


class Bench:
    """The measurements, each in rounds that alternate between the contenders."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.conversation = transcript()

    def row(self, table: Table, title: str, works: Mapping[str, Work]) -> None:
        """Add a row of the best times. The times after the engine's have their ratio to it."""
        timings = measure(works, self.seconds, time.thread_time)
        engine = timings[ENGINE].best
        cells = [f"{milliseconds(t.best)} ({t.best / engine:.0%})" for t in timings.values()]
        table.row(title, *cells)

    def decoding(self) -> Table:
        """Measure decoding of payloads that match. `cache_control` is removed: subclasses have no field for it."""
        columns = (
            "msgspec, dicts",
            ENGINE,
            "msgspec, Structs",
            STRUCTS,
            CLASSES_SET,
            SUBCLASSES,
            "structs, by message",
        )
        table = Table("Decode what fits", ("", *columns))
        for api, (kind, _) in APIS.items():
            typed: dict[str, Any] = {variant: kind(variant) for variant in (STRUCTS, CLASSES_SET, SUBCLASSES)}
            structs = typed[STRUCTS]
            payload = _without(request(api, self.conversation), "cache_control")
            for title, sent in (("request", payload), ("request, tags last", _with_tags(payload, first=False))):
                data = write(sent)
                assert structs.decode_request(data) == typed[CLASSES_SET].decode_request(data)
                assert structs.decode_request(data) == structs.adapter.decode_request(data)
                works: list[Work] = [partial(parse, data), partial(structs.adapter.decode_request, data)]
                works += [partial(structs.request.decode, data)]
                works += [partial(t.decode_request, data) for t in typed.values()]
                works.append(partial(structs.decode_by_message, data))
                self.row(table, f"{api}, {title}", dict(zip(columns, works, strict=True)))
            assert all(t.routes.keys() <= {"whole", "by message", "messages that fit"} for t in typed.values())
            for title, answer in (("long answer", long_answer()), ("short answer", short_answer())):
                data = write(response(api, answer))
                assert structs.decode_response(data) == structs.adapter.decode_response(data)
                works = [partial(parse, data), partial(structs.adapter.decode_response, data)]
                works += [partial(structs.response.decode, data)]
                works += [partial(t.decode_response, data) for t in typed.values()]
                self.row(table, f"{api}, {title}", dict(zip(columns, works, strict=False)))
                table.rows[-1] += ("",)
        return table

    def falling_back(self) -> Table:
        """Measure requests with fields that no Struct has, in some messages or next to them."""
        table = Table("Decode what does not fit, by Structs first", ("", ENGINE, STRUCTS))
        for api, (kind, _) in APIS.items():
            typed = kind(STRUCTS)
            number = len(request(api, self.conversation)["messages"])
            for title, strange in (
                ("nothing strange", []),
                ("the first message", [0]),
                ("the last message", [-1]),
                ("every tenth message", range(0, number, 10)),
                ("every message", range(number)),
            ):
                payload = request(api, self.conversation)
                for index in strange:
                    payload["messages"][index]["strange"] = 1
                self._fallback(table, f"{api}, {title}", typed, write(payload))
            payload = {**request(api, self.conversation), "strange": 1}
            self._fallback(table, f"{api}, beside the messages", typed, write(payload))
        return table

    def _fallback(self, table: Table, title: str, typed: Any, data: bytes) -> None:
        assert typed.decode_request(data) == typed.adapter.decode_request(data)
        works = {ENGINE: partial(typed.adapter.decode_request, data), STRUCTS: partial(typed.decode_request, data)}
        self.row(table, title, works)

    def encoding(self) -> Table:
        """Measure encoding of messages without unknown fields to JSON."""
        columns = ("msgspec, dicts", ENGINE, "msgspec, Structs", STRUCTS)
        table = Table("Encode messages and write them", ("", *columns))
        for api, (kind, codec) in APIS.items():
            typed = kind(STRUCTS)
            payload = _without(_without(request(api, self.conversation), "cache_control"), "citations")
            made = typed.adapter.decode_request(write(payload))
            context = EncodeContext(api, typed.adapter.issuer, "request", None, made.origin)
            encode = partial(codec().encode, made.messages, context, made)
            structs = typed.build(made.messages)
            assert parse(write(structs)) == encode() == payload["messages"]
            works: list[Work] = [partial(write, payload["messages"]), partial(_then, write, encode)]
            works += [partial(write, structs), partial(_then, write, partial(typed.build, made.messages))]
            self.row(table, api, dict(zip(columns, works, strict=True)))
        return table

    def by_hand(self) -> Table:
        """Measure the messages of the Chat request: Structs, and leaner code without them."""
        columns = (ENGINE, STRUCTS, "dicts, by hand")
        table = Table("Messages of the Chat request", ("", *columns))
        typed = TypedChat(STRUCTS)
        objects = request("openai-chat", self.conversation)["messages"]
        data = write({"messages": objects})
        messages = typed.adapter.decode_request(data).messages
        context = DecodeContext("openai-chat", messages[0].origin)
        target = EncodeContext("openai-chat", typed.adapter.issuer, "request", None, context.origin)
        assert typed_by_hand.decode(objects, context) == messages
        assert typed_by_hand.encode(messages) == objects

        def by_engine() -> Any:
            # Each decoding has traces of its own.
            fresh = DecodeContext(context.api, context.origin)
            return chat.Messages().decode(parse(data)["messages"], fresh, None, "messages")

        def by_structs() -> list[Any]:
            return [typed.makers[wire.__class__](wire, context) for wire in typed.request.decode(data)[0]]

        decoders: list[Work] = [
            by_engine,
            by_structs,
            lambda: typed_by_hand.decode(parse(data)["messages"], context),
        ]
        encoders: list[Work] = [
            lambda: write(chat.Messages().encode(messages, target, None)),
            lambda: write(typed.build(messages)),
            lambda: write(typed_by_hand.encode(messages)),
        ]
        self.row(table, "parse and decode", dict(zip(columns, decoders, strict=True)))
        self.row(table, "encode and write", dict(zip(columns, encoders, strict=True)))
        return table

    def converting(self) -> Table:
        """Measure a whole conversion, with the typed decode instead of the engine's."""
        table = Table("Convert, bytes to bytes", ("", "floor", ENGINE, STRUCTS))
        for source, (kind, _) in APIS.items():
            typed = kind(STRUCTS)
            for target in map(contentmodel.adapter, APIS):
                for title, payload in (
                    ("request", request(source, self.conversation)),
                    ("long answer", response(source, long_answer())),
                    ("short answer", response(source, short_answer())),
                ):
                    data, payload_kind = write(payload), "request" if title == "request" else "response"
                    encode = getattr(target, f"encode_{payload_kind}")
                    routes = [getattr(reader, f"decode_{payload_kind}") for reader in (typed.adapter, typed)]
                    out = encode(routes[0](data)).payload
                    assert encode(routes[1](data)).payload == out
                    works: dict[str, Work] = {"floor": partial(_floor, data, out)}
                    works |= {
                        name: partial(_convert, route, encode, data)
                        for name, route in zip((ENGINE, STRUCTS), routes, strict=True)
                    }
                    self.row(table, f"{source} to {target.api}, {title}", works)
        return table


def recorded(folder: Path, seconds: float) -> Table:
    """Measure how much recorded traffic matches, and its times.

    Recorders sort keys. Here tags come first, as msgspec requires.
    """
    routes = ("whole", "by message", "not at all", "messages that fit", "messages of the engine")
    table = Table("Recorded traffic", ("", "payloads", *routes, ENGINE, "typed"))
    for api, (kind, _) in APIS.items():
        for payload_kind in ("request", "response"):
            file = folder / f"{api}.{payload_kind}.jsonl"
            for variant in (STRUCTS, CLASSES_SET) if file.is_file() else ():
                typed = kind(variant)
                engine, ours = (getattr(reader, f"decode_{payload_kind}") for reader in (typed.adapter, typed))
                payloads = [data for data in _bodies(file) if _is_read(engine, data)]
                for data in payloads:
                    assert ours(data) == engine(data)
                counts = [str(typed.routes[route]) for route in routes]
                works = {name: partial(_each, route, payloads) for name, route in ((ENGINE, engine), ("typed", ours))}
                timings = measure(works, seconds, time.thread_time)
                times = [milliseconds(timing.best) for timing in timings.values()]
                table.row(f"{api}, {payload_kind}s, {variant}", str(len(payloads)), *counts, *times)
    return table


def _bodies(file: Path) -> list[bytes]:
    lines = file.read_text("utf-8").splitlines()
    return [write(_with_tags(json.loads(line)["body"], first=True)) for line in lines]


def _is_read(decode: Callable[[bytes], Any], data: bytes) -> bool:
    try:
        decode(data)
    except contentmodel.DecodeError:
        return False
    return True


def _each(decode: Callable[[bytes], Any], payloads: list[bytes]) -> None:
    for data in payloads:
        decode(data)


def _without(payload: Any, key: str) -> Any:
    """Return a payload without a field, in the blocks of its messages."""
    for message in payload["messages"]:
        for block in message["content"] if isinstance(message["content"], list) else ():
            block.pop(key, None)
    return payload


def _with_tags(value: Any, *, first: bool) -> Any:
    """Return JSON in which every object has its tag as the first key, or as the last."""
    if isinstance(value, list):
        return [_with_tags(item, first=first) for item in value]
    if not isinstance(value, dict):
        return value
    made = {key: _with_tags(item, first=first) for key, item in value.items()}
    tags = {key: made.pop(key) for key in ("role", "type") if key in made}
    return {**tags, **made} if first else {**made, **tags}


def _then(second: Callable[[Any], Any], first: Callable[[], Any]) -> Any:
    return second(first())


def _floor(data: bytes, out: Any) -> bytes:
    parse(data)
    return write(out)


def _convert(decode: Callable[[bytes], Any], encode: Callable[[Any], Any], data: bytes) -> bytes:
    made: bytes = encode(decode(data)).to_json()
    return made


def main() -> None:
    """Run the benchmarks that the command line selects."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a short run, for a first look")
    bench = Bench(0.5 if parser.parse_args().quick else 6)
    corpus = os.environ.get("CONTENTMODEL_CORPUS")
    if corpus:
        print(recorded(Path(corpus) / "recorded", bench.seconds).text(), flush=True)
    for table in (bench.decoding, bench.falling_back, bench.encoding, bench.by_hand, bench.converting):
        print(table().text(), flush=True)


if __name__ == "__main__":
    main()
