"""The formats of OpenAI: Chat Completions, which many hosts have, and Responses."""
