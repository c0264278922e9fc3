"""Runs the real command in a process of its own, in a folder of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from octo_lab.config.process import process_environ
from octo_lab.testing.llm_server import LlmServer

KEY = "sk-secret0123456789abcdefghij"
STOPPED = "octo: Stopped before the answer was complete (ask again to go on)\n"
OCTO = (sys.executable, "-P", "-c", "from octo_lab.cli.main import main; main()")


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True, slots=True, kw_only=True)
class Octo:
    """The command in one workspace. ``env`` is added to a clean environment."""

    folder: Path
    before: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)

    @property
    def workspace(self) -> Path:
        return self.folder / "work"

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def with_model(self, server: LlmServer) -> Octo:
        env = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": KEY}
        return Octo(folder=self.folder, env={**self.env, **env})

    def start(self, *args: str, **options: Any) -> subprocess.Popen[bytes]:
        self.workspace.mkdir(exist_ok=True)
        (self.folder / "home").mkdir(exist_ok=True)
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        return subprocess.Popen(
            [*self.before, *OCTO, *args],
            cwd=self.workspace,
            env=self.environ(),
            **{**pipes, **options},
        )

    def __call__(self, *args: str, stdin: bytes = b"", timeout: float = 60) -> Done:
        process = self.start(*args)
        return ended(process, stdin=stdin, timeout=timeout)

    def trust(self) -> Octo:
        """The same, once the person has said yes to what the workspace's files ask for now."""
        assert self("trust", "--yes").code == 0
        return self

    def environ(self) -> dict[str, str]:
        kept = {n: v for n, v in process_environ().items() if n in {"PATH", "LANG", "TERM"}}
        home = {"HOME": str(self.folder / "home"), "OCTO_HOME": str(self.data)}
        home["OCTO_LOCAL_DETECT"] = "off"
        return {**kept, **home, "PYTHONWARNINGS": "error::ResourceWarning", **self.env}


def ended(process: subprocess.Popen[bytes], stdin: bytes = b"", timeout: float = 60) -> Done:
    try:
        out, err = process.communicate(stdin, timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise AssertionError(f"did not end: {out!r} {err!r}") from None
    return Done(code=process.returncode, out=(out or b"").decode(), err=(err or b"").decode())
