"""Records the guide's cassette anew: ``python -m tests.notebooks.record_guide``.

A scripted server stands in for the vendor, so neither key nor network is needed.
"""

from __future__ import annotations

import json
import os
import tempfile

import nbformat
from nbclient import NotebookClient

from octo_lab.testing.llm_script import Call, calls, says
from octo_lab.testing.llm_server import LlmServer
from tests.notebooks.test_notebooks import ROOT

GUIDE = ROOT / "notebooks" / "guide"
CHANGE = {
    "path": "prices.py",
    "old_string": "round(sum(prices), 1)",
    "new_string": "round(sum(prices), 2)",
}
ANSWERS = (
    calls(Call(name="read_file", arguments='{"path": "prices.py"}'), usage=(812, 21, 0)),
    calls(Call(name="edit_file", arguments=json.dumps(CHANGE), id="call_2"), usage=(884, 48, 0)),
    says("`total` in `prices.py` ", "now rounds to two digits.", usage=(951, 24, 0)),
    says("That the total is shown with one digit. ", "I will ask first.", usage=(1010, 22, 0)),
)


def record() -> None:
    notebook = nbformat.read(GUIDE / "01-models-and-tools.ipynb", as_version=4)  # type: ignore[no-untyped-call]
    for cell in notebook.cells:
        cell.source = cell.source.replace("%octo_replay", "%octo_record")
    keep = f"shutil.copy(CASSETTE, {str(GUIDE)!r})"
    notebook.cells.append(nbformat.v4.new_code_cell(keep))  # type: ignore[no-untyped-call]
    kept = {name: v for name, v in os.environ.items() if not name.startswith(("OCTO_", "OPENAI_"))}
    with tempfile.TemporaryDirectory() as home, LlmServer(*ANSWERS, models=["gpt-4o"]) as server:
        place = {
            "OCTO_HOME": home,
            "IPYTHONDIR": f"{home}/ipython",
            "XDG_CONFIG_HOME": f"{home}/config",
        }
        vendor = {"OPENAI_API_KEY": "token", "OPENAI_BASE_URL": server.base_url}
        client = NotebookClient(
            notebook, kernel_name="octo", resources={"metadata": {"path": home}}
        )
        client.execute(env={**kept, **place, **vendor})


if __name__ == "__main__":
    record()
