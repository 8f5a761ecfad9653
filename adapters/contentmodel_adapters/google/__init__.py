"""The formats of Gemini: generateContent and Interactions."""
