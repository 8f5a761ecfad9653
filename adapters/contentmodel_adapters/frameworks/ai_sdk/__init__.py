"""The messages of Vercel's AI SDK."""
