from __future__ import annotations

import json
import pickle

import pytest

from octo_lab.llm.secret import Secret

LONG = Secret("sk-0123456789abcdef")


def test_it_does_not_show_itself() -> None:
    assert (repr(LONG), str(LONG), f"{LONG}") == ("Secret('sk-…ef')", "sk-…ef", "sk-…ef")
    assert str(Secret("short")) == "…"


def test_it_gives_its_text_only_when_asked() -> None:
    assert LONG.reveal() == "sk-0123456789abcdef"


def test_it_is_not_serialised() -> None:
    with pytest.raises(TypeError):
        pickle.dumps(LONG)
    with pytest.raises(TypeError):
        json.dumps(LONG)


def test_it_compares_by_value() -> None:
    assert len({LONG, Secret("sk-0123456789abcdef"), Secret("other")}) == 2
    assert not Secret("")
