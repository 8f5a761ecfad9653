"""Capabilities of Gemini models (shared/gemini_models.py)."""

from __future__ import annotations

from contentmodel.authoring import CapabilityTable, makers
from contentmodel_adapters.google_generate_content.blocks import API
from contentmodel_adapters.shared import gemini_models

CAPABILITIES = CapabilityTable(API, gemini_models.ROWS, newest=gemini_models.NEWEST, own=makers.NAMES["google"])
