"""Chat-completions as a wire."""

from __future__ import annotations

from collections.abc import Mapping

from octo_lab.core.messages import ChatRequest
from octo_lab.llm.hints import ModelHints
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.tool_names import own_names
from octo_lab.llm.wires.chat.reader import ChatReader
from octo_lab.llm.wires.chat.request import request_bytes
from octo_lab.llm.wires.streaming import endpoint
from octo_lab.llm.wires.wire import Asked, Wire

PATH = "/chat/completions"


def bearer(key: str) -> Mapping[str, str]:
    return {"authorization": f"Bearer {key}"}


def _write(request: ChatRequest, config: ProviderConfig, hints: ModelHints) -> Asked:
    body = request_bytes(request, config.model, hints, config.name)
    return Asked(url=endpoint(config.base_url, PATH), body=body)


def read_chat(request: ChatRequest, config: ProviderConfig) -> ChatReader:
    names = own_names(request)
    return ChatReader(config.name, config.api_key, model=config.model, names=names)


CHAT = Wire(write=_write, read=read_chat, authorize=bearer)
