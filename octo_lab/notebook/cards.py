"""What the command words of ``%octo`` show: status, models, doctor."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from itertools import filterfalse
from pathlib import Path

from IPython.display import publish_display_data as _publish_display_data

from octo_lab.core.money import spent_text
from octo_lab.core.replies import ProviderCheck, ProviderInfo, ProviderList, Status
from octo_lab.core.words import card_words, check_rows, is_connected, missing_words
from octo_lab.notebook.panels.widget import is_built
from octo_lab.notebook.render_html import page_html
from octo_lab.notebook.render_markdown import markdown_html

Rows = list[tuple[str, str]]
_publish: Callable[[dict[str, str]], None] = _publish_display_data


def show_text(markdown: str, figure: str = "") -> None:
    """Show Markdown in the cell, in each form a reader of the notebook may need.

    ``figure`` is HTML of our own, for those who see HTML.
    """
    _publish(
        {
            "text/plain": markdown.replace("\\$", "$"),
            "text/markdown": markdown,
            "text/html": page_html(f'<div class="octo-md">{markdown_html(markdown)}</div>{figure}'),
        }
    )


def status_rows(status: Status, gateway: str) -> Rows:
    used, window = status.context_tokens, status.context_window
    share = f" ({used / window:.0%})" if window else ""
    usage = status.usage
    cost = spent_text(usage, status.prices)
    return [
        *(status.sources.items() or [("model", f"{status.model} ({status.provider})")]),
        *([("note", status.provider_note)] if status.provider_note else []),
        ("session", status.title or "new"),
        ("context", f"{used:,} of {window:,} tokens{share}"),
        ("used", f"{usage.input_tokens:,} tokens in, {usage.output_tokens:,} out"),
        *([("cost", cost)] if cost else []),
        ("tools", ", ".join(status.tools) or "none"),
        ("channels", ", ".join(status.channels)),
        ("gateway", gateway),
        ("running", str(status.running)),
        ("workspace", status.workspace),
        ("data", status.data_folder),
    ]


def status_card(status: Status, gateway: str) -> str:
    return "**Octo**\n\n" + _table(status_rows(status, gateway))


def models_card(listed: ProviderList) -> str:
    """The models of each provider that can be used, and why a server named none."""
    words = {card.name: card_words(card) for card in listed.cards}
    rows: Rows = []
    for info in filter(is_connected, listed.providers):
        rows += [(f"`{name}`", words.get(name, "")) for name in info.models]
        if not info.models:
            rows.append((info.name, state_words(info)))
    return "\n\n".join(filter(None, [_now(listed), _table(rows), listed.note]))


def providers_card(listed: ProviderList) -> str:
    """Those that are connected in full, of the others what they lack."""
    missing = [
        (info.name, missing_words(info)) for info in filterfalse(is_connected, listed.providers)
    ]
    parts = [_now(listed), _table(_connected_rows(listed)), listed.note]
    if missing:
        parts += ["Not connected:", _table(missing)]
    return "\n\n".join(filter(None, parts))


def check_card(check: ProviderCheck) -> str:
    rows = check_rows(check)
    if check.error:
        rows += [("error", check.error), *([("next", check.hint)] if check.hint else [])]
    return _table(rows)


def _connected_rows(listed: ProviderList) -> Rows:
    return [
        (
            info.name,
            "; ".join(
                f"{name}: {value}"
                for name, value in (
                    ("state", state_words(info)),
                    ("base URL", info.base_url),
                    ("key", info.key),
                )
                if value
            ),
        )
        for info in filter(is_connected, listed.providers)
    ]


def state_words(info: ProviderInfo) -> str:
    return f"{info.state}: {info.note}" if info.note else info.state


def _now(listed: ProviderList) -> str:
    return f"Now: `{listed.current}`" if listed.current else "No model can be used."


def doctor_card(status: Status, gateway: str, *, trust: str) -> str:
    rows = [*doctor_rows(), ("trust", trust), *status_rows(status, gateway)]
    return "**Octo doctor**\n\n" + _table(rows)


def doctor_rows() -> Rows:
    """What of this environment helps or hinders; no row costs more than a look."""
    return [
        ("Python", sys.version.split()[0]),
        ("ipykernel", _kernel_word()),
        ("event loop", _loop_word()),
        ("front end", "built" if is_built("turn") else "not built: static rendering only"),
        ("interpreter", str(Path(sys.executable))),
        ("sandbox, browser", "`octo doctor` in a terminal tries them"),
    ]


def _kernel_word() -> str:
    try:
        found = version("ipykernel")
    except PackageNotFoundError:
        return "missing"
    major, minor = (int(part) for part in found.split(".")[:2])
    tested = (7, 4) <= (major, minor) < (8, 0)
    return found if tested else f"{found}: tested with 7.4 and later 7.x only"


def _loop_word() -> str:
    patched = getattr(asyncio, "_nest_patched", False) and "nest_asyncio" in sys.modules
    if patched and "nest_asyncio2" not in sys.modules:
        return "patched by nest_asyncio, which loses queued cells: use nest_asyncio2"
    return "ok"


def _table(rows: Rows) -> str:
    cells = [f"| {name} | {_escaped(value)} |" for name, value in rows]
    return "\n".join(["| | |", "|---|---|", *cells])


def _escaped(value: str) -> str:
    """A dollar sign would begin a formula."""
    return value.replace("|", "\\|").replace("$", "\\$").replace("\n", " ")
