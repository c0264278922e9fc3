from __future__ import annotations

from pathlib import Path

import pytest

from tests.packaging.environments import ROOT, UV, run


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    run([UV, "build", "--quiet", "--wheel", "--no-build-isolation", "--out-dir", out, ROOT])
    return next(out.glob("*.whl"))
