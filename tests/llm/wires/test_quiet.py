from __future__ import annotations

import anyio
import pytest

from octo_lab.core.errors import TimedOut
from octo_lab.llm.wires.quiet import Quiet

pytestmark = pytest.mark.anyio
PING = b'event: ping\ndata: {"type": "ping"}\n\n'


@pytest.mark.parametrize(
    "life",
    [
        b"\n",
        b": OPENROUTER PROCESSING\n\n",
        b":\r\n",
        PING,
        b'data: {"type":"keepalive","n":3}\n\n',
    ],
)
async def test_signs_of_life_are_borne_for_a_while(life: bytes) -> None:
    quiet = Quiet("lab", patience=0)
    quiet.hear(life)
    await anyio.sleep(0.001)
    with pytest.raises(TimedOut, match="'lab' sent only signs of life for 0 s"):
        quiet.hear(life + life)


@pytest.mark.parametrize(
    "news",
    [
        b'data: {"type": "x"}\n\n',
        b"data: {",
        b'"type": "ping"}\n',
        b"event: pong\n",
        PING + b"data",
    ],
)
async def test_anything_else_is_news(news: bytes) -> None:
    quiet = Quiet("lab", patience=0)
    for _ in range(3):
        quiet.hear(PING)
        quiet.hear(news)
        await anyio.sleep(0.001)


async def test_an_event_ends_the_silence() -> None:
    quiet = Quiet("lab", patience=0)
    quiet.hear(PING)
    quiet.end()
    await anyio.sleep(0.001)
    quiet.hear(PING)
