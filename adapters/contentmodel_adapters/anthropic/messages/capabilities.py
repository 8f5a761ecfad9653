"""Capabilities of Claude models (anthropic/models.py)."""

from __future__ import annotations

from contentmodel.authoring import CapabilityTable, makers
from contentmodel_adapters.anthropic import models
from contentmodel_adapters.anthropic.messages.blocks import API

CAPABILITIES = CapabilityTable(API, models.ROWS, newest=models.NEWEST, own=makers.NAMES["anthropic"])
