"""Texts that look like secrets: keys of known formats, and values that are assigned to the name of a secret.

A text can be a configuration, code, a command, a header, XML, or JSON in JSON, where quotes and line ends are escaped.
The expressions take linear time.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from contentmodel_conformance.captures.secret_names import (
    can_be_secret,
    can_be_secret_header,
    is_bare_literal,
    is_literal,
    is_password,
    is_random,
    is_secret,
    is_secret_parameter,
    looks_secret,
)

Span = tuple[int, int]


def _whole(match: re.Match[str]) -> Span | None:
    """Return the span of the group `secret`, or of the match if there is none."""
    return match.span("secret" if "secret" in match.re.groupindex else 0)


class Pattern(NamedTuple):
    """A text that looks like a secret. `find` returns the span of the secret in a match, None if there is none.

    `hint` is a text that each match contains; "" if there is none.
    """

    name: str
    expression: re.Pattern[str]
    hint: str = ""
    find: Callable[[re.Match[str]], Span | None] = _whole


KEY = "key-like text"
ACCOUNT = "account id"
FIELD = "field"


_START = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))"
"""The start of a word. It can follow an escaped line end."""


def _key(hint: str, rest: str) -> Pattern:
    """Return the pattern of keys that begin with `hint`."""
    return _keys(hint, re.escape(hint) + rest)


def _keys(hint: str, expression: str) -> Pattern:
    """Return the pattern of keys that contain `hint`."""
    return Pattern(KEY, re.compile(_START + expression), hint)


# -- values with a name ------------------------------------------------------------------------------------------------

_NAME_END = (
    r"(?:keys?|tokens?|secrets?|passw(?:or)?ds?|passphrase|passwort|pwd|pass|credentials?|authorization|cookie|jwt"
    r"|session|sid|sas|webhook|auth)(?:[-_](?:[0-9]{1,2}|prod|production|dev|test|live|staging|old|new|value))?"
)
_NAME_START = re.compile(r"[A-Za-z0-9_.-]{0,64}\Z")
_LINE_START = re.compile(r"(?:\A|\n|\\n|[\"'`])[ \t]*(?:- |(?:export|set|env|ENV|ARG|echo) )?\Z")
_LINE_END = re.compile(r"[ \t]*(?:\Z|[\r\n]|\\+[nr]|\\*[\"'`])")
_SCHEME = r"(?:(?:basic|bearer|token|apikey|api-key|digest|negotiate)[ \t]+)?"
_SPACES = r"(?:(?<=[\"'`]:)(?:\s|\\{1,8}[nrt]){0,40}|[ \t]{0,8})"
"""The space after a separator. In JSON, and in an escaped one, it can be a line end."""
_ASSIGNMENT = re.compile(
    rf"(?i){_NAME_END}(?P<close>\\*[\"'`]?\]?)[ \t]{{0,8}}(?:={{1,3}}>?|:=|!==?|:){_SPACES}"
    rf"(?:[bruf@]{{1,2}}(?=\\*[\"']))?(?P<open>\\*(?:\"\"\"|'''|[\"'`]))?{_SCHEME}"
)
_OPTION = re.compile(rf"(?i)--(?P<name>[a-z0-9-]{{0,40}}?{_NAME_END})[ \t]+(?P<open>\\*[\"'])?(?=[^\s-])")
_BARE = re.compile(r"[^\s\"'`\\]{1,4096}")
_NEXT_PAIR = re.compile(r"[&;,][A-Za-z_][\w.-]*=")
_QUOTE = re.compile(r"(\\*)([\"'`]|\n|\Z)")
_LONGEST = 8192


def _assigned(match: re.Match[str]) -> Span | None:
    """Return the span of the value that is assigned to a name."""
    text = match.string
    if "name" in match.re.groupindex:
        name, first = f"--{match['name']}", match.start()
    else:
        before = text[max(0, match.start() - 64) : match.start()]
        start = _NAME_START.search(before)
        first = match.start() - len(start[0] if start else "")
        if first and text[first - 1] == "\\" and text[first] in "nrt":
            first += 1  # An escaped line end, not a letter of the name.
        name = text[first : match.start("close")].rstrip(" \t")
    is_known_form = _is_variable(name) or name.startswith(("x-", "X-")) or name == "--token"
    if not (is_secret(name) or is_known_form or can_be_secret(name)):
        return None
    if match["open"]:
        return _quoted(match, name)
    return _bare(match, name, first, certain=is_secret(name) or (is_known_form and can_be_secret(name)))


def _is_variable(name: str) -> bool:
    """Return whether a name is that of an environment variable."""
    return name.isupper() and len(name) > 6 and "_" in name


def _quoted(match: re.Match[str], name: str) -> Span | None:
    start, end = match.end(), _end_of_quoted(match)
    value = match.string[start:end]
    if is_secret(name):
        is_found = is_literal(value, name) and (bool(match["close"]) or not _is_code(value, name))
    elif can_be_secret(name):
        is_value = _is_variable(name) and len(value) >= 8 and bool(re.search("[0-9]", value)) and " " not in value
        is_found = is_literal(value, name) if is_value or name[:2] in ("x-", "X-", "--") else looks_secret(value)
    else:
        is_found = False
    return (start, end) if is_found else None


def _is_code(value: str, name: str) -> bool:
    """Return whether a text after the name of a secret is not its value: the quote ended a text, or it is a name."""
    if value[0] in ")]},;" or value[0].isspace():
        return True
    return not is_password(name) and value.replace("_", "").isalpha() and is_secret(re.sub(r"_?[Ii][Dd]$", "", value))


def _end_of_quoted(match: re.Match[str]) -> int:
    """Return the end of a quoted value. The quotes inside have more backslashes than those around it."""
    text, opened = match.string, match["open"]
    depth = len(opened) - len(opened.lstrip("\\"))
    last = min(len(text), match.end() + _LONGEST)
    for quote in _QUOTE.finditer(text, match.end(), last):
        escapes = len(quote[1])
        ends = quote[2] == opened[-1] and escapes >= depth and (escapes - depth) % (2 * (depth + 1)) == 0
        if ends:
            return quote.end(1) - depth
        if quote[2] == opened[-1] and escapes < depth:
            return quote.start()
        if quote[2] in ("\n", ""):
            return quote.start()
    return last


def _bare(match: re.Match[str], name: str, first: int, *, certain: bool) -> Span | None:
    text = match.string
    bare = _BARE.match(text, match.end())
    if bare is None:
        return None
    following = _NEXT_PAIR.search(bare[0])
    value = (bare[0][: following.start()] if following else bare[0]).rstrip(",;)}]>.|")
    end = bare.start() + len(value)
    before = text[max(0, first - 80) : first]
    has_own_line = bool(_LINE_START.search(before) and _LINE_END.match(text, end))
    is_one = is_bare_literal(value, name, has_own_line=has_own_line) if certain else looks_secret(value)
    if name.lower() == "pass" and not (name.islower() and has_own_line):
        return None  # The report of a test: "PASS: test_1".
    return (bare.start(), end) if is_one else None


def _list(match: re.Match[str]) -> Span | None:
    """Return the span of the items of a list of secrets, with the quotes between them."""
    name = match.string[max(0, match.start() - 64) : match.start("close")]
    start = _NAME_START.search(name)
    return match.span("secret") if start and is_secret(start[0]) else None


def _header(match: re.Match[str]) -> Span | None:
    """Return the span of the value of an unknown header that looks random."""
    is_found = can_be_secret_header(match["name"]) and is_random(match["secret"])
    return match.span("secret") if is_found else None


def _password(match: re.Match[str]) -> Span | None:
    """Return the span of the password of a URL. Examples have the word itself."""
    return match.span("secret") if is_literal(match["secret"], "password") else None


def _element(match: re.Match[str]) -> Span | None:
    """Return the span of the text of an XML element, or of a pair of elements or attributes, with a secret's name."""
    name, value = match["name"], match["secret"]
    is_found = is_literal(value, name) if is_secret(name) else can_be_secret(name) and looks_secret(value)
    return match.span("secret") if is_found else None


def _parameter(match: re.Match[str]) -> Span | None:
    """Return the span of the value of a parameter of a URL."""
    name, value = match["name"].lower(), match["secret"]
    if name == "code":
        around = match.string[max(0, match.start() - 200) : match.end() + 200].lower()
        is_found = len(value) >= 6 and any(map(str.isalpha, value)) and bool(re.search("[0-9]", value))
        is_found = is_found and any(word in around for word in ("callback", "oauth", "redirect", "state="))
    else:
        is_found = is_secret_parameter(name) and name not in ("pass", "pwd")
    return match.span("secret") if is_found and is_literal(value, name) else None


def _of_curl(match: re.Match[str]) -> Span | None:
    """Return the span of the password in the option -u of curl and its relatives."""
    before = match.string[max(0, match.start() - 600) : match.start()]
    is_command = any(name in before for name in ("curl", "wget", "http"))
    return match.span("secret") if is_command and is_literal(match["secret"], "password") else None


_SPACE = r"(?:\s|\\+[nrt])"
_NAMED = (
    Pattern(FIELD, _ASSIGNMENT, find=_assigned),
    Pattern(FIELD, _OPTION, "--", _assigned),
    Pattern(
        FIELD,
        re.compile(
            rf"(?i){_NAME_END}(?P<close>\\*[\"'`]?)\s{{0,8}}[:=]\s{{0,8}}\[\s{{0,8}}(?P<open>\\*[\"'])(?P<secret>[^\[\]\s]"
            r"[^\[\]]{0,4096}?)(?P=open),?\s{0,8}\]"
        ),
        "[",
        _list,
    ),
    Pattern(
        FIELD,
        re.compile(
            r"(?i)(?<![\w-])(?P<name>x-[a-z0-9-]{1,40})\\*[\"']?\s{0,4}:\s{0,4}\\*[\"']?(?P<secret>[\w.+/=~-]{16,})"
        ),
        "-",
        _header,
    ),
    Pattern(
        FIELD,
        re.compile(
            r"<(?:[A-Za-z]\w{0,30}:)?(?P<name>[A-Za-z][\w.-]{0,63})(?:\s[^<>]{0,200})?>\s{0,100}(?P<secret>[^<>\s][^<>]{0,4096})</"
        ),
        "</",
        _element,
    ),
    Pattern(
        FIELD,
        re.compile(rf"<key>(?P<name>[^<>]{{1,64}})</key>{_SPACE}{{0,20}}<string>(?P<secret>[^<>]{{1,4096}})</string>"),
        "<key>",
        _element,
    ),
    Pattern(
        FIELD,
        re.compile(
            r"(?i)\b(?:key|name)\\*[\"']?\s{0,4}[=:]\s{0,4}\\*[\"'](?P<name>[\w.-]{1,64})\\*[\"'],?\s{1,40}\\*[\"']?value\\*[\"']?"
            r"\s{0,4}[=:]\s{0,4}\\*[\"'](?P<secret>[^\"'\\]{1,4096})"
        ),
        "",
        _element,
    ),
    Pattern(
        KEY,
        re.compile(r"(?:[?&#]|\\u0026|&amp;)(?P<name>[A-Za-z][\w.-]{0,39})=(?P<secret>[^&\s\"'<>#\\`]+)"),
        "=",
        _parameter,
    ),
    Pattern(
        KEY,
        re.compile(r"(?<=\s)(?:-u|--user|--proxy-user|-U|-a)[ =]?\\*[\"']?[^\s:\"'\\/]{1,100}:(?P<secret>[^\s\"'\\]+)"),
        "-",
        _of_curl,
    ),
    Pattern(
        FIELD,
        re.compile(
            r"(?i)\bauth\s{0,4}=\s{0,4}(?:[\w.]{1,40})?\(\s{0,8}\\*[\"'][^\"'\\]{0,200}\\*[\"'],\s{0,8}"
            r"\\*[\"'](?P<secret>[^\"'\\]{1,400})"
        ),
        "(",
    ),
    Pattern(
        FIELD,
        re.compile(r"\blogin\s[^\n|]{0,200}?(?<=\s)-p\s+\\*[\"']?(?P<secret>[^\s\"'\\]+)"),
        "login",
    ),
    Pattern(KEY, re.compile(r"(?:Account|SharedAccess)Key=(?P<secret>[A-Za-z0-9+/=]{20,})"), "Key="),
    Pattern(KEY, re.compile(r"(?<![\w?&#])(?P<name>code)=(?P<secret>[\w/~%+-]+)"), "code=", _parameter),
    Pattern(FIELD, re.compile(r"\bsshpass\s+-p\s*\\*[\"']?(?P<secret>[^\s\"'\\]+)"), "sshpass"),
    Pattern(FIELD, re.compile(r"\bmysql(?:dump|admin)?\s[^\n|]{0,200}?(?<=\s)-p(?P<secret>[^\s\"'\\]+)"), "mysql"),
    Pattern(
        FIELD, re.compile(rf"login{_SPACE}+\S{{1,200}}?{_SPACE}+password{_SPACE}+(?P<secret>[^\s\"'\\]+)"), "login"
    ),
    Pattern(FIELD, re.compile(r"(?i)\b(?:set-)?cookie:[ \t]{0,8}(?P<secret>[^\s\"'\\=]{1,100}=[^\r\n\"'\\]+)")),
)

# -- keys --------------------------------------------------------------------------------------------------------------

PATTERNS: tuple[Pattern, ...] = (
    _key("sk-", r"[A-Za-z0-9_*-]{16,}"),  # OpenAI, Anthropic, OpenRouter, DeepSeek
    _key("AIza", r"[A-Za-z0-9_-]{30,}"),  # Google
    _key("AQ.", r"[A-Za-z0-9_-]{30,}"),
    _key("ya29.", r"[A-Za-z0-9_.-]{20,}"),
    _key("GOCSPX-", r"[A-Za-z0-9_-]{20,}"),
    _key("1//0", r"[A-Za-z0-9_-]{30,}"),
    _key("AKIA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),  # AWS
    _key("ASIA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _key("ABSK", r"[A-Za-z0-9+/=]{40,}"),  # Amazon Bedrock
    _key("gsk_", r"[A-Za-z0-9]{20,}"),  # Groq
    _key("xai-", r"[A-Za-z0-9]{20,}"),
    _key("csk-", r"[A-Za-z0-9]{20,}"),  # Cerebras
    _key("pplx-", r"[A-Za-z0-9]{20,}"),  # Perplexity
    _key("nvapi-", r"[A-Za-z0-9_-]{20,}"),
    _key("hf_", r"[A-Za-z0-9]{20,}"),
    _key("r8_", r"[A-Za-z0-9]{20,}"),  # Replicate
    _key("fw_", r"[A-Za-z0-9]{20,}"),  # Fireworks
    _key("tgp_v1_", r"[A-Za-z0-9_-]{20,}"),  # Together
    _key("tvly-", r"[A-Za-z0-9_-]{20,}"),  # Tavily
    _key("lsv2_", r"[A-Za-z0-9_]{20,}"),  # LangSmith
    _keys("gh", r"gh[opsur]_[A-Za-z0-9]{20,}"),
    _key("github_pat_", r"[A-Za-z0-9_]{20,}"),
    _key("glpat-", r"[A-Za-z0-9_-]{16,}"),
    _keys("xox", r"xox[a-z]-[A-Za-z0-9-]{10,}"),  # Slack
    _key("xapp-", r"[A-Za-z0-9-]{20,}"),
    Pattern(
        KEY, re.compile(r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9_/-]{8,})"), "hooks"
    ),
    Pattern(KEY, re.compile(r"discord(?:app)?\.com/api/webhooks/[0-9]+/(?P<secret>[A-Za-z0-9_-]{20,})"), "discord"),
    Pattern(KEY, re.compile(r"webhook\.office\.com/webhookb2/(?P<secret>[A-Za-z0-9@_/-]{20,})"), "webhook"),
    _keys(":", r"(?:bot)?[0-9]{8,10}:[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),  # Telegram
    _keys("k_", r"[rs]k_(?:live|test)_[A-Za-z0-9]{10,}"),  # Stripe
    _key("whsec_", r"[A-Za-z0-9+/=]{20,}"),
    _keys("hv", r"hv[sbr]\.[A-Za-z0-9_-]{20,}"),  # Vault
    _key("SG.", r"[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),  # SendGrid
    _keys("-us", r"[0-9a-f]{32}-us[0-9]{1,2}(?![0-9])"),  # Mailchimp
    _keys("_v1_", r"do[opr]_v1_[0-9a-f]{40,}"),  # DigitalOcean
    _keys("shp", r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),  # Shopify
    _keys("sq0", r"sq0[a-z]{3}-[A-Za-z0-9_-]{22,}"),  # Square
    _key("dapi", r"[0-9a-f]{32}(?![0-9a-f])"),  # Databricks
    _key("lin_api_", r"[A-Za-z0-9]{30,}"),
    _key("ntn_", r"[A-Za-z0-9]{30,}"),
    _key("sbp_", r"[0-9a-f]{30,}"),
    _key("ATATT3", r"[A-Za-z0-9_=-]{30,}"),  # Atlassian
    _key("dckr_pat_", r"[A-Za-z0-9_-]{20,}"),
    _key("AGE-SECRET-KEY-1", r"[A-Z0-9]{40,}"),
    _keys("gl", r"gl(?:c|sa)_[A-Za-z0-9_=+/]{30,}"),  # Grafana
    _key("npm_", r"[A-Za-z0-9]{30,}"),
    _key("pypi-", r"[A-Za-z0-9_-]{30,}"),
    _key("eyJ", r"[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),  # JSON Web Tokens
    Pattern(
        KEY,
        re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL),
        "-----BEGIN ",
    ),
    Pattern(ACCOUNT, re.compile(r"(?<![A-Za-z0-9_-])(?:org|proj)[-_][A-Za-z0-9]{20,}")),
    Pattern(ACCOUNT, re.compile(r"arn:aws[a-z-]*:[a-z0-9-]*:[a-z0-9-]*:(?P<secret>[0-9]{12})(?![0-9])"), "arn:aws"),
    Pattern(
        KEY,
        re.compile(r"(?i)\bbearer\s+(?P<secret>(?=[^\s\"']*[0-9]|[^\s\"']{20})[A-Za-z0-9._~+/=-]{8,})"),
    ),
    Pattern(
        KEY,
        re.compile(r"(?i)authorization[\"'\\]*\s*[:=]\s*[\"'\\]*basic\s+(?P<secret>[A-Za-z0-9+/=]{8,})"),
    ),
    Pattern(KEY, re.compile(r"://[^/\s:@]*:(?P<secret>[^/\s@]+)@"), "://", _password),
    *_NAMED,
)
"""The patterns that are always searched for."""
