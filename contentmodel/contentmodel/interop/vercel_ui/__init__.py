"""Read the UI message stream of the Vercel AI SDK, and write it.

    message = read_message(response.iter_bytes())
    messages = contentmodel.adapter("vercel-ui-messages").decode_request([message]).messages

Source: `uiMessageChunkSchema`, `processUIMessageStream` and `readUIMessageStream` of the npm package `ai`, versions
5.0.277, 6.0.326 and 7.0.173 (seen 2026-11-23).
"""

from contentmodel.interop.vercel_ui.reading import MessageReader, is_chunk, read_message
from contentmodel.interop.vercel_ui.streaming import END, HEADERS, VERSIONS, VercelWriter, ui_chunks

__all__ = [
    "END",
    "HEADERS",
    "VERSIONS",
    "MessageReader",
    "VercelWriter",
    "is_chunk",
    "read_message",
    "ui_chunks",
]
