from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from octo_lab.llm.offline.arithmetic import Arithmetic
from octo_lab.llm.offline.embedding import Embedding
from octo_lab.llm.offline.fitted import FITTED, load_fitted
from octo_lab.llm.offline.fitting import fit
from octo_lab.llm.offline.languages import digest, load_languages
from octo_lab.llm.offline.marks import Marker
from octo_lab.llm.offline.normal import Normal

AGAIN = "fit again: python -m octo_lab.llm.offline.fitting"
LOAD = """
import resource, sys
from octo_lab.llm.offline.understanding import Understanding
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
Understanding().read("what columns does @sales have?")
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
unwanted = {"wordllama", "requests", "huggingface_hub", "pandas", "octo_lab.llm.http"}
unit = 1024**2 if sys.platform == "darwin" else 1024
print(sorted(unwanted & set(sys.modules)), (after - before) / unit)
"""
TICK = """
import anyio
from octo_lab.core.messages import ChatRequest, Message
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.providers.offline import ENTRY

async def main():
    ticks = 0
    async def tick():
        nonlocal ticks
        while True:
            await anyio.sleep(0.001)
            ticks += 1
    async with anyio.create_task_group() as group:
        group.start_soon(tick)
        provider = ENTRY.create(ProviderConfig(name="offline", model="helper", http=ModelHttp()))
        stream = provider.stream(ChatRequest(messages=[Message(role="user", content="hello")]))
        await anext(stream)
        await stream.aclose()
        group.cancel_scope.cancel()
    print(ticks)

anyio.run(main)
"""


def test_what_ships_is_fitted_to_the_language_files() -> None:
    languages = load_languages()
    shipped = load_fitted(FITTED, digest(load_languages()))
    assert shipped is not None, AGAIN
    normal = Normal(languages, Marker(Arithmetic(one.words for one in languages.values())))
    fresh = fit(languages, normal, Embedding())
    assert (shipped.intents, shipped.languages) == (fresh.intents, fresh.languages), AGAIN
    assert np.allclose(shipped.weights, fresh.weights, atol=0.01), AGAIN
    assert np.allclose(shipped.rarity, fresh.rarity, atol=0.01), AGAIN


def test_a_fit_to_other_language_files_is_not_used() -> None:
    assert load_fitted(FITTED, "another digest") is None


@pytest.mark.parametrize("content", [None, b"", b"PK\x03\x04 cut"], ids=["none", "empty", "cut"])
def test_a_missing_or_broken_fit_is_not_used(content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "fitted.npz"
    if content is not None:
        path.write_bytes(content)
    assert load_fitted(path, digest(load_languages())) is None


def test_a_saved_fit_is_read_back(tmp_path: Path) -> None:
    shipped = load_fitted(FITTED, digest(load_languages()))
    assert shipped is not None, AGAIN
    shipped.save(tmp_path / "again.npz", "d")
    again = load_fitted(tmp_path / "again.npz", "d")
    assert again is not None
    assert again.intents == shipped.intents
    assert np.array_equal(again.weights, shipped.weights)


def test_understanding_needs_little_memory_and_no_downloader() -> None:
    modules, megabytes = _run(LOAD).rsplit(" ", 1)
    assert modules == "[]"
    assert float(megabytes) < 80


def test_the_event_loop_runs_on_while_the_first_answer_is_prepared() -> None:
    assert int(_run(TICK)) >= 5


def _run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()
