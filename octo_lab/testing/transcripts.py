"""Checks that a history is one any model server accepts."""

from __future__ import annotations

import json
from collections.abc import Sequence

from octo_lab.core.messages import Message, ToolCall


def transcript_faults(messages: Sequence[Message]) -> list[str]:
    """What is wrong with a history: calls without exactly one result right behind them, in
    order; results of no call; ids used twice; arguments that are no JSON object; blank messages.
    """
    faults: list[str] = []
    ids: set[str] = set()
    waiting: list[str] = []
    for index, message in enumerate(messages):
        if message.role == "tool":
            faults += _result_faults(index, message, waiting)
            continue
        if waiting:
            faults.append(f"{index}: calls {waiting} have no result")
        waiting = [call.id for call in message.tool_calls]
        faults += _message_faults(index, message, ids)
    return faults + ([f"end: calls {waiting} have no result"] if waiting else [])


def _result_faults(index: int, message: Message, waiting: list[str]) -> list[str]:
    if waiting[:1] != [message.tool_call_id]:
        return [f"{index}: result of {message.tool_call_id!r}, expected of {waiting[:1]}"]
    waiting.pop(0)
    return []


def _message_faults(index: int, message: Message, ids: set[str]) -> list[str]:
    faults = [fault for call in message.tool_calls for fault in _call_faults(index, call, ids)]
    if not message.tool_calls and not message.content.strip() and not message.media:
        faults.append(f"{index}: blank")
    return faults


def _call_faults(index: int, call: ToolCall, ids: set[str]) -> list[str]:
    faults = [f"{index}: id {call.id!r} again"] if call.id in ids else []
    ids.add(call.id)
    if not isinstance(json.loads(call.arguments), dict):
        faults.append(f"{index}: arguments {call.arguments!r}")
    return faults
