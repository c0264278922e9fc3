"""A folder that only keeps octo_lab's name free, while commands run, is in nobody's way."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SETTING = """
import json, sys
from pathlib import Path
import anyio
from octo_lab.app import open_app, setup_at
from octo_lab.config.place import find_place
from octo_lab.core.mail import AskOptions, RunCommand
from octo_lab.core.messages import ToolCall
from octo_lab.core.stream import Done, ToolCalled
from octo_lab.testing.channels import MemoryChannel
from octo_lab.testing.providers import ScriptedProvider, says
from dataclasses import replace

async def main():
    folder = Path(sys.argv[1])
    environ = {"OCTO_HOME": str(folder / "home"), "OCTO_LOCAL_DETECT": "off"}
    channel = MemoryChannel("notebook")
    setup = setup_at(find_place(folder / "work", environ), channels=(channel,))
    command = "touch began; while [ ! -e go ]; do sleep 0.05; done; ls -A .octo"
    call = ToolCall(id="c", name="shell", arguments=json.dumps({"command": command}))
    provider = ScriptedProvider([ToolCalled(call), Done("tool_use")], says("done"))
    async with open_app(replace(setup, provider=provider)):
        asked = await channel.ask("run it", AskOptions(headless=True))
        with anyio.fail_after(60):
            while not await anyio.Path(folder / "work/began").exists():
                await anyio.sleep(0.05)
        empty = await channel.control(RunCommand(line="/config web_search.count"))
        told = await channel.control(RunCommand(line="/config web_search.count 7"))
        shown = await channel.control(RunCommand(line="/config web_search.count"))
        await anyio.Path(folder / "work/go").touch()
        turn = await channel.turn(asked)
        after = await channel.control(RunCommand(line="/config web_search.count"))
    own = folder / "work/.octo"
    config = json.loads((own / "config.json").read_text())
    said = [reply.text for reply in (empty, told, shown, after)]
    made = sorted(path.name for path in (folder / "work").iterdir())
    print(json.dumps([said, config["web_search"], made, turn.blocks[0].output]))

anyio.run(main)
"""


# Permissions count for root, too, without these rights.
PLAIN = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search")


@pytest.mark.skipif(
    os.geteuid() == 0 and shutil.which("setpriv") is None, reason="root reads every folder"
)
def test_an_option_is_set_while_a_command_runs_where_there_is_no_folder_yet(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    argv = [*(PLAIN if os.geteuid() == 0 else ()), sys.executable, "-c", SETTING, str(tmp_path)]
    home = str(tmp_path / "home")
    environ = {**os.environ, "HOME": home, "XDG_CONFIG_HOME": home, "XDG_DATA_HOME": home}
    done = subprocess.run(
        argv, capture_output=True, text=True, timeout=120, check=False, env=environ
    )

    assert done.returncode == 0, done.stderr[-3000:]
    said, kept, made, output = json.loads(done.stdout)
    assert said == [
        "- `web_search.count` = 5",
        "`web_search.count` is 7 now.",
        "- `web_search.count` = 7",
        "- `web_search.count` = 7",
    ]
    assert (kept, made) == ({"count": 7}, [".octo", "began", "go"])
    assert "config.json" not in output
