"""Zhipu, the vendor of GLM: OpenAI-compatible, so this file is only facts."""

from __future__ import annotations

from octo_lab.llm.entry import ProviderEntry
from octo_lab.llm.wires.chat.wire import CHAT

ENTRY = ProviderEntry(
    name="zhipu",
    wire=CHAT,
    aliases=("glm",),
    base_url="https://open.bigmodel.cn/api/paas/v4",
    base_url_env="ZHIPU_BASE_URL",
    api_key_envs=("ZHIPU_API_KEY",),
    default_model="glm-4-plus",
    detect=("glm",),
)
