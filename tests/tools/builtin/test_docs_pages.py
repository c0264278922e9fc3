"""What the shipped pages and phrases name must exist: commands, options, settings, variables."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import typer.main
from pydantic import BaseModel

import octo_lab
from octo_lab.app import open_app
from octo_lab.cli.main import app as cli
from octo_lab.config.settings import ModelSettings, ProviderSettings, Settings
from octo_lab.core.mail import GetCommands
from octo_lab.core.replies import CommandList
from octo_lab.llm.offline.languages import load_languages
from octo_lab.notebook.completion import WORDS
from octo_lab.notebook.extension import MAGICS
from octo_lab.notebook.options import FORMATS, OPTIONS
from octo_lab.notebook.tool_cell import OPTIONS as TOOL_OPTIONS
from octo_lab.testing.channels import MemoryChannel
from octo_lab.testing.setups import setup_in
from octo_lab.tools.builtin.octo_docs import passages

pytestmark = pytest.mark.anyio

PACKAGE = Path(octo_lab.__file__).parent
REPO = PACKAGE.parent
PAGES = {
    page.stem: page.read_text("utf-8")
    for page in sorted((PACKAGE / "tools" / "builtin" / "docs").glob("*.md"))
}
PHRASES = {
    f"{language.code}.{name}": text
    for language in load_languages().values()
    for name, text in language.say.items()
}
TEXTS = {**PAGES, **PHRASES}
SOURCE = "\n".join(path.read_text("utf-8") for path in sorted(PACKAGE.rglob("*.py")))
_TICKED = re.compile(r"`([^`]+)`")
_OPTION = re.compile(r"(?<![\w-])--?[a-zA-Z][\w-]*")


def spans(text: str) -> list[str]:
    return [" ".join(span.split()) for span in _TICKED.findall(text)]


def ticked(pattern: str) -> Iterator[tuple[str, str, re.Match[str]]]:
    """Every place in a text with a span that begins with ``pattern``."""
    for name, text in TEXTS.items():
        for span in spans(text):
            if match := re.match(pattern, span):
                yield name, span, match


def command_at(words: list[str]) -> tuple[click.Command | None, list[str]]:
    """The command that the words name, and the rest of them."""
    found: Any = typer.main.get_command(cli)
    while words and hasattr(found, "commands"):
        if words[0] not in found.commands:
            return None, words
        found, words = found.commands[words[0]], words[1:]
    return found, words


def options_of(command: click.Command) -> set[str]:
    spelled = [(*one.opts, *one.secondary_opts) for one in command.params]
    return {"--help", "-h"} | {option for options in spelled for option in options}


def test_every_passage_says_something() -> None:
    assert [f"{one.page}: {one.title}" for one in passages() if len(one.text) < 40] == []


def test_every_octo_command_that_is_named_exists() -> None:
    named = list(ticked(r"octo (?=[a-z])"))
    assert named
    for name, span, _ in named:
        command, rest = command_at(span.split()[1:])
        assert command, f"{name}: {span!r}"
        unknown = set(_OPTION.findall(" ".join(rest))) - options_of(command)
        assert not unknown, f"{name}: {span!r}"


def test_every_magic_that_is_named_exists() -> None:
    known = {name for _, name in MAGICS} | {"load_ext", "reload_ext"}
    named = list(ticked(r"%%?(\w+)"))
    assert {name for _, name in MAGICS} <= {match[1] for _, _, match in named}
    for name, span, match in named:
        assert match[1] in known, f"{name}: {span!r}"
        words = span.split()[1:]
        is_word = match[1] == "octo" and words and words[0].islower() and words[0].isalpha()
        assert not is_word or words[0] in WORDS, f"{name}: {span!r}"


def test_every_option_that_is_named_exists() -> None:
    magic = {name for option in (*OPTIONS, *TOOL_OPTIONS) for name in option.names}
    run, _ = command_at(["run"])
    assert run
    for name, text in TEXTS.items():
        known = options_of(run) if name == "terminal" else magic
        for span in spans(text):
            if span.startswith(("-", "%")) and not span.startswith("--`"):
                unknown = set(_OPTION.findall(span)) - known
                assert not unknown, f"{name}: {span!r}"


def test_the_page_on_magics_names_all_options_and_formats() -> None:
    page = PAGES["magics"]
    assert [one for option in OPTIONS for one in option.names if f"{one}" not in page] == []
    assert "|".join(FORMATS) in page


async def test_every_slash_command_that_is_named_exists_and_all_are_named(tmp_path: Path) -> None:
    channel = MemoryChannel("notebook")
    async with open_app(setup_in(tmp_path, channel)):
        reply = await channel.control(GetCommands())
    assert isinstance(reply, CommandList)
    known = {name for info in reply.commands for name in (info.name, *info.aliases)}
    for name, span, match in ticked(r"(?:%%?octo )?/([a-z]+)(?![/\w])"):
        assert match[1] in known, f"{name}: {span!r}"
    sessions = {match[1] for name, _, match in ticked(r"/([a-z]+)") if name == "sessions"}
    assert {info.name for info in reply.commands} <= sessions


def test_every_setting_that_is_named_exists_and_all_are_named() -> None:
    parts = "|".join(Settings.model_fields)
    for name, span, _ in ticked(rf"(?:{parts})\.[\w.|]+$"):
        for path in alternatives(span):
            assert is_setting(path), f"{name}: {path!r}"
    section = PAGES["config"].split("## Settings\n")[1].split("\n## ")[0]
    named = {path for span in spans(section) for path in alternatives(span)}
    assert {path for path in named if not is_setting(path)} == set()
    assert named | {"version"} == set(all_settings(Settings))


def alternatives(span: str) -> list[str]:
    """``a.b|c`` is ``a.b`` and ``a.c``."""
    head, dot, tails = span.rpartition(".")
    return [f"{head}{dot}{tail}" for tail in tails.split("|")]


def is_setting(path: str) -> bool:
    return path in set(all_settings(Settings))


def all_settings(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    for name, field in model.model_fields.items():
        kind: Any = field.annotation
        if name == "providers" and not prefix:
            yield from all_settings(ProviderSettings, "providers.NAME.")
        elif name == "models" and not prefix:
            yield from all_settings(ModelSettings, "models.NAME.")
        elif isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from all_settings(kind, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"


def test_every_piece_of_config_that_is_shown_is_valid() -> None:
    shown = [span for name, span, _ in ticked(r"\{\"|\"\w+\": ") if name in PAGES]
    assert shown
    for span in shown:
        text = span if span.startswith("{") else f"{{{span}}}"
        Settings.model_validate(json.loads(text))


def test_every_environment_variable_that_is_named_is_read() -> None:
    for name, text in TEXTS.items():
        for variable in re.findall(r"\b(?:OCTO|OPENAI|OLLAMA|VLLM)_[A-Z_]+", text):
            assert f'"{variable}"' in SOURCE, f"{name}: {variable}"


def test_every_public_name_make_target_and_file_that_is_named_exists() -> None:
    for name, span, match in ticked(r"@?ol\.(\w+)"):
        assert match[1] in octo_lab.__all__, f"{name}: {span!r}"
    targets = re.findall(r"^(\w+):", (REPO / "Makefile").read_text("utf-8"), re.MULTILINE)
    for name, span, match in ticked(r"make (\w+)$"):
        assert match[1] in targets, f"{name}: {span!r}"
    for name, text in TEXTS.items():
        for path in re.findall(r"notebooks/[\w./-]+\.ipynb", text):
            assert (REPO / path).exists(), f"{name}: {path}"
