"""The check of endings: every finish reason of every API, with and without content, with and without an error."""

from __future__ import annotations

from functools import partial
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from contentmodel import (
    AIContent,
    ChatChoice,
    ChatMessage,
    ChatResponse,
    ErrorContent,
    FinishReason,
    FunctionCallContent,
    Origin,
    TextContent,
)
from contentmodel.engine.table.answers import FinishReasons
from contentmodel_conformance import laws
from contentmodel_conformance.checks.crossing import accounted, each_way, fans, law_of_payloads
from contentmodel_conformance.checks.registry import check
from contentmodel_conformance.checks.values import FOREIGN_ORIGIN
from contentmodel_conformance.honest_endings import UNUSUAL, USUAL, honest_endings
from contentmodel_conformance.subject import Subject
from contentmodel_conformance.trying import Trial

CONTENTS: tuple[list[AIContent], ...] = (
    [],
    [TextContent(text="Half")],
    [FunctionCallContent(call_id="call_1", name="run", arguments='{"cmd":"ls')],
    [TextContent(text="Look:"), FunctionCallContent(call_id="call_1", name="run", arguments={"cmd": "ls"})],
)


@st.composite
def ended_answers(draw: DrawFn, origin: Origin, finish: FinishReasons | None = None) -> ChatResponse:
    """Draw an answer of an API with one of its finish reasons, or of any reason.

    The message and the choice may have a field that only this API has.
    """
    if finish is None:
        ends = [FinishReason(reason=word) for word in (*USUAL, *UNUSUAL)]
    else:
        ends = [FinishReason(reason=word, raw=raw) for raw, word in finish.reasons.items()]
    end = draw(st.sampled_from((None, FinishReason(reason="other", raw=""), *ends)))
    error = draw(st.sampled_from((None, None, ErrorContent(message="Boom", kind="server"))))
    extra = st.sampled_from((None, {origin.api: {"x_note": "Noted"}}))
    contents = draw(st.sampled_from(CONTENTS))
    message = ChatMessage(role="assistant", contents=contents, origin=origin, extra=draw(extra))
    choice = ChatChoice(messages=[message], finish_reason=end, extra=draw(extra))
    return ChatResponse(id="r", model="m", choices=[choice], error=error, origin=origin)


@check(honest_endings, "ended", "answers with every finish reason and with errors, of every other API", "streams")
def ended(subject: Subject, trial: Trial) -> None:
    law: Any = partial(honest_endings, subject.adapter)
    trial.each(ended_answers(FOREIGN_ORIGIN), law)
    for source in subject.others:
        finish = getattr(source, "finish", None)
        if finish is not None:
            trial.each(ended_answers(Origin(api=source.api, issuer=source.issuer), finish), law, source.api)


@check(
    laws.accounting, "ended", "answers with every finish reason and with errors, from and to every other API", "others"
)
def ended_accounting(subject: Subject, trial: Trial) -> None:
    """Try accounting of finish reasons: a change to a less exact one is a loss."""
    for source, targets, kind in fans(subject, "response"):
        finish = getattr(source, "finish", None)
        if finish is not None:
            answers = ended_answers(Origin(api=source.api, issuer=source.issuer), finish)
            each_way(trial, answers, law_of_payloads(accounted), source, targets, kind)
