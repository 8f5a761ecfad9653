"""The guard of every HTTP endpoint, of the gateway and of the server: each rule is tried on each route.

The routes are read from the applications, so a new endpoint is tried as soon as it exists.
"""

from __future__ import annotations

import asyncio
import gzip
import html
import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

import pytest

import contentmodel
from contentmodel.gateway import create_app as create_gateway
from contentmodel.gateway import read_config
from contentmodel.http_guard import Guard, GuardRules, Refusal
from contentmodel.runner import AsyncToolRunner
from contentmodel.server import Limits, create_app
from contentmodel_conformance.server.serving import serving
from raw_upstreams import RawUpstream
from raw_upstreams import answer as raw_answer
from scripted import AsyncScripted
from test_gateway_errors import whole

KEY = "sk-gateway-secret-0123456789"
MOST, REQUESTS, SECONDS = 4000, 3, 1

App: TypeAlias = Any
Sent: TypeAlias = tuple[int, dict[str, str], bytes]


def gateway_app(upstream: str = "http://127.0.0.1:9", **settings: Any) -> App:
    """Return a gateway with all endpoints: one with a store, for each API, in front of an upstream."""
    value = {
        "store": ":memory:",
        "upstreams": {"up": {"api": "anthropic-messages", "base_url": upstream, "key": "none", "retries": 0}},
        "routes": [{"to": "up", "model": "claude-opus-4-8"}],
        "limits": {"body_bytes": MOST, "requests": REQUESTS, "body_seconds": SECONDS},
        **settings,
    }
    return create_gateway(read_config(value, environment={"KEY": KEY}), environment={"KEY": KEY})


def server_app(**settings: Any) -> App:
    """Return a server of conversations."""
    limits = Limits(body_bytes=MOST, requests=REQUESTS, body_seconds=SECONDS)
    return create_app(":memory:", AsyncToolRunner(AsyncScripted([])), limits=limits, **settings)


APPS: dict[str, Callable[..., App]] = {"gateway": gateway_app, "server": server_app}


def routes() -> list[tuple[str, str, str]]:
    """Return every route of both applications: the name of the application, the method and a path."""
    found = []
    for name, made in APPS.items():
        for route in made().routes:
            path = re.sub(r"{\w+(:path)?}", "x", route.path)
            found += [(name, method, path) for method in sorted(route.methods - {"HEAD"})]
    return sorted(set(found))


ROUTES = routes()


def test_routes_of_both_applications_are_found() -> None:
    paths = {path for _, _, path in ROUTES}
    assert {"/v1/chat/completions", "/v1/conversations/x/items", "/contentmodel/losses/x", "/ag-ui", "/"} <= paths
    assert len(ROUTES) > 40


@asynccontextmanager
async def running(app: App) -> AsyncIterator[None]:
    async with app.router.lifespan_context(app):
        yield


async def ask(
    app: App, method: str, path: str, headers: dict[str, str], parts: list[bytes] | None = None, *, ends: bool = True
) -> Sent:
    """Send a request to an ASGI app, as a server at 127.0.0.1:8080 would. Without `ends`, the body never ends."""
    given = {"host": "127.0.0.1:8080", **headers}
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in given.items()],
        "client": ("127.0.0.1", 5000),
        "server": ("127.0.0.1", 8080),
    }
    left = list(parts or [b""])
    status, answered, body, is_done = 0, {}, b"", asyncio.Event()

    async def receive() -> dict[str, Any]:
        if left:
            return {"type": "http.request", "body": left.pop(0), "more_body": bool(left) or not ends}
        await is_done.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        nonlocal status, answered, body
        if message["type"] == "http.response.start":
            status = message["status"]
            answered = {name.decode(): value.decode("latin-1") for name, value in message["headers"]}
        else:
            body += message.get("body", b"")
            if path == "/contentmodel/stream":
                # It has no end: the client leaves.
                is_done.set()

    await asyncio.wait_for(app(scope, receive, send), 30)
    is_done.set()
    return status, answered, body


JSON = {"content-type": "application/json", "content-length": "2"}
RULES: dict[str, tuple[dict[str, str], list[bytes], str, str]] = {
    # rule: (headers, body, the statuses as a pattern, the setting that the error names)
    "a rebound name": ({"host": "evil.example:8080"}, [], "403", "hosts"),
    "another port": ({"host": "127.0.0.1:9"}, [], "403", "hosts"),
    "no host": ({"host": ""}, [], "403", "hosts"),
    "a page": ({"origin": "https://evil.example"}, [], "403", "origins"),
    "a page with an opaque origin": ({"origin": "null"}, [], "403", "origins"),
    "a page of another port": ({"origin": "http://127.0.0.1:3000"}, [], "403", "origins"),
    "a page without an origin": ({"sec-fetch-site": "cross-site"}, [], "403", "origins"),
    "a page of the same site": ({"sec-fetch-site": "same-site"}, [], "403", "origins"),
    "a form": ({"origin": "https://app.example", "content-type": "text/plain"}, [b"{}"], "415", "application/json"),
    "no type": ({"origin": "https://app.example"}, [b"{}"], "415", "application/json"),
    "a large body": (JSON, [b" " * MOST, b"{}"], "413|400", "limits.body_bytes"),
    "a large compressed body": (
        {**JSON, "content-encoding": "gzip"},
        [gzip.compress(b" " * 100 * MOST)],
        "413|400",
        "limits.body_bytes",
    ),
    "an unknown coding": ({**JSON, "content-encoding": "br"}, [b"{}"], "400", "content-encoding"),
}


@pytest.mark.parametrize("rule", RULES)
def test_guard_applies_each_rule_to_each_route(rule: str) -> None:
    headers, parts, statuses, setting = RULES[rule]

    async def go() -> None:
        for name, made in APPS.items():
            app = made(origins=["https://app.example"])
            async with running(app):
                for _, method, path in (route for route in ROUTES if route[0] == name):
                    status, _, body = await ask(app, method, path, headers, list(parts))
                    assert re.fullmatch(statuses, str(status)), (name, method, path, status, body)
                    assert setting in json.dumps(json.loads(body)), (name, method, path, body)

    asyncio.run(go())


def test_gateway_requires_its_key_on_each_route() -> None:
    async def go() -> None:
        app = gateway_app(key="env:KEY")
        async with running(app):
            for _, method, path in (route for route in ROUTES if route[0] == "gateway"):
                if path.startswith("/health/"):
                    # Programs that look after processes have no key.
                    assert (await ask(app, method, path, {}))[0] == 200
                    continue
                for headers in ({}, {"authorization": "Bearer sk-another"}, {"x-api-key": "\xe9"}):
                    status, _, body = await ask(app, method, path, {**JSON, **headers}, [b"{}"])
                    # 403 is the status of AWS.
                    assert status in (401, 403), (method, path, body)
                    assert b"its own key (`key`)" in body
                status, _, body = await ask(app, method, path, {**JSON, "authorization": f"Bearer {KEY}"}, [b"{}"])
                assert b"its own key" not in body, (method, path, body)

    asyncio.run(go())


def test_half_bodies_end_on_each_route_and_take_no_place() -> None:
    async def go() -> None:
        for name, made in APPS.items():
            app = made()
            async with running(app):
                for _, method, path in (route for route in ROUTES if route[0] == name):
                    halves = [asyncio.create_task(ask(app, method, path, JSON, [b"{"], ends=False)) for _ in range(9)]
                    await asyncio.sleep(0)
                    status, _, body = await ask(app, "POST", "/nowhere", JSON, [b"{}"])
                    assert status == 404, body
                    for half in halves:
                        half.cancel()
                ends = [ask(app, m, path, JSON, [b"{"], ends=False) for n, m, path in ROUTES if n == name]
                for status, _, body in await asyncio.gather(*ends):
                    assert status == 408
                    assert b"limits.body_seconds" in body

    asyncio.run(go())


def test_requests_above_the_limit_are_refused_on_each_route() -> None:
    """The places are taken by long bodies, which count before they are complete."""

    async def go() -> None:
        for name in APPS:
            app = create_long(name)
            async with running(app):
                long = [b" " * 70_000]
                taking = [
                    asyncio.create_task(ask(app, "POST", "/nowhere", JSON, long, ends=False)) for _ in range(REQUESTS)
                ]
                await asyncio.sleep(0.05)
                for _, method, path in (route for route in ROUTES if route[0] == name):
                    status, headers, body = await ask(app, method, path, JSON, [b"{}"])
                    assert status in (503, 529), (method, path, body)
                    assert b"limits.requests" in body
                    assert headers.get("retry-after") == "1" or b"retryDelay" in body, (method, path, headers)
                for task in taking:
                    task.cancel()
                await asyncio.gather(*taking, return_exceptions=True)
                status, _, body = await ask(app, "POST", "/nowhere", JSON, [b"{}"])
                assert status == 404, body

    asyncio.run(go())


def create_long(name: str) -> App:
    """Return an application that takes long bodies."""
    if name == "server":
        runner = AsyncToolRunner(AsyncScripted([]))
        return create_app(":memory:", runner, limits=Limits(requests=REQUESTS))
    return gateway_app(limits={"requests": REQUESTS})


def test_application_without_its_guard_fails_the_rules() -> None:
    """The rules above hold only because of the guard: without it, each of them is broken."""

    async def go() -> None:
        for made in APPS.values():
            app = made()
            app.user_middleware = [entry for entry in app.user_middleware if entry.cls is not Guard]
            async with running(app):
                for rule, (headers, parts, _, _) in RULES.items():
                    status, _, _ = await ask(app, "GET", "/nowhere", headers, list(parts))
                    assert status == 404, rule

    asyncio.run(go())


# -- allowed requests --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "settings"),
    [
        ({}, {}),
        ({"host": "localhost:8080"}, {}),
        ({"host": "[::1]:8080"}, {}),
        ({"host": "LLM.example.com"}, {"hosts": ["llm.example.com"]}),
        ({"host": "localhost:9000"}, {"hosts": ["localhost:9000"]}),
        ({"sec-fetch-site": "none"}, {}),
        ({"sec-fetch-site": "same-origin"}, {}),
        ({"origin": "https://app.example", "sec-fetch-site": "cross-site"}, {"origins": ["https://app.example"]}),
        # Node's fetch sends this header.
        ({"sec-fetch-mode": "cors"}, {}),
    ],
)
def test_allowed_requests_reach_the_application(headers: dict[str, str], settings: dict[str, Any]) -> None:
    async def go() -> None:
        for made in APPS.values():
            app = made(**settings)
            async with running(app):
                status, answered, body = await ask(app, "POST", "/nowhere", {**JSON, **headers}, [b"{}"])
                assert status == 404, body
                assert answered.get("access-control-allow-origin") == headers.get("origin")

    asyncio.run(go())


@pytest.mark.parametrize(
    "settings", [{"hosts": ["https://a"]}, {"hosts": ["*"]}, {"origins": ["*"]}, {"origins": ["https://a/"]}]
)
def test_gateway_refuses_hosts_and_origins_that_never_match(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"(hosts|origins)\[0\]: expected"):
        gateway_app(**settings)


def test_server_allows_pages_of_its_own_host_only() -> None:
    async def go() -> None:
        app = server_app(hosts=["chat.example"])
        async with running(app):
            for origin, wanted in (("https://chat.example", 404), ("https://chat.example:8443", 403), ("://", 403)):
                headers = {**JSON, "host": "chat.example", "origin": origin}
                assert (await ask(app, "POST", "/nowhere", headers, [b"{}"]))[0] == wanted

    asyncio.run(go())


def test_preflight_is_answered_for_listed_origins_only() -> None:
    async def go() -> None:
        for made in APPS.values():
            app = made(origins=["https://app.example"])
            async with running(app):
                asked = {"access-control-request-method": "POST", "access-control-request-headers": "x-api-key"}
                status, headers, _ = await ask(app, "OPTIONS", "/x", {**asked, "origin": "https://app.example"})
                assert status == 204
                assert headers["access-control-allow-origin"] == "https://app.example"
                assert headers["access-control-allow-headers"] == "x-api-key"
                assert (await ask(app, "OPTIONS", "/x", {**asked, "origin": "https://evil.example"}))[0] == 403
                assert (await ask(app, "OPTIONS", "/", asked))[0] in (404, 405)

    asyncio.run(go())


def test_gateway_takes_json_of_programs_under_any_type_and_the_server_only_json() -> None:
    async def go() -> None:
        form = {"content-type": "application/x-www-form-urlencoded", "content-length": "2"}
        for name, wanted in (("gateway", 404), ("server", 415)):
            app = APPS[name]()
            async with running(app):
                assert (await ask(app, "POST", "/nowhere", form, [b"{}"]))[0] == wanted

    asyncio.run(go())


def test_guard_gives_the_application_the_body_without_its_coding() -> None:
    seen: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append((dict(scope["headers"]), await receive()))

    async def refuse(scope: Any, refusal: Refusal) -> Any:
        raise refusal

    guard = Guard(app, GuardRules(body_bytes=99, body_seconds=1, requests=1), refuse)
    headers = {**JSON, "content-encoding": "gzip"}
    data = gzip.compress(b"{}")
    asyncio.run(ask(guard, "POST", "/", headers, [data[:5], data[5:]]))
    assert seen[0][1] == {"type": "http.request", "body": b"{}", "more_body": False}
    assert not {b"content-encoding", b"content-length"} & seen[0][0].keys()
    assert guard._running == 0


# -- a real browser ----------------------------------------------------------------------------------------------------

ATTACKS = """
const bases = ["http://127.0.0.1:%(port)d", "http://rebound.example:%(port)d"];
const body = JSON.stringify({model: "m", max_tokens: 9, messages: [{role: "user", content: "hi"}], input: "hi"});
const posts = %(posts)s, gets = %(gets)s;
const tried = (name, attack) => Promise.race([
  attack().then(value => name + " " + value, error => name + " blocked"),
  new Promise(done => setTimeout(() => done(name + " late"), 4000)),
]);
const attacks = [];
for (const base of bases) {
  for (const path of posts) {
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
      attacks.push(() => tried(base + path, () =>
        fetch(base + path, {method: "POST", mode: "no-cors", headers: {"content-type": type}, body})
          .then(r => r.type)));
    attacks.push(() => tried(base + path, async () =>
      navigator.sendBeacon(base + path, new Blob([body], {type: "text/plain"}))));
    attacks.push(() => tried(base + path, () => fetch(base + path, {method: "POST", body}).then(r => r.text())));
    attacks.push(() => tried(base + path, () =>
      fetch(base + path, {method: "POST", headers: {"content-type": "application/json"}, body}).then(r => r.text())));
    attacks.push(() => tried(base + path, () => new Promise(done => {
      const form = document.createElement("form"), frame = document.createElement("iframe");
      frame.name = "f" + Math.random(); form.target = frame.name; form.method = "POST"; form.action = base + path;
      form.enctype = "text/plain";
      const field = document.createElement("input"); field.name = body.slice(0, -1) + ',"x":"'; field.value = '"}';
      form.append(field); document.body.append(frame, form); form.submit();
      setTimeout(() => {
        let read = "";
        try { read = frame.contentDocument.body.textContent; } catch (e) {}
        done(read);
      }, 300);
    })));
  }
  for (const path of gets) {
    attacks.push(() => tried(base + path, () => fetch(base + path).then(r => r.text())));
    attacks.push(() => tried(base + path, () => new Promise((done, fail) => {
      const source = new EventSource(base + path);
      source.onmessage = event => done(event.data);
      source.onerror = () => { source.close(); fail(new Error("closed")); };
    })));
  }
}
(async () => {
  const results = await Promise.all(attacks.map(attack => attack()));
  document.body.textContent = JSON.stringify(results);
  document.body.setAttribute("data-done", results.length);
})();
"""


REBOUND = "--host-resolver-rules=MAP *.example 127.0.0.1"
"""The option of Chromium by which names of another site lead to this machine."""


LEARNED = {"opaque", "true", "blocked", "", "late"}
"""The results of a page: an opaque answer, a queued beacon, an error, an empty frame, or no answer in time."""


def attacking_page(port: int, routes: list[tuple[str, str]]) -> str:
    """Return a page that tries routes, as methods and paths, in all ways that pages of other sites have."""
    posts = json.dumps([path for method, path in routes if method == "POST"][:12])
    gets = json.dumps([path for method, path in routes if method == "GET"])
    return f"<!DOCTYPE html><body><script>{ATTACKS % {'port': port, 'posts': posts, 'gets': gets}}</script>"


def routes_of(name: str) -> list[tuple[str, str]]:
    """Return the methods and paths of all routes of an application."""
    return [(method, path) for app, method, path in ROUTES if app == name]


def attacked(browser: Any, url: str, routes: list[tuple[str, str]]) -> list[str]:
    """Open the page from another origin in Chromium, and return what it learned."""
    page = attacking_page(int(url.rpartition(":")[2]), routes)

    async def site(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            headers = [(b"content-type", b"text/html")]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": page.encode()})

    with serving(site) as other:
        address = other.replace("127.0.0.1", "evil.example")
        dom = browser(address, REBOUND, "--dump-dom", "--virtual-time-budget=60000")
    done = re.search(r'data-done="\d+">(.*?)</body>', dom, re.DOTALL)
    assert done, dom[-2000:]
    return [text.partition(" ")[2] for text in json.loads(html.unescape(done[1]))]


class Recording:
    """An ASGI app that records the status of every answer of another one."""

    def __init__(self, app: App) -> None:
        self.app, self.statuses = app, list[int]()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def noting(message: Any) -> None:
            if message["type"] == "http.response.start":
                self.statuses.append(message["status"])
            await send(message)

        await self.app(scope, receive, noting)


def test_page_of_another_site_can_neither_use_nor_read_the_gateway(browser: Any, upstream: RawUpstream) -> None:
    upstream.set_answers(raw_answer(whole("anthropic-messages")))
    recorded = Recording(gateway_app(upstream.base_url("anthropic-messages")))
    with serving(recorded) as url:
        learned = attacked(browser, url, routes_of("gateway"))
        assert upstream.requests == []
        assert len(recorded.statuses) > 100
        assert set(recorded.statuses) == {403}
        assert set(learned) <= LEARNED
        for path in ("/", "/v1/models", "/contentmodel/losses/x"):
            # A page of this name reads what the browser shows.
            shown = browser(url.replace("127.0.0.1", "rebound.example") + path, REBOUND, "--dump-dom")
            assert "add this name to `hosts`" in shown


def test_page_of_another_site_can_neither_use_nor_read_the_server(browser: Any) -> None:
    recorded = Recording(server_app())
    with serving(recorded) as url:
        learned = attacked(browser, url, routes_of("server"))
        assert len(recorded.statuses) > 40
        assert set(recorded.statuses) == {403}
        assert set(learned) <= LEARNED
        shown = browser(url.replace("127.0.0.1", "rebound.example") + "/conversations", REBOUND, "--dump-dom")
        assert "add this name to `hosts`" in shown


def test_page_of_another_site_uses_a_gateway_without_its_guard(browser: Any, upstream: RawUpstream) -> None:
    """The attacks work: a gateway without its guard sends them to the upstream."""
    upstream.set_answers(raw_answer(whole("anthropic-messages")))
    app = gateway_app(upstream.base_url("anthropic-messages"))
    app.user_middleware = [entry for entry in app.user_middleware if entry.cls is not Guard]
    with serving(app) as url:
        attacked(browser, url, [("POST", "/v1/messages")])
    assert "/v1/messages" in {request.target for request in upstream.requests}


# -- the writer of JSON ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("package", ["gateway", "server"])
def test_answers_are_written_by_the_one_writer_of_json(package: str) -> None:
    """`engine.json.write` writes lone surrogates, which the other writers refuse or change."""
    folder = Path(contentmodel.__file__).parent / package
    texts = {path.name: path.read_text() for path in folder.rglob("*.py")}
    # These digests and cursors are no answers, and have no text of a client that is not printable.
    others = {"request_models.py", "queries.py"}
    for name, text in texts.items():
        assert "JSONResponse" not in text, name
        assert "json.dumps" not in text, name
        assert name in others or "msgspec.json.encode" not in text, name
