"""Streams: framing, decoding and encoding."""
