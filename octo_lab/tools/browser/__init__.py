"""A browser for agents: Chromium behind walls, whose only way out is the guarded proxy."""
