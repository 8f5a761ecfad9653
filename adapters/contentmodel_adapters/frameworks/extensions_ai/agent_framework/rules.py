"""Conversations that Microsoft Agent Framework for Python refuses or misreads.

Source: `Message.from_dict` and `Content.from_dict` of agent-framework-core 1.23.0 (seen 2026-11-23).
"""

from __future__ import annotations

from contentmodel.authoring import Rules
from contentmodel_adapters.frameworks.extensions_ai import rules
from contentmodel_adapters.frameworks.extensions_ai.agent_framework.blocks import API, CONTENTS, NAMES

RULES = Rules(API)
SOURCE = "Content.from_dict of agent-framework-core 1.23.0"
rules.declare(RULES, NAMES, CONTENTS.tags, SOURCE, refused=False)
