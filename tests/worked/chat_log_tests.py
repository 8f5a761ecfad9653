"""The adapter of chat logs, tried on logs and answers as the bot writes them."""

from __future__ import annotations

import chat_log

from contentmodel import ChatChoice, ChatMessage, ChatResponse, FinishReason, TextContent
from contentmodel_conformance import AdapterConformance, Limits

LOG = {
    "model": "house-7b",
    "lines": [
        {"who": "rules", "parts": [{"type": "words", "words": "Be brief."}]},
        {"who": "guest", "parts": [{"type": "words", "words": "Is it warm in Oslo?"}], "seat": 4},
        {"who": "bot", "parts": [{"type": "call", "call_id": "c1", "name": "weather", "with": {"city": "Oslo"}}]},
        {"who": "tools", "parts": [{"type": "answer", "call_id": "c1", "gave": [{"type": "words", "words": "18"}]}]},
        {"who": "bot", "parts": [{"type": "words", "words": "Mild."}, {"type": "wink"}]},
    ],
    "tools": [{"type": "function", "name": "weather", "does": "The weather of a city.", "takes": {"type": "object"}}],
}
ANSWER = {
    "model": "house-7b",
    "line": {"who": "bot", "parts": [{"type": "words", "words": "Mild."}]},
    "ended": "done",
}
TROUBLE = {"trouble": {"words": "The bot is asleep.", "code": "asleep"}}
SAID = ChatMessage(role="assistant", contents=[TextContent(text="Mild.")])
MEANT = ChatResponse(model="house-7b", choices=[ChatChoice(messages=[SAID], finish_reason=FinishReason(reason="stop"))])


class TestChatLog(AdapterConformance):
    adapter = chat_log.adapter
    payloads = {"request": [LOG], "response": [ANSWER, TROUBLE]}
    examples = [(ANSWER, MEANT)]
    limits = Limits(
        issuer="house", model="house-7b", signs=False, hosted_search=False, images_in_results=False, errors=False
    )
