"""Gemini's native dialect as a wire."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from octo_lab.core.messages import ChatRequest
from octo_lab.llm.hints import ModelHints
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.wires.gemini.reader import GeminiReader
from octo_lab.llm.wires.gemini.request import request_bytes
from octo_lab.llm.wires.streaming import endpoint
from octo_lab.llm.wires.wire import Asked, Wire

STREAMED, WHOLE = ":streamGenerateContent", ":generateContent"


def key_header(key: str) -> Mapping[str, str]:
    """A key in the URL, as the vendor also takes it, would be in every log."""
    return {"x-goog-api-key": key}


def address(base_url: str, model: str, *, streamed: bool = True) -> str:
    """Where a model is asked; ``model`` may have its kind before it (``tunedModels/x``)."""
    place = model if model.startswith("tunedModels/") else f"models/{model.removeprefix('models/')}"
    method = STREAMED if streamed else WHOLE
    url = endpoint(base_url, f"/{quote(place, safe='/', errors='replace')}{method}")
    if not streamed:
        return url
    return f"{url}{'&' if '?' in url else '?'}alt=sse"


def _write(request: ChatRequest, config: ProviderConfig, hints: ModelHints) -> Asked:
    body = request_bytes(request, config, hints)
    return Asked(url=address(config.base_url, config.model, streamed=request.streamed), body=body)


def _read(request: ChatRequest, config: ProviderConfig) -> GeminiReader:
    return GeminiReader(request, config)


GEMINI = Wire(write=_write, read=_read, authorize=key_header, models_path="/models?pageSize=1000")
