"""The WebSocket channel and the small HTTP face of a running gateway."""
