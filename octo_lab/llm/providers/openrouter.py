"""OpenRouter: chat-completions with an origin, its own ``reasoning``, and errors inside a stream.

Facts: https://openrouter.ai/docs/api-reference/overview and .../use-cases/reasoning-tokens.
"""

from __future__ import annotations

from octo_lab.core.messages import ChatRequest
from octo_lab.llm.entry import ProviderEntry
from octo_lab.llm.hints import ModelHints
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.wires.body import as_bytes
from octo_lab.llm.wires.chat.request import chat_request
from octo_lab.llm.wires.chat.wire import PATH, bearer, read_chat
from octo_lab.llm.wires.streaming import endpoint
from octo_lab.llm.wires.wire import Asked, Wire

# Who asks: shown in the vendor's own statistics.
ORIGIN = {"http-referer": "https://pypi.org/project/octo-lab/", "x-title": "octo_lab"}


def _write(request: ChatRequest, config: ProviderConfig, hints: ModelHints) -> Asked:
    """Effort is told as ``reasoning``, which the router translates for each vendor; a model that
    does not think ignores it.
    """
    body = chat_request(request, config.model, hints, config.name)
    body.pop("reasoning_effort", None)
    if request.effort is not None:
        body["reasoning"] = {"effort": request.effort}
    return Asked(url=endpoint(config.base_url, PATH), body=as_bytes(body), headers=ORIGIN)


OPENROUTER = Wire(write=_write, read=read_chat, authorize=bearer)

ENTRY = ProviderEntry(
    name="openrouter",
    wire=OPENROUTER,
    base_url="https://openrouter.ai/api/v1",
    base_url_env="OPENROUTER_BASE_URL",
    api_key_envs=("OPENROUTER_API_KEY",),
    default_model="anthropic/claude-sonnet-4-20250514",
)
