"""Adapt schemas of tools and answers of another API's request to the target's dialect, and restore arguments."""

from __future__ import annotations

from functools import lru_cache
from operator import is_
from typing import Any

import msgspec

from contentmodel.auditing import unaccounted
from contentmodel.authoring import (
    EncodeContext,
    Renames,
    SchemaMap,
    loss_of,
    needs,
    parse,
    reasons,
    steps_of,
    with_named_types,
    write,
)
from contentmodel.errors import EncodeError
from contentmodel.request import ChatRequest, FunctionTool, ToolGroup
from contentmodel_adapters.common import schemas
from contentmodel_adapters.common.arguments import Adapted, Dialect, Lost, Node, restore_arguments

DIALECTS = {
    dialect.name: dialect
    for dialect in (
        schemas.OPENAI_STRICT,
        schemas.OPENAI_LOOSE,
        schemas.ANTHROPIC_STRICT,
        schemas.ANTHROPIC_TOOLS,
        schemas.GEMINI_TOOLS,
        schemas.GEMINI_JSON_SCHEMA,
        schemas.GEMINI_SCHEMA,
    )
}


class Dialects(msgspec.Struct, frozen=True, kw_only=True):
    """The dialects of an API: for tools, for `strict` tools (None: the API has none), and for `answers`.

    `always_strict`: the API always enforces an answer's schema, whatever the request sets.
    """

    tools: Dialect
    strict: Dialect | None
    answers: Dialect
    always_strict: bool = True


OPENAI = Dialects(
    tools=schemas.OPENAI_LOOSE,
    strict=schemas.OPENAI_STRICT,
    answers=schemas.for_answers(schemas.OPENAI_LOOSE),
    always_strict=False,
)
UNENFORCED = msgspec.structs.replace(OPENAI, strict=None)
"""The dialects of an API like OpenAI's that enforces no schema of a tool."""
ANTHROPIC = Dialects(
    tools=schemas.ANTHROPIC_TOOLS,
    strict=schemas.ANTHROPIC_STRICT,
    answers=schemas.for_answers(schemas.ANTHROPIC_STRICT),
)
GOOGLE = Dialects(tools=schemas.GEMINI_TOOLS, strict=None, answers=schemas.for_answers(schemas.GEMINI_JSON_SCHEMA))


@needs(("tool", FunctionTool), ("tool", ToolGroup), ("option", "response_format"))
def with_fitting_schemas(request: ChatRequest, context: EncodeContext, dialects: Dialects) -> ChatRequest:
    """Return a request of another API with schemas that the target accepts. Report the lost parts of the schemas."""
    if context.native:
        return request
    fitter = _Fitter(context, dialects)
    tools = [fitter.tool(tool) for tool in request.tools]
    options = fitter.options(request.options)
    if fitter.maps:
        context.maps = msgspec.structs.replace(context.maps or Renames(), schemas=fitter.maps)
    is_same = options is request.options and all(map(is_, tools, request.tools))
    return request if is_same else msgspec.structs.replace(request, tools=tools, options=options)


def restored_arguments(arguments: Any, adapted: SchemaMap) -> Any:
    """Return arguments of the target's answer in the form of the source's schema.

    Nulls of optional properties are removed, and a wrapped root is unwrapped.
    """
    dialect = DIALECTS.get(adapted.dialect)
    return arguments if dialect is None else restore_arguments(arguments, adapted.schema, dialect)


def fits_strict_mode(schema: Any) -> bool:
    """Return whether OpenAI's strict mode takes a schema as it is."""
    if schema.__class__ is not dict:
        return False
    try:
        adapted = _adapted(schema, schemas.OPENAI_STRICT)
    except EncodeError:
        return False
    return adapted.possible and adapted.schema is schema and not adapted.lost


class _Fitter:
    """Adapt schemas, and keep the originals that are needed to restore arguments."""

    def __init__(self, context: EncodeContext, dialects: Dialects) -> None:
        self._context = context
        self._dialects = dialects
        self.maps: dict[str, SchemaMap] = {}

    def tool(self, tool: Any) -> Any:
        if isinstance(tool, ToolGroup):
            inner = [self.tool(member) for member in tool.tools]
            changed = any(new is not old for new, old in zip(inner, tool.tools, strict=True))
            return msgspec.structs.replace(tool, tools=inner) if changed else tool
        if not isinstance(tool, FunctionTool):
            return tool
        tool = self._returning(tool)
        if tool.parameters is None:
            return tool
        strict = self._dialects.strict if tool.strict else None
        if strict is not None:
            adapted = _adapted(tool.parameters, strict)
            if adapted.possible:
                return self._with_schema(tool, adapted, strict)
            self._context.report_loss(tool, "strict", reasons.NOT_STRICT, why=adapted.reasons[0].why)
            tool = msgspec.structs.replace(tool, strict=False)
        return self._with_schema(tool, _adapted(tool.parameters, self._dialects.tools), self._dialects.tools)

    def _returning(self, tool: FunctionTool) -> FunctionTool:
        """Return the tool with the schema of its return value, which no API enforces, in the target's dialect."""
        if tool.returns is None:
            return tool
        adapted = _adapted(tool.returns, schemas.for_answers(self._dialects.tools))
        self._report(tool, "returns", adapted)
        if adapted.schema is tool.returns:
            return tool
        changed: FunctionTool = msgspec.structs.replace(tool, returns=adapted.schema)
        return changed

    def _with_schema(self, tool: FunctionTool, adapted: Adapted, dialect: Dialect) -> FunctionTool:
        self._report(tool, "parameters", adapted)
        if adapted.structural:
            self.maps[tool.name] = SchemaMap(schema=tool.parameters or {}, dialect=dialect.name)
        if adapted.schema is tool.parameters or not adapted.possible:
            return tool
        changed: FunctionTool = msgspec.structs.replace(tool, parameters=adapted.schema)
        return changed

    def options(self, options: Any) -> Any:
        response_format = options.response_format
        if response_format is None or response_format.schema is None:
            return options
        dialects, adapted = self._dialects, None
        if response_format.strict and dialects.strict is not None:
            adapted = _adapted(response_format.schema, schemas.for_answers(dialects.strict))
            if not adapted.possible and not dialects.always_strict:
                self._context.report_loss(response_format, "strict", reasons.NOT_STRICT, why=adapted.reasons[0].why)
                response_format, adapted = msgspec.structs.replace(response_format, strict=False), None
        adapted = adapted or _adapted(response_format.schema, dialects.answers)
        if not adapted.possible:
            self._context.report_loss(response_format, None, reasons.REFUSED_SCHEMA, why=adapted.reasons[0].why)
            return msgspec.structs.replace(options, response_format=None)
        self._report(response_format, "schema", adapted)
        if adapted.structural:
            dialect = dialects.strict if response_format.strict and dialects.strict is not None else dialects.answers
            self._context.format_map = SchemaMap(schema=response_format.schema, dialect=dialect.name)
        if adapted.schema is response_format.schema and response_format is options.response_format:
            return options
        changed = msgspec.structs.replace(response_format, schema=adapted.schema)
        return msgspec.structs.replace(options, response_format=changed)

    def _report(self, owner: Any, field: str, adapted: Adapted) -> None:
        for path, keyword, why in adapted.lost:
            self._context.report_loss(owner, f"{field}{path}", _reason_for(keyword, why), keyword=keyword, why=why)


_ASSERT_NOTHING = frozenset({"$schema", "$id", "$comment", "$vocabulary", "title"})
"""Keywords that neither restrict a value nor describe it to a model."""


def _reason_for(keyword: str | None, why: str) -> reasons.Reason:
    if keyword is None:
        return reasons.SCHEMA_REMOVED
    if keyword in _ASSERT_NOTHING:
        return reasons.SCHEMA_ANNOTATION
    return reasons.SCHEMA_CONVERTED if why == _REWORDED else reasons.SCHEMA_KEYWORD


_LARGEST_KEPT = 65_536


def _adapted(schema: Node, dialect: Dialect) -> Adapted:
    """Return `adapt` of the schema, cached by its text: every request of a conversation has the same tools."""
    text = write(schema)
    if len(text) > _LARGEST_KEPT:
        return _complete(schema, schemas.adapt(with_named_types(schema), dialect))
    adapted, is_unchanged = _adapted_text(text, dialect.name, dialect.object_root)
    return msgspec.structs.replace(adapted, schema=schema) if is_unchanged else adapted


@lru_cache(maxsize=512)
def _adapted_text(text: bytes, name: str, object_root: bool) -> tuple[Adapted, bool]:
    schema = parse(text)
    dialect = DIALECTS[name] if object_root else schemas.for_answers(DIALECTS[name])
    adapted = schemas.adapt(with_named_types(schema), dialect)
    return _complete(schema, adapted), adapted.schema is schema


def _complete(schema: Node, adapted: Adapted) -> Adapted:
    """Add to `lost` what the adapted schema expresses in another form (an exclusive bound of integers, `nullable`)."""
    if adapted.schema is schema:
        return adapted
    lost = [loss_of(_reason_for(key, why), path, key or "", keyword=key, why=why) for path, key, why in adapted.lost]
    reworded = [
        Lost(at.path, str(steps_of(at.path)[-1]), _REWORDED) for at in unaccounted(schema, adapted.schema, lost)
    ]
    return msgspec.structs.replace(adapted, lost=[*adapted.lost, *reworded])


_REWORDED = "expressed in another form"
