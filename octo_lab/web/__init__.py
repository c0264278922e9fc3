"""The HTTP face: REST, the WebSocket channel."""
