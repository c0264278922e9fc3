"""Servers that answer as Ollama, LM Studio and llama.cpp answer those who look for them."""

from __future__ import annotations

from collections.abc import Mapping

from octo_lab.testing.http_server import Route, always, json_reply


def ollama(*models: str) -> Mapping[str, Route]:
    """GET /api/version, /api/tags and /v1/models as Ollama 0.5 answers them."""
    tags = [{"name": one, "model": one, "size": 1, "digest": "d", "details": {}} for one in models]
    return {
        "/api/version": always(json_reply({"version": "0.5.7"})),
        "/api/tags": always(json_reply({"models": tags})),
        "/v1/models": _openai(models, "library"),
    }


def lmstudio(models: Mapping[str, tuple[str, str]]) -> Mapping[str, Route]:
    """GET /api/v0/models of LM Studio 0.3; each model has a type and a state."""
    data = [
        {"id": name, "object": "model", "type": kind, "state": state, "max_context_length": 4096}
        for name, (kind, state) in models.items()
    ]
    return {
        "/api/v0/models": always(json_reply({"object": "list", "data": data})),
        "/v1/models": _openai(tuple(models), "organization_owner"),
    }


def llamacpp(model: str) -> Mapping[str, Route]:
    """GET /props, /health and /v1/models of llama.cpp's own server."""
    props = {"default_generation_settings": {"n_ctx": 4096}, "total_slots": 1, "model_path": model}
    return {
        "/health": always(json_reply({"status": "ok"})),
        "/props": always(json_reply(props)),
        "/v1/models": _openai((model,), "llamacpp"),
    }


def _openai(models: tuple[str, ...], owner: str) -> Route:
    data = [{"id": one, "object": "model", "owned_by": owner} for one in models]
    return always(json_reply({"object": "list", "data": data}))
