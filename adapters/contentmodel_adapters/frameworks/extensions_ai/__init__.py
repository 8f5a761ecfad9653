"""The messages of Microsoft.Extensions.AI and of Microsoft Agent Framework."""
