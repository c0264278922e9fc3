from __future__ import annotations

import pytest

from octo_lab.core.errors import ProviderError, QuotaExceeded, Unavailable
from octo_lab.llm.secret import Secret
from octo_lab.llm.wires.event_json import event_json


def test_an_object_is_read_and_lone_surrogates_are_replaced() -> None:
    assert event_json('{"a":["\\ud83d\\ude00","\\ud83d"]}', "lab") == {
        "a": ["\U0001f600", "\ufffd"]
    }


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        ("[1]", Unavailable),
        ("{", Unavailable),
        ("null", Unavailable),
        ("[" * 100_000, Unavailable),
        ("Insufficient balance, please top up", QuotaExceeded),
    ],
)
def test_anything_else_is_the_error_that_its_words_mean(
    data: str, kind: type[ProviderError]
) -> None:
    with pytest.raises(ProviderError) as caught:
        event_json(data, "lab")
    assert type(caught.value) is kind


def test_what_is_shown_of_it_is_short_and_without_the_key() -> None:
    with pytest.raises(Unavailable) as caught:
        event_json("key-0123456789 " + "x" * 5000, "lab", Secret("key-0123456789"))
    assert "key-0123456789" not in str(caught.value)
    assert len(str(caught.value)) < 300
