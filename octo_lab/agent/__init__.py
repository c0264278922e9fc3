"""One turn: ask the model, run its tools, ask again."""
