"""Capabilities of Gemini models (google/models.py)."""

from __future__ import annotations

from contentmodel.authoring import CapabilityTable, makers
from contentmodel_adapters.google import models
from contentmodel_adapters.google.generate_content.blocks import API

CAPABILITIES = CapabilityTable(API, models.ROWS, newest=models.NEWEST, own=makers.NAMES["google"])
