"""The page: its input values, its template, and its content security policy."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from contentmodel.content.base import AIContent
from contentmodel.errors import EncodeError
from contentmodel.events import StreamEvent, fold
from contentmodel.extras import needs_extra
from contentmodel.html.contents import Page, usage_line
from contentmodel.html.nodes import Article, Node, line, pieces, visible
from contentmodel.html.transcript import Conversation, Group, Log, lost, messages, request, response
from contentmodel.losses import Loss
from contentmodel.message import ChatMessage
from contentmodel.request import ChatRequest
from contentmodel.response import ChatResponse
from contentmodel.serialize import require_valid
from contentmodel.usage import Usage

if TYPE_CHECKING:
    from contentmodel.history.log import LogEntry
    from contentmodel.history.turns import StoredTurn, Turn

    Shown = ChatRequest | ChatResponse | ChatMessage | AIContent | Usage | Sequence[Any]

TITLE = "Transcript"


def page(
    value: Shown,
    *,
    turns: Iterable[StoredTurn] | None = None,
    log: Iterable[LogEntry] = (),
    branches: Iterable[Turn] = (),
    losses: Sequence[Loss] = (),
    title: str | None = None,
) -> str:
    """Return a self-contained HTML page, without scripts and external resources.

    `value` is a request, a response, a message, a content, a usage, or a list of stored turns, messages, contents or
    events. `turns` are the stored turns of a request: they replace its messages, and add times and statuses. `log` are
    the log entries of the conversation. `branches` are all its turns; the page mentions those outside the displayed
    path. `losses` are the losses of a conversion. `title` defaults to the last title in the log.

    Store the text as UTF-8. Raise EncodeError if `value` is not a value of the model, or contains a value of a wrong
    type that cannot be shown. Raise MissingExtraError if jinja2 or markdown-it-py is not installed.
    """
    log_nodes, shown, stored = Log(log), _listed(value), None if turns is None else list(turns)
    try:
        nodes = _nodes(shown, stored, log_nodes, list(branches))
        heading = title or log_nodes.title or TITLE
        every = [*lost(losses), *nodes, *log_nodes.rest()]
        return str(_template().render(title=visible(heading), heading=pieces(heading), nodes=every, **_style()))
    except (AttributeError, TypeError):
        _require_valid(shown if stored is None else stored)
        raise


def _listed(value: Any) -> Any:
    """Return a request or a response unchanged, and any other value as a list."""
    if isinstance(value, ChatRequest | ChatResponse):
        return value
    if isinstance(value, ChatMessage | AIContent | Usage | str | bytes | dict) or not isinstance(value, Iterable):
        return [value]
    return list(value)


def _require_valid(value: Any) -> None:
    """Raise EncodeError, with the path of the fault, if a model value of the page is invalid."""
    for item in value if isinstance(value, list) else [value]:
        require_valid(list(item.messages) if _is_stored(item) else item)


def _is_stored(item: Any) -> bool:
    return hasattr(item, "turn") and hasattr(item, "messages")


def _nodes(value: Any, turns: Sequence[Any] | None, log: Log, branches: Sequence[Any]) -> list[Node]:
    page = Page()
    if turns is not None and not isinstance(value, ChatRequest):
        raise EncodeError(f"turns= needs a ChatRequest, but the value is a {type(value).__name__}: remove turns=")
    if isinstance(value, ChatRequest):
        return request(value, page, None if turns is None else _turns(turns, page, log, branches))
    if isinstance(value, ChatResponse):
        return response(value, page)
    if all(isinstance(item, ChatMessage) for item in value):
        return messages(value, page)
    if all(isinstance(item, StreamEvent) for item in value):
        return response(fold(value), page)
    if all(_is_stored(item) for item in value):
        return _turns(value, page, log, branches)
    return [_bare_article(value, page)]


def _turns(stored: Sequence[Any], page: Page, log: Log, branches: Sequence[Any]) -> list[Node]:
    groups = [Group(messages=item.messages, turn=item.turn) for item in stored]
    return list(Conversation(groups, page, log, branches).nodes())


def _bare_article(items: Sequence[Any], page: Page) -> Node:
    """Return an article for contents and usages outside messages. Raise EncodeError for other values."""
    unsupported = [item for item in items if not isinstance(item, AIContent | Usage)]
    if unsupported:
        expected = "a request, a response, or a list of stored turns, messages, contents or events"
        raise EncodeError(f"{type(unsupported[0]).__name__} cannot be shown as a page: expected {expected}")
    contents = [item for item in items if isinstance(item, AIContent)]
    usages = [usage_line(item) for item in items if isinstance(item, Usage)]
    articles = messages([ChatMessage(role="contents", contents=contents)], page) if contents else []
    return Article(head=line("contents"), parts=[*(node for item in articles for node in item.parts), *usages])  # type: ignore[attr-defined]


# -- template ----------------------------------------------------------------------------------------------------------


@cache
def _template() -> Any:
    with needs_extra("html"):
        from jinja2 import Environment, PackageLoader, StrictUndefined
    environment = Environment(
        loader=PackageLoader("contentmodel.html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html")


@cache
def _style() -> dict[str, str]:
    """Return the style sheet and its hash. The content security policy only allows this style sheet."""
    text = files("contentmodel.html").joinpath("templates", "page.css").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
    return {"style": text, "digest": digest}
