"""The OpenAI Responses API as a wire."""

from __future__ import annotations

from octo_lab.core.messages import ChatRequest
from octo_lab.llm.hints import ModelHints
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.tool_names import own_names
from octo_lab.llm.wires.chat.wire import bearer
from octo_lab.llm.wires.responses.reader import ResponsesReader
from octo_lab.llm.wires.responses.request import request_bytes
from octo_lab.llm.wires.streaming import endpoint
from octo_lab.llm.wires.wire import Asked, Wire

PATH = "/responses"


def _write(request: ChatRequest, config: ProviderConfig, hints: ModelHints) -> Asked:
    body = request_bytes(request, config.name, config.model, hints)
    return Asked(url=endpoint(config.base_url, PATH), body=body)


def _read(request: ChatRequest, config: ProviderConfig) -> ResponsesReader:
    return ResponsesReader(config.name, config.model, own_names(request), config.api_key)


RESPONSES = Wire(write=_write, read=_read, authorize=bearer)
