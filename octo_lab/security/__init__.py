"""Guards at the edges: paths, redaction, environment."""
