from __future__ import annotations

import pytest

from tests.notebook.kernels import Kernel

pytestmark = pytest.mark.kernel
BIG = 100_000  # characters: the code of a view, and nothing else


def opened(ran_by: Kernel, code: str) -> list[int]:
    """The sizes of the widget models a cell opened."""
    ran = ran_by.run(code)
    return [len(str(message["content"])) for message in ran.of("comm_open")]


def test_a_turn_s_view_carries_its_code_once_for_a_kernel_and_its_models_are_freed(
    octo: Kernel,
) -> None:
    first, second = opened(octo, "%octo one"), opened(octo, "%octo two")
    assert sum(size > BIG for size in first) == 1
    assert [size for size in second if size > BIG] == []
    for number in range(12):
        octo.run(f"%octo turn {number}")
    alive = "import ipywidgets\nlen(ipywidgets.widgets.widget._instances)"
    assert int(octo.run(alive).value) == 1 + 2 * 8  # the code; the last views and their layouts
