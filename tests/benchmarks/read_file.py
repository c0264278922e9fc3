"""CPU of reading a file of 100 KB: the tool alone, and a call in a turn, with all it passes:
policy, screen, event, stored step, and the masks of the person, the database and the model.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path

import anyio
import anyio.lowlevel

from octo_lab.agent.limits import Limits
from octo_lab.agent.loop import Agent
from octo_lab.agent.transcript import Transcript
from octo_lab.core.events import Emit, TurnEvent
from octo_lab.core.messages import Message, ToolCall
from octo_lab.llm.masked import Masked
from octo_lab.security.outgoing import Outgoing, masked_message
from octo_lab.security.redact import Redactor
from octo_lab.session.hiding import Hiding
from octo_lab.testing.providers import ScriptedProvider, calls, says
from octo_lab.tools.builtin.read_file import TOOL
from octo_lab.tools.screen import Screen
from octo_lab.tools.tool import ToolContext
from tests.agent.turns import ALLOW, INPUT, call

FILES, SIZE, ROUNDS, GOAL_MS = 4, 92_000, 25, 2.0
SECRETS = tuple(f"a-password-of-the-environment-{number}" for number in range(10))
LETTERS = {"ASCII": "the price in euros", "other letters": "der Preis für drei Stück, in €"}
Way = Callable[[Path], Awaitable[float]]


def text(letters: str) -> str:
    """A program such as models read: long, and with words that secrets stand beside."""
    part = (
        f"def total(prices: list[float], token: str) -> float:\n"
        f'    """{letters}, see https://example.org/total."""\n'
        f"    return round(sum(price * 3 for price in prices), 2)\n\n"
    )
    return part * (SIZE // len(part.encode()))


def paths(root: Path) -> list[str]:
    return [path.name for path in sorted(root.iterdir())]


def context(root: Path, mask: Redactor, call: ToolCall, emit: Emit) -> ToolContext:
    return ToolContext(
        workspace=root,
        channel="notebook",
        chat_id="",
        session="",
        turn_id="",
        call_id=call.id,
        report=lambda line: None,
        screen=Screen(mask=mask),
    )


async def plain(root: Path) -> float:
    began = time.process_time()
    for name in paths(root):
        (root / name).read_bytes().decode()
    return time.process_time() - began


async def tool(root: Path) -> float:
    ctx = context(root, Redactor(SECRETS), call("read_file"), print)
    began = time.process_time()
    for name in paths(root):
        await TOOL.run(ctx, TOOL.parse({"path": name}))
    return time.process_time() - began


async def in_a_turn(root: Path) -> float:
    """One call after the other, each of another file."""
    asked = [calls(call("read_file", f'{{"path": "{name}"}}', id=name)) for name in paths(root)]
    mask = Redactor(SECRETS)
    provider = Masked(ScriptedProvider(*asked, says("ok")), Outgoing(mask))
    agent = Agent(
        provider=provider,
        tools=(TOOL,),
        approver=ALLOW,
        context=partial(context, root, mask),
        limits=Limits(iterations=FILES + 1),
    )
    told, kept = Hiding(mask), list[Message]()

    def tell(event: TurnEvent) -> None:
        told.feed(event)

    async def keep(step: Sequence[Message]) -> None:
        await anyio.lowlevel.checkpoint()
        kept.extend(masked_message(message, mask) for message in step)

    began = time.process_time()
    await agent.run(INPUT, Transcript(), tell, keep)
    took = time.process_time() - began
    assert [message.outcome for message in kept if message.role == "tool"] == ["ok"] * FILES
    return took


WAYS: dict[str, Way] = {"open, read, decode": plain, "read_file": tool, "in a turn": in_a_turn}


async def measure(root: Path) -> dict[str, float]:
    """Milliseconds of CPU for one file."""
    times: dict[str, list[float]] = {name: [] for name in WAYS}
    for way in WAYS.values():
        await way(root)
    for _ in range(ROUNDS):
        for name, way in WAYS.items():
            times[name].append(await way(root) / FILES * 1e3)
    return {name: statistics.median(values) for name, values in times.items()}


def main() -> None:
    for kind, letters in LETTERS.items():
        with tempfile.TemporaryDirectory() as folder:
            for number in range(FILES):
                Path(folder, f"f{number:03}.py").write_text(text(letters), encoding="utf-8")
            took = anyio.run(measure, Path(folder).resolve())
            size = Path(folder, "f000.py").stat().st_size
        print(f"\nCPU of a file of {size / 1000:.0f} KB ({kind}), ms, median of {ROUNDS} rounds")
        for name, milliseconds in took.items():
            met = "met" if milliseconds <= GOAL_MS else "MISSED"
            print(f"  {name:<20} {milliseconds:7.2f}   goal <= {GOAL_MS:.1f} ms: {met}")


if __name__ == "__main__":
    main()
