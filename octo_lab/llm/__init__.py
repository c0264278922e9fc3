"""Models: the provider port, its wrappers and the wire they share."""
