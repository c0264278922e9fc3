"""Providers that hold providers: each adds one way of coping when a model does not answer."""
