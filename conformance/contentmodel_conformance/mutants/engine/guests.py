"""Defects in guests: blocks of a provider among the parts of another format."""

from __future__ import annotations

from typing import Any

import msgspec

from contentmodel.engine.context import EncodeContext
from contentmodel.engine.pipeline import calls as steps
from contentmodel.engine.table import forms
from contentmodel.engine.table.forms import MISFIT, NOTHING, Form
from contentmodel.engine.table.guests import TEXTS, Guest, guest_api
from contentmodel.hints import GUEST, MINTED
from contentmodel_conformance.mutants.engine.changes import change

PYDANTIC_AI = "pydantic-ai-messages"


@change(forms, "remainder", PYDANTIC_AI, "identity/guests")
def takes_parts_that_no_form_returns(original: Any, whole: Any, written: Any) -> Any:
    """Decode a part as a block of its provider, although the form writes another part."""
    left = original(whole, written)
    return NOTHING if left is MISFIT else left


@change(forms, "remainder", PYDANTIC_AI, "identity/guests")
def forgets_the_other_fields_of_parts(original: Any, whole: Any, written: Any) -> Any:
    """Keep no field of a part that its block does not have."""
    return MISFIT if original(whole, written) is MISFIT else NOTHING


@change(Form, "missing", PYDANTIC_AI, "accounting/kept-guests")
def reports_no_values_that_parts_lack(original: Any, self: Any, block: Any, again: Any) -> Any:
    """Write a part without the values that it has no place for, and without a loss."""
    return iter(())


@change(Guest, "_marked", PYDANTIC_AI, "identity/guests")
def forgets_what_is_a_guest(original: Any, self: Any, content: Any, *arguments: Any) -> Any:
    """Keep no hint that a content is a block of its provider."""
    return _without(GUEST.key, original(self, content, *arguments), self.api)


@change(Guest, "_marked", PYDANTIC_AI, "identity/guests")
def sends_the_ids_of_parts(original: Any, self: Any, content: Any, *arguments: Any) -> Any:
    """Keep no hint that the provider has no id for a call."""
    return _without(MINTED.key, original(self, content, *arguments), self.api)


@change(Guest, "_written", PYDANTIC_AI, "identity/guests")
def writes_objects_for_texts(
    original: Any, self: Any, form: Any, whole: Any, key: Any, content: Any, *rest: Any
) -> Any:
    """Write arguments that were JSON text as an object."""
    api = rest[0].api
    return original(self, form, whole, key, _without(TEXTS.key, content, api), *rest)


@change(Guest, "_with_files", PYDANTIC_AI, "identity/guests")
def forgets_the_parts_of_files(original: Any, self: Any, result: Any, *arguments: Any) -> Any:
    """Keep no other field of the part of an image."""
    return result


@change(Guest, "_trace", PYDANTIC_AI, "accounting/guests")
def traces_blocks_that_no_payload_has(original: Any, self: Any, form: Any, block: Any, *arguments: Any) -> Any:
    """Report losses at the paths of blocks that are not in the payload."""
    *_, inner, context = arguments
    context.take_over(inner)


@change(steps, "with_guests", PYDANTIC_AI, "identity/guests")
def writes_guests_by_the_rows_of_the_format(original: Any, messages: Any, context: Any, **settings: Any) -> Any:
    """Write the contents of guests by the format's own rows."""
    return messages


@change(EncodeContext, "is_own", PYDANTIC_AI, "guests/crossing")
def sends_guests_of_other_providers(original: Any, self: Any, content: Any) -> Any:
    """Send the blocks of another provider as those of the target."""
    return original(self, content) or guest_api(content) is not None


def _without(key: str, content: Any, api: str) -> Any:
    extra = {
        name: {k: v for k, v in residue.items() if name != api or k != key} for name, residue in content.extra.items()
    }
    return msgspec.structs.replace(content, extra=extra)
