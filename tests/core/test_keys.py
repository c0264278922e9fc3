from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octo_lab.core.errors import UsageError
from octo_lab.core.keys import ChatAddress, SessionKey

PART = st.text(st.characters(codec="utf-8"), min_size=1)


@given(PART, PART, PART, PART)
def test_any_parts_survive_the_text_form(a: str, b: str, c: str, d: str) -> None:
    key = ChatAddress(profile=a, channel=b, chat_id=c).dialog(d)

    assert SessionKey.parse(str(key)) == key


@pytest.mark.parametrize("text", ["", "a:b:c", "a:b:c:d:e", "a::c:d"])
def test_what_is_no_key_is_refused_by_name(text: str) -> None:
    with pytest.raises(UsageError, match="is no session key"):
        SessionKey.parse(text)
