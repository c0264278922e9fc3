"""``octo providers``: every vendor with the state of its key and where each setting came from."""

from __future__ import annotations

import json
from typing import Any

from octo_lab.testing.llm_server import LlmServer
from tests.cli.octo import KEY, Octo

# The fourteen vendors and the variable of their key.
KEYED = ("openai", "openrouter", "deepseek", "groq", "moonshot", "dashscope", "minimax", "zai")
IN_ENV_FILE = ("anthropic", "gemini")
IN_CONFIG = ("zhipu", "nvidia")
VENDORS = {*KEYED, *IN_ENV_FILE, *IN_CONFIG, "ollama", "vllm"}


def variable(name: str) -> str:
    return f"{name.upper()}_API_KEY"


def listed(octo: Octo) -> dict[str, Any]:
    return {one["name"]: one for one in octo("providers", "--json").json["providers"]}


def test_without_keys_each_vendor_names_what_it_lacks(octo: Octo) -> None:
    found = listed(octo)
    assert set(found) >= VENDORS
    for name in (*KEYED, *IN_ENV_FILE, *IN_CONFIG):
        assert (found[name]["state"], found[name]["key"]) == (
            "not connected",
            f"missing (set {variable(name)})",
        )
    assert "set VLLM_BASE_URL" in found["vllm"]["note"]
    assert found["ollama"]["note"] == "not looked for: local.detect is off"
    assert found["offline"]["state"] == "built in"


def test_each_key_is_masked_and_says_where_it_came_from(octo: Octo) -> None:
    octo("init")
    folder = octo.workspace / ".octo"
    with LlmServer(models=["m"]) as server:
        urls = {f"{name.upper()}_BASE_URL": server.base_url for name in (*KEYED, *IN_ENV_FILE)}
        env = {**urls, **{variable(name): KEY for name in KEYED}}
        (octo.workspace / ".env").write_text(
            "".join(f"{variable(name)}={KEY}\n" for name in IN_ENV_FILE)
        )
        own = {name: {"api_key": KEY, "base_url": server.base_url} for name in IN_CONFIG}
        (folder / "config.json").write_text(json.dumps({"version": 1, "providers": own}))
        with_keys = Octo(folder=octo.folder, env=env).trust()
        found = listed(with_keys)
        text = with_keys("providers").out + json.dumps(found)

    env_file, config = octo.workspace / ".env", folder / "config.json"
    sources = {
        **{name: f"environment {variable(name)}" for name in KEYED},
        **{name: f"{env_file} {variable(name)}" for name in IN_ENV_FILE},
        **{name: f"{config}: providers.{name}.api_key" for name in IN_CONFIG},
    }
    for name, source in sources.items():
        assert found[name]["key"] == f"sk-…ij (from {source})"
        assert (found[name]["state"], found[name]["models"]) == ("reached", [f"{name}/m"])
    assert found["groq"]["base_url"] == f"{server.base_url} (from environment GROQ_BASE_URL)"
    assert KEY not in text


def test_one_real_question_is_asked_and_a_failure_explained(octo: Octo) -> None:
    with LlmServer(models=["m"], api_key=KEY) as server:
        env = {"ANTHROPIC_BASE_URL": server.base_url, "ANTHROPIC_API_KEY": KEY}
        good = Octo(folder=octo.folder, env=env)("providers", "test", "anthropic/m", "--json")
        wrong = Octo(folder=octo.folder, env=env | {"ANTHROPIC_API_KEY": KEY[::-1]})(
            "providers", "test", "anthropic/m"
        )
    assert (good.code, good.json["name"], good.json["error"]) == (0, "anthropic/m", "")
    assert wrong.code == 1
    assert "failed: auth rejected" in wrong.out
    assert "(from environment ANTHROPIC_API_KEY)" in wrong.err
    assert KEY[::-1] not in wrong.out + wrong.err
    assert len(server.requests) == 2
