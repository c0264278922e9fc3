"""DashScope, where Qwen is served: OpenAI-compatible, so this file is only facts."""

from __future__ import annotations

from octo_lab.llm.entry import ProviderEntry
from octo_lab.llm.wires.chat.wire import CHAT

ENTRY = ProviderEntry(
    name="dashscope",
    wire=CHAT,
    aliases=("qwen",),
    base_url="https://dashscope.aliyuncs.com/compatible-mode/v1",
    base_url_env="DASHSCOPE_BASE_URL",
    api_key_envs=("DASHSCOPE_API_KEY",),
    default_model="qwen-max",
    detect=("qwen",),
)
