"""Capabilities of Claude models (shared/claude_models.py)."""

from __future__ import annotations

from contentmodel.authoring import CapabilityTable, makers
from contentmodel_adapters.anthropic_messages.blocks import API
from contentmodel_adapters.shared import claude_models

CAPABILITIES = CapabilityTable(API, claude_models.ROWS, newest=claude_models.NEWEST, own=makers.NAMES["anthropic"])
