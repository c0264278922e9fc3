"""Runs llama.cpp's server for one GGUF file: a script of its own process, without octo_lab.

Its first line of input is a JSON object: path, name, context, threads, key. It answers one line,
``{"address": …}`` or ``{"error": …}``, and ends with its input, so with whoever started it.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from typing import Any

PROMPT_CACHE = 256  # MiB


def main() -> None:
    answers = os.dup(1)
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)  # llama.cpp writes to the descriptors themselves
    os.dup2(quiet, 2)
    # Threads that spin while they wait would starve the machine; read when the library loads.
    os.putenv("OMP_WAIT_POLICY", "passive")
    os.putenv("GOMP_SPINCOUNT", "0")
    try:
        server = _serve(json.loads(sys.stdin.readline()))
        answer = {"address": server.listening_address}
    except Exception as exc:  # noqa: BLE001 - told to whoever started this
        answer = {"error": f"{type(exc).__name__}: {exc}"}
    os.write(answers, f"{json.dumps(answer)}\n".encode())
    if "address" in answer:
        sys.stdin.read()
    os._exit(0)  # the library's own end waits for requests


def _serve(wanted: dict[str, Any]) -> Any:
    xllamacpp: Any = import_module("xllamacpp")  # has no types, and is not always installed
    params = xllamacpp.CommonParams()
    params.model.path = wanted["path"]
    params.model_alias = {wanted["name"]}
    params.n_ctx = wanted["context"]
    params.n_parallel = 1
    params.cpuparams.n_threads = wanted["threads"]
    params.cpuparams_batch.n_threads = wanted["threads"]
    params.cache_ram_mib = PROMPT_CACHE
    params.warmup = False
    params.ui = False
    params.verbosity = 0
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [wanted["key"]]
    return xllamacpp.Server(params)


if __name__ == "__main__":
    main()
