"""The adapter under test and its inputs: other adapters, limits, given payloads, recordings."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from functools import cached_property
from importlib.util import find_spec
from typing import Any

from hypothesis import strategies as st

import contentmodel
from contentmodel import (
    ChatChoice,
    ChatMessage,
    ChatRequest,
    ChatResponse,
    ContentModelError,
    DataContent,
    DecodeError,
    FinishReason,
    FunctionCallContent,
    FunctionResultContent,
    FunctionTool,
    ReasoningContent,
    TextContent,
)
from contentmodel.adapter import as_json
from contentmodel.errors import MissingExtraError
from contentmodel_conformance.coverage import sdk_types
from contentmodel_conformance.examples import EXAMPLES, Example, checked
from contentmodel_conformance.oracles import judge
from contentmodel_conformance.oracles.accumulators import APIS as ACCUMULATING
from contentmodel_conformance.oracles.hosted import FAILURES
from contentmodel_conformance.readers import READERS, Reader
from contentmodel_conformance.recordings import Recordings
from contentmodel_conformance.report import shown
from contentmodel_conformance.strategies.hosted import HOSTED_APIS
from contentmodel_conformance.strategies.transcripts import LIMITS, Limits

KINDS = ("request", "response")

Payloads = st.SearchStrategy[Any] | Sequence[Any]
"""Payloads of a format: a hypothesis strategy or a sequence."""

_HELLO = [ChatMessage(role="user", contents=[TextContent(text="Hi.")])]
_ANSWER = [ChatMessage(role="assistant", contents=[TextContent(text="Hi.")])]
_LEAST: dict[str, Any] = {
    "request": ChatRequest(model="m", messages=_HELLO),
    "response": ChatResponse(id="i", model="m", choices=[ChatChoice(messages=_ANSWER)]),
}


class Subject:
    """The adapter under test. Probes what the adapter supports, and catches its exceptions."""

    def __init__(
        self,
        adapter: Any,
        *,
        others: Iterable[Any] | None = None,
        payloads: Mapping[str, Payloads] | None = None,
        limits: Limits | None = None,
        reader: Reader | None = None,
        examples: Sequence[Example] = (),
        recordings: Recordings | None = None,
        is_one_of_many: bool = False,
        partners: int | None = None,
    ) -> None:
        self.adapter = adapter
        self.api: str = getattr(adapter, "api", type(adapter).__name__)
        adapters = contentmodel.adapters().values() if others is None else others
        self.others = [other for other in adapters if other is not adapter and other.api != self.api]
        self.payloads = dict(payloads or {})
        self.limits = limits or LIMITS.get(self.api) or getattr(adapter, "limits", None)
        self.recordings = recordings
        self.reader = reader or _reader_of(adapter)
        self.examples = checked(self.api, examples) or EXAMPLES.get(self.api, [])
        self._written: dict[str, list[Any]] = {}
        self.is_one_of_many = is_one_of_many
        """True if the other adapters are checked in the same run. Then their own checks try conversions from them."""
        self.partners = partners
        """The largest number of other adapters in one check; None for all."""

    def in_turn(self, check: str) -> Subject:
        """Return the subject with the other adapters whose turn it is in a check: at most `partners`.

        The turn depends on the names of the adapter and the check. So every other adapter has its turn in some checks.
        """
        if self.partners is None or len(self.others) <= self.partners:
            return self
        step = -(-len(self.others) // self.partners)
        turn = zlib.crc32(f"{self.api}/{check}".encode()) % step
        limited = copy(self)
        limited.others = self.others[turn::step]
        limited.__dict__.pop("others_by_kind", None)
        return limited

    @cached_property
    def unsupported(self) -> dict[str, str]:
        """The kinds of payload that the adapter does not support, each with the reason; {} if it supports both.

        A kind counts as supported if the API has an SDK, or if payloads of this kind were given.
        """
        supported = {*self.payloads, *(() if self.no_types else KINDS)}
        reasons = {kind: _why_not(self.adapter, kind) for kind in KINDS if kind not in supported}
        return {kind: reason for kind, reason in reasons.items() if reason}

    @cached_property
    def others_by_kind(self) -> dict[str, list[Any]]:
        """The other adapters that support each kind of payload."""
        supported = [(other, Subject(other, others=()).supported) for other in self.others]
        return {kind: [other for other, kinds in supported if kind in kinds] for kind in KINDS}

    @property
    def supported(self) -> list[str]:
        """The kinds of payload that the adapter supports."""
        return [kind for kind in KINDS if kind not in self.unsupported]

    @cached_property
    def no_streams(self) -> str:
        """Why the adapter has no streams; empty if it has streams, or if an SDK of its API shows that it must."""
        if not self.no_types:
            return ""
        try:
            self.adapter.stream_decoder()
            self.adapter.stream_encoder()
        except (ContentModelError, NotImplementedError, AttributeError) as error:
            return _why(error)
        except Exception:
            return ""
        return ""

    @property
    def no_hosted(self) -> str:
        """Why no call of an unknown hosted tool can be drawn for this API; empty if one can."""
        return "" if self.api in HOSTED_APIS else "the kit has no samples of hosted tools of this API"

    @property
    def no_hosted_failures(self) -> str:
        """Why it is not known how hosted tools of this API fail; empty if it is."""
        return "" if self.api in FAILURES else "the kit has no samples of failed hosted tools of this API"

    @cached_property
    def no_judge(self) -> str:
        """Why payloads of this API cannot be validated; empty if an official SDK has types for them."""
        return _reason(lambda: judge(self.api, "request"), "no official SDK has types of this API")

    @cached_property
    def no_types(self) -> str:
        """Why there are no SDK types of this API; empty if there are."""
        return _reason(lambda: sdk_types(self.api), "no official SDK has types of this API")

    @property
    def no_accumulator(self) -> str:
        """Why no SDK accumulates a stream of this API to an answer; empty if one does."""
        return self.no_streams or self.no_judge or ("" if self.api in ACCUMULATING else "its SDK has no accumulator")

    @property
    def no_refusals(self) -> str:
        """Why the adapter refuses no text; empty if a text that is not a JSON object is invalid."""
        return "" if self.no_lines else "any text is a document: a line that is not JSON is kept as its text"

    @property
    def no_lines(self) -> str:
        """Why no lines can be cut; empty if a document of the adapter is JSON Lines."""
        return "" if getattr(self.adapter, "form", "json") == "lines" else "a document is one JSON value"

    @property
    def no_lane(self) -> str:
        """Why answers take no lanes; empty if they do."""
        return "" if getattr(self.adapter, "has_lane", False) else "the adapter has no lane"

    @property
    def no_rules(self) -> str:
        """Why there are no rules of the API; empty if the adapter has rules."""
        return "" if getattr(self.adapter, "rules", None) else "the adapter has no rules"

    @property
    def no_others(self) -> str:
        """Why there is no conversion to try; empty if there is another adapter."""
        return "" if self.others else "there is no other adapter to convert from or to"

    @property
    def no_payloads(self) -> str:
        """Why there are no given payloads; empty if some were given with the adapter."""
        return "" if self.payloads else "no payloads were given: see `payloads`"

    @property
    def no_corpus(self) -> str:
        """Why no recordings can be tried; empty if the folder has lines of this API."""
        if self.recordings is None:
            return "no corpus was given"
        lines = self.recordings.of(self.api, *KINDS, "stream", "error") or self.recordings.bad.get(self.api)
        return "" if lines else f"{self.recordings.folder} has no recordings of this API"

    @property
    def no_traffic(self) -> str:
        """Why no recordings of other APIs can be tried; empty if a folder was given."""
        return "no corpus was given" if self.recordings is None else ""

    def reader_of(self, adapter: Any) -> Reader | None:
        """Return the reader of an adapter's API; None if there is none. The adapter may be the subject."""
        return self.reader if adapter is self.adapter else _reader_of(adapter)

    @property
    def no_reader(self) -> str:
        """Return why readings cannot be compared: the API has no reader."""
        return "" if self.reader else "no reader was given: see `reader`"

    @property
    def no_examples(self) -> str:
        """Return why no payload is compared with the value expected of it: no examples were given."""
        return "" if self.examples else "no payloads with expected values were given: see `examples`"

    @property
    def no_table(self) -> str:
        """Why no payloads can be generated from the adapter's table; empty if it describes unions of blocks."""
        unions = self.description.get("unions")
        return "" if isinstance(unions, dict) and unions else "the adapter describes no blocks"

    @cached_property
    def description(self) -> dict[str, Any]:
        """The adapter's description of its tables; {} if it raises or is not a dict."""
        try:
            described = self.adapter.describe()
        except Exception:  # The check `face` reports it.
            return {}
        return described if isinstance(described, dict) else {}

    @property
    def guests(self) -> dict[str, dict[str, Any]]:
        """The descriptions of the installed providers whose blocks the format keeps, by API."""
        apis = [str(guest["api"]) for guest in self.description.get("guests", ())]
        installed = contentmodel.adapters()
        return {api: contentmodel.adapter(api).describe() for api in apis if api in installed}

    @property
    def no_guests(self) -> str:
        """Why no blocks of providers can be generated; empty if the adapter describes some."""
        return "" if self.guests else "the format has no blocks of providers"

    @property
    def no_limits(self) -> str:
        """Why no transcripts of this API can be generated; empty if its limits are set."""
        return "" if self.limits else "the limits of its transcripts are unknown: set `limits`"

    @property
    def no_jsonschema(self) -> str:
        """Why schemas cannot be checked; empty if jsonschema is installed."""
        return "" if find_spec("jsonschema") else str(MissingExtraError("conformance", "jsonschema"))

    def written(self, kind: str) -> list[Any]:
        """Return what the adapter encodes a few samples to, as plain JSON. Samples that fail to encode are left out."""
        if kind not in self._written:
            self._written[kind] = [encoded for value in samples(kind) if (encoded := _write(self.adapter, kind, value))]
        return self._written[kind]

    def wire(self, value: Any) -> str:
        """Return the payload of a model value as text, encoded by the adapter of its origin; "" if that fails."""
        if not isinstance(value, ChatRequest | ChatResponse):
            return ""
        api = self.api if value.origin is None else value.origin.api
        adapter = next((other for other in self.others if other.api == api), self.adapter)
        kind = "request" if isinstance(value, ChatRequest) else "response"
        payload = _write(adapter, kind, value)
        return "" if payload is None else shown(payload, 4000)

    def own(self, kind: str) -> st.SearchStrategy[Any] | None:
        """Return the payloads given with the adapter, as a strategy; None if there are none."""
        payloads = self.payloads.get(kind)
        if payloads is None or isinstance(payloads, st.SearchStrategy):
            return payloads
        return st.sampled_from(list(payloads)) if payloads else None


def _reader_of(adapter: Any) -> Reader | None:
    reader: Reader | None = READERS.get(adapter.api) or getattr(adapter, "reader", None)
    return reader


def limits_of(adapter: Any) -> Limits:
    """Return the limits of transcripts of an adapter's API; the strictest if none are declared."""
    limits = LIMITS.get(adapter.api) or getattr(adapter, "limits", None)
    return limits if isinstance(limits, Limits) else Limits(issuer=adapter.issuer, model="m", **_LITTLE)


def kinds_of(adapter: Any) -> Sequence[str]:
    """Return the kinds of payload that an adapter supports; all if it supports none, which is a defect."""
    return [kind for kind in KINDS if not _why_not(adapter, kind)] or KINDS


def is_source(adapter: Any) -> bool:
    """Return whether conversations of an adapter's own API can be drawn. A store has those of other APIs."""
    return bool(adapter.issuer) or (adapter.api in LIMITS and LIMITS[adapter.api].origin is None)


_LITTLE: dict[str, Any] = dict.fromkeys(
    ("signs", "hosted_search", "images_in_results", "errors", "systems_between", "several_texts"), False
)


def samples(kind: str) -> list[Any]:
    """Return a few requests or responses that cover what most APIs support."""
    picture = DataContent(data="iVBORw0KGgo=", media_type="image/png")
    call = FunctionCallContent(call_id="call_1", name="weather", arguments={"city": "Oslo"})
    result = FunctionResultContent(call_id="call_1", name="weather", outputs=[TextContent(text="18 degrees")])
    thought = ReasoningContent(text="They ask for the weather.")
    messages = [
        ChatMessage(role="user", contents=[TextContent(text="What is this?"), picture]),
        ChatMessage(role="assistant", contents=[thought, TextContent(text="A pixel."), call]),
        ChatMessage(role="tool", contents=[result]),
        ChatMessage(role="user", contents=[TextContent(text="Thanks.")]),
    ]
    if kind == "request":
        tools: list[Any] = [FunctionTool(name="weather", parameters={"type": "object"})]
        return [_LEAST[kind], ChatRequest(model="m", messages=messages, tools=tools)]
    reason = FinishReason(reason="tool_calls")
    choice = ChatChoice(messages=[messages[1]], finish_reason=reason)
    return [_LEAST[kind], ChatResponse(id="i", model="m", choices=[choice])]


def _write(adapter: Any, kind: str, value: Any) -> Any:
    try:
        encoded = getattr(adapter, f"encode_{kind}")(value)
        return as_json(encoded.to_json(), adapter.api, encoded.form)
    except Exception:  # The checks of written payloads report it.
        return None


def _reason(ask: Callable[[], Any], otherwise: str) -> str:
    """Return "" if `ask` succeeds, else the reason why it fails."""
    try:
        ask()
    except LookupError:
        return otherwise
    except ImportError as error:
        return f"its SDK is not installed: {error}"
    return ""


def _why_not(adapter: Any, kind: str) -> str:
    """Return why an adapter does not support a kind of payload; empty if it does."""
    try:
        getattr(adapter, f"encode_{kind}")(_LEAST[kind])
    except (ContentModelError, NotImplementedError, AttributeError) as error:
        return _why(error)
    except Exception:  # A defect, not missing support: the checks report it.
        return ""
    return ""


def _why(error: BaseException) -> str:
    if isinstance(error, DecodeError):
        return error.faults[0].message
    return str(error) or type(error).__name__
