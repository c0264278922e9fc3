"""Any damaged history, in any dialect, is a request that the vendor accepts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from octo_lab.core.messages import ChatRequest, Message, ToolSpec
from octo_lab.llm.hints import model_hints
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.provider_config import ProviderConfig
from octo_lab.llm.repair import repair
from octo_lab.llm.wires.dialects import DIALECTS
from octo_lab.llm.wires.wire import Wire
from octo_lab.testing.wires.registry import wire_of
from tests.llm.damaged import Damager, conversation, marks, pairs, said, unfinished

HISTORIES, FEW, CUT_HISTORIES = 10_000, 2_000, 200
TOOLS = [ToolSpec(name="f", description="", schema={"type": "object"})]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    name: str
    wire: Wire
    model: str
    hints: tuple[tuple[str, bool | str], ...] = ()
    histories: int = HISTORIES

    def config(self) -> ProviderConfig:
        return ProviderConfig(
            name="lab",
            model=self.model,
            http=ModelHttp(),
            base_url="http://lab.invalid/v1",
            hints=self.hints,
        )


TOLD: tuple[tuple[str, bool | str], ...] = (("tools", False),)
ODD: tuple[tuple[str, bool | str], ...] = (
    ("system", "user"),
    ("merge_system", False),
    ("reasoning", "stubbed"),
    ("replay_state", False),
    ("vision", False),
)
CASES = (
    Dialect(name="chat", wire=DIALECTS["chat"], model="m"),
    Dialect(name="chat, odd", wire=DIALECTS["chat"], model="m", hints=ODD, histories=FEW),
    Dialect(name="chat, in words", wire=DIALECTS["chat"], model="m", hints=TOLD, histories=FEW),
    Dialect(name="responses", wire=DIALECTS["responses"], model="gpt-5-m"),
    Dialect(name="anthropic", wire=DIALECTS["anthropic"], model="claude-m"),
    Dialect(
        name="anthropic, odd",
        wire=DIALECTS["anthropic"],
        model="claude-m",
        hints=ODD,
        histories=FEW,
    ),
    Dialect(name="gemini", wire=DIALECTS["gemini"], model="gemini-m"),
    Dialect(name="gemini 3", wire=DIALECTS["gemini"], model="gemini-3-m", histories=FEW),
)
every_dialect = pytest.mark.parametrize("dialect", CASES, ids=lambda dialect: dialect.name)


def fault(dialect: Dialect, config: ProviderConfig, history: Sequence[Message]) -> str:
    """What is wrong with the request that a history becomes; '' when nothing is."""
    request = ChatRequest(messages=history, tools=TOOLS)
    asked = dialect.wire.write(request, config, model_hints(dialect.model, dialect.hints))
    url = urlsplit(asked.url)
    path = f"{url.path}?{url.query}" if url.query else url.path
    server = wire_of(path)
    assert server is not None, path
    headers = {**asked.headers, **dialect.wire.authorize("key")}
    problem = server.problem(path, headers, json.loads(asked.body))
    if problem is not None:
        return f"refused: {problem}"
    return lost(history, conversation(asked.body))


def lost(history: Sequence[Message], sent: str) -> str:
    """What of a history is missing, doubled or in the wrong order in what is sent."""
    places = {mark: place for place, mark in enumerate(marks(sent))}
    if len(places) != len(marks(sent)):
        return "something is sent twice"
    missing = said(history) - set(places)
    if missing:
        return f"not sent: {missing}"
    if unfinished(history) & set(places):
        return "a call that was never finished is sent"
    at = [
        (places.get(marks(call.arguments)[0]), places.get(marks(result.content)[0]))
        for call, result in pairs(history)
    ]
    calls = [call for call, _ in at if call is not None]
    results = [result for _, result in at if result is not None]
    if len(calls) != len(at) or len(results) != len(at):
        return "a call or its result is missing"
    in_order = calls == sorted(calls) and results == sorted(results)
    after = all(call < result for call, result in zip(calls, results, strict=True))
    return "" if in_order and after else "calls and results are out of order"


@every_dialect
def test_ten_thousand_damaged_histories_are_accepted_and_keep_what_is_whole(
    dialect: Dialect,
) -> None:
    damager, config = Damager(1, [("lab", dialect.model)]), dialect.config()
    for number in range(dialect.histories):
        history = damager.history()
        assert not (wrong := fault(dialect, config, history)), f"{number}: {wrong}\n{history}"


@every_dialect
def test_a_history_cut_before_any_message_is_accepted(dialect: Dialect) -> None:
    damager, config = Damager(2, [("lab", dialect.model)]), dialect.config()
    for number in range(CUT_HISTORIES):
        history = damager.history()
        for cut in range(len(history) + 1):
            for kept in (history[cut:], history[:cut]):
                assert not (wrong := fault(dialect, config, kept)), f"{number}: {wrong}\n{kept}"


def test_repair_is_idempotent_and_edits_nothing() -> None:
    damager = Damager(3)
    for _ in range(HISTORIES):
        history = damager.history()
        before, as_it_was = list(history), repr(history)
        once = repair(history)
        assert repair(once) == once
        assert all(kept is stored for kept, stored in zip(history, before, strict=True))
        assert repr(history) == as_it_was


@every_dialect
def test_a_very_long_history_is_accepted(dialect: Dialect) -> None:
    damager = Damager(4, [("lab", dialect.model)])
    history = [message for _ in range(300) for message in damager.history(40)]
    assert len(history) > 4_000
    assert not fault(dialect, dialect.config(), history)


@every_dialect
@settings(max_examples=100)
@given(seed=st.integers(0, 2**32), longest=st.integers(0, 30), cuts=st.data())
def test_any_history_is_accepted(
    dialect: Dialect, seed: int, longest: int, cuts: st.DataObject
) -> None:
    """The same with shrinking: to a shorter history, then to fewer messages of it."""
    history = Damager(seed, [("lab", dialect.model)]).history(longest)
    keep = cuts.draw(st.lists(st.booleans(), min_size=len(history), max_size=len(history)))
    kept = [message for message, drop in zip(history, keep, strict=True) if not drop]
    assert not fault(dialect, dialect.config(), kept)
