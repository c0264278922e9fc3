"""Judges command lines by what a shell would make of them."""
