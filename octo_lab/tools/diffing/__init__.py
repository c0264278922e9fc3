"""Differences of texts: made, shown and applied."""
