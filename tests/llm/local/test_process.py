from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from octo_lab.core.errors import ConfigError, OctoError, ProviderError
from octo_lab.core.messages import ChatRequest, Message
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.local.policy import LocalPolicy
from octo_lab.llm.local.process import LlamaProcess, read_spec
from octo_lab.llm.provider import collect
from octo_lab.llm.registry import builtin_providers, open_model, resolve_model
from octo_lab.llm.setup import ModelFacts, ModelSetup
from tests.llm.local.ggufs import pair, write_gguf

pytestmark = pytest.mark.anyio

HELLO = ChatRequest(messages=[Message(role="user", content="hello")])


def broken(folder: Path) -> Path:
    """A file with the head of a model and nothing behind it."""
    return write_gguf(folder / "broken.gguf", pair("llama.context_length", 4096))


async def failure(name: str | None, http: ModelHttp, policy: LocalPolicy) -> OctoError:
    setup = ModelSetup(http=http, local=policy)
    with pytest.raises(OctoError) as failed:
        await collect(open_model(resolve_model(name, setup, builtin_providers())).stream(HELLO))
    return failed.value


async def test_the_window_is_what_the_model_is_run_with(http: ModelHttp) -> None:
    policy = LocalPolicy(model="/x.gguf", context=4096)
    facts = {"local//x.gguf": ModelFacts(context_window=1024)}

    usual = resolve_model(None, ModelSetup(http=http, local=policy), builtin_providers())
    own = resolve_model(
        None, ModelSetup(http=http, local=policy, models=facts), builtin_providers()
    )

    assert (usual.config.context_window, own.config.context_window) == (4096, 1024)


async def test_a_model_that_is_not_there_is_named_with_the_next_step(
    http: ModelHttp, tmp_path: Path
) -> None:
    text = tmp_path / "notes.gguf"
    text.write_text("hello")

    nothing = await failure("local", http, LocalPolicy())
    missing = await failure(f"local/{tmp_path / 'none.gguf'}", http, LocalPolicy())
    other = await failure(None, http, LocalPolicy(model=str(text)))

    assert nothing.message == "No local model is configured"
    assert missing.message == f"No model file {str(tmp_path / 'none.gguf')!r}"
    assert other.message == f"{str(text)!r} is no GGUF file"
    assert all(isinstance(one, ConfigError) and one.hint for one in (nothing, missing, other))


def test_without_llamacpp_the_extra_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as failed:
        read_spec(str(broken(tmp_path)), LocalPolicy(), find=lambda _name: None)

    assert failed.value.hint == "pip install 'octo_lab[local]'"


@pytest.mark.llama
async def test_a_file_that_llamacpp_refuses_is_an_error_and_leaves_no_process(
    http: ModelHttp, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    failed = await failure(None, http, LocalPolicy(model=str(broken(tmp_path))))

    assert isinstance(failed, ProviderError)
    assert failed.message.startswith("The local model 'broken' cannot be loaded: RuntimeError")
    assert (failed.retryable, capfd.readouterr()) == (False, ("", ""))


@pytest.mark.llama
async def test_a_load_that_is_cancelled_ends_the_process(tmp_path: Path) -> None:
    pipe = tmp_path / "endless.gguf"
    path = str(broken(tmp_path))
    spec = await anyio.to_thread.run_sync(read_spec, path, LocalPolicy())
    os.mkfifo(pipe)  # whoever opens it waits for ever
    process = LlamaProcess(replace(spec, file=replace(spec.file, path=pipe)))

    with anyio.move_on_after(1.0) as given_up:
        await process.start()

    assert (given_up.cancelled_caught, process.alive) == (True, False)


@pytest.mark.llama
def test_threads_and_context_are_bounded(tmp_path: Path) -> None:
    path = str(broken(tmp_path))
    cores = os.cpu_count() or 2

    usual = read_spec(path, LocalPolicy())
    told = read_spec(path, LocalPolicy(threads=3, context=1024))

    assert (usual.context, usual.threads) == (4096, min(8, max(1, cores - 1)))
    assert (told.context, told.threads) == (1024, 3)
