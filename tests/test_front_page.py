from __future__ import annotations

import octo_lab


def test_the_front_page_names_what_it_has() -> None:
    assert octo_lab.__all__ == [
        "allow",
        "ask",
        "ask_async",
        "chat",
        "close",
        "load_ipython_extension",
        "models",
        "private",
        "router",
        "sessions",
        "status",
        "tool",
        "unload_ipython_extension",
        "Turn",
        "ToolContext",
        "ToolResult",
        "OctoError",
        "__version__",
    ]


def test_every_name_can_be_had() -> None:
    for name in octo_lab.__all__:
        assert getattr(octo_lab, name) is not None
    assert dir(octo_lab) == sorted(octo_lab.__all__)


def test_other_names_are_attribute_errors() -> None:
    assert not hasattr(octo_lab, "nothing")
