"""Prints an executed notebook as a conversation: each code cell, then what it showed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import nbformat


def shown(output: dict[str, Any]) -> str:
    if output["output_type"] == "stream":
        return str(output["text"])
    if output["output_type"] == "error":
        return f"{output['ename']}: {output['evalue']}"
    return str(output["data"].get("text/plain", ""))


def conversation(path: str) -> Iterator[str]:
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            yield "\n".join(f"│ {line}" for line in cell.source.splitlines())
            yield "\n".join(shown(output).rstrip() for output in cell.outputs) + "\n"


if __name__ == "__main__":
    for part in conversation(sys.argv[1]):
        print(part)
