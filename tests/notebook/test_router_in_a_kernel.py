"""The models that can be chosen and those that share the work, as a real kernel gives them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from octo_lab.testing.llm_script import fails, says
from octo_lab.testing.llm_server import LlmServer
from tests.notebook.kernels import Kernel, Ran, kernel, with_model

pytestmark = pytest.mark.kernel


def configure(folder: Path, **settings: Any) -> None:
    (folder / ".octo").mkdir()
    (folder / ".octo" / "config.json").write_text(json.dumps({"version": 1, **settings}))


def frame(octo: Kernel, code: str) -> list[dict[str, Any]]:
    """A DataFrame's rows; what is missing in it is None."""
    octo.run("import octo_lab as ol, json")
    rows: list[dict[str, Any]] = json.loads(
        octo.run(f"print(({code}).to_json(orient='records'))").printed
    )
    return rows


def html(ran: Ran) -> str:
    return "".join(
        str(output["content"]["data"].get("text/html", ""))
        for output in ran.outputs
        if "data" in output["content"]
    )


def test_the_models_that_share_the_work_are_a_frame_a_table_and_a_chart(tmp_path: Path) -> None:
    price = {"price_in": 2.0, "price_out": 10.0}
    with LlmServer(fails(401, "no"), says("a", usage=(1000, 50, 0))) as one, LlmServer() as two:
        configure(
            tmp_path,
            model="one/m",
            fallbacks=["two/m"],
            providers={"one": {"base_url": one.base_url}, "two": {"base_url": two.base_url}},
            models={"one/m": price},
        )
        with kernel(tmp_path, with_model(one, OCTO_TRUST_WORKSPACE="1")) as octo:
            before = frame(octo, "ol.router()")
            octo.run("%octo hi")
            octo.run("%octo again")
            after = frame(octo, "ol.router()")
            shown = octo.run("%octo router")

    assert [(row["name"], row["calls"], row["cost"]) for row in before] == [
        ("one/m", 0, None),
        ("two/m", 0, None),
    ]
    told = [(row["name"], row["state"], row["calls"], row["errors"]) for row in after]
    assert told == [("one/m", "closed", 2, 1), ("two/m", "closed", 1, 0)]
    assert (after[0]["cost"], after[1]["cost"]) == (pytest.approx(0.0025), None)
    assert 0 < after[0]["p50"] <= after[0]["p95"]
    assert "| one/m | closed | 2 | 1 (50%) |" in shown.everything
    assert "50% errors, $0.0025" in html(shown)
    assert html(shown).count("<circle") == 2


def test_the_models_that_can_be_chosen_are_a_frame(tmp_path: Path) -> None:
    configure(tmp_path, models={"openai/a": {"price_in": 2.0, "price_out": 10.0}})
    with (
        LlmServer(models=["a", "b"]) as server,
        kernel(tmp_path, with_model(server, OCTO_TRUST_WORKSPACE="1")) as octo,
    ):
        rows = {row["name"]: row for row in frame(octo, "ol.models()")}
    assert [rows[f"openai/{name}"]["price_in"] for name in "ab"] == [2.0, None]
    assert [name for name, row in rows.items() if row["current"]] == ["openai/a"]
