from __future__ import annotations

from email import message_from_bytes
from email.message import Message

from hypothesis import given
from hypothesis import strategies as st

from octo_lab.llm.media.multipart import Form, FormFile, form


def parts(filled: Form) -> list[Message]:
    head = f"Content-Type: {filled.content_type}\r\n\r\n".encode()
    return [part for part in message_from_bytes(head + filled.body).walk() if part.get_filename()]


def test_the_bytes_are_those_of_the_standard() -> None:
    file = FormFile(name='a"b\n.ogg', mime="audio/ogg", data=b"\0\r\n--x")

    filled = form({"model": "m"}, file)

    boundary = filled.content_type.partition("boundary=")[2]
    assert (
        filled.body
        == (
            f"--{boundary}\r\n"
            'Content-Disposition: form-data; name="model"\r\n\r\n'
            "m\r\n"
            f"--{boundary}\r\n"
            'Content-Disposition: form-data; name="file"; filename="a%22b%0A.ogg"\r\n'
            "Content-Type: audio/ogg\r\n\r\n"
            "\0\r\n--x\r\n"
            f"--{boundary}--\r\n"
        ).encode()
    )
    assert form({"model": "m"}, file) == filled


@given(data=st.binary(max_size=200), value=st.text(max_size=30))
def test_no_part_holds_the_boundary(data: bytes, value: str) -> None:
    filled = form(
        {"a": value.encode("utf-8", "replace").decode()}, FormFile(name="f", mime="x/y", data=data)
    )
    boundary = f"--{filled.content_type.partition('boundary=')[2]}".encode()

    assert filled.body.count(boundary) == 3
    assert len(parts(filled)) == 1
