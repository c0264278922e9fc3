from __future__ import annotations

from tests.cli.octo import Octo


def test_what_fills_the_window_is_told_by_layer(octo: Octo) -> None:
    octo("init")
    (octo.workspace / "AGENTS.md").write_text("Use tabs. " * 100)
    told = octo("context")
    layers = octo("context", "--json").json
    assert told.code == 0
    first = told.out.splitlines()[0]
    full = round(20 * layers["tokens"] / layers["window"])
    assert first.endswith(f"tokens  {'█' * full}{'░' * (20 - full)}")
    names = [layer["name"] for layer in layers["layers"]]
    assert names[:2] == ["base", "project"]
    assert "tools" in names
    assert layers["tokens"] == sum(layer["tokens"] for layer in layers["layers"])
