"""OpenAI, and by OPENAI_BASE_URL any server that speaks its chat-completions."""

from __future__ import annotations

from urllib.parse import urlsplit

from octo_lab.llm.entry import ProviderEntry
from octo_lab.llm.hints import model_hints
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.wires.chat.wire import CHAT
from octo_lab.llm.wires.responses.wire import RESPONSES
from octo_lab.llm.wires.wire import Wire

_HOST = "api.openai.com"


def wire_for(config: ProviderConfig) -> Wire:
    """The vendor's own server is asked by Responses where the model knows it; any other server
    only when the user's hint ``responses`` says that it speaks it.
    """
    hints = model_hints(config.model, config.hints)
    told = any(name == "responses" for name, _ in config.hints)
    official = urlsplit(config.base_url).hostname == _HOST
    return RESPONSES if hints.responses and (told or official) else CHAT


ENTRY = ProviderEntry(
    name="openai",
    wire_for=wire_for,
    base_url=f"https://{_HOST}/v1",
    base_url_env="OPENAI_BASE_URL",
    api_key_envs=("OPENAI_API_KEY",),
    default_model="gpt-4o",
    prefixes=("o1", "o3", "o4"),
    detect=("gpt",),
)
