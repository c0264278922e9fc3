"""Words that, said alone, stop a turn in the speaker's own language."""

from __future__ import annotations

_REPLIES = {
    "🛑 Stopped.": "stop abort cancel halt interrupt quit enough",
    "🛑 已停止。": "停 停止 取消 停下 别说了",
    "🛑 停止しました。": "やめて 止めて ストップ",
    "🛑 Остановлено.": "стоп отмена хватит",
    "🛑 Arrêté.": "arrête annuler",
    "🛑 Detenido.": "detente cancelar",
    "🛑 रोक दिया गया।": "रुको",
    "🛑 تم الإيقاف.": "توقف قف",
    "🛑 중지했습니다.": "멈춰 중지",
}
_WORDS = {word: reply for reply, words in _REPLIES.items() for word in words.split()}
_WORDS["बंद करो"] = "🛑 रोक दिया गया।"


def abort_reply(text: str) -> str | None:
    """What to answer when ``text`` is nothing but an abort word, else None."""
    return _WORDS.get(text.strip().lower())
