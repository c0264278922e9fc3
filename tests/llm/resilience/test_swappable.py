from __future__ import annotations

from contextlib import aclosing

import pytest

from octo_lab.core.stream import TextDelta
from octo_lab.llm.resilience.swappable import Swappable
from octo_lab.testing.providers import says
from tests.llm.resilience.models import REQUEST, drain, scripted

pytestmark = pytest.mark.anyio


async def test_the_next_request_goes_to_the_new_one_the_running_answer_stays() -> None:
    swappable = Swappable(scripted("a", says("one", "two")))
    async with aclosing(swappable.stream(REQUEST)) as events:
        first = await anext(events)
        swappable.inner = scripted("b", says("three"))
        rest = [event async for event in events]
    after = await drain(swappable.stream(REQUEST))

    assert [first, rest[0], after[0]] == [TextDelta("one"), TextDelta("two"), TextDelta("three")]
    assert swappable.name == "b"
