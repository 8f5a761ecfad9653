"""The configuration of a gateway: its types, and how a TOML file is read and checked as a whole."""

from __future__ import annotations

import difflib
import fnmatch
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, TypeAlias, Union, cast, get_args, get_origin, get_type_hints
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

from contentmodel.adapter import adapters
from contentmodel.errors import ContentModelError, Fault
from contentmodel.http_api import HttpApi
from contentmodel.literals import LossFamily, Policies
from contentmodel.policies import check_policies

OnLoss: TypeAlias = Literal["report", "refuse"]
HostedTools: TypeAlias = Literal["encode", "drop", "function", "refuse"]
Failure: TypeAlias = Literal["connection", "rate_limit", "overloaded", "server", "timeout", "context", "auth"]
Reasoning: TypeAlias = Literal["carry", "text", "drop"]
ChatReasoning: TypeAlias = Literal["none", "reasoning_content", "reasoning_details"]
Seconds: TypeAlias = Annotated[float, Meta(gt=0)]
Amount: TypeAlias = Annotated[float, Meta(ge=0)]
Count: TypeAlias = Annotated[int, Meta(ge=1)]

MIN_STATE_KEY = 32
"""The number of characters of the shortest key of state."""

FAMILIES: tuple[str, ...] = get_args(LossFamily)

HOST_NAME = re.compile(r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?")
"""A name or an address of a server, with its port or without it."""
ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?")
"""The origin of a web page, or of a browser's extension."""


class Config(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """The base of the types of a configuration."""


class Upstream(Config, frozen=True, kw_only=True):
    """An API that the gateway sends requests to.

    - `api`: the id of an installed adapter, "anthropic-messages" for example.
    - `dialect`: the host, if its paths differ from those of the API's own: "bedrock" or "vertex" of anthropic-messages.
    - `base_url`: the base URL, as the API's official SDK takes it. The default is the provider's own. That of Vertex AI
      ends in the publisher: ".../projects/PROJECT/locations/LOCATION/publishers/anthropic".
    - `key`: the source of the API key: "env:NAME" (an environment variable), "client" (the key that the client sends),
      or "none". The default is the variable that the official SDK reads.
    - `model`: the model of requests whose route names none. The default is the model that the client asks for.
    - `headers`: headers of every request.
    - `connect_timeout`: the time in seconds to connect. `timeout`: the time to wait for the first byte of an answer,
      and for each next one.
    - `retries`: how often a request is sent again if it certainly caused no answer: the host was not reached, or the
      API was overloaded or limited the rate. `retry_wait`: the longest time to wait before that. If the API asks for
      more time, the client gets the error.
    """

    api: str
    dialect: str | None = None
    base_url: str | None = None
    key: str | None = None
    model: str | None = None
    headers: dict[str, str] = {}
    connect_timeout: Seconds = 10.0
    timeout: Seconds = 600.0
    retries: Annotated[int, Meta(ge=0)] = 2
    retry_wait: Annotated[float, Meta(ge=0)] = 10.0


class Target(Config, frozen=True, kw_only=True):
    """One upstream of a route, with settings of its own.

    - `upstream`: the name of the upstream. `model`: its model. `policies`: added to those of the route.
      `hosted_tools`: in place of that of the route.
    """

    upstream: str
    model: str | None = None
    policies: dict[str, str] = {}
    hosted_tools: HostedTools | None = None


class Route(Config, frozen=True, kw_only=True):
    """The upstreams of some models. The first route that matches the model of a request applies.

    - `models`: names and patterns ("gpt-5*") of models that clients ask for.
    - `to`: the name of an upstream, a table with its name and settings (`Target`), or a list of both. A request goes to
      the next one if an upstream fails before the first byte of the answer was sent to the client.
    - `model`: the model of upstreams without one in `to`. The default is that of the upstream, else the model that the
      client asks for.
    - `policies`: how to convert content that the upstream's API lacks (`contentmodel.POLICIES`).
    - `hosted_tools`: what happens to hosted tools that the upstream lacks. "encode": what the encoder of the API does.
      "drop": they are left out. "function": they are offered as functions, which the client runs. "refuse": the request
      is refused.
    - `on_loss`: "report", or "refuse" to refuse requests with losses; or one of both for each family of content.
    - `fallback_on`: the failures after which the next upstream is tried. "connection": it was not reached. "context":
      the request is too long for it. "auth": it refused the key, the account or the model. After another status from
      400 to 499, no other upstream is tried.
    - `reasoning`: what happens to reasoning of another API than the client's. "carry": the client gets it as reasoning,
      with its signed state, and sends it back. "text": it is sent as visible text. "drop": it is left out.
    - `chat_reasoning`: the field in which clients of Chat Completions get carried reasoning: they have no opaque field
      of their own.
    """

    models: Annotated[tuple[str, ...], Meta(min_length=1)] = ("*",)
    to: str | Target | Annotated[tuple[str | Target, ...], Meta(min_length=1)]
    model: str | None = None
    policies: dict[str, str] = {}
    hosted_tools: HostedTools = "encode"
    on_loss: OnLoss | dict[str, OnLoss] = "report"
    fallback_on: tuple[Failure, ...] = ("connection", "rate_limit", "overloaded", "server", "timeout")
    reasoning: Reasoning = "carry"
    chat_reasoning: ChatReasoning = "none"

    @property
    def choices(self) -> dict[str, str]:
        """The policies of the route, with that of its choice for reasoning."""
        return {**({"reasoning": "text"} if self.reasoning == "text" else {}), **self.policies}

    @property
    def targets(self) -> tuple[Target, ...]:
        """The upstreams with their settings, in the order in which they are tried."""
        to = self.to if isinstance(self.to, tuple) else (self.to,)
        return tuple(Target(upstream=one) if isinstance(one, str) else one for one in to)

    @property
    def upstreams(self) -> tuple[str, ...]:
        """The names of the upstreams, in the order in which they are tried."""
        return tuple(target.upstream for target in self.targets)

    @property
    def name(self) -> str:
        """The models of the route, as reports name it."""
        return ", ".join(self.models)

    def at(self, target: Target, upstreams: Mapping[str, Upstream]) -> Route:
        """Return the route with the model and the settings that it has at one of its targets."""
        return msgspec.structs.replace(
            self,
            to=target.upstream,
            model=target.model or self.model or upstreams[target.upstream].model,
            policies={**self.policies, **target.policies},
            hosted_tools=target.hosted_tools or self.hosted_tools,
        )

    def matches(self, model: str) -> bool:
        """Return whether the route is for a model."""
        return any(fnmatch.fnmatchcase(model, pattern) for pattern in self.models)

    def refuses(self, family: str) -> bool:
        """Return whether a request with a loss of this family is refused."""
        return (self.on_loss if isinstance(self.on_loss, str) else self.on_loss.get(family)) == "refuse"


class Limits(Config, frozen=True, kw_only=True):
    """The limits of a gateway.

    - `body_bytes`: the size of a request. `answer_bytes`: the size of an answer that is not streamed.
    - `body_seconds`: the time that a client has to send the body of a request.
    - `requests`: the number of requests at the same time. A request counts when its body has arrived.
    - `reports`: the number of latest requests whose losses can be read.
    - `heartbeat`: the seconds between two keep-alives in a stream that is waiting.
    - `on_store_failure`: whether requests with a limited key are allowed or refused while the store fails.
    - `state_bytes`: the size of the state of one block of reasoning. A request may have 16 times as much.
    """

    body_bytes: Count = 64 * 2**20
    answer_bytes: Count = 256 * 2**20
    body_seconds: Seconds = 60.0
    requests: Count = 512
    reports: Count = 256
    heartbeat: Seconds = 15.0
    on_store_failure: Literal["allow", "refuse"] = "allow"
    state_bytes: Count = 256 * 1024


class Cooldown(Config, frozen=True, kw_only=True):
    """When an upstream is skipped, for `seconds`: after `failures` tries in a row that failed.

    A try fails if the upstream was not reached, did not answer in time, or reported that it is overloaded or broken. An
    upstream that limits the rate is skipped as long as its `retry-after` says, and at most for `seconds`. Then one
    request tries it. If all upstreams of a route are skipped, the first one is tried once.
    """

    failures: Count = 3
    seconds: Seconds = 30.0


LIMITS = (
    *("requests_per_minute", "requests_per_day", "tokens_per_minute", "tokens_per_day"),
    *("cost_per_day", "cost_per_month"),
)
"""The limits of a key. Their times are the minutes, days and months of UTC."""


class ClientKey(Config, frozen=True, kw_only=True):
    """The key of a client, and how much may be used with it.

    - `key`: its source ("env:NAME"), or `sha256`: the SHA-256 of the key, in hexadecimal.
    - `routes`: the names and patterns of models that its requests may ask for.
    - `requests_per_minute`, `requests_per_day`, `tokens_per_minute`, `tokens_per_day`, `cost_per_day`,
      `cost_per_month`: the limits. They are checked before a request, and counted after it. Costs need `prices`.
    """

    key: str | None = None
    sha256: Annotated[str, Meta(pattern="^[0-9A-Fa-f]{64}$")] | None = None
    routes: Annotated[tuple[str, ...], Meta(min_length=1)] = ("*",)
    requests_per_minute: Count | None = None
    requests_per_day: Count | None = None
    tokens_per_minute: Count | None = None
    tokens_per_day: Count | None = None
    cost_per_day: Seconds | None = None
    cost_per_month: Seconds | None = None

    @property
    def limits(self) -> dict[str, int]:
        """The limits that are set. Costs are in millionths."""
        values = {name: getattr(self, name) for name in LIMITS}
        return {
            name: round(value * 1_000_000) if name.startswith("cost") else value
            for name, value in values.items()
            if value is not None
        }

    def may_use(self, model: str) -> bool:
        """Return whether requests with this key may ask for a model."""
        return any(fnmatch.fnmatchcase(model, pattern) for pattern in self.routes)


class Price(Config, frozen=True, kw_only=True):
    """The price of a model for a million tokens.

    - `input`: of input that is in no cache. `cached`, `cache_write`: of input that was read from a cache, or written to
      it. The default is `input`.
    - `output`: of the output, including reasoning.
    """

    input: Amount
    output: Amount
    cached: Amount | None = None
    cache_write: Amount | None = None


class GatewayConfig(Config, frozen=True, kw_only=True):
    """The configuration of a gateway.

    - `host`, `port`: where the command listens. `key`: the source of the key that clients must send ("env:NAME");
      required if `host` is not this machine alone.
    - `hosts`: further names of the gateway that clients may use ("llm.example.com", or "localhost:9000" with a port).
    - `origins`: the web pages that may use the gateway, as browsers name them ("https://app.example.com").
    - `store`: the location of a history (a file, or the URL of a database) that keeps conversations of the Responses
      API for upstreams that cannot. Without it, nothing is written to disk.
    - `state_key`: the source of the key that signs the state of reasoning that clients send back ("env:NAME"), or a
      list: the first one signs, and all verify. Without it, the gateway makes one for its workers when it starts.
    - `upstreams`: the upstreams by name. `routes`: the routes, in order. `limits`: the limits.
    - `cooldown`: when an upstream that fails is skipped.
    - `keys`: further keys of clients by name, with the models and the limits of each. `prices`: the prices of the
      upstreams' models, by name or pattern, in any currency.
    - `drain_seconds`: the time that running requests get when the gateway is stopped.
    """

    host: str = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65535)] = 8080
    key: str | None = None
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    store: str | None = None
    state_key: str | Annotated[tuple[str, ...], Meta(min_length=1)] | None = None
    upstreams: Annotated[dict[str, Upstream], Meta(min_length=1)]
    routes: Annotated[tuple[Route, ...], Meta(min_length=1)]
    limits: Limits = Limits()
    cooldown: Cooldown = Cooldown()
    keys: dict[str, ClientKey] = {}
    prices: dict[str, Price] = {}
    drain_seconds: Annotated[float, Meta(ge=0)] = 60.0

    @property
    def state_keys(self) -> tuple[str, ...]:
        """The sources of the keys of `state_key`."""
        keys = self.state_key or ()
        return (keys,) if isinstance(keys, str) else keys


class ConfigError(ContentModelError, ValueError):
    """Raised for a configuration with faults. `faults` has every fault with its place (`routes[0].to`)."""

    def __init__(self, name: str, faults: list[Fault]) -> None:
        self.name, self.faults = name, faults
        listed = "; ".join(f"{fault.path}: {fault.message}" for fault in faults)
        super().__init__(f"{name}: {listed}")


def load_config(path: str | Path, *, environment: Mapping[str, str] | None = None) -> GatewayConfig:
    """Read a TOML file. Raise ConfigError with every fault, and OSError if the file cannot be read."""
    text = Path(path).read_bytes()
    try:
        value = tomllib.loads(text.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(str(path), [Fault("$", f"not TOML: {error}")]) from None
    return read_config(value, name=str(path), environment=environment)


def read_config(
    value: Mapping[str, Any], *, name: str = "configuration", environment: Mapping[str, str] | None = None
) -> GatewayConfig:
    """Read the value of a configuration file. `environment` replaces the environment of the process.

    Raise ConfigError with every fault.
    """
    faults = list(_type_faults(value, GatewayConfig, ""))
    if faults:
        raise ConfigError(name, [*faults, *_other_faults(value, faults, environment)])
    config = msgspec.convert(value, GatewayConfig)
    check_config(config, name=name, environment=environment)
    return config


def _other_faults(
    value: Mapping[str, Any], faults: list[Fault], environment: Mapping[str, str] | None
) -> Iterator[Fault]:
    """Yield the faults of the values of a configuration whose types have faults: of the rest of it."""
    paths = {fault.path for fault in faults}
    try:
        rest = msgspec.convert(_without(value, GatewayConfig, "", paths), GatewayConfig)
    except msgspec.ValidationError:
        return
    for fault in _config_faults(rest, os.environ if environment is None else environment):
        is_known = any(_is_inside(path, fault.path) or _is_inside(fault.path, path) for path in paths)
        # Whether a route is never used depends on all others.
        if not is_known and not fault.path.endswith(".models"):
            yield fault


def check_config(
    config: GatewayConfig, *, name: str = "configuration", environment: Mapping[str, str] | None = None
) -> None:
    """Raise ConfigError with every fault: unknown names, policies and patterns, keys that are not set, bad URLs."""
    faults = list(_config_faults(config, os.environ if environment is None else environment))
    if faults:
        raise ConfigError(name, faults)


def config_schema() -> dict[str, Any]:
    """Return the JSON Schema of configuration files."""
    schema = msgspec.json.schema(GatewayConfig)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "contentmodel gateway", **schema}


def http_apis() -> dict[str, HttpApi]:
    """Return the HTTP interface of each installed adapter that has one."""
    found = {api: getattr(adapter, "http", None) for api, adapter in adapters().items()}
    return {api: http for api, http in found.items() if http is not None}


def hosts_of(api: str) -> Mapping[str, HttpApi]:
    """Return the HTTP interfaces of the hosts of an API that have paths of their own."""
    found: Mapping[str, HttpApi] = getattr(adapters()[api], "hosts", {})
    return found


def host_policies(adapter: Any, dialect: str | None) -> dict[str, str]:
    """Return the policies that name the host of an API whose hosts have paths of their own. None is its own host."""
    return {"dialect": dialect or adapter.dialects[0]} if getattr(adapter, "hosts", None) else {}


# -- keys --------------------------------------------------------------------------------------------------------------


def key_source(upstream: Upstream, http: HttpApi, environment: Mapping[str, str]) -> str:
    """Return the source of an upstream's key: "env:NAME", "client" or "none"."""
    if upstream.key is not None:
        return upstream.key
    return f"env:{next((n for n in http.key_variables if environment.get(n)), http.key_variables[0])}"


def _key_faults(path: str, source: str, environment: Mapping[str, str], *, others: tuple[str, ...]) -> Iterator[Fault]:
    if source in others:
        return
    prefix, _, variable = source.partition(":")
    if prefix != "env" or not variable:
        # The text may be a key: it is not repeated.
        choices = " or ".join(["env:NAME", *others])
        yield Fault(path, f"expected {choices}: a key is read from an environment variable, not from this file")
    elif not environment.get(variable):
        yield Fault(path, f"the environment variable {variable} is not set")
    elif not is_header_value(environment[variable]):
        yield Fault(path, f"the environment variable {variable} has characters that a header cannot have")


def is_header_value(text: str) -> bool:
    """Return whether a text can be sent as a header."""
    return text.isascii() and text.isprintable() and text == text.strip()


# -- faults of values --------------------------------------------------------------------------------------------------


def _config_faults(config: GatewayConfig, environment: Mapping[str, str]) -> Iterator[Fault]:
    apis = http_apis()
    for name, upstream in config.upstreams.items():
        yield from _upstream_faults(f"upstreams.{name}", upstream, apis, environment)
        if upstream.key == "client" and (config.key is not None or config.keys):
            yield Fault(f"upstreams.{name}.key", "clients send the key of the gateway: expected env:NAME or none")
    for number, route in enumerate(config.routes):
        yield from _route_faults(f"routes[{number}]", route, config)
    yield from _shadowed(config.routes)
    for number, host in enumerate(config.hosts):
        if not HOST_NAME.fullmatch(host):
            yield Fault(f"hosts[{number}]", "expected a name, and a port if it is another one: 'llm.example.com:9000'")
    for number, origin in enumerate(config.origins):
        if origin != "null" and not ORIGIN.fullmatch(origin):
            yield Fault(f"origins[{number}]", "expected an origin as browsers send it: 'https://app.example.com'")
    for name, key in config.keys.items():
        yield from _client_key_faults(f"keys.{name}", key, config, environment)
    for number, source in enumerate(config.state_keys):
        place = "state_key" if isinstance(config.state_key, str) else f"state_key[{number}]"
        faults = list(_key_faults(place, source, environment, others=()))
        yield from faults
        if not faults and len(environment[source.partition(":")[2]]) < MIN_STATE_KEY:
            yield Fault(place, f"its value has fewer than {MIN_STATE_KEY} characters: use `openssl rand -hex 32`")
        if source in config.state_keys[:number]:
            yield Fault(place, f"{source} is listed twice")
    if config.key is not None:
        yield from _key_faults("key", config.key, environment, others=())
    elif not is_local(config.host) and not config.keys:
        yield Fault("key", f"required with host {config.host!r}, which other machines can reach: set key = 'env:NAME'")


def _client_key_faults(
    path: str, key: ClientKey, config: GatewayConfig, environment: Mapping[str, str]
) -> Iterator[Fault]:
    if (key.key is None) is (key.sha256 is None):
        yield Fault(path, "expected one of key = 'env:NAME' and sha256 = '...' (the SHA-256 of the key)")
    elif key.key is not None:
        yield from _key_faults(f"{path}.key", key.key, environment, others=())
    for limit in key.limits:
        if limit.startswith("cost") and not config.prices:
            yield Fault(f"{path}.{limit}", "needs the prices of the models: set prices")


def _upstream_faults(
    path: str, upstream: Upstream, apis: Mapping[str, HttpApi], environment: Mapping[str, str]
) -> Iterator[Fault]:
    http = apis.get(upstream.api)
    if http is None:
        yield Fault(f"{path}.api", unknown("API", upstream.api, apis))
        return
    if upstream.dialect is not None:
        hosts = hosts_of(upstream.api)
        if upstream.dialect not in hosts:
            yield Fault(f"{path}.dialect", unknown("host", upstream.dialect, hosts))
            return
        http = hosts[upstream.dialect]
    if upstream.base_url is None and "{" in http.base_url:
        yield Fault(f"{path}.base_url", f"required: {http.base_url}")
    yield from _key_faults(
        f"{path}.key", key_source(upstream, http, environment), environment, others=("client", "none")
    )
    if upstream.base_url is not None and not _is_url(upstream.base_url):
        yield Fault(f"{path}.base_url", "expected http:// or https://, a host, and no user, query or fragment")
    for header, value in upstream.headers.items():
        if not header.isascii() or not header.replace("-", "").isalnum() or not is_header_value(value):
            yield Fault(f"{path}.headers.{header}", "not a valid header")


def _route_faults(path: str, route: Route, config: GatewayConfig) -> Iterator[Fault]:
    names = route.upstreams
    yield from _policy_faults(path, route.policies)
    for number, target in enumerate(route.targets):
        name, place = target.upstream, f"{path}.to[{number}]" if isinstance(route.to, tuple) else f"{path}.to"
        if name not in config.upstreams:
            yield Fault(place, unknown("upstream", name, config.upstreams))
        elif name in names[:number] and target in route.targets[:number]:
            yield Fault(place, f"{name} is listed twice")
        yield from _policy_faults(place, target.policies)
    yield from _shared_model(f"{path}.to", route, config)
    for family in route.on_loss if isinstance(route.on_loss, dict) else ():
        if family not in FAMILIES:
            yield Fault(f"{path}.on_loss.{family}", unknown("family", family, FAMILIES))


def _policy_faults(path: str, policies: Mapping[str, str]) -> Iterator[Fault]:
    for family, choice in policies.items():
        try:
            check_policies(cast(Policies, {family: choice}))
        except ValueError as error:
            yield Fault(f"{path}.policies.{family}", str(error))


def _shared_model(path: str, route: Route, config: GatewayConfig) -> Iterator[Fault]:
    """Yield a fault if upstreams of different providers get one model name, and `to` does not name it for each."""
    known, installed = config.upstreams, adapters()
    unnamed = [t.upstream for t in route.targets if t.upstream in known and t.model is None]
    if route.model is None:
        unnamed = [name for name in unnamed if known[name].model is None]
    issuers = {installed[known[name].api].issuer for name in unnamed if known[name].api in installed}
    if len(issuers) > 1:
        model = "the model of the client" if route.model is None else f"the model {route.model!r}"
        names, example = ", ".join(unnamed), f'{{upstream = "{unnamed[0]}", model = "..."}}'
        yield Fault(path, f"{names} are of different providers, and all get {model}: name one for each: {example}")


def _shadowed(routes: tuple[Route, ...]) -> Iterator[Fault]:
    """Yield a fault for each route that no model reaches, because earlier routes match all of its patterns."""
    for number, route in enumerate(routes):
        earlier = [pattern for before in routes[:number] for pattern in before.models]
        covering = [next((e for e in earlier if fnmatch.fnmatchcase(p, e)), None) for p in route.models]
        if all(pattern is not None for pattern in covering):
            first = ", ".join(sorted({repr(pattern) for pattern in covering}))
            yield Fault(f"routes[{number}].models", f"never used: an earlier route matches {first}")


def _is_url(text: str) -> bool:
    try:
        url = urlsplit(text)
        return (
            url.scheme in ("http", "https") and bool(url.hostname) and not (url.query or url.fragment or url.username)
        )
    except ValueError:
        return False


def is_local(host: str) -> bool:
    """Return whether only programs of this machine reach a host."""
    return host in ("localhost", "::1") or host.startswith("127.")


def unknown(kind: str, name: str, known: Any) -> str:
    """Return the message for an unknown name, with the nearest known one or all of them."""
    near = difflib.get_close_matches(name, list(known), 1)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(sorted(known))}"
    return f"unknown {kind} {name!r}: {hint}"


# -- faults of types ---------------------------------------------------------------------------------------------------


def _type_faults(value: Any, expected: Any, path: str) -> Iterator[Fault]:
    """Yield every fault of the types: unknown and missing keys, and values of a wrong type."""
    inner = _member(expected, type(value))
    if isinstance(value, dict) and _is_struct(inner):
        yield from _struct_faults(value, inner, path)
    elif isinstance(value, dict) and value and get_origin(inner) is dict:
        for key, item in value.items():
            yield from _type_faults(item, get_args(inner)[1], _join(path, key))
    elif isinstance(value, list) and value and get_origin(inner) is tuple:
        for number, item in enumerate(value):
            yield from _type_faults(item, get_args(inner)[0], f"{path}[{number}]")
    else:
        try:
            msgspec.convert(value, expected)
        except msgspec.ValidationError as error:
            text = str(error)
            choices = _choices(expected) if isinstance(value, str) else ()
            listed = f": expected {' or '.join(map(repr, choices))}" if choices else ""
            yield Fault(path or "$", f"{text[:1].lower()}{text[1:]}{listed}")


def _struct_faults(value: dict[str, Any], expected: type[msgspec.Struct], path: str) -> Iterator[Fault]:
    types = get_type_hints(expected, include_extras=True)
    for key, item in value.items():
        if key in types:
            hint = _meant(key, item, types)
            for fault in _type_faults(item, types[key], _join(path, key)):
                yield Fault(fault.path, f"{fault.message}{hint}") if fault.path == _join(path, key) else fault
        else:
            yield Fault(_join(path, key), unknown("key", key, types))
    for field in msgspec.structs.fields(expected):
        if field.required and field.name not in value:
            yield Fault(_join(path, field.name), "required, and missing")


def _meant(key: str, value: Any, types: Mapping[str, Any]) -> str:
    """Return a hint at a key of nearly the same name whose type a value has: `models` for a list at `model`."""
    near = difflib.get_close_matches(key, [name for name in types if name != key], 3, 0.8)
    fitting = next((name for name in near if not list(_type_faults(value, types[name], name))), None)
    return "" if fitting is None else f": did you mean {fitting!r}?"


def _without(value: Any, expected: Any, path: str, faults: set[str]) -> Any:
    """Return a value without what has faults at `faults`. A required one is replaced by an empty one."""
    inner = _member(expected, type(value))
    if isinstance(value, dict) and isinstance(inner, type) and issubclass(inner, msgspec.Struct):
        types = get_type_hints(inner, include_extras=True)
        kept = {
            key: _without(item, types[key], _join(path, key), faults)
            for key, item in value.items()
            if key in types and _join(path, key) not in faults
        }
        required = {field.name: _EMPTY for field in msgspec.structs.fields(inner) if field.required}
        return {**{key: empty for key, empty in required.items() if key not in kept}, **kept}
    if isinstance(value, dict) and get_origin(inner) is dict:
        items = {key: item for key, item in value.items() if _join(path, key) not in faults}
        return {key: _without(item, get_args(inner)[1], _join(path, key), faults) for key, item in items.items()}
    if isinstance(value, list) and get_origin(inner) is tuple:
        places = [(f"{path}[{number}]", item) for number, item in enumerate(value)]
        return [_EMPTY if at in faults else _without(item, get_args(inner)[0], at, faults) for at, item in places]
    return value


_EMPTY = ""
"""The text that replaces a required value that is missing or has a fault."""


def _is_inside(outer: str, path: str) -> bool:
    """Return whether a place is another one, or inside of it."""
    return path == outer or path.startswith((f"{outer}.", f"{outer}["))


def _member(expected: Any, kind: type) -> Any:
    """Return the type without its constraints; of a union, the member for an object or for a list."""
    if get_origin(expected) is Annotated:
        return _member(get_args(expected)[0], kind)
    if get_origin(expected) in (UnionType, Union):
        members = [_member(member, kind) for member in get_args(expected)]
        wanted = tuple if kind is list else kind
        return next((m for m in members if get_origin(m) is wanted or (kind is dict and _is_struct(m))), expected)
    return expected


def _is_struct(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def _choices(expected: Any) -> tuple[str, ...]:
    """Return the texts of a Literal, which may be the member of a union."""
    if get_origin(expected) is Literal:
        return get_args(expected)
    return tuple(dict.fromkeys(choice for member in get_args(expected) for choice in _choices(member)))


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key
