"""What a vendor wants back of its thinking survives the database and a restart, to the letter."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from octo_lab.app import Setup, open_app
from octo_lab.config.settings import ModelSettings, ProviderSettings
from octo_lab.core.turns import TurnSnapshot
from octo_lab.testing.channels import MemoryChannel
from octo_lab.testing.llm_script import Json, Turn, call, calls, says
from octo_lab.testing.llm_server import LlmServer
from octo_lab.testing.setups import setup_in
from octo_lab.tools.function_tool import function_tool

pytestmark = pytest.mark.anyio

# What a store that is not careful would change: line ends, odd spaces, escapes, base64 padding.
THOUGHT = "Let me\r\nsee\u2028… \\u0041 \U0001f419\u00a0"
SIGNATURE = "EqQBCgIYAhIk/+ab0123456789=="


async def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@dataclass(frozen=True, slots=True, kw_only=True)
class Vendor:
    """A model that thinks and calls ``add``; ``kept`` finds what it should get back."""

    provider: str
    model: str
    thinks: Turn
    kept: Callable[[Json], Any]
    expected: Any
    hints: tuple[tuple[str, bool | str], ...] = ()


def _parts(body: Json) -> Json:
    found: Json = body["contents"][1]["parts"][-1]
    return {name: found[name] for name in ("functionCall", "thoughtSignature") if name in found}


def _reasoning(body: Json) -> list[Json]:
    return [item for item in body["input"] if item.get("type") == "reasoning"]


ADD = call("add", a=2, b=3)
_GEMINI_CALL = {"functionCall": {"id": "call_1", "name": "add", "args": {"a": 2, "b": 3}}}
_GEMINI_PARTS = [{"text": THOUGHT, "thought": True}, _GEMINI_CALL | {"thoughtSignature": SIGNATURE}]
VENDORS = (
    Vendor(
        provider="anthropic",
        model="claude-sonnet-4-20250514",
        thinks=calls(ADD, reasoning=[THOUGHT[:5], THOUGHT[5:]], signature=SIGNATURE),
        kept=lambda body: body["messages"][1]["content"][0],
        expected={"type": "thinking", "thinking": THOUGHT, "signature": SIGNATURE},
    ),
    Vendor(
        provider="gemini",
        model="gemini-3-flash",
        thinks=Turn(
            events=[
                {
                    "candidates": [
                        {
                            "content": {"role": "model", "parts": _GEMINI_PARTS},
                            "finishReason": "STOP",
                        }
                    ]
                }
            ]
        ),
        kept=_parts,
        expected=_GEMINI_CALL | {"thoughtSignature": SIGNATURE},
    ),
    Vendor(
        provider="openai",
        model="gpt-5",
        hints=(("responses", True),),
        thinks=calls(ADD, reasoning=[THOUGHT]),
        kept=_reasoning,
        expected=[
            {
                "id": "rs_octo",
                "type": "reasoning",
                "summary": [{"type": "summary_text", "text": THOUGHT}],
                "encrypted_content": "Z3VhcmRlZA==",
            }
        ],
    ),
    Vendor(
        provider="deepseek",
        model="deepseek-reasoner",
        thinks=calls(ADD, reasoning=[THOUGHT]),
        kept=lambda body: body["messages"][2].get("reasoning_content"),
        expected=THOUGHT,
    ),
)
every_vendor = pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.provider)


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with LlmServer() as server:
        yield server


def setup(folder: Path, channel: MemoryChannel, server: LlmServer, vendor: Vendor) -> Setup:
    return setup_in(
        folder,
        channel,
        tools=[function_tool(add)],
        model=f"{vendor.provider}/{vendor.model}",
        models={vendor.model: ModelSettings(hints=dict(vendor.hints))},
        providers={
            vendor.provider: ProviderSettings(base_url=server.base_url, api_key=SecretStr("key"))
        },
    )


async def asked(
    folder: Path, server: LlmServer, vendor: Vendor, text: str, *answers: Turn
) -> TurnSnapshot:
    """One turn of a runtime that opens for it and closes behind it."""
    channel = MemoryChannel()
    server.script(*answers)
    async with open_app(setup(folder, channel, server, vendor)):
        return await channel.turn(await channel.ask(text))


@every_vendor
async def test_thinking_goes_back_verbatim_in_the_turn_and_after_a_restart(
    tmp_path: Path, server: LlmServer, vendor: Vendor
) -> None:
    first = await asked(tmp_path, server, vendor, "2 + 3?", vendor.thinks, says("5."))
    second = await asked(tmp_path, server, vendor, "and now?", says("still 5."))

    assert (first.text, second.text, server.refused) == ("5.", "still 5.", [])
    sent = [vendor.kept(received.body) for received in server.requests[1:]]
    assert sent == [vendor.expected, vendor.expected]


@every_vendor
async def test_another_model_is_told_nothing_of_it(
    tmp_path: Path, server: LlmServer, vendor: Vendor
) -> None:
    other = Vendor(
        provider="lab", model="any", thinks=vendor.thinks, kept=vendor.kept, expected=None
    )
    await asked(tmp_path, server, vendor, "2 + 3?", vendor.thinks, says("5."))
    await asked(tmp_path, server, other, "and now?", says("still 5."))

    told = json.dumps(server.requests[-1].body)
    assert server.refused == []
    for secret in (SIGNATURE, "Let me", "Z3VhcmRlZA=="):
        assert secret not in told
