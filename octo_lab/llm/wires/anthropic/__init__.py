"""The Anthropic messages dialect."""
