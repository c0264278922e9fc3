"""Google's Gemini dialect, native ``generateContent``."""
