"""Widgets: the live turn and the chat panel."""
