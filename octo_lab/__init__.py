"""The AI agent that lives in your Jupyter kernel."""
