"""What a request holds of the pictures that tools made."""

from __future__ import annotations

import base64

import pytest

from octo_lab.agent.turn_input import TurnInput
from octo_lab.core.messages import Media, Message, ToolCall
from octo_lab.llm.hints import ModelHints
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.wires.anthropic.wire import ANTHROPIC
from octo_lab.llm.wires.chat.wire import CHAT
from octo_lab.llm.wires.gemini.wire import GEMINI
from octo_lab.llm.wires.responses.wire import RESPONSES
from octo_lab.llm.wires.wire import Wire


def picture(name: str) -> Media:
    return Media(mime="image/png", data=f"the bytes of {name}".encode(), name=name)


def batch(*names: str) -> list[Message]:
    """A model's calls, each of which made a picture."""
    calls = tuple(ToolCall(id=f"call_{name[:-4]}", name="python", arguments="{}") for name in names)
    results = [
        Message(
            role="tool",
            content=f"made {name}",
            tool_call_id=call.id,
            tool_name="python",
            media=(picture(name),),
        )
        for name, call in zip(names, calls, strict=True)
    ]
    return [Message(role="assistant", tool_calls=calls), *results]


TURN = TurnInput(
    system="",
    history=[
        Message(role="user", content="begin", media=(picture("given.png"),)),
        *batch("a.png"),
        Message(role="assistant", content="seen"),
    ],
    user=Message(role="user", content="go"),
)
SAID = [*batch("b.png"), *batch("c.png", "d.png"), Message(role="user", content="and now?")]


def test_only_the_newest_batch_shows_its_pictures_and_the_older_are_named() -> None:
    messages = TURN.request((), SAID).messages
    assert [(m.content, [one.name for one in m.media]) for m in messages if m.role == "tool"] == [
        ("made a.png\n[image/png: a.png]", []),
        ("made b.png\n[image/png: b.png]", []),
        ("made c.png", ["c.png"]),
        ("made d.png", ["d.png"]),
    ]
    assert messages[0].media == (picture("given.png"),)


def test_the_batch_of_an_earlier_turn_is_shown_until_there_is_a_newer_one() -> None:
    messages = TURN.request((), ()).messages
    assert [m.media for m in messages if m.role == "tool"] == [(picture("a.png"),)]


@pytest.mark.parametrize("vision", [True, False])
@pytest.mark.parametrize(
    "wire",
    [
        pytest.param(CHAT, id="chat"),
        pytest.param(RESPONSES, id="responses"),
        pytest.param(ANTHROPIC, id="anthropic"),
        pytest.param(GEMINI, id="gemini"),
    ],
)
def test_a_model_that_sees_gets_the_newest_pictures_and_one_that_does_not_their_names(
    wire: Wire, vision: bool
) -> None:
    config = ProviderConfig(name="p", model="m", http=ModelHttp(), base_url="http://127.0.0.1:1")
    sent = wire.write(TURN.request((), SAID), config, ModelHints(vision=vision)).body.decode()
    names = ("given.png", "a.png", "b.png", "c.png", "d.png")
    seen = [name for name in names if base64.b64encode(picture(name).data).decode() in sent]
    named = [name for name in names if f"[image/png: {name}]" in sent]
    assert (seen, named) == (
        (["given.png", "c.png", "d.png"], ["a.png", "b.png"]) if vision else ([], list(names))
    )
