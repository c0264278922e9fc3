"""Files beside the notebook that have the names of libraries."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.notebook.kernels import PLAIN, kernel

pytestmark = pytest.mark.kernel

NAMES = ("anyio", "httpx", "json", "pydantic", "sqlalchemy", "traitlets", "octo")


@pytest.fixture
def beside(tmp_path: Path) -> Path:
    for name in NAMES:
        (tmp_path / f"{name}.py").write_text("mine = 1\n")
    return tmp_path


@pytest.mark.parametrize("argv", [None, PLAIN], ids=["octo", "plain"])
def test_the_agent_uses_its_libraries_and_not_those_files(
    beside: Path, argv: list[str] | None
) -> None:
    with kernel(beside, argv=argv) as running:
        running.run("%load_ext octo_lab")
        ran = running.run("%octo status")
        own = running.run("import octo, sys; octo.mine, '' in sys.path")

    assert (ran.status, own.value) == ("ok", "(1, True)"), ran.everything
    assert str(beside) in ran.everything


def test_the_library_is_imported_where_the_package_is(beside: Path) -> None:
    with kernel(beside) as running:
        ran = running.run("import octo_lab; octo_lab.ask; import anyio, httpx; httpx.Limits()")

    assert ran.status == "ok", ran.error


def test_a_file_that_was_imported_before_is_named(beside: Path) -> None:
    with kernel(beside) as running:
        assert running.run("import anyio, httpx; anyio.mine").value == "1"
        ran = running.run("%octo status")
        again = running.run("import octo_lab; octo_lab.ask")

    for said in (ran.everything, again.everything):
        assert f"'{beside}/anyio.py' stands in the place of a library" in said
        assert "rename 'anyio.py' and restart the kernel" in said
    assert not ran.of("error")
    assert ran.everything.count("\n") == 1
