from __future__ import annotations

from datetime import UTC, datetime

from octo_lab.core.keys import ChatAddress
from octo_lab.core.mail import Attachment, InboundMessage
from octo_lab.security.private_names import PrivateNames
from octo_lab.session.privacy import Privacy
from octo_lab.storage.turns import TurnRecord, TurnRow

PRIVACY = Privacy(
    secrets=["hunter2hunter2"], names=PrivateNames(variables=("patient_*",)), trusted=("a.org",)
)


def asked(text: str, *attachments: Attachment) -> InboundMessage:
    address = ChatAddress(channel="notebook", chat_id="c")
    return InboundMessage(address=address, sender_id="me", text=text, attachments=attachments)


def seen(*reasons: str) -> TurnRecord:
    turn = TurnRow(
        id="t",
        session_id="s",
        parent=None,
        depth=1,
        state="completed",
        prompt="",
        slot="",
        message_id="m",
        model="m",
        provider="p",
        started_at=datetime(2030, 1, 1, tzinfo=UTC),
        owner="o",
        taint=reasons,
    )
    return TurnRecord(turn=turn, messages=())


def test_a_conversation_has_seen_what_any_of_its_turns_has() -> None:
    past = [seen("one"), seen(), seen("one", "two")]

    assert PRIVACY.taint(past, asked("hi")).reasons == ("one", "two")
    assert PRIVACY.taint([], asked("hi"), ("summed up",)).reasons == ("summed up",)


def test_what_the_person_gives_may_be_private() -> None:
    message = asked(
        "it is hunter2hunter2",
        Attachment(name="patient_a", text="x"),
        Attachment(name="notes.md", text="x"),
        Attachment(name="b.txt", text="hunter2hunter2"),
    )

    assert PRIVACY.taint([], message).reasons == (
        "the message holds something that looks like a key",
        "'patient_a' was attached",
        "'b.txt' was attached",
    )


def test_the_screen_masks_the_owners_secrets() -> None:
    told: list[str] = []
    screen = PRIVACY.screen(told.append)
    screen.notice("line")

    assert (screen.mask("hunter2hunter2"), screen.trusted, told) == ("***", ("a.org",), ["line"])


def test_each_turn_has_an_envelope_of_its_own() -> None:
    one, other = PRIVACY.screen(print), PRIVACY.screen(print)

    assert one.envelope != other.envelope
