from __future__ import annotations

from typing import Any

import pytest

from octo_lab.core.errors import Unavailable
from octo_lab.core.messages import ToolCall
from octo_lab.llm.tool_calls import MAX_CALLS, CallJoiner

Fragment = dict[str, Any]


def part(
    index: object = None, id: str | None = None, name: str | None = None, arguments: Any = None
) -> Fragment:
    function = {"name": name, "arguments": arguments}
    named = {key: value for key, value in function.items() if value is not None}
    fragment: Fragment = {"function": named, "type": "function"}
    if index is not None:
        fragment["index"] = index
    if id is not None:
        fragment["id"] = id
    return fragment


def joined(*fragments: Fragment) -> list[ToolCall]:
    joiner = CallJoiner()
    for fragment in fragments:
        joiner.add(fragment)
    return joiner.calls()


A = ToolCall(id="a", name="f", arguments='{"x":1}')
B = ToolCall(id="b", name="g", arguments='{"y":2}')


@pytest.mark.parametrize(
    "fragments",
    [
        pytest.param(
            [
                part(0, "a", "f", ""),
                part(1, "b", "g", ""),
                part(0, None, None, '{"x'),
                part(1, None, None, '{"y":'),
                part(0, None, None, '":1}'),
                part(1, None, None, "2}"),
            ],
            id="parallel, interleaved",
        ),
        pytest.param(
            [
                part(0, "a", "f", '{"x'),
                part(0, None, None, '":1}'),
                part(0, "b", "g", '{"y":2}'),
            ],
            id="all with index 0, told apart by id",
        ),
        pytest.param(
            [
                part(0, "a", "f", '{"x'),
                part(0, "a", "f", '":1}'),
                part(1, "b", "g", '{"y":'),
                part(1, "b", "g", "2}"),
            ],
            id="id and name repeated on each fragment",
        ),
        pytest.param(
            [part(None, "a", "f", '{"x":1}'), part(None, "b", "g", '{"y":2}')], id="no index"
        ),
        pytest.param(
            [
                part(None, "a", "f", ""),
                part(None, None, None, '{"x":1}'),
                part(None, "b", "g", '{"y":'),
                part(None, None, None, "2}"),
            ],
            id="no index, later fragments without id",
        ),
        pytest.param([part(0, "a", "f", {"x": 1}), part(1, "b", "g", {"y": 2})], id="objects"),
        pytest.param(
            [part(10**9, "a", "f", '{"x":1}'), part(-5, "b", "g", '{"y":2}')], id="wild indexes"
        ),
        pytest.param(
            [part("0", "a", "f", '{"x":1}'), part(True, "b", "g", '{"y":2}')],
            id="indexes that are no numbers",
        ),
    ],
)
def test_fragments_become_the_two_calls(fragments: list[Fragment]) -> None:
    calls = joined(*fragments)
    assert [(c.id, c.name, c.arguments.replace(" ", "")) for c in calls] == [
        (c.id, c.name, c.arguments) for c in (A, B)
    ]


def test_a_call_without_arguments_has_an_empty_object() -> None:
    assert joined(part(0, "a", "f")) == [ToolCall(id="a", name="f", arguments="{}")]


def test_a_name_in_pieces_is_joined() -> None:
    assert joined(part(0, "a", "get_"), part(0, None, "time"))[0].name == "get_time"


def test_a_call_without_id_gets_one_and_equal_ids_are_told_apart() -> None:
    calls = joined(part(0, "", "f"), part(1, "a", "f"), part(2, "a", "f"))
    assert len({call.id for call in calls}) == 3
    assert all(call.id for call in calls)


def test_two_named_fragments_without_index_or_id_are_two_calls() -> None:
    calls = joined(part(None, None, "f", '{"x":1}'), part(None, None, "f", '{"x":2}'))
    assert [call.arguments for call in calls] == ['{"x":1}', '{"x":2}']


def test_a_fragment_of_another_shape_breaks_nothing() -> None:
    assert joined({"index": 0, "id": None, "function": None}, part(0, "a", "f")) == [
        ToolCall(id="a", name="f", arguments="{}")
    ]


def test_the_number_of_calls_is_bounded() -> None:
    with pytest.raises(Unavailable, match=f"more than {MAX_CALLS}"):
        joined(*(part(n, f"c{n}", "f") for n in range(MAX_CALLS + 1)))


def test_the_size_of_arguments_is_bounded() -> None:
    with pytest.raises(Unavailable, match="too long"):
        joined(*(part(0, "a", "f", "x" * 1_000_000) for _ in range(9)))
