"""Hypothesis strategies: payloads of the wire, as the providers' SDKs type them."""
