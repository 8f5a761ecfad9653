"""Secrets as people's traffic has them: in files that agents read, in commands, in code, in fields and in headers."""

from __future__ import annotations

import base64
import json
from typing import Any

HEX = "4f9d2c7ab1e34860a5c8d7f0e21b93d6"
BASE64 = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzX4Q9pL2sT"


def _hex(number: int) -> str:
    """Return 32 digits that no other number gives."""
    return "".join(f"{(int(digit, 16) * 7 + number * (place + 3)) % 16:x}" for place, digit in enumerate(HEX))


def _word(number: int) -> str:
    return f"Zq{number}vX8mK{number * 7 % 97}pLr3"


IN_TEXTS: dict[str, tuple[str, str]] = {
    "aws ini": (f"[default]\naws_secret_access_key = {BASE64}\nregion = us-east-1\n", BASE64),
    "aws token": (f"aws_session_token={BASE64[::-1]}/{_word(1)}\n", BASE64[::-1]),
    "yaml key": (f"llm:\n  api_key: {_hex(1)}\n", _hex(1)),
    "yaml password": (f"database:\n  host: db\n  password: {_word(2)}!\n  port: 5432\n", _word(2)),
    "yaml word": ("database:\n  password: swordfish\n", "swordfish"),
    "yaml quoted": (f"- password: '{_word(3)}'\n", _word(3)),
    "curl api-key": (f"curl -H 'api-key: {_hex(2)}' https://a.openai.azure.com/", _hex(2)),
    "curl x-api-key": (f'curl -s -H "x-api-key: {_word(4)}" https://a.example', _word(4)),
    "curl user": (f"curl -u bob:{_word(5)} https://a.example", _word(5)),
    "curl user, quoted": (f"curl --user 'bob:{_word(6)}$' https://a.example", _word(6)),
    "curl token": (f"curl -H 'Authorization: token {_word(7)}' https://a.example", _word(7)),
    "curl cookie": (f"curl -H 'Cookie: sid={_word(8)}' https://a.example", _word(8)),
    "python keyword": (f"client = OpenAI(api_key='{_word(9)}', timeout=3)", _word(9)),
    "python dict": (f"config = {{'api_key': '{_word(10)}', 'n': 1}}", _word(10)),
    "python variable": (f'client_secret = "{_word(11)}"', _word(11)),
    "python environment": (f'os.environ["MISTRAL_API_KEY"] = "{_word(12)}"', _word(12)),
    "lower-case variable": (f"openai_api_key={_hex(3)}\n", _hex(3)),
    "typescript": (f"const apiKey: string = x;\nnew Client({{ apiKey: `{_word(13)}` }})", _word(13)),
    "netrc": (f"machine api.example login ann password {_word(14)}\n", _word(14)),
    "netrc lines": (f"machine api.example\n  login ann\n  password {_word(15)}\n", _word(15)),
    "azure storage": (f"DefaultEndpointsProtocol=https;AccountKey={BASE64}{_hex(4)}==;EndpointSuffix=a", _hex(4)),
    "azure sas": (f"https://a.blob.core.windows.net/c?sv=2022-11-02&sp=r&sig={_word(16)}%2Fab%3D", _word(16)),
    "azure sas string": (f"SharedAccessSignature=sv=2022-11-02&sig={_word(17)}", _word(17)),
    "sql server": (f"Server=db;User Id=sa;Password={_word(18)};Encrypt=true", _word(18)),
    "env key": (f"MISTRAL_KEY={_hex(5)}\nDEBUG=1", _hex(5)),
    "env token": (f"export NPM_TOKEN={_word(19)}\n", _word(19)),
    "env secret": (f"SESSION_SECRET='{_word(20)}'\n", _word(20)),
    "env password": (f"DB_PASSWORD={_word(21)}\n", _word(21)),
    "env words": ("POSTGRES_PASSWORD=correct-horse\n", "correct-horse"),
    "docker": (f"docker run -e MYSQL_ROOT_PASSWORD={_word(22)} mysql", _word(22)),
    "option": (f"deploy --api-key {_word(23)} --region eu", _word(23)),
    "option with =": (f"deploy --password={_word(24)}", _word(24)),
    "vault": (f"hvs.CAESIJ{_word(25)}{_word(26)}", _word(25)),
    "sendgrid": (f"SG.{_hex(6)[:22]}.{_hex(7)}{_hex(8)[:11]}", _hex(7)),
    "telegram": (f"https://api.telegram.org/bot123456789:AAH{_hex(9)}/getMe", _hex(9)),
    "slack webhook": (f"https://hooks.slack.com/services/T0ABCDEFG/B0ABCDEFG/{_hex(10)[:24]}", _hex(10)[:24]),
    "xml": (f"<server><id>a</id><password>{_word(27)}</password></server>", _word(27)),
    "xml attribute": (f'<add key="ApiKey" value="{_word(28)}" />', _word(28)),
    "plist": (f"<key>clientSecret</key>\n<string>{_word(29)}</string>", _word(29)),
    "fragment": (f"https://app.example/#access_token={_word(30)}&token_type=bearer", _word(30)),
    "oauth code": (f"GET https://app.example/oauth/callback?code={_word(31)}&state=a", _word(31)),
    "form": (f"grant_type=client_credentials&client_secret={_word(32)}&scope=a", _word(32)),
    "url password": (f"postgresql://ann:{_word(33)}@db/a", _word(33)),
    "header lines": (f"> X-Auth-Token: {_word(34)}\n> Accept: */*", _word(34)),
    "basic in text": (f"Authorization: Basic {base64.b64encode(f'a:{_word(35)}'.encode()).decode()}", _word(35)),
    "escaped": (json.dumps({"command": f"cat <<E\nAPI_KEY={_word(36)}\nE"}), _word(36)),
    "escaped twice": (json.dumps({"a": json.dumps({"b": {"password": _word(37)}})}), _word(37)),
    "escaped thrice": (json.dumps([json.dumps([json.dumps([f'api_key="{_word(38)}"'])])]), _word(38)),
    "key after an escaped line end": (json.dumps({"a": f"x\nAKIAIOSFODNN7EXAMPLE\nsk-{_hex(11)}"}), _hex(11)),
    "toml": (f'[auth]\ntoken = "{_hex(12)}"\n', _hex(12)),
    "properties": (f"spring.datasource.password={_word(39)}\n", _word(39)),
    "go": (f'password := "{_word(40)}"', _word(40)),
    "python auth": (f"requests.get(url, auth=('ann', '{_word(42)}'))", _word(42)),
    "sshpass": (f"sshpass -p '{_word(43)}' ssh a", _word(43)),
    "mysql": (f"mysql -u root -p{_word(44)} db", _word(44)),
    "option token": (f"deploy --token={_word(45)} --token {_word(46)}", _word(46)),
    "docker config": ('{"auths": {"a": {"auth": "YW5uOmh1bnRlcjI="}}}', "YW5uOmh1bnRlcjI"),
    "json on two lines": (f'{{"api_key":\n  "{_word(47)}"}}', _word(47)),
    "xml on three lines": (f"<password>\n  {_word(48)}\n</password>", _word(48)),
    "docker login": (f"docker login -u ann -p {_word(49)}", _word(49)),
    "oauth code in a sentence": (f"The callback got code={_word(50)} from the server.", _word(50)),
    "ruby": (f":secret_key => '{_word(41)}'", _word(41)),
}
"""Texts with a secret: by name, the text, and the secret or a part of it."""

IN_FIELDS: dict[str, tuple[dict[str, Any], str]] = {
    "headers": ({"type": "mcp", "headers": {"X-Key": _word(51), "Accept": "a/b"}}, _word(51)),
    "unknown header": ({"headers": {"X-Acme": _hex(13)}}, _hex(13)),
    "env": ({"mcpServers": {"a": {"command": "npx", "env": {"ACME_KEY": _word(52)}}}}, _word(52)),
    "accessKey": ({"accessKey": _word(53)}, _word(53)),
    "user_token": ({"user_token": _word(54)}, _word(54)),
    "pass": ({"user": "ann", "pass": _word(55)}, _word(55)),
    "pwd": ({"pwd": _word(56)}, _word(56)),
    "authorization": ({"type": "mcp", "authorization": _word(57)}, _word(57)),
    "name and value": ({"name": "DB_PASSWORD", "value": _word(58)}, _word(58)),
    "docker config, field": ({"auths": {"b": {"auth": "Ym9iOmh1bnRlcjM="}}}, "Ym9iOmh1bnRlcjM"),
    "odd start": ({"password": ")x" + _word(61)}, _word(61)),
    "list": ({"api_keys": [_word(59), _word(60)]}, _word(60)),
}
"""Objects with a secret: by name, the object, and the secret."""

PASSWORD = _word(71)
COOKIES = ("Cookie", f"theme=dark; s=a8f3k2p9; sid={_word(74)}")
IN_HEADERS: dict[str, tuple[tuple[str, str], str]] = {
    "basic": (("Authorization", f"Basic {base64.b64encode(f'ann:{PASSWORD}'.encode()).decode()}"), PASSWORD),
    "x-user-jwt": (("x-user-jwt", _word(72)), _word(72)),
    "X-Vault": (("X-Vault", "plain-looking-value"), "plain-looking-value"),
    "x-custom-session": (("x-custom-session", _word(73)), _word(73)),
    "unknown": (("x-acme", _hex(14)), _hex(14)),
    "short cookie": (COOKIES, "a8f3k2p9"),
    "cookie": (COOKIES, _word(74)),
}
"""Headers with a secret: by name, the header, and the secret, which payloads repeat."""
