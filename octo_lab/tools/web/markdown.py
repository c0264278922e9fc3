"""HTML as Markdown or plain text, for a model to read."""

from __future__ import annotations

import html as entities
import re
from dataclasses import dataclass
from typing import Literal

from octo_lab.core.errors import ToolFailed
from octo_lab.core.text import clean
from octo_lab.tools.web.tidy import tidy

Mode = Literal["markdown", "text"]
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f]")  # the converter takes many for no text
_MANY_LINES = re.compile(r"\n[ \t]*\n(?:[ \t]*\n)+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Readable:
    """``cut``: the page was longer than what is converted of any."""

    text: str
    title: str
    cut: bool = False


def convert(html: str, mode: Mode, base_url: str = "") -> Readable:
    """Blocks for a while with a long page: call it in a thread. Raises ToolFailed.

    Links are made absolute by ``base_url``.
    """
    tidied = tidy(clean(html))
    plain = _CONTROL.sub("", tidied.html)
    text = _MANY_LINES.sub("\n\n", _converted(plain, mode, base_url)).strip()
    return Readable(text=text, title=entities.unescape(tidied.title), cut=tidied.cut)


def _converted(html: str, mode: Mode, base_url: str) -> str:
    import html_to_markdown as library

    form = library.OutputFormat.PLAIN if mode == "text" else library.OutputFormat.MARKDOWN
    options = library.ConversionOptions(
        output_format=form,
        base_url=base_url or None,
        bullets="-",
        extract_metadata=False,
        preprocessing=library.PreprocessingOptions(enabled=False),
    )
    try:
        return library.convert(html, options).content or ""
    except library.exceptions.ConversionError as exc:
        raise ToolFailed("The page could not be made readable") from exc
