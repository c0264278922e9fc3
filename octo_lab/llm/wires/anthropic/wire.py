"""Anthropic messages as a wire."""

from __future__ import annotations

from collections.abc import Mapping

from octo_lab.core.messages import ChatRequest
from octo_lab.llm.hints import ModelHints
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.tool_names import own_names
from octo_lab.llm.wires.anthropic.reader import MessagesReader
from octo_lab.llm.wires.anthropic.request import VERSION, messages_request
from octo_lab.llm.wires.anthropic.tools import answer_tool
from octo_lab.llm.wires.body import as_bytes
from octo_lab.llm.wires.streaming import endpoint
from octo_lab.llm.wires.wire import Asked, Wire

PATH = "/v1/messages"
MODELS = "/v1/models?limit=1000"


def api_key(key: str) -> Mapping[str, str]:
    """With the version, which the list of models wants too."""
    return {"x-api-key": key, "anthropic-version": VERSION}


def _write(request: ChatRequest, config: ProviderConfig, hints: ModelHints) -> Asked:
    written = messages_request(request, config, hints)
    betas = {"anthropic-beta": ",".join(written.betas)} if written.betas else {}
    return Asked(
        url=endpoint(config.base_url, PATH),
        body=as_bytes(written.body),
        headers={"anthropic-version": VERSION, **betas},
    )


def _read(request: ChatRequest, config: ProviderConfig) -> MessagesReader:
    return MessagesReader(
        config.name,
        config.model,
        key=config.api_key,
        names=own_names(request),
        answer=answer_tool(request),
    )


ANTHROPIC = Wire(write=_write, read=_read, authorize=api_key, models_path=MODELS)
