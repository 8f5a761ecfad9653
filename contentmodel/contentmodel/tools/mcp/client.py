"""The tools of an MCP server, as tools that a loop runs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AsyncExitStack
from functools import cached_property
from pathlib import PurePath
from threading import Lock
from typing import TYPE_CHECKING, Any, TextIO, TypedDict
from urllib.parse import urlsplit

from contentmodel.errors import DecodeError, Fault
from contentmodel.hints import escaped
from contentmodel.request import FunctionTool
from contentmodel.tools.definition import Tool
from contentmodel.tools.faults import InvalidArguments
from contentmodel.tools.mcp import session as sessions
from contentmodel.tools.mcp.bounds import MAX_BYTES
from contentmodel.tools.mcp.errors import McpError
from contentmodel.tools.mcp.results import outcome_from_mcp
from contentmodel.tools.mcp.session_loop import CLOSE_TIMEOUT, SessionLoop
from contentmodel.tools.outcome import ToolOutcome
from contentmodel.tools.schema import schema_faults, unenforced_patterns
from contentmodel.tools.validation import SchemaValidator

if TYPE_CHECKING:
    from typing import Unpack

    from mcp import Client, ClientSession

Approve = Callable[[str, dict[str, Any]], bool]


class McpOptions(TypedDict, total=False):
    """Options for any server.

    - `name`: the server's name in errors, which a model may read. Default: its own name, or its command or host.
    - `prefix`: put before every tool's name, so that tools of several servers have unique names.
    - `only`: the server's names of the tools to use. Missing ones are added to `faults`.
    - `approval`: whether a tool needs approval before it runs. False: never; True: always; "destructive": if the tool
      may be destructive. By MCP's rule it may, unless the server sets `readOnlyHint` or `destructiveHint: false`; rely
      on these hints only if you trust the server. Or a function of the server's name of the tool and the arguments.
    - `timeout`: seconds for one call. None leaves it to the runner; a call without any limit ends after ten minutes.
    - `connect_timeout`: seconds for starting the server and reading its list of tools; default 30.
    - `max_bytes`: bytes of one message of the server; default 16 MiB. A larger result is an McpError. An existing
      session has its own limits.
    - `links`: "text" converts resource links to text, "uri" to UriContents.
    """

    name: str
    prefix: str
    only: Iterable[str] | None
    approval: bool | str | Approve
    timeout: float | None
    connect_timeout: float
    max_bytes: int
    links: str


class McpTool(Tool):
    """One tool of an MCP server. `run` works on any thread and event loop while the server is open."""

    def __init__(self, server: McpTools, received: dict[str, Any], options: McpOptions) -> None:
        self.server, self.received = server, received
        self.remote_name: str = received["name"]
        self.name = options.get("prefix", "") + self.remote_name
        self.description = received.get("description")
        # MCP requires the type. Some servers omit it, and providers reject a schema without it.
        self.args_schema = {"type": "object", **received["inputSchema"]}
        self.returns: dict[str, Any] | None = None
        self.approval = _approval(received, options.get("approval", False))
        self.timeout = options.get("timeout")

    async def run(self, args: Any, *context: Any) -> ToolOutcome:
        """Call the server. Cancellation also cancels the call on the server. Raise McpError if there is no result."""
        return await self.server.call(self.remote_name, args)

    @cached_property
    def definition(self) -> FunctionTool:
        """The declaration for a model; other fields that the server sent are kept in `extra["mcp"]`."""
        declared = ["name", "description", "inputSchema"] + ([] if self.returns is None else ["outputSchema"])
        fields = {key: value for key, value in self.received.items() if key not in declared}
        return FunctionTool(
            name=self.name,
            description=self.description,
            parameters=self.arguments.schema,
            returns=self.returns,
            extra={"mcp": escaped(fields)} if fields else None,
        )


class McpTools:
    """An MCP server, open between `async with` or `with`.

    `tools` are its tools. `faults` has the reason for each tool that cannot be used, each output schema that cannot be
    checked, and each pattern that is not enforced. Both are read once, when the server is opened. Raise McpError if the
    server cannot be opened.
    """

    def __init__(self, opening: sessions.Open, label: str, options: McpOptions) -> None:
        approval = options.get("approval", False)
        if not (callable(approval) or isinstance(approval, bool) or approval == "destructive"):
            raise ValueError(f'approval must be a bool, "destructive" or a function, not {approval!r}')
        self.name = options.get("name", label)
        self.tools: list[McpTool] = []
        self.faults: list[Fault] = []
        self._opening, self._options = opening, options
        self._validators: dict[str, SchemaValidator] = {}
        self._session: Any = None
        self._loop: SessionLoop | None = None
        self._own_loop: asyncio.AbstractEventLoop | None = None
        self._is_given = False
        self._reopens = False
        """True if a new connection replaces a broken one."""
        self._is_closed = False
        self._has_lost_session = False
        self._lock = Lock()

    @classmethod
    def stdio(
        cls,
        command: str,
        args: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        *,
        cwd: str | None = None,
        stderr: TextIO | None = None,
        **options: Unpack[McpOptions],
    ) -> McpTools:
        """Return a server that is started as a process. `env` is added to the few inherited variables (PATH, HOME).

        Its standard error is written to the file `stderr`; default: the standard error of this process.
        """
        return cls(
            sessions.over_stdio(command, args, env, cwd, stderr, options.get("max_bytes", MAX_BYTES)),
            PurePath(command).name,
            options,
        )

    @classmethod
    def http(cls, url: str, headers: Mapping[str, str] | None = None, **options: Unpack[McpOptions]) -> McpTools:
        """Return a server that uses streamable HTTP at `url`; `headers` are sent with every request.

        If the connection breaks, the calls under way fail, and the next call opens a new one.
        """
        server = cls(
            sessions.over_http(url, headers, options.get("max_bytes", MAX_BYTES)),
            urlsplit(url).hostname or "over HTTP",
            options,
        )
        server._reopens = True
        return server

    @classmethod
    def session(cls, session: Client | ClientSession, **options: Unpack[McpOptions]) -> McpTools:
        """Return a server for an open session, or Client, of the package `mcp`. The session stays open.

        Use it only with `async with`, on the session's own event loop. The package reads the answers: if an answer
        contains an unknown tool or block, the whole answer is an McpError.
        """

        async def opened(stack: AsyncExitStack) -> Any:
            return session

        server = cls(opened, "session", options)
        server._is_given = True
        return server

    # Opening and closing ----------------------------------------------------------------------------------------------

    async def __aenter__(self) -> McpTools:
        if self._is_given:
            self._own_loop = asyncio.get_running_loop()
            try:
                async with asyncio.timeout(self._connect_timeout):
                    await self._open(AsyncExitStack())
            except TimeoutError as error:
                raise sessions.as_mcp_error(error, self.name, None) from error
            return self
        loop = self._start()
        try:
            await asyncio.wrap_future(loop.opened)
        except BaseException as error:
            await self.aclose()
            raise self._unopened(error) from error
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.aclose()

    def __enter__(self) -> McpTools:
        if self._is_given:
            raise McpError(self.name, "an existing session belongs to its event loop: use async with")
        loop = self._start()
        try:
            loop.opened.result()
        except BaseException as error:
            self.close()
            raise self._unopened(error) from error
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    async def aclose(self) -> None:
        """Close the server. Running calls fail. Never raises, and waits at most twenty seconds."""
        self._own_loop, self._is_closed = None, True
        if self._loop is not None:
            self._loop.close()
            await asyncio.wait([asyncio.wrap_future(self._loop.ended)], timeout=CLOSE_TIMEOUT)

    def close(self) -> None:
        """Do the same as `aclose`, for sync code."""
        self._own_loop, self._is_closed = None, True
        if self._loop is not None:
            self._loop.close()
            self._loop.wait(CLOSE_TIMEOUT)

    # Calls ------------------------------------------------------------------------------------------------------------

    async def call(self, name: str, args: dict[str, Any]) -> ToolOutcome:
        """Run the server's tool of this name, from any event loop. Raise McpError if there is no result.

        The arguments are sent unchanged. Validate them with `validate_input` first.
        """
        if self._own_loop is asyncio.get_running_loop():
            result = await self._request(name, args)
        else:
            if self._own_loop is None:
                await self._opened(name)
            result = await asyncio.wrap_future(self._submit(name, args))
        if _is_small(result):
            return self._outcome(name, result)
        # Reading and checking a large result would block the event loop.
        return await asyncio.to_thread(self._outcome, name, result)

    def call_sync(self, name: str, args: dict[str, Any]) -> ToolOutcome:
        """Do the same as `call`, for sync code. It blocks its thread."""
        if self._own_loop is not None and self._own_loop is asyncio._get_running_loop():
            raise McpError(self.name, "the session belongs to this event loop: await `call` instead", tool=name)
        if self._own_loop is None:
            self._opened_sync(name)
        future = self._submit(name, args)
        try:
            return self._outcome(name, future.result())
        except BaseException:
            future.cancel()
            raise

    async def _opened(self, name: str) -> None:
        """Wait until the connection is open."""
        try:
            await asyncio.wrap_future(self._connection(name).opened)
        except Exception as error:
            raise sessions.as_mcp_error(error, self.name, name) from error

    def _opened_sync(self, name: str) -> None:
        try:
            self._connection(name).opened.result()
        except Exception as error:
            raise sessions.as_mcp_error(error, self.name, name) from error

    def _connection(self, name: str) -> SessionLoop:
        """Return the connection. Start a new one if the server closed it, or no longer has the session."""
        with self._lock:
            if self._loop is None:
                raise McpError(self.name, "the connection is not open: use it in a with or async with block", tool=name)
            if self._reopens and not self._is_closed and (self._has_lost_session or self._loop.is_over):
                self._loop.close()
                self._has_lost_session = False
                self._loop = self._new_loop(self._reopen)
                self._loop.start()
            return self._loop

    def _submit(self, name: str, args: dict[str, Any]) -> Future[dict[str, Any]]:
        if self._own_loop is not None:
            if self._own_loop.is_closed():
                raise McpError(self.name, "the event loop of the session is closed", tool=name)
            return asyncio.run_coroutine_threadsafe(self._request(name, args), self._own_loop)
        if self._loop is None:
            raise McpError(self.name, "the connection is not open: use it in a with or async with block", tool=name)
        return self._loop.submit(self._request(name, args))

    async def _request(self, name: str, args: dict[str, Any]) -> dict[str, Any]:
        timeout = self._options.get("timeout") or sessions.LONGEST_CALL
        try:
            return await sessions.call_tool(self._session, self.name, name, args, timeout)
        except McpError as error:
            self._has_lost_session |= sessions.has_lost_session(error)
            raise

    def _outcome(self, name: str, result: dict[str, Any]) -> ToolOutcome:
        if name in self._validators and result.get("isError") is not True:
            wrong = self._wrong(name, result.get("structuredContent"))
            if wrong:
                raise McpError(self.name, f"the structured result does not match the outputSchema: {wrong}", tool=name)
        try:
            return outcome_from_mcp(result, links=self._options.get("links", "text"))
        except DecodeError as error:
            raise McpError(self.name, f"the server sent invalid MCP: {error}", tool=name) from error

    def _wrong(self, name: str, value: Any) -> str:
        try:
            return "; ".join(map(str, self._validators[name].faults(value)[:3]))
        except InvalidArguments as refused:
            return "; ".join(map(str, refused.faults))
        except Exception as error:
            return f"the result cannot be checked ({type(error).__name__})"

    # On the session's event loop --------------------------------------------------------------------------------------

    @property
    def _connect_timeout(self) -> float:
        return self._options.get("connect_timeout", 30.0)

    def _start(self) -> SessionLoop:
        if self._loop is not None:
            raise McpError(self.name, "the connection cannot be reopened: make a new McpTools")
        self._loop = self._new_loop(self._open)
        self._loop.start()
        return self._loop

    def _new_loop(self, opening: Callable[[AsyncExitStack], Awaitable[None]]) -> SessionLoop:
        return SessionLoop(opening, self._connect_timeout, lambda why: McpError(self.name, why))

    def _unopened(self, error: BaseException) -> BaseException:
        return sessions.as_mcp_error(error, self.name, None) if isinstance(error, Exception) else error

    async def _reopen(self, stack: AsyncExitStack) -> None:
        """Open a new session. The tools stay as they were."""
        self._session = await self._opening(stack)

    async def _open(self, stack: AsyncExitStack) -> None:
        await self._reopen(stack)
        if "name" not in self._options and self._session.server_info is not None:
            self.name = sessions.clean_name(self._session.server_info.name) or self.name
        received, faults = await sessions.list_tools(self._session, self.name, self._connect_timeout)
        self.faults = faults
        names = None if self._options.get("only") is None else list(self._options["only"] or ())
        for tool in received:
            if names is None or tool["name"] in names:
                self._take(tool)
        missing = set(names or ()) - {tool["name"] for tool in received}
        self.faults += [Fault("$.tools", f"{name}: the server has no tool with this name") for name in sorted(missing)]

    def _take(self, received: dict[str, Any]) -> None:
        tool = McpTool(self, received, self._options)
        if any(other.name == tool.name for other in self.tools):
            self.faults.append(Fault("$.tools", f"{tool.remote_name}: another tool of the server has this name"))
            return
        self.tools.append(tool)
        self._report_patterns(tool.remote_name, "inputSchema", received["inputSchema"])
        returns = received.get("outputSchema")
        if returns is None:
            return
        wrong = _returns_faults(returns)
        if wrong:
            self.faults.append(Fault("$.tools", f"{tool.remote_name}: its outputSchema is ignored: {wrong}"))
        else:
            tool.returns = returns
            self._validators[tool.remote_name] = SchemaValidator(returns)
            self._report_patterns(tool.remote_name, "outputSchema", returns)

    def _report_patterns(self, name: str, field: str, schema: dict[str, Any]) -> None:
        self.faults += [Fault("$.tools", f"{name}: its {field}: {fault}") for fault in unenforced_patterns(schema)]


def _returns_faults(schema: Any) -> str:
    """Return why a schema cannot check results. Unlike arguments, a result need not be an object."""
    if not isinstance(schema, dict):
        return "it is not an object"
    return "; ".join(str(fault) for fault in schema_faults({**schema, "type": "object"}))


def _is_small(result: dict[str, Any]) -> bool:
    content = result.get("content")
    if not isinstance(content, list) or len(content) > 20 or result.get("structuredContent") is not None:
        return False
    texts = [block.get("text") for block in content if isinstance(block, dict)]
    return sum(len(text) for text in texts if isinstance(text, str)) < 100_000


def _approval(received: dict[str, Any], approval: bool | str | Approve) -> bool | Callable[[Any], bool]:
    if callable(approval):
        name = received["name"]
        return lambda args: approval(name, args)
    if isinstance(approval, bool):
        return approval
    hints = received.get("annotations")
    hints = hints if isinstance(hints, dict) else {}
    return hints.get("readOnlyHint") is not True and hints.get("destructiveHint") is not False
