"""Generate documentation pages from the adapters: `python -m contentmodel_conformance.pages docs`."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, is_typeddict

import contentmodel
from contentmodel.content import CONTENT_TYPES
from contentmodel.hints import Hint
from contentmodel.reasons import REASONS
from contentmodel_conformance.auto_fixes import AUTO_FIXES
from contentmodel_conformance.capability_page import capabilities_page
from contentmodel_conformance.checks import CHECKS, LAWS
from contentmodel_conformance.matrix import matrix
from contentmodel_conformance.matrix.markdown import as_markdown, as_summary
from contentmodel_conformance.matrix.page import as_html
from contentmodel_conformance.model_page import as_code, content_page, event_page
from contentmodel_conformance.rendering import laws_table
from contentmodel_conformance.strategies.hints import every_hint

SITE_ONLY = ("coverage.md", "matrix.html", "matrix.md")
"""The pages that only the built documentation has, because they are large. Git ignores them."""

HEAD = """# What each adapter maps

Generated from the tables by `python -m contentmodel_conformance.pages docs`. A wire field without a row is kept as an
unknown field, and round-trips unchanged. A block whose type has no row is kept as `UnknownContent`.
"""


def coverage_page() -> str:
    """Return the tables of every installed adapter as Markdown."""
    lines = [HEAD]
    for api, adapter in contentmodel.adapters().items():
        lines += [f"## {api}", "", *_tables(adapter.describe())]
    return "\n".join(lines).rstrip() + "\n"


def _tables(described: dict[str, Any]) -> Iterator[str]:
    if described["pairs"]:
        yield from _table("call and result in one object", _pair_rows(described["pairs"]))
    for name, union in described["unions"].items():
        yield from _table(name, union["rows"])
    yield from _table("records", list(described["records"].values()))
    for guest in described.get("guests", ()):
        yield from _forms(guest)
    for api, guest_items in described.get("of_items", {}).items():
        paths = (f"- {name}: {_code(places)}" for name, places in guest_items["paths"].items())
        yield from (f"### values of items of {api}, kept with {_code(guest_items['types'])}", "", *paths, "")
    for title, values in (("known enum values", described["values"]), ("kept as unknown fields", described["kept"])):
        if values:
            yield from (f"### {title}", "", *(f"- {name}: {_code(names)}" for name, names in values.items()), "")


def _pair_rows(pairs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for pair in pairs for row in (pair["call"], pair["result"])]


def _table(title: str, rows: list[dict[str, Any]]) -> Iterator[str]:
    yield from (f"### {title}", "", "| on the wire | in the model | fields |", "|---|---|---|")
    for row in rows:
        fields = ", ".join(f"`{wire}` → `{field['attribute']}`" for wire, field in row["fields"].items())
        yield f"| `{row['name']}` | `{row['model']}` | {fields or 'none'} |"
    yield ""


def _forms(guest: dict[str, Any]) -> Iterator[str]:
    """Yield the table of the blocks of a provider that a format has in a spelling of its own."""
    yield from (f"### blocks of {guest['api']}", "", "| form | block | fields |", "|---|---|---|")
    for form in guest["forms"]:
        block = _code([f"{path}: {value}" for path, value in form["block"].items() if value is not None])
        fields = ", ".join(f"`{path}` → `{field['block']}`" for path, field in form["fields"].items())
        yield f"| `{form['name']}` | {block or 'none'} | {fields} |"
    yield ""


def _code(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


LAWS_HEAD = """# The laws

Generated from the checks by `python -m contentmodel_conformance.pages docs`. [Proving an adapter](conformance.md)
explains how to run the checks, and how to read a report.

"""


def laws_page() -> str:
    """Return what each law promises and what it is tried on, as Markdown."""
    return LAWS_HEAD + laws_table(LAWS, ((check.law, check.name, check.on) for check in CHECKS.values()))


TARGET = """# Sending to {api}

Generated from the rules by `python -m contentmodel_conformance.pages docs`. `contentmodel.check(payload, api="{api}")`
reports where a request violates these rules. On the command line, use `contentmodel check FILE --for {api}`.

**refused**: the API answers with an error. **ignored**: the API accepts the request, and the model does not receive the
value. **harmful**: the API accepts the request, and the answer is worse. Some rules apply to some models only:
see [model capabilities](../capabilities.md). Conversion fixes violations in content of other APIs, and reports the
losses. It never changes content of this API.
"""


def target_page(api: str) -> str:
    """Return the rules of one API, how conversion handles them, and what is lost there, as Markdown."""
    adapter: Any = contentmodel.adapter(api)
    left_out = {rule.name for rule in adapter.rules.leaving_out}
    lines = [TARGET.format(api=api)]
    for severity in ("refused", "ignored", "harmful"):
        rules = [rule for rule in adapter.rules if rule.severity == severity]
        if rules:
            lines += [f"## {severity.capitalize()}", ""]
        for rule in rules:
            lines += [
                f"### {rule.name}",
                "",
                rule.text,
                "",
                *_done(rule, left_out),
                f"Source: {_plain(rule.source)}.",
                "",
            ]
    return "\n".join([*lines, *_policies(), *_lost(adapter)]).rstrip() + "\n"


def _plain(text: str) -> str:
    """Escape asterisks, so that Markdown does not read them as emphasis."""
    return text.replace("*", r"\*")


def _done(rule: Any, left_out: set[str]) -> Iterator[str]:
    if rule.name in left_out:
        yield from ("*Conversion:* The setting is dropped.", "")
    elif rule.name in AUTO_FIXES:
        yield from (f"*Conversion:* {AUTO_FIXES[rule.name]}", "")
    else:
        yield from (f"*Fix:* {rule.fix[0].upper()}{rule.fix[1:]}.", "")


def _policies() -> Iterator[str]:
    yield from (
        "## Policies",
        "",
        "How content that the API cannot represent is converted. The first choice is the default.",
        "",
    )
    yield from ("| family | choices |", "|---|---|")
    yield from (f"| `{family}` | {_code(list(choices))} |" for family, choices in contentmodel.POLICIES.items())
    yield from ("", "The policy `capabilities` sets the [model capabilities](../capabilities.md).", "")


def _lost(adapter: Any) -> Iterator[str]:
    """Yield the section of content types that have no row in the adapter: they are converted or dropped."""
    models = {row["model"] for row in _rows(adapter.describe())}
    others = [kind.__name__ for kind in CONTENT_TYPES if kind.__name__ not in models]
    yield from ("## Content types without a row", "")
    yield from ("The API has no block for these types. The policies convert them, or they are dropped with a loss.", "")
    yield _code(others)


def _rows(described: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from _pair_rows(described["pairs"])
    for union in described["unions"].values():
        yield from union["rows"]
    yield from described["records"].values()


CODES_HEAD = """# Codes of losses

Generated from the table of reasons by `python -m contentmodel_conformance.pages docs`. `loss.code` is stable. The text
(`loss.why`) may change. [Losses](losses.md) explains the kinds. Names in braces are placeholders: `{target}` is the
target API.

| code | kind | text |
|---|---|---|
"""


def codes_page() -> str:
    """Return every code of a loss, with its kind and text, as Markdown."""
    rows = [f"| `{reason.code}` | {reason.kind} | {_plain(reason.why)} |" for reason in REASONS.values()]
    return CODES_HEAD + "\n".join(sorted(rows)) + "\n"


HINTS_HEAD = """# Hints

Generated from the declarations by `python -m contentmodel_conformance.pages docs`. A codec stores a hint in `extra`,
next to the unknown fields of a wire object, to restore the original form of a value. Hints are stored with a
conversation. A hint of a wrong type, or without a declaration, is ignored. [Writing an adapter](writing-an-adapter.md)
explains how to declare a hint, and how a new version of a hint reads the values of earlier versions.

| key | API | value | version | meaning |
|---|---|---|---|---|
"""


def hints_page() -> str:
    """Return every hint with its owner, type, version and meaning, as Markdown."""
    rows = [
        f"| `{hint.key}` | {hint.api or 'every API'} | {_type(hint.type)} | {_version(hint)} | {hint.meaning} |"
        for hint in every_hint()
    ]
    return HINTS_HEAD + "\n".join(rows) + "\n"


def _version(hint: Hint[Any]) -> str:
    return f"{hint.version}; reads {_code(list(hint.older))}" if hint.older else str(hint.version)


def _type(kind: Any) -> str:
    """Return a type of JSON values for people: the values of a literal, the fields of a typed object."""
    if get_origin(kind) is Literal:
        return ", ".join(f"`{json.dumps(value)}`" for value in get_args(kind))
    if is_typeddict(kind):
        return f"an object with {_code(list(kind.__annotations__))}"
    if get_origin(kind) is list and is_typeddict(get_args(kind)[0]):
        return f"a list: each {_type(get_args(kind)[0])}"
    text = kind.__name__ if isinstance(kind, type) and not get_args(kind) else str(kind)
    return as_code(text.replace("typing.", ""))


def pages() -> dict[str, str]:
    """Return every generated page, by its path in the documentation folder."""
    # A format without an issuer does not receive requests.
    issued = [api for api, adapter in contentmodel.adapters().items() if adapter.issuer]
    targets = {f"targets/{api}.md": target_page(api) for api in issued}
    whole = matrix()
    return {
        "capabilities.md": capabilities_page(),
        "content-types.md": content_page(),
        "coverage.md": coverage_page(),
        "event-types.md": event_page(),
        "fidelity.md": as_summary(whole),
        "hints.md": hints_page(),
        "laws.md": laws_page(),
        "loss-codes.md": codes_page(),
        "matrix.html": as_html(whole),
        "matrix.md": as_markdown(whole),
        **targets,
    }


def main(arguments: list[str] | None = None) -> None:
    """Write the pages into the folder that the command line names.

    With `--check`, exit with code 1 if a page of the repository was out of date.
    """
    parser = ArgumentParser("python -m contentmodel_conformance.pages", description="Generate pages. Takes minutes.")
    parser.add_argument("folder", type=Path, help="the folder of the documentation, which exists")
    parser.add_argument(
        "--check", action="store_true", help="exit with code 1 if a page of the repository is out of date"
    )
    options = parser.parse_args(arguments)
    if not options.folder.is_dir():
        parser.error(f"no folder {options.folder}")
    written = [name for name, text in pages().items() if _write(options.folder / name, text)]
    outdated = [name for name in written if name not in SITE_ONLY]
    if options.check and outdated:
        sys.exit(f"out of date, and written now: {', '.join(outdated)}")


def _write(path: Path, text: str) -> bool:
    """Write a page. Return whether that changed it."""
    if path.is_file() and path.read_text() == text:
        return False
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return True


if __name__ == "__main__":
    main()
