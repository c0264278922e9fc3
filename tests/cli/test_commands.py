"""The smaller commands, in real processes."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path

import pytest

from octo_lab.cli.look import session_lines
from octo_lab.core.clock import utc_now
from octo_lab.core.keys import ChatAddress, SessionKey
from octo_lab.core.replies import SessionInfo
from octo_lab.testing.llm_server import LlmServer
from tests.cli.octo import Octo


def test_help_lists_every_command(octo: Octo) -> None:
    done = octo("--help")
    assert done.code == 0
    for name in (
        "run",
        "chat",
        "gateway",
        "init",
        "trust",
        "status",
        "sessions",
        "doctor",
        "kernel",
    ):
        assert f" {name} " in done.out


def test_the_version_is_printed(octo: Octo) -> None:
    done = octo("--version")
    assert (done.code, done.out, done.err) == (0, f"octo_lab {version('octo_lab')}\n", "")


def test_the_text_of_a_help_page_flows_and_nothing_is_cut(octo: Octo) -> None:
    run, gateway = (
        [line.strip() for line in octo(name, "--help").out.splitlines()]
        for name in ("run", "gateway")
    )
    at = next(n for n, line in enumerate(run) if line.startswith("The answer goes to stdout"))
    assert min(len(line) for line in run[at : at + 2]) > 60
    assert "..." not in " ".join(gateway)


def test_a_shell_completes_commands_and_options(octo: Octo) -> None:
    env = {"_OCTO_COMPLETE": "complete_bash", "COMP_WORDS": "octo se", "COMP_CWORD": "1"}
    assert octo_named(octo, env).split() == ["sessions"]
    env = {**env, "COMP_WORDS": "octo run --mo", "COMP_CWORD": "2"}
    assert octo_named(octo, env).split() == ["--model"]


def octo_named(octo: Octo, env: dict[str, str]) -> str:
    """Click names the completion variable after the program."""
    octo.workspace.mkdir(exist_ok=True)
    return subprocess.run(
        [Path(sys.executable).with_name("octo")],
        env={**octo.environ(), **env},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_init_writes_nothing_where_a_link_of_a_clone_leads(octo: Octo) -> None:
    (octo.workspace / ".octo").mkdir(parents=True)
    outside = octo.folder / "ignore"
    (octo.workspace / ".octo" / ".gitignore").symlink_to(outside)

    done = octo("init")

    assert "File exists" in done.err
    assert not outside.exists()


def test_init_makes_a_workspace_once(octo: Octo) -> None:
    first = octo("init")
    place = octo.workspace / ".octo"
    assert first.out == f"made config.json, .gitignore in {place}\n"
    (place / "config.json").write_text('{"version": 1, "model": "openai/mine"}')
    assert octo("init").out == f"{place} is there already\n"
    assert json.loads((place / "config.json").read_text())["model"] == "openai/mine"


def test_data_lies_in_the_workspace_once_it_is_one(octo: Octo) -> None:
    own = Octo(folder=octo.folder, env={"OCTO_HOME": ""})
    own("init")
    below = octo.workspace / "deep" / "down"
    below.mkdir(parents=True)
    status = own("status", "--json", "-C", str(below)).json
    assert status["data_folder"] == str(octo.workspace / ".octo")
    assert status["workspace"] == str(octo.workspace)


def test_status_says_who_answers_with_what(octo: Octo, server: LlmServer) -> None:
    done = octo.with_model(server)("status")
    assert done.code == 0
    for words in ("this process", "openai", "read_file", "terminal", str(octo.data)):
        assert words in done.out.replace("\n", "")
    assert octo.with_model(server)("status", "--json").json["provider"] == "openai"


def test_sessions_are_those_that_were_named(octo: Octo, server: LlmServer) -> None:
    octo = octo.with_model(server)
    assert octo("sessions").out.startswith("No sessions yet")
    for name in ("trip", "home"):
        octo("run", "-s", name, f"about {name}")
    octo("run", "nowhere")
    listed = octo("sessions", "--json").json["sessions"]
    assert sorted(info["title"] for info in listed) == ["home", "trip"]
    assert [info["title"] for info in octo("sessions", "--json", "trip").json["sessions"]] == [
        "trip"
    ]
    assert octo("sessions", "zzz").out == "No session has 'zzz' in its title or text\n"
    lines = octo("sessions").out.splitlines()
    ids = [info["session"].rpartition(":")[2] for info in listed]
    rows = [line.lstrip("* ").split() for line in lines]
    assert [row[:-1] for row in rows] == [
        [name, "1", "turn", "just", "now"] for name in ("home", "trip")
    ]
    assert [wanted.startswith(row[-1]) for wanted, row in zip(ids, rows, strict=True)] == [True] * 2


def test_a_list_of_sessions_is_told_by_title_turns_age_and_the_shortest_id() -> None:
    ids = ("01890000-0001-7000-8000-000000000001", "01890000-0001-7000-8000-000000000002")
    address = ChatAddress(channel="terminal", chat_id="main")
    sessions = [
        SessionInfo(
            session=str(SessionKey(address=address, dialog=dialog)),
            title=title,
            current=title == "汉字",
            archived=False,
            turns=turns,
            updated_at=utc_now() - timedelta(minutes=minutes, seconds=5),
        )
        for dialog, title, turns, minutes in (
            (ids[0], "汉字", 1, 3),
            (ids[1], "", 12, 60 * 24 * 3),
        )
    ]
    assert session_lines(sessions, everywhere=False) == [
        f"* 汉字           1 turn   3 min ago  {ids[0]}",
        f"  (no title)   12 turns  3 days ago  {ids[1]}",
    ]


def test_all_sessions_are_those_of_every_chat_of_the_workspace(
    octo: Octo, server: LlmServer
) -> None:
    octo = octo.with_model(server)
    octo("run", "-s", "trip", "about it")
    octo("run", "only once")
    keys = [one["session"].split(":") for one in octo("sessions", "-a", "--json").json["sessions"]]
    assert sorted((channel, chat[:4]) for _, channel, chat, _ in keys) == [
        ("terminal", "main"),
        ("terminal", "run-"),
    ]
    lines = octo("sessions", "--all").out.splitlines()
    assert [line[2:].split("  ")[0] for line in lines] == ["only once", "trip"]
    assert "just now  terminal main  " in lines[1]
    assert octo("sessions", "--all", "-C", str(octo.folder)).out.startswith("No sessions yet")


def test_doctor_finds_what_is_there(octo: Octo, server: LlmServer) -> None:
    done = octo.with_model(server)("doctor", "--json")
    states = {finding["name"]: finding["state"] for finding in done.json}
    ready = {"python", "packages", "data folder", "trust", "gateway", "model"}
    assert {states[name] for name in ready} == {"ok"}
    assert set(states) == {*ready, "kernel", "sandbox", "browser"}


def test_doctor_names_what_is_wrong_and_fails(octo: Octo) -> None:
    (octo.folder / "data").touch()
    done = octo("doctor")
    assert done.code == 1
    lines = {line.split(":")[0]: line for line in done.out.splitlines()}
    assert "OCTO_HOME" in lines["✗ data folder"]
    assert "✗ model" in lines
    assert "Traceback" not in done.err


def test_doctor_tells_a_fault_of_the_config_once(octo: Octo) -> None:
    (octo.folder / ".octo").mkdir()
    (octo.folder / ".octo" / "config.json").write_text("{bad")
    lines = octo("doctor").out.splitlines()
    assert [line.endswith("(fix the JSON)") for line in lines].count(True) == 1
    assert lines[-1] == "✗ model: not checked, for the same reason"


@pytest.mark.parametrize("name", ["octo", "my-octo"])
def test_the_kernel_is_installed_where_one_says(octo: Octo, name: str) -> None:
    prefix = octo.folder / "prefix"
    done = octo("kernel", "install", "--prefix", str(prefix), "--name", name)
    folder = prefix / "share" / "jupyter" / "kernels" / name
    assert (done.code, done.out) == (0, f"installed {name} in {folder}\n")
    spec = json.loads((folder / "kernel.json").read_text())
    assert spec["language"] == "python"


def test_the_kernel_goes_to_one_place(octo: Octo) -> None:
    done = octo("kernel", "install", "--user", "--sys-prefix")
    assert done.code == 2
    assert "Choose one of --user, --sys-prefix" in done.err
