"""Which model answers when nobody named one, and how that is shown: real processes and servers."""

from __future__ import annotations

import json
from pathlib import Path

from octo_lab.testing.llm_server import LlmServer
from tests.cli.octo import KEY, Octo


def configured(octo: Octo, **providers: object) -> Path:
    """A workspace with these providers in its config."""
    octo("init")
    path = octo.workspace / ".octo" / "config.json"
    path.write_text(json.dumps({"version": 1, "providers": providers}))
    octo.trust()
    return path


def asked(server: LlmServer) -> list[str]:
    return [request.body["model"] for request in server.requests]


def test_the_only_model_of_a_server_answers(octo: Octo) -> None:
    with LlmServer(models=["smollm2"]) as server:
        done = octo.with_model(server)("run", "hello")
        assert (done.code, done.err) == (0, "")
        assert (asked(server), server.listed) == (["smollm2"], 1)


def test_of_several_the_first_that_chats_answers_and_says_so(octo: Octo) -> None:
    with LlmServer(models=["nomic-embed-text", "qwen3", "llama3"]) as server:
        done = octo.with_model(server)("run", "hello")
        assert asked(server) == ["qwen3"]
        assert done.err == (
            "· 'openai' has 3 models, 'qwen3' answers; choose another: "
            "`-m openai/NAME`, or `/model openai/NAME`\n"
        )


def test_a_server_without_a_list_is_one_line_with_the_next_step(octo: Octo) -> None:
    with LlmServer(lists=False) as server:
        done = octo.with_model(server)("run", "hello")
        assert (done.code, done.out, asked(server)) == (1, "", [])
        assert done.err.count("\n") == 1
        assert "-m openai/NAME" in done.err
        assert octo.with_model(server)("run", "-m", "openai/any", "hello").code == 0


def test_a_missing_model_names_those_that_are_there(octo: Octo) -> None:
    with LlmServer(models=[f"model-{n}" for n in range(10)]) as server:
        done = octo.with_model(server)("run", "-m", "openai/model-77", "hello")
    assert done.code == 1
    assert "it has model-7" in done.err
    assert done.err.count("model-") == 9  # the wrong one and eight others
    assert "and 2 more; name one with `-m openai/NAME`" in done.err


def test_a_configured_server_is_used_without_a_model_in_config_order(octo: Octo) -> None:
    with LlmServer(models=["b"]) as second, LlmServer(models=["a"]) as first:
        url = first.base_url
        path = configured(octo, mine={"base_url": url}, other={"base_url": second.base_url})
        assert octo("run", "hello").code == 0
        assert (asked(first), asked(second)) == (["a"], [])
        sources = octo("status", "--json").json["sources"]
    assert sources == {
        "model": "a (the server has it)",
        "provider": "mine (the first of those connected: mine, other)",
        "base URL": f"{url} (from {path}: providers.mine.base_url)",
        "key": "none",
    }


def test_status_and_doctor_say_which_source_won_and_no_secret(octo: Octo) -> None:
    with LlmServer() as server:
        env = {"OPENAI_BASE_URL": server.base_url}
        octo = Octo(folder=octo.folder, env=env)
        octo.workspace.mkdir()
        (octo.workspace / ".env").write_text(f"OPENAI_API_KEY={KEY}\n")
        octo.trust()
        for command in ("status", "doctor"):
            out = octo(command).out
            assert f"sk-…ij (from {octo.workspace / '.env'} OPENAI_API_KEY)" in out
            assert f"{server.base_url} (from environment OPENAI_BASE_URL)" in out
            assert KEY not in out


def test_models_are_those_of_the_servers(octo: Octo) -> None:
    with LlmServer(models=["a", "gpt-4o"]) as server:
        own = octo.with_model(server)
        listed = own("models", "--json").json
        assert listed["current"] == "openai/gpt-4o"
        assert listed["models"][:2] == ["openai/a", "openai/gpt-4o"]
        assert "* openai/gpt-4o  128k tokens" in own("models").out


def test_a_server_that_was_not_reached_is_not_called_ready(octo: Octo) -> None:
    with LlmServer() as server:
        own = octo.with_model(server)
        reached = {one["name"]: one for one in own("providers", "--json").json["providers"]}
    gone = {one["name"]: one for one in own("providers", "--json").json["providers"]}
    assert (reached["openai"]["state"], gone["openai"]["state"]) == ("reached", "not reached")
    assert reached["vllm"]["state"] == "not connected"
    assert gone["openai"]["key"] == "sk-…ij (from environment OPENAI_API_KEY)"
    text = own("providers").out
    assert "✗ openai: not reached" in text
    assert KEY not in text
    doctor = {one["name"]: one for one in own("doctor", "--json").json}["model"]
    assert doctor["state"] == "warning"
    assert "'openai' cannot be reached" in doctor["detail"]
