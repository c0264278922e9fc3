"""What a killed process had changed in files can be taken back by the next one."""

from __future__ import annotations

import pytest

from octo_lab.testing.llm_script import Call, call, calls
from octo_lab.testing.llm_server import LlmServer
from tests.cli.octo import Octo, ended

WAITS = call("shell", id="waits", command="echo $$ > ready; sleep 600")
CHANGES = (
    call("write_file", id="1", path="new/made.txt", content="made"),
    call("edit_file", id="2", path="run.sh", old_string="true", new_string="false"),
    call(
        "diff_edit",
        id="3",
        path="gone.sh",
        diff="--- a/gone.sh\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n",
    ),
)


def tree(octo: Octo) -> dict[str, tuple[bytes, int]]:
    return {
        path.name: (path.read_bytes(), path.stat().st_mode & 0o777)
        for path in octo.workspace.rglob("*")
        if path.is_file() and path.name != "ready"
    }


@pytest.mark.parametrize("together", [(*CHANGES, WAITS), (WAITS, *CHANGES)])
def test_changes_made_just_before_are_known(
    octo: Octo, server: LlmServer, together: tuple[Call, ...]
) -> None:
    """The results of the calls were not stored yet: one of them still runs."""
    octo.workspace.mkdir()
    for name, data in (("run.sh", b"true\n"), ("gone.sh", b"gone\n")):
        (octo.workspace / name).write_bytes(data)
        (octo.workspace / name).chmod(0o750)
    before = tree(octo)
    server.script(calls(*together))
    octo = octo.with_model(server)

    process = octo.start("run", "-s", "work", "go")
    server.wait_until(lambda: bool(server.requests))
    while not _all_done(octo):
        assert process.poll() is None
    process.kill()
    ended(process)
    assert tree(octo) != before

    done = octo("run", "-s", "work", "/undo")

    assert done.code == 0, done.err
    assert "cannot be undone: `shell: echo $$ > ready; sleep 600`" in done.out
    assert tree(octo) == before
    assert not (octo.workspace / "new").exists()


def _all_done(octo: Octo) -> bool:
    place = octo.workspace
    return (
        (place / "ready").exists()
        and (place / "new" / "made.txt").exists()
        and (place / "run.sh").read_bytes() == b"false\n"
        and not (place / "gone.sh").exists()
    )
