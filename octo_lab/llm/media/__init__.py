"""Pictures, speech and embeddings: what goes to a model, or comes from it, besides text."""
