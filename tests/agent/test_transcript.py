from __future__ import annotations

from octo_lab.agent.transcript import Transcript
from octo_lab.core.messages import Message, ToolCall
from octo_lab.testing.transcripts import transcript_faults


def result(call: ToolCall, text: str = "ok") -> Message:
    return Message(role="tool", content=text, tool_call_id=call.id, tool_name=call.name)


def call(id: str = "a", name: str = "echo", arguments: str = "{}") -> ToolCall:
    return ToolCall(id=id, name=name, arguments=arguments)


def test_an_untouched_transcript_closes_to_nothing() -> None:
    assert Transcript().close("cancelled") == ()


def test_a_reply_of_only_white_space_is_not_kept() -> None:
    transcript = Transcript()
    transcript.open().text += [" ", "\n"]

    assert transcript.close("cancelled") == ()


def test_results_follow_their_message_in_the_order_of_the_calls() -> None:
    transcript = Transcript()
    transcript.open().text.append("see")
    first, second = transcript.add_call(call("a")), transcript.add_call(call("b"))
    transcript.answer(result(second, "2"))
    transcript.answer(result(first, "1"))

    said = Message(role="assistant", content="see", tool_calls=(first, second))
    assert transcript.complete() == (said, result(first, "1"), result(second, "2"))


def test_a_second_result_of_one_call_is_ignored() -> None:
    transcript = Transcript()
    transcript.open()
    made = transcript.add_call(call())
    transcript.answer(result(made, "first"))
    transcript.answer(result(made, "second"))

    assert [m.content for m in transcript.complete()[1:]] == ["first"]


def test_closing_says_of_each_call_whether_it_had_begun() -> None:
    transcript = Transcript()
    transcript.open()
    for id in ("a", "b"):
        transcript.add_call(call(id))
    transcript.start("a")

    _, begun, never = transcript.close("cancelled")

    assert (begun.content, begun.outcome, begun.tool_name) == (
        "Error: Broken off, effects are unknown: the person stopped the turn.",
        "cancelled",
        "echo",
    )
    assert never.content == "Error: Not run: the person stopped the turn."


def test_closing_twice_gives_the_same_and_storing_ends_it() -> None:
    transcript = Transcript()
    transcript.open().text.append("half")

    closed = transcript.close("failed")

    assert closed == (Message(role="assistant", content="half"),)
    assert transcript.close("failed") == closed
    transcript.stored()
    assert transcript.close("failed") == ()


def test_what_was_stored_is_not_given_again() -> None:
    transcript = Transcript()
    transcript.open()
    transcript.answer(result(transcript.add_call(call())))
    transcript.complete()
    transcript.stored()
    transcript.open().text.append("more")

    assert transcript.close("cancelled") == (Message(role="assistant", content="more"),)
    assert len(transcript.messages) == 3


def test_the_partial_is_the_text_of_the_open_reply_only() -> None:
    transcript = Transcript()
    reply = transcript.open()
    reply.text += ["so ", "far"]

    assert transcript.partial == "so far"
    transcript.complete()
    assert transcript.partial == ""


def test_what_is_stored_is_valid_though_the_model_was_not() -> None:
    transcript = Transcript()
    transcript.open()
    transcript.add_call(call("", "my tool!", '{"a": '))
    transcript.add_call(call("", "", ""))

    said, *_ = closed = transcript.close("failed")

    assert said.tool_calls == (
        call("call_1", "my_tool_", '{"invalid_arguments": "{\\"a\\": "}'),
        call("call_2", "unnamed", "{}"),
    )
    assert transcript_faults(closed) == []
