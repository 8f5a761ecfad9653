"""What the rows of hosted tools that no class names have in common."""

from __future__ import annotations

from typing import Any

from contentmodel.content.outcomes import UnknownContent
from contentmodel.wire.nested import Outputs
from contentmodel.wire.table import Column, Union


def output_columns(union: Union, usual: str) -> dict[str, Column]:
    """Return the fields in which hosted tools give back contents; `usual` is that of the API's own tools."""
    models: list[type[Any]] = [*{row.model for row in union.rows}, UnknownContent]
    others = (name for name in ("content", "output", "outputs", "results", "result") if name != usual)
    return {
        usual: Column(Outputs(union), *models),
        **{name: Column(Outputs(union), *models, noted=True) for name in others},
    }
