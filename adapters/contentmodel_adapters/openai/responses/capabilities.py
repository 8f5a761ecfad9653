"""Capabilities of OpenAI's models on this API."""

from __future__ import annotations

from contentmodel_adapters.openai.models import openai_table
from contentmodel_adapters.openai.responses.blocks import API

CAPABILITIES = openai_table(API)
"""OpenAI's models, the newest first."""
