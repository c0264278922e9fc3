from __future__ import annotations

from collections.abc import Callable
from email import message_from_bytes
from email.message import Message
from pathlib import Path

import pytest

from octo_lab.core.errors import BadRequest, ProviderError, TimedOut, UsageError
from octo_lab.llm.http import ModelHttp
from octo_lab.llm.media.asking import MediaServer
from octo_lab.llm.media.audio import Audio, as_audio, read_audio
from octo_lab.llm.media.ominix import USUAL_URL, Ominix, ominix_url
from octo_lab.llm.media.speech import Transcriber, groq_whisper
from octo_lab.llm.resilience.retry import RetryPolicy
from octo_lab.llm.secret import Secret
from octo_lab.testing.http_server import Asked, HttpServer, Reply, always, json_reply

pytestmark = pytest.mark.anyio

TRANSCRIBE = "/v1/audio/transcriptions"
SPEAK = "/v1/audio/speech"
KEY = Secret("gsk_0123456789abcdef")
HELLO = Audio(name="hello.ogg", mime="audio/ogg", data=b"OggS\0\r\n\xff")


def whisper(asked: Asked) -> Reply:
    """As the vendor: the form is read, its fields are demanded."""
    fields = form_of(asked)
    if set(fields) - {"language"} != {"model", "response_format", "file"}:
        return json_reply({"error": {"message": f"fields: {sorted(fields)}"}}, 400)
    return json_reply({"text": f" said in {fields.get('language', b'?').decode()}\n"})


def form_of(asked: Asked) -> dict[str, bytes]:
    head = f"Content-Type: {asked.headers['content-type']}\r\n\r\n".encode()
    parts = message_from_bytes(head + asked.body).get_payload()
    assert isinstance(parts, list)
    fields = {}
    for part in parts:
        assert isinstance(part, Message)
        name = part.get_param("name", header="content-disposition")
        payload = part.get_payload(decode=True)
        assert isinstance(payload, bytes)
        fields[str(name)] = payload
    return fields


def transcriber(running: HttpServer, http: ModelHttp, seconds: float = 5) -> Transcriber:
    server = MediaServer(
        name="groq",
        model="whisper-large-v3",
        base_url=f"{running.root}/v1",
        http=http,
        api_key=KEY,
        seconds=seconds,
        retries=RetryPolicy(max_retries=0),
    )
    return Transcriber(server=server)


async def test_a_recording_is_sent_as_a_form_and_its_words_come_back(http: ModelHttp) -> None:
    async with HttpServer({TRANSCRIBE: whisper}) as running:
        text = await transcriber(running, http).transcribe(HELLO, language="de")
        unknown = await transcriber(running, http).transcribe(HELLO)

        assert (text, unknown) == ("said in de", "said in ?")
        assert form_of(running.asked[0]) == {
            "model": b"whisper-large-v3",
            "response_format": b"json",
            "language": b"de",
            "file": HELLO.data,
        }
        assert b'filename="hello.ogg"\r\nContent-Type: audio/ogg\r\n' in running.asked[0].body
        assert running.asked[0].headers["authorization"] == f"Bearer {KEY.reveal()}"


async def test_what_the_server_refuses_is_a_typed_error(http: ModelHttp) -> None:
    refusal = json_reply({"error": {"message": "file must be an audio"}}, 400)
    async with HttpServer({TRANSCRIBE: always(refusal)}) as running:
        with pytest.raises(BadRequest, match="'groq' answered 400: file must be an audio"):
            await transcriber(running, http).transcribe(HELLO)
    async with HttpServer({TRANSCRIBE: always(json_reply({"words": []}))}) as running:
        with pytest.raises(ProviderError, match="not understood"):
            await transcriber(running, http).transcribe(HELLO)
    async with HttpServer({TRANSCRIBE: always(Reply(wait=60))}) as running:
        with pytest.raises(TimedOut, match="'groq' did not answer within"):
            await transcriber(running, http, 0.2).transcribe(HELLO)


async def test_whisper_at_groq_is_asked_for_a_minute_at_most(http: ModelHttp) -> None:
    server = groq_whisper(http, KEY).server

    assert (server.model, server.seconds) == ("whisper-large-v3", 60.0)
    assert server.base_url == "https://api.groq.com/openai/v1"


@pytest.mark.parametrize(
    ("name", "mime"),
    [
        ("a.ogg", "audio/ogg"),
        ("a.OPUS", "audio/ogg"),
        ("a.mp3", "audio/mpeg"),
        ("a.m4a", "audio/mp4"),
        ("a.wav", "audio/wav"),
    ],
)
def test_the_end_of_its_name_tells_the_format(tmp_path: Path, name: str, mime: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"sound")

    assert read_audio(path) == Audio(name=name, mime=mime, data=b"sound")


def test_what_cannot_be_transcribed_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(b"x" * 11)

    refusals: list[tuple[Callable[[], Audio], str]] = [
        (lambda: read_audio(path, 10), "is larger than"),
        (lambda: read_audio(tmp_path / "none.wav"), "Cannot read"),
        (lambda: as_audio("a.txt", b"x"), "is no recording"),
        (lambda: as_audio("a.wav", b""), "is empty"),
    ]
    for refused, message in refusals:
        with pytest.raises(UsageError, match=message):
            refused()


async def test_a_runtime_of_this_machine_hears_and_speaks(http: ModelHttp) -> None:
    sound = Reply(body=b"RIFF....WAVE", headers={"content-type": "audio/wav"})
    async with HttpServer({TRANSCRIBE: whisper, SPEAK: always(sound)}) as running:
        ominix = Ominix(http, running.root)

        assert await ominix.transcribe(HELLO, language="zh") == "said in zh"
        spoken = await ominix.speak("你好", voice="anna", language="zh")

        assert spoken == Audio(name="speech.wav", mime="audio/wav", data=b"RIFF....WAVE")
        assert running.asked[1].json == {
            "model": "tts-1",
            "input": "你好",
            "voice": "anna",
            "response_format": "wav",
            "language": "zh",
        }


async def test_a_text_that_cannot_be_spoken_is_refused_before_it_is_sent(http: ModelHttp) -> None:
    odd = always(json_reply({"status": "ok"}))
    async with HttpServer({SPEAK: odd}) as running:
        ominix = Ominix(http, f"{running.root}/v1")
        for text, kind in ((" ", "wav"), ("x" * 5000, "wav"), ("hello", "midi")):
            with pytest.raises(UsageError):
                await ominix.speak(text, form=kind)
        assert running.asked == []
        with pytest.raises(ProviderError, match="'ominix' answered what is not understood"):
            await ominix.speak("hello")


def test_the_runtime_is_where_it_says(tmp_path: Path) -> None:
    assert ominix_url({}, tmp_path) == USUAL_URL

    (tmp_path / ".ominix").mkdir()
    (tmp_path / ".ominix/api_url").write_text("http://127.0.0.1:8081/\n")
    assert ominix_url({}, tmp_path) == "http://127.0.0.1:8081"
    assert ominix_url({"OMINIX_API_URL": "http://[::1]:9/"}, tmp_path) == "http://[::1]:9"
