"""The OpenAI chat-completions dialect, which most servers speak."""
