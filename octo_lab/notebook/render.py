"""A turn as a MIME bundle: what a notebook shows, keeps and exports."""

from __future__ import annotations

from pathlib import Path
from tempfile import gettempdir

from octo_lab.core.text import clean
from octo_lab.core.turns import TurnSnapshot
from octo_lab.notebook.render_html import turn_html, turns_html
from octo_lab.notebook.render_stable import stable_turn
from octo_lab.notebook.render_text import turn_markdown, turn_plain

Bundle = dict[str, str]


def render_turn(turn: TurnSnapshot, *, headless: bool = False) -> Bundle:
    """The static rendering of a turn; every text in it is treated as untrusted.

    ``headless`` leaves out what differs from run to run or machine to machine (durations,
    tokens, addresses, local folders), so that a saved notebook can be compared with a new run.
    """
    shown = stable_turn(turn, _local_folders()) if headless else turn
    return {
        "text/plain": clean(turn_plain(shown, footer=not headless)),
        "text/markdown": clean(turn_markdown(shown, footer=not headless)),
        "text/html": clean(turn_html(shown, footer=not headless)),
    }


def render_conversation(
    title: str, turns: tuple[TurnSnapshot, ...], *, headless: bool = False
) -> Bundle:
    """Several turns with their prompts: the fallback of the chat panel."""
    if headless:
        turns = tuple(stable_turn(turn, _local_folders()) for turn in turns)
    asked = [f"**{turn.prompt.strip()}**\n\n{turn_markdown(turn, footer=False)}" for turn in turns]
    said = [f"> {turn.prompt.strip()}\n\n{turn_plain(turn, footer=False)}" for turn in turns]
    return {
        "text/plain": clean("\n\n".join([f"Octo chat: {title}", *said])),
        "text/markdown": clean("\n\n".join([f"### {title}", *asked])),
        "text/html": clean(turns_html(title, turns)),
    }


def _local_folders() -> tuple[tuple[str, str], ...]:
    return ((str(Path.cwd()), "."), (gettempdir(), "<tmp>"), (str(Path.home()), "~"))
