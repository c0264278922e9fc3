"""Shipped fakes: scripted models, memory channels, protocol servers."""
