"""A llama.cpp server in a process of its own: started, asked for its address, ended.

In this process a model that crashes, or takes all memory, would take the notebook's variables
with it, and what llama.cpp prints would be printed here.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import anyio
import anyio.to_thread

from octo_lab.core.errors import ConfigError, OctoError, ProviderError
from octo_lab.llm.local.gguf import GgufFile, read_gguf
from octo_lab.llm.local.policy import LocalPolicy, expanded
from octo_lab.llm.secret import Secret

LOAD_SECONDS = 300.0
END_SECONDS = 5.0
MOST_THREADS = 8
MIB = 1_048_576
_SCRIPT = Path(__file__).with_name("serve.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpec:
    """A model and how it is run."""

    file: GgufFile
    context: int
    threads: int

    @property
    def name(self) -> str:
        return self.file.path.stem


def read_spec(
    path: str, policy: LocalPolicy, *, find: Callable[[str], object] = find_spec
) -> ModelSpec:
    """Blocks on the disk; raises ConfigError where the model, or llama.cpp, is missing."""
    if not path:
        hint = "name a GGUF file: local.model in the config, or `local/PATH` as a model's name"
        raise ConfigError("No local model is configured", hint=hint)
    file = read_gguf(expanded(path))
    if find("xllamacpp") is None:
        raise ConfigError(
            "Local models need llama.cpp, which is not installed",
            hint="pip install 'octo_lab[local]'",
        )
    threads = policy.threads or min(MOST_THREADS, max(1, (os.cpu_count() or 2) - 1))
    context = min(file.context or policy.context, policy.context)
    return ModelSpec(file=file, context=context, threads=threads)


class LlamaProcess:
    """One server. Whoever makes it closes it; it also ends when this process does."""

    def __init__(self, spec: ModelSpec) -> None:
        self.spec = spec
        self.key = Secret(secrets.token_urlsafe(24))
        self.address = ""
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    async def start(self) -> None:
        """Load the model; raises ProviderError when that fails."""
        try:
            await anyio.to_thread.run_sync(self._spawn)
            with anyio.fail_after(LOAD_SECONDS):
                line = await anyio.to_thread.run_sync(self._answer, abandon_on_cancel=True)
        except TimeoutError:
            await self.aclose()
            raise self._failed(f"it took more than {LOAD_SECONDS:g} s") from None
        except BaseException:
            await self.aclose()
            raise
        answer = json.loads(line) if line else {}
        self.address = answer.get("address", "")
        if not self.address:
            await self.aclose()
            raise self._failed(answer.get("error", ""))

    def kill(self) -> None:
        """End it at once."""
        if self._process is not None:
            self._process.kill()

    async def aclose(self) -> None:
        if self._process is not None:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(self._end)

    def _spawn(self) -> None:
        self._process = process = subprocess.Popen(
            [sys.executable, "-P", str(_SCRIPT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # an interrupt of the kernel is not meant for it
        )
        assert process.stdin is not None
        spec = self.spec
        wanted = {
            "path": str(spec.file.path),
            "name": spec.name,
            "context": spec.context,
            "threads": spec.threads,
            "key": self.key.reveal(),
        }
        with suppress(OSError):  # it ended already: its answer, or none, tells why
            process.stdin.write(f"{json.dumps(wanted)}\n".encode())
            process.stdin.flush()

    def _answer(self) -> bytes:
        assert self._process is not None
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def _end(self) -> None:
        process = self._process
        assert process is not None
        self.kill()
        with suppress(subprocess.TimeoutExpired):
            process.wait(END_SECONDS)
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()

    def _failed(self, reason: str) -> OctoError:
        import psutil  # 10 ms that only a model of this machine pays

        size, free = self.spec.file.size, psutil.virtual_memory().available
        hint = "is the file whole? its kind of model may need a newer xllamacpp"
        if size > free or not reason:
            hint = f"it has {size // MIB} MiB, {free // MIB} MiB of memory are free: "
            hint += "take a smaller model, or a smaller quantisation of it"
        said = reason or "its process was ended, as happens when memory runs out"
        return ProviderError(
            f"The local model {self.spec.name!r} cannot be loaded: {said}", hint=hint
        )
