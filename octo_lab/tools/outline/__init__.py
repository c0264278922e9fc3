"""Outlines of source code: what is defined where."""
