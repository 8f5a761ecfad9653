"""Capabilities of OpenAI's models on this API."""

from __future__ import annotations

from contentmodel_adapters.openai.chat.blocks import API
from contentmodel_adapters.openai.models import openai_table

CAPABILITIES = openai_table(API)
"""OpenAI's models, the newest first."""
