from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from octo_lab.config.settings import WorkspaceSettings
from octo_lab.config.turn_policy import roots_of
from octo_lab.core.errors import ToolFailed
from octo_lab.security.paths import Root
from octo_lab.tools.builtin import diff_edit, edit_file, glob, grep, read_file, write_file
from octo_lab.tools.reach import with_roots
from octo_lab.tools.tool import Tool, ToolContext
from octo_lab.tools.verdict import Verdict

pytestmark = pytest.mark.anyio

WORK = Path("/work")
Use = Callable[..., Awaitable[str]]


def decided(tool: Tool, path: str) -> tuple[str, tuple[str, ...]]:
    """What the arguments mean for the policy, and what a standing yes would cover."""
    more = {"content": ""} if tool.name == "write_file" else {}
    args = tool.parse({"path": path, **more})
    verdict = tool.judge(args, WORK) if tool.judge else None
    scopes = tuple(tool.scopes(args, WORK)) if tool.scopes else ()
    return (verdict.decision if verdict else "", scopes)


@pytest.mark.parametrize(
    ("path", "decision"),
    [
        ("a.py", ("", ())),
        (".gitignore", ("", ())),
        ("a/.GIT/hooks/pre-commit", ("ask", ("a/.GIT/hooks/pre-commit",))),
        ("/work/.git/config", ("ask", ("/work/.git/config",))),
        ("AGENTS.md", ("ask", ("AGENTS.md",))),
        ("./claude.MD", ("ask", ("./claude.MD",))),
        ("/work/AGENTS.md", ("ask", ("/work/AGENTS.md",))),
        (".env", ("ask", (".env",))),
        ("sub/.octo/config.json", ("ask", ("sub/.octo/config.json",))),
        ("docs/AGENTS.md", ("", ())),
    ],
)
async def test_what_steers_git_or_octo_lab_is_written_only_when_a_person_agrees(
    path: str, decision: tuple[str, tuple[str, ...]]
) -> None:
    assert decided(write_file.TOOL, path) == decision


@pytest.mark.parametrize(
    ("workspace", "path", "decision"),
    [
        (".", ".bashrc", "ask"),
        (".", "./.ipython/profile_default/startup/a.py", "ask"),
        ("..", "{home}/.profile", "ask"),
        ("work", "{home}/.config/x", "ask"),
        (".", "notes.txt", ""),
        (".", "work/.gitignore", ""),
        (".dotfiles", "bashrc", ""),
        ("work", ".bashrc", ""),
    ],
)
async def test_what_makes_programs_start_is_written_only_when_a_person_agrees(
    workspace: str, path: str, decision: str
) -> None:
    home = Path.home()
    args = write_file.TOOL.parse({"path": path.format(home=home), "content": ""})
    place = home.parent if workspace == ".." else home / workspace
    verdict = write_file.TOOL.judge(args, place) if write_file.TOOL.judge else None
    assert (verdict.decision if verdict else "") == decision


@pytest.mark.parametrize(
    ("tool", "given", "detail"),
    [
        (write_file.TOOL, {"content": "obey"}, "AGENTS.md\n\nobey"),
        (edit_file.TOOL, {"old_string": "a", "new_string": "b"}, "AGENTS.md\n\na\n\n→\nb"),
        (diff_edit.TOOL, {"diff": "@@ x"}, "AGENTS.md\n\n@@ x"),
    ],
)
async def test_who_is_asked_sees_what_would_be_written(
    tool: Tool, given: dict[str, str], detail: str
) -> None:
    assert tool.detail(tool.parse({"path": "AGENTS.md", **given})) == detail


async def test_strict_mode_changes_no_tool() -> None:
    tools = (read_file.TOOL, glob.TOOL)
    assert with_roots(tools, (), soft=False) == tools


async def test_roots_are_told_and_not_asked_about() -> None:
    roots = (Root(path=Path("/data")), Root(path=Path("/out"), writable=True))
    read, find = with_roots((read_file.TOOL, glob.TOOL), roots, soft=False)
    assert read.description.endswith("Beside the workspace: /data (read only), /out.")
    assert find == glob.TOOL
    assert decided(read, "/data/x") == ("", ())


async def test_soft_mode_asks_outside() -> None:
    roots = (Root(path=Path("/data")),)
    read, write = with_roots((read_file.TOOL, write_file.TOOL), roots, soft=True)
    assert read.description.endswith("Other absolute paths are asked about.")
    assert [decided(read, path) for path in ("x", "/work/x", "/data/x", "/etc/x", "/database")] == [
        ("", ()),
        ("", ()),
        ("", ()),
        ("ask", ("/etc/x",)),
        ("ask", ("/database",)),
    ]
    assert write.judge is not None
    args: Any = write.parse({"path": "/etc/x", "content": ""})
    assert write.judge(args, WORK) == Verdict("ask", "'/etc/x' is outside the workspace")
    assert decided(write, "/data/.git/x") == ("ask", ("/data/.git/x",))


async def test_settings_name_the_roots() -> None:
    settings = WorkspaceSettings(roots={"/data": "ro", "../out": "rw"})
    assert roots_of(settings, WORK) == (
        Root(path=Path("/data")),
        Root(path=Path("/work/../out"), writable=True),
    )


@pytest.fixture
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("elsewhere")
    (folder / "f.txt").write_text("here\n")
    (folder / ".gitignore").write_text("ignored\n")
    (folder / "ignored").write_text("here\n")
    return folder


async def use(tool: Tool, ctx: ToolContext, **arguments: Any) -> str:
    try:
        return str(await tool.run(ctx, tool.parse(arguments)))
    except ToolFailed as exc:
        return f"failed: {exc}"


async def test_a_root_is_read_and_searched_but_not_changed(
    ctx: ToolContext, elsewhere: Path
) -> None:
    file = str(elsewhere / "f.txt")
    assert (await use(read_file.TOOL, ctx, path=file)).endswith(
        "is outside the workspace (name a path relative to the workspace)"
    )
    ctx = replace(ctx, roots=(Root(path=elsewhere),))
    assert await use(read_file.TOOL, ctx, path=file) == "1|here"
    assert await use(grep.TOOL, ctx, pattern="here", path=str(elsewhere)) == f"{file}:1:here"
    assert await use(edit_file.TOOL, ctx, path=file, old_string="here", new_string="x") == (
        f"failed: {file!r} may be read, but not changed"
    )


async def test_a_change_of_a_root_is_recorded_by_its_whole_path(
    ctx: ToolContext, elsewhere: Path
) -> None:
    ctx = replace(ctx, roots=(Root(path=elsewhere, writable=True),))
    await use(write_file.TOOL, ctx, path=str(elsewhere / "new" / "g"), content="x")
    assert await anyio.Path(elsewhere, "new", "g").read_text() == "x"
    assert [change.path for change in ctx.changes.files] == [str(elsewhere / "new" / "g")]
