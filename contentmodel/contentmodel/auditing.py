"""Check the accounting law: every value of a source payload is in the output, or covered by a loss.

Values are counted: two equal images of the source are not one. Enum values that every API spells differently (roles,
types) are structure and are not counted. Finish reasons are compared by what they mean.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import msgspec

from contentmodel import meanings, objects
from contentmodel.adapter import Payload, adapter, as_json
from contentmodel.containment import escaped, occurrences, pieces, spellings
from contentmodel.content.media import DataContent, standard_base64
from contentmodel.content.media_types import OTHER_NAMES
from contentmodel.encoded import Encoded, EncodedStream
from contentmodel.engine.pipeline.sentinels import APART, LATE, unmarked
from contentmodel.engine.table.respelling import spelled_number
from contentmodel.errors import UnknownApiError
from contentmodel.hints import REPEATED
from contentmodel.json import child_path, object_or_text, value_at
from contentmodel.losses import Loss
from contentmodel.reasons import AS_TEXT, FOREIGN_MODEL, MAPPED_NAME
from contentmodel.vocabularies import Vocabulary, vocabulary_of

COVERING = ("dropped", "degraded", "insignificant")
"""The kinds of losses that cover every value at and below their path."""


class Unaccounted(msgspec.Struct, frozen=True):
    """A value of the source that is neither in the output nor covered by a loss, with its JSON path."""

    path: str
    value: Any

    def __str__(self) -> str:
        return f"{self.value!r:.80} at {self.path} is neither in the output nor covered by a loss"


def audit(source: Payload, encoded: Encoded, vocabulary: Vocabulary | None = None) -> list[Unaccounted]:
    """Return the values of `source` that are neither in `encoded.payload` nor covered by one of its losses.

    A loss of the kind "dropped", "degraded" or "insignificant" covers every value at and below its path, one of the
    kind "moved" covers none. The model that the caller named is not missing. `vocabulary` describes the fields of
    the source API; if it is None, use that of the adapter that decoded the source (see `vocabulary_of`).

    Raise TypeError for a converted stream: its losses have paths in the folded response, which is not its source.
    """
    if isinstance(encoded, EncodedStream):
        raise TypeError(
            "audit takes a converted request or response, and this is a stream: fold it with fold_stream, encode the "
            "response with the adapter of its API, and audit the conversion of this payload"
        )
    vocabulary = vocabulary or vocabulary_of_api(encoded.source_api)
    return unaccounted(
        as_json(source, encoded.source_api or "json"),
        encoded.payload,
        encoded.losses,
        vocabulary,
        vocabulary_of_api(encoded.api),
        encoded.named_by_caller,
    )


@cache
def vocabulary_of_api(api: str | None) -> Vocabulary | None:
    """Return the vocabulary of an installed API; None if no such adapter is installed."""
    try:
        return None if api is None else vocabulary_of(adapter(api))
    except UnknownApiError:
        return None


def unaccounted(
    source: Any,
    output: Any,
    losses: Sequence[Loss],
    vocabulary: Vocabulary | None = None,
    target: Vocabulary | None = None,
    named: Collection[str] = (),
) -> list[Unaccounted]:
    """Do the same as `audit`, for plain JSON values. `target` is the output's vocabulary, `named` has paths."""
    # A loss at the root, or with an inexact path, covers no other values. The model of another provider is sent.
    covering = (loss for loss in losses if loss.kind in COVERING and loss.exact and loss.code != FOREIGN_MODEL.code)
    lost_paths = {*named, *(loss.path for loss in covering)} - {"$"}
    output_values = _OutputValues(output, target or Vocabulary())
    leaves_of_source = counted(source, vocabulary or Vocabulary(), losses)
    untyped = {loss.path for loss in losses if loss.what.startswith("media_type of ")}
    wanted = [_untyped(leaf, untyped) for leaf in leaves_of_source if lost_paths.isdisjoint(leaf.above)]
    # Match unchanged values first. Match JSON texts and data URIs before values that may occur inside of them.
    wanted.sort(key=_has_no_parts)
    unequal = [leaf for leaf in wanted if not output_values.take_leaf(leaf)]
    unequal = [leaf for leaf in unequal if not output_values.take_in_other_form(leaf)]
    output_values.look_for(leaf.value for leaf in unequal if leaf.sort in _SPELLED)
    unmatched = [leaf for leaf in unequal if not (leaf.sort in _SPELLED and output_values.take_in_text(leaf.value))]
    unmatched = output_values.without_repeated(unmatched, wanted)
    joined = output_values.joined(unequal) if unmatched else frozenset()
    missing = [Unaccounted(leaf.above[-1], leaf.value) for leaf in unmatched if leaf.above[-1] not in joined]
    if vocabulary is not None and target is not None:
        reported = {loss.path for loss in missing}
        changed = meanings.changed(source, output, vocabulary, target, lost_paths)
        missing += [Unaccounted(meaning.path, meaning.value) for meaning in changed if meaning.path not in reported]
    if target is None or not target.is_store:
        # A storage format has citations and tools in other shapes.
        data = [(described.data if described else frozenset()) | _SCHEMAS for described in (vocabulary, target)]
        missing_objects = objects.missing(
            objects.counted_objects(source, data[0]), objects.counted_objects(output, data[1]), lost_paths
        )
        missing += [Unaccounted(item.above[-1], item.value) for item in missing_objects]
    return missing


def counted(payload: Any, vocabulary: Vocabulary, losses: Iterable[Loss] = ()) -> Iterator[Leaf]:
    """Yield the scalars that an audit counts: all but structure, null, false and empty texts.

    If a loss reports that a structure value became text, count it: a failure may only contain its status. Do not count
    the label of media of a result if a loss reports the id of its call.
    """
    losses = [*losses]
    as_text = {loss.path for loss in losses if loss.code == AS_TEXT.code}
    mapped = [loss.path for loss in losses if loss.code == MAPPED_NAME.code]
    root = _expanded(payload, vocabulary) if mapped else None
    labels = {APART.write(f"{value_at(root, path)}") for path in mapped}
    for leaf in _leaves(payload, vocabulary):
        if leaf.value in labels:
            continue
        if leaf.sort == WORD and leaf.above[-1] in as_text:
            leaf = leaf._replace(sort=VALUE)
        if leaf.sort != WORD and not _is_blank(leaf.value):
            yield leaf


def _expanded(payload: Any, vocabulary: Vocabulary) -> Any:
    return payload if vocabulary.expanded is None else vocabulary.expanded(payload)


def _untyped(leaf: Leaf, untyped: Collection[str]) -> Leaf:
    """Return the data of a data URL, if a loss reports its media type. `untyped` has the paths of such losses."""
    if not untyped or not isinstance(leaf.value, str) or not leaf.value.startswith("data:"):
        return leaf
    places = {leaf.above[-1], *(child_path(leaf.above[-2], name) for name in _MEDIA_TYPES)}
    return leaf if places.isdisjoint(untyped) else leaf._replace(value=leaf.value.partition(",")[2])


def _has_no_parts(leaf: Leaf) -> bool:
    return not (isinstance(leaf.value, str) and leaf.value.startswith(("{", "[", "data:")))


def leaves(value: Any, path: str = "$", above: tuple[str, ...] = ()) -> Iterator[tuple[str, Any, tuple[str, ...]]]:
    """Yield every scalar of a JSON value: its path, the value, and the paths of all ancestors and of itself."""
    stack = [(value, path, above)]
    while stack:
        item, item_path, ancestors = stack.pop()
        paths = (*ancestors, item_path)
        if isinstance(item, dict):
            stack += [(v, child_path(item_path, k), paths) for k, v in reversed(item.items())]
        elif isinstance(item, list):
            stack += [(v, f"{item_path}[{i}]", paths) for i, v in reversed([*enumerate(item)])]
        else:
            yield item_path, item, paths


VALUE, WORD, DATA, DEFINITION, CALL, RESULT, NAME = "value", "word", "data", "definition", "call", "result", "name"
PAIR = "pair"
"""The sorts of scalars: a value, a structure value, a part of the caller's JSON, or a name (by its owner).

A pair is a call and its result in one object.
"""


class Leaf(NamedTuple):
    """A scalar with the paths of its ancestors and itself (`above`), its sort, its key, and a label before it."""

    value: Any
    above: tuple[str, ...]
    sort: str
    key: str
    is_argument: bool = False
    before: str = ""


class _Place(NamedTuple):
    """The position of a value: the paths of its ancestors and its own, its key, and what encloses it.

    `outer` is the key of the enclosing object or list, `holder` the enclosing object. The flags are true inside the
    caller's JSON, tool definitions, counters, a tool choice, or the arguments of a call.
    """

    above: tuple[str, ...] = ("$",)
    key: str = ""
    outer: str = ""
    holder: Any = None
    is_data: bool = False
    is_tool: bool = False
    is_count: bool = False
    is_choice: bool = False
    is_argument: bool = False


def _leaves(root: Any, vocabulary: Vocabulary) -> Iterator[Leaf]:
    """Yield every scalar of a payload with its sort."""
    structure, names = STRUCTURE | vocabulary.structure, _REFERENCES | vocabulary.references
    root = _expanded(root, vocabulary)
    stack = [(root, _Place())]
    while stack:
        item, place = stack.pop()
        if place.is_tool and item.__class__ is str and len(place.above) == 2:
            item = objects.of_text(item)
        elif place.key in vocabulary.arguments and item.__class__ is str:
            item = _of_words(item, place.key, vocabulary)
        if isinstance(item, dict):
            stack += [(v, _member(place, root, item, k, vocabulary)) for k, v in reversed(item.items())]
        elif isinstance(item, list):
            stack += [(v, _element(place, at)) for at, v in reversed([*enumerate(item)])]
        else:
            if place.key in vocabulary.numbers and item.__class__ is str and not place.is_data:
                item = item if (number := spelled_number(item)) is None else number
            prefix, label = vocabulary.prefixes.get(place.key, ""), vocabulary.labels.get(place.key, "")
            is_known = bool(prefix) and (place.key, item) in vocabulary.known
            if prefix and f"{item}".startswith(prefix) and not place.is_data and not is_known:
                sort = _sort_of_name(place, vocabulary)
                yield Leaf(item[len(prefix) :], place.above, sort, place.key, before=prefix)
            elif label and f"{item}".startswith(label) and not place.is_data:
                yield Leaf(item[len(label) :], place.above, NAME, place.key, before=label)
            else:
                sort = _sort_of(item, place, root, structure, names, vocabulary)
                yield Leaf(item, place.above, sort, place.key, place.is_argument)


def _of_words(text: str, key: str, vocabulary: Vocabulary) -> Any:
    """Return the arguments in a JSON text if they have a structure value, such as "call_tool"; else the text."""
    value = object_or_text(text) if text[:1] == "{" else text
    words = value.items() if value.__class__ is dict else ()
    has_words = any(word.__class__ is str and (key, name, word) in vocabulary.words for name, word in words)
    return value if has_words else text


def _member(place: _Place, root: Any, holder: dict[str, Any], key: str, vocabulary: Vocabulary) -> _Place:
    above = (*place.above, child_path(place.above[-1], key))
    if holder is root:
        key = vocabulary.aliases.get(key, key)
    return _Place(
        above,
        key,
        place.key,
        holder,
        place.is_data or key in _SCHEMAS or key in vocabulary.data,
        place.is_tool or ((key in _TOOLS or key in vocabulary.tools) and len(place.above) <= 2),
        place.is_count or key in _COUNTS or _OF_USAGE in key,
        # Converse has the tools beside the choice.
        key in _CHOICES or (place.is_choice and not (key in _TOOLS and place.key == "toolConfig")),
        place.is_argument or (key in vocabulary.arguments and holder is not root),
    )


def _element(place: _Place, at: int) -> _Place:
    return place._replace(above=(*place.above, f"{place.above[-1]}[{at}]"), outer=place.key)


def _sort_of(
    value: Any, place: _Place, root: Any, structure: Collection[str], names: Collection[str], vocabulary: Vocabulary
) -> str:
    if place.is_data:
        keys = place.outer, place.key
        return WORD if (*keys, value) in vocabulary.words else NAME if keys in vocabulary.inner_names else DATA
    if _is_structure(value, place, structure):
        return WORD
    if place.is_choice and value.__class__ is str:
        return NAME
    is_name = place.key in names and value.__class__ is str and not value.startswith("data:")
    if not is_name or place.holder is root or place.is_argument:
        return VALUE
    return _sort_of_name(place, vocabulary)


def _is_structure(value: Any, place: _Place, structure: Collection[str]) -> bool:
    """Return whether a value is a structure value. Numbers are structure in few fields only."""
    if place.key in _REPEATED and (value in _KINDS_OF_MEDIA or _has_data_url(place.holder)):
        return True
    if value is True and place.key == "status":
        # An adapter set it in place of a word for a failure (`Vocabulary.expanded`).
        return False
    if value.__class__ in (int, float):
        return (place.is_count and value == 0) or (place.key in _NUMBERED and place.key in structure)
    if place.outer in objects.RETURNED and not place.above[-2].endswith("]"):
        return False
    if place.outer in _MEMBERS:
        return place.key in structure or place.key == _MEMBERS[place.outer]
    return place.key in structure or place.outer in structure


def _has_data_url(holder: dict[str, Any]) -> bool:
    """Return whether an object has a data URL with a media type, which repeats that of the object."""
    return any(_OF_DATA.match(str(holder.get(key, ""))) for key in ("url", "data", "image"))


def _sort_of_name(place: _Place, vocabulary: Vocabulary) -> str:
    """Return the sort of a name by its owner: a definition, a call, a result, a pair, or anything else."""
    calls = vocabulary.calls
    if place.is_choice:
        return NAME
    if place.is_tool:
        return DEFINITION if place.holder.get("type") in _DEFINED else NAME
    if place.key == "id" and ("call_id" in place.holder or (place.outer == "content" and "outcome" in place.holder)):
        return NAME
    if place.key == "id" and str(place.holder.get("type")) in vocabulary.pairs:
        return PAIR
    is_call = place.outer in calls or place.outer == "tool_calls"
    if is_call or not (calls.isdisjoint(place.holder) and vocabulary.arguments.isdisjoint(place.holder)):
        return CALL
    # An object with a role, or with an id and a content, is a message, not a result. A call without arguments has only
    # its names.
    has_outputs = not (_OUTPUTS - {"content"} if place.key == "id" else _OUTPUTS).isdisjoint(place.holder)
    is_typed = "role" in place.holder or "type" in place.holder
    is_result = (is_typed or has_outputs) if place.key in _ANSWERED else (has_outputs and "role" not in place.holder)
    return RESULT if is_result and _ID.search(place.key) else NAME


_KINDS_OF_MEDIA = ("image", "image/*", "audio", "audio/*", "video", "video/*")
_REPEATED = ("mediaType", "mimeType", "contentType")
"""The names of the media type beside a data URL, in the versions of the AI SDK."""
_MEDIA_TYPES = ("mediaType", "media_type", "mimeType")
_OF_USAGE = ".usage."
"""A part of the keys of counts that are beside other fields."""
_COUNTS = frozenset(
    {
        "usage",
        "usage_details",
        "usageMetadata",
        "usage_metadata",
        "created",
        "created_at",
        "eval_count",
        "prompt_eval_count",
    }
)
"""Fields whose zeros are not counted: some APIs require them."""
_OUTPUTS = frozenset({"content", "output", "outputs", "response", "result"})
_CHOICES = frozenset({"tool_choice", "toolConfig", "tool_config"})
_TOOLS = frozenset({"tools", "functions", "tool_definitions"})
_SCHEMAS = frozenset({"parameters", "input_schema", "schema"})
_MEMBERS = {
    "incomplete_details": "reason",
    "response_format": "mime_type",
    "tool_choice": "disable_parallel_tool_use",
}
"""Structure objects whose other fields are counted, with the member that is structure only in them."""
_ANSWERED = frozenset({"tool_use_id", "tool_call_id"})
_DEFINED = (None, "function", "custom")
"""The types of tools that a request defines. Any other type is a hosted tool."""
_SPELLED = (VALUE, DATA, RESULT, NAME)
"""The sorts that a longer text may contain: a title, the id of a missing call, or a joined text."""
_ID = re.compile("id$|Id$")
_OF_TEXT = re.compile("^data:text/[^;,]*;base64,")
_OF_DATA = re.compile("data:[^;,]")
_PLAIN_DATA = re.compile(r"data:([\w.+-]+/[^\s,]*)?,")


STRUCTURE = frozenset(
    {
        "type",
        "role",
        "object",
        "status",
        "mode",
        "index",
        "finish_reason",
        "finishReason",
        "stop_reason",
        "incomplete_details",
        "tool_choice",
        "effort",
        "reasoning_effort",
        "thinkingLevel",
        "thinking_level",
        "modalities",
        "responseModalities",
        "response_modalities",
        "responseMimeType",
        "response_mime_type",
    }
)
"""Fields whose values every API spells differently. A translation is a loss only if the new value is less specific."""

# Names and ids that some APIs repeat and other APIs send once.
_REFERENCES = frozenset({"name", "id", "call_id", "tool_call_id", "tool_use_id", "url", "uri", "title"}) | {
    "allowedFunctionNames"
}

# Indices, and enum members that may be sent as numbers.
_NUMBERED = frozenset({"index", "sequence", "finishReason", "finish_reason"})


def _is_blank(value: Any) -> bool:
    return value is None or value == "" or value is False


class _OutputValues:
    """The scalars of an output, including those inside JSON texts and data URIs. Each occurrence can be taken once.

    A name of a definition, call or result only matches the name of an object of that sort. Any other name may be a
    reference and is matched without taking it. A word in the arguments of a hosted call is also a value.
    """

    def __init__(self, output: Any, vocabulary: Vocabulary) -> None:
        self._is_store = vocabulary.is_store
        self._counts: Counter[Any] = Counter()
        self._names: dict[str, Counter[Any]] = {sort: Counter() for sort in (WORD, DEFINITION, CALL, RESULT, NAME)}
        self._inner: dict[str, list[Any]] = {}
        self._parts: Counter[str] = Counter()
        """The number of occurrences, in longer texts, of each text passed to `look_for`, minus those taken."""
        self._repeated: Counter[str] = Counter()
        """The paths in parts of values that their blocks have elsewhere, or in another spelling. Stores keep them."""
        self._taken: list[Any] = []
        """The keys taken, in order. If only some parts of a text are found, they are put back into the counts."""
        for leaf in _leaves(output, vocabulary):
            if self._is_store and leaf.key == REPEATED.key:
                self._repeated[leaf.value] += 1
            for sort in _sorts_of_name(leaf):
                self._names[sort][_key(leaf.value)] += 1
            if self._is_store and (leaf.key, leaf.value) in (("status", "error"), ("outcome", "failed")):
                self._add(True)  # A store has this word as the flag of a failed result.
            if leaf.sort in (VALUE, DATA, NAME) or (leaf.sort == WORD and leaf.is_argument):
                self._add(leaf.value, 0 if leaf.sort == NAME else 1)
        self._all = frozenset().union(self._counts, *self._names.values()) if self._repeated else frozenset()

    def _add(self, value: Any, count: int = 1) -> None:
        # A sentinel is added by the library: the text before or after it is unchanged.
        value = (unmarked(value) or value) if isinstance(value, str) else value
        self._counts[_key(value)] += count
        if isinstance(value, str):
            # Blank text after JSON may be another text, which was joined to it.
            inner = self._inner[value] = self._late(value) or (not value[-1:].isspace() and _inside(value)) or []
            for item in inner:
                self._add(item)

    def _late(self, text: str) -> list[Any]:
        """Return the text of a result that became user text. The label in its first line contains the call id."""
        label, _, late = text.partition("\n")
        call_id = LATE.read(label)
        if call_id is None:
            return []
        self._names[RESULT][call_id] += 1
        return [late]

    def take_leaf(self, leaf: Leaf) -> bool:
        """Take a scalar of the source, and return whether it was found. A call's name must be that of a call."""
        if leaf.sort == NAME or (self._is_store and leaf.sort in (DEFINITION, CALL, RESULT, PAIR)):
            texts = (leaf.value, leaf.before + leaf.value) if leaf.before else (leaf.value,)
            return any(text in counts for text in texts for counts in (self._counts, *self._names.values()))
        if leaf.sort in (DEFINITION, CALL, RESULT, PAIR):
            names = self._names[CALL if leaf.sort == PAIR else leaf.sort]
            # An object with only an id may be a call or a result.
            return _take(names, leaf.value) or bool(_ID.search(leaf.key) and _take(self._names[NAME], leaf.value))
        # A name is taken first: it is in no longer text, and no number is written as one.
        if _take(self._names[NAME], _key(leaf.value)) or self.take(leaf.value):
            return True
        # A setting named `type` may be the tag of an object in the output, and the code of an error its type.
        return (self._is_store or leaf.key in STRUCTURE or leaf.key == "code") and _take(
            self._names[WORD], _key(leaf.value)
        )

    def take(self, value: Any) -> bool:
        """Take one occurrence of a value and of the values inside it. Return whether there was one."""
        if self._counts[_key(value)] <= 0:
            return False
        self._take_away(value)
        return True

    def _take_away(self, value: Any) -> None:
        self._counts[_key(value)] -= 1
        self._taken.append(_key(value))
        for item in self._inner.get(value, ()) if isinstance(value, str) else ():
            self._take_away(item)

    def take_in_other_form(self, leaf: Leaf) -> bool:
        """Take a text that the output contains as parsed JSON, without its sentinels, or as another media type name."""
        text = leaf.value
        if not isinstance(text, str) or leaf.sort in (DEFINITION, CALL, RESULT, PAIR):
            return False
        if self._take_parts(text):
            return True
        if leaf.sort == DATA:
            # Gemini's schemas have the types of JSON Schema in capitals.
            return leaf.key == "type" and self.take(text.swapcase())
        call_id = APART.read(text)
        if call_id is not None:
            return any(call_id in names for names in self._names.values())
        bare = unmarked(text)
        if bare != text and (not bare or self.take(bare) or self._take_parts(bare)):
            return True
        return self._take_alias(text)

    def _take_alias(self, text: Any) -> bool:
        """Take another name of a media type, or base64 in the standard alphabet."""
        return any(self.take(alias) for alias in OTHER_NAMES.get(text, ())) or self._take_bytes(text)

    def _take_bytes(self, text: Any) -> bool:
        """Take base64 that the output contains in the standard alphabet, padded, or as the text of its bytes.

        The base64 may be that of a data URL of a text.
        """
        data = _base64_in(text) if isinstance(text, str) else ""
        standard = standard_base64(data) if data else None
        if not standard:
            return False
        plain = b64decode(standard)
        return (standard != text and self.take(standard)) or (
            (plain.isascii() or data != text) and self.take(plain.decode(errors="replace"))
        )

    def look_for(self, values: Iterable[Any]) -> None:
        """Count the occurrences of all values in longer texts that are not taken as values themselves."""
        wanted = [form for value in values for form in spellings(value)]
        texts = {*wanted, *(part for value in wanted for part in _inside(value) or () if isinstance(part, str))}
        remaining = {
            text: self._counts[text] for text, inner in self._inner.items() if not inner and self._counts[text] > 0
        }
        forms = {form for text in texts for form in (text, unmarked(text), *escaped(text))}
        self._parts = occurrences(forms, remaining)

    def take_in_text(self, value: Any) -> bool:
        """Take a text, or all parts of its JSON, from longer texts. Return whether they were found."""
        if not isinstance(value, str):
            return any(self._take_part(spelled) or self.take(spelled) for spelled in spellings(value))
        if any(map(self._take_part, (value, unmarked(value), *escaped(value)))):
            return True
        parts = [part for part in _inside(value) or () if not _is_blank(part)]
        return bool(parts) and all(self._take_part(part) or self.take(part) for part in parts)

    def without_repeated(self, unmatched: list[Leaf], wanted: Iterable[Leaf]) -> list[Leaf]:
        """Return the leaves that are no values which a part of the source has twice, and its stored block once.

        The store has the path of one of the two, and must have the value. `wanted` are all leaves of the source.
        """
        if not unmatched or not self._repeated:
            return unmatched
        places: dict[Any, list[tuple[str, str]]] = {}
        for leaf in wanted:
            candidates = [(path, end) for path in leaf.above for end in _ends(path) if end in self._repeated]
            places.setdefault(_key(leaf.value), []).extend(candidates)
        used: dict[str, set[str]] = {end: set() for end in self._repeated}
        remaining = []
        for leaf in unmatched:
            candidates = places.get(_key(leaf.value), []) if self._has(leaf.value) else []
            free = (place for place in candidates if len(used[place[1]] | {place[0]}) <= self._repeated[place[1]])
            place = next(free, None)
            if place is None:
                remaining.append(leaf)
            else:
                candidates.remove(place)
                used[place[1]].add(place[0])
        return remaining

    def _has(self, value: Any) -> bool:
        """Return whether the output has a value, taken or not: without the beginning of a name, or inside a JSON text.

        The type of an object may have another spelling.
        """
        if value.__class__ is str and (inside := object_or_text(value)).__class__ is dict:
            return all(self._has(item) for path, item, _ in leaves(inside) if not path.endswith(".type"))
        name = value.partition(".")[2] if value.__class__ is str else ""
        return _key(value) in self._all or (name != "" and name in self._all)

    def joined(self, leaves: Iterable[Leaf]) -> set[str]:
        """Return the paths of texts that are pieces of one text of the output."""
        texts = {text: self._counts[text] for text in self._inner}
        values = (leaf for leaf in leaves if leaf.sort == VALUE and isinstance(leaf.value, str))
        return pieces(((leaf.above, leaf.key, leaf.value) for leaf in values), texts)

    def _take_part(self, text: Any) -> bool:
        """Take one occurrence of a text from the longer texts. Return whether there was one."""
        return self._parts[text] > 0 and _take(self._parts, text)

    def _take_parts(self, text: str) -> bool:
        """Take all parts of the JSON of a text, or of a data URI. Take none if one is missing."""
        parts = _inside(text)
        if parts is None:
            return False
        before = len(self._taken)
        if all(self.take(part) or self._take_alias(part) for part in parts if not _is_blank(part)):
            return True
        for key in self._taken[before:]:
            self._counts[key] += 1
        del self._taken[before:]
        return False


def _sorts_of_name(leaf: Leaf) -> Collection[str]:
    """Return the sorts under which a scalar of an output is counted as a name: none, one, or two for a pair."""
    if leaf.sort == PAIR:
        return (CALL, RESULT)
    return (leaf.sort,) if leaf.sort in (WORD, DEFINITION, CALL, RESULT, NAME) else ()


def _ends(path: str) -> Iterator[str]:
    """Yield each end of a path that begins with a key."""
    at = path.find(".")
    while at >= 0:
        yield path[at + 1 :]
        at = path.find(".", at + 1)


def _take(counts: Counter[Any], key: Any) -> bool:
    counts[key] -= 1
    return counts[key] >= 0


def _key(value: Any) -> Any:
    return ("bool", value) if isinstance(value, bool) else value


def _base64_in(text: str) -> str:
    """Return the base64 of a data URI of a text, of one without base64, or the text itself."""
    return DataContent.from_data_uri(text).data if _PLAIN_DATA.match(text) else _OF_TEXT.sub("", text)


def _inside(text: str) -> list[Any] | None:
    """Return the scalars of a JSON text, or the media type and data of a data URI; None for any other text."""
    if text.startswith("data:") and ";base64," in text:
        head, _, data = text.partition(";base64,")
        return [head[5:], data]
    if _PLAIN_DATA.match(text):
        return [text[5:].partition(",")[0], DataContent.from_data_uri(text).data]
    if text[:1] not in ("{", "["):
        return None
    try:
        return [inner for _, inner, _ in leaves(json.loads(text))]
    except (ValueError, RecursionError):
        return None
