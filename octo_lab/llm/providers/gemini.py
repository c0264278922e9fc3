"""Google's Gemini, by its own dialect."""

from __future__ import annotations

from octo_lab.llm.entry import ProviderEntry
from octo_lab.llm.wires.gemini.wire import GEMINI

ENTRY = ProviderEntry(
    name="gemini",
    aliases=("google",),
    wire=GEMINI,
    base_url="https://generativelanguage.googleapis.com/v1beta",
    base_url_env="GEMINI_BASE_URL",
    api_key_envs=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    default_model="gemini-2.5-flash",
    detect=("gemini",),
)
