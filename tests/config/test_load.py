from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from octo_lab.config.layers import migrated
from octo_lab.config.load import Loaded, load_settings
from octo_lab.config.settings import LimitSettings, ProviderSettings, Settings
from octo_lab.config.trust import VARIABLE
from octo_lab.core.errors import ConfigError

TRUSTING = {VARIABLE: "1"}


class Place:
    """A workspace that is trusted and a user's folder, with the files they hold."""

    def __init__(self, folder: Path) -> None:
        self.workspace, self.user = folder / "work", folder / "user"
        (self.workspace / ".octo").mkdir(parents=True)
        self.user.mkdir()

    @property
    def own_file(self) -> Path:
        return self.workspace / ".octo" / "config.json"

    @property
    def user_file(self) -> Path:
        return self.user / "config.json"

    def load(self, environ: Mapping[str, str] | None = None) -> Loaded:
        environ = {**TRUSTING, **(environ or {})}
        return load_settings(workspace=self.workspace, environ=environ, user_folder=self.user)

    def failure(self, environ: Mapping[str, str] | None = None) -> str:
        with pytest.raises(ConfigError) as raised:
            self.load(environ)
        return str(raised.value).replace(repr(str(self.own_file)), "OWN")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def write(path: Path, values: Any) -> None:
    path.write_text(json.dumps(values), encoding="utf-8")


def test_without_any_file_everything_has_its_default(place: Place) -> None:
    loaded = place.load({"A": "1"})
    assert loaded.settings == Settings()
    assert loaded.environ == {"A": "1", **TRUSTING}
    assert set(loaded.sources.values()) == {"default"}


def test_the_file_of_the_workspace_lies_over_the_file_of_the_user(place: Place) -> None:
    write(
        place.user_file,
        {"model": "a/b", "limits": {"iterations": 3, "tokens": 9}, "tools": {"deny": ["x"]}},
    )
    write(place.own_file, {"limits": {"tokens": None, "seconds": 5}, "tools": {"deny": []}})

    loaded = place.load()

    assert loaded.settings.model == "a/b"
    assert loaded.settings.limits == LimitSettings(iterations=3, tokens=None, seconds=5.0)
    assert loaded.settings.tools.deny == ()
    own, user = str(place.own_file), str(place.user_file)
    assert {key: source for key, source in loaded.sources.items() if source != "default"} == {
        "version": own,
        "model": user,
        "limits.iterations": user,
        "limits.tokens": own,
        "limits.seconds": own,
        "tools.deny": own,
    }


def test_variables_stand_in_strings_at_any_depth(place: Place) -> None:
    write(
        place.own_file,
        {
            "model": "${P}/${M}",
            "providers": {"p": {"api_key": "${KEY}", "base_url": "a$${P}$b$"}},
            "tools": {"allow": ["${M}*"]},
            "gateway": {"port": "${PORT}"},
        },
    )

    settings = place.load({"P": "p", "M": "m", "KEY": "${P}", "PORT": "8000"}).settings

    assert settings.model == "p/m"
    assert settings.providers == {
        "p": ProviderSettings(api_key=SecretStr("${P}"), base_url="a${P}$b$")
    }
    assert settings.tools.allow == ("m*",)
    assert settings.gateway.port == 8000


def test_a_missing_variable_is_named_with_the_key_that_needs_it(place: Place) -> None:
    write(place.own_file, {"providers": {"p": {"api_key": "${KEY}"}}})
    assert place.failure() == (
        "OWN: providers.p.api_key: the variable 'KEY' is not set"
        " (export KEY, or add it to the workspace's .env file)"
    )


def test_a_variable_that_only_a_covered_value_needs_may_be_missing(place: Place) -> None:
    write(place.user_file, {"model": "${NONE}"})
    write(place.own_file, {"model": "m"})
    assert place.load().settings.model == "m"


def test_variables_come_from_the_process_then_the_workspace_then_the_user(place: Place) -> None:
    (place.user / ".env").write_text("A=user\nB=user\nC=user\n")
    (place.workspace / ".env").write_text("A=work\nB=work\n")
    before = dict(os.environ)

    loaded = place.load({"A": "process"})

    assert loaded.environ == {"A": "process", "B": "work", "C": "user", **TRUSTING}
    assert loaded.variables == {
        "B": str(place.workspace / ".env"),
        "C": str(place.user / ".env"),
    }
    assert dict(os.environ) == before


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"limits": {"iteratons": 1}}',
         "OWN: no setting is called 'limits.iteratons' (did you mean 'limits.iterations'?)"),
        ('{"provders": {}}',
         "OWN: no setting is called 'provders' (did you mean 'providers'?)"),
        ('{"providers": {"my.own": {"apikey": "sk-1"}}}',
         "OWN: no setting is called 'providers.my.own.apikey'"
         " (did you mean 'providers.my.own.api_key'?)"),
        ('{"session": {"zzz": 1}}',
         "OWN: no setting is called 'session.zzz'"
         " (known: history, compact, compact_with, workers, queue, queue_mode, overflow,"
         " patience)"),
        ('{"limits": {"iterations": "sk-secret"}}',
         "OWN: limits.iterations: Input should be a valid integer,"
         " unable to parse string as an integer (fix this value)"),
        ('{"limits": {"iterations": 0}}',
         "OWN: limits.iterations: Input should be greater than or equal to 1 (fix this value)"),
        ('{"limits": {"seconds": 1e999}}',
         "OWN: limits.seconds: Input should be a finite number (fix this value)"),
        ('{"tools": {"python": "maybe"}}',
         "OWN: tools.python: Input should be 'ask', 'allow' or 'deny' (fix this value)"),
        ('{"limits": 4}', "OWN: limits: it should be an object (fix this value)"),
        ('{"model": ["x"]}',
         "OWN: model: Input should be a valid string (fix this value)"),
        ('{"tools": {"allow": ["a", 1]}}',
         "OWN: tools.allow.1: Input should be a valid string (fix this value)"),
        ('{"model": "a",}',
         "OWN, line 1, column 15: Illegal trailing comma before end of object (fix the JSON)"),
        ('{\n"model": "a"\n"limits": {}}',
         "OWN, line 3, column 1: Expecting ',' delimiter (fix the JSON)"),
        ('{"model": "a", "model": "b"}', "OWN: 'model' is set twice (keep one of them)"),
        ("[1]", 'OWN holds no JSON object (begin it with "{")'),
        ('{"version": ' + "1" * 5000 + "}", "OWN holds a number that is too long (fix it)"),
        ("[" * 100_000, "OWN is nested too deeply (fix the JSON)"),
        ('{"version": 2}',
         "OWN was written for a newer octo_lab (version 2, this one knows 1) (upgrade octo_lab)"),
        ('{"version": "1"}', "OWN: 'version' is no version (write 1)"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_its_file_and_key_and_never_with_its_value(
    place: Place, text: str, message: str
) -> None:
    place.own_file.write_text(text)
    if "trailing comma" in message:  # CPython 3.13 says it that way
        assert place.failure().startswith("OWN, line 1, column ")
    else:
        assert place.failure() == message


def test_a_file_that_is_no_text_is_named(place: Place) -> None:
    place.own_file.write_bytes(b'{"model": "\xff"}')
    assert place.failure() == "Cannot read OWN: it is not UTF-8 text (fix or remove it)"


def test_an_empty_file_and_one_with_a_mark_of_windows_are_read(place: Place) -> None:
    place.own_file.write_bytes(b"\n")
    place.user_file.write_bytes(b'\xef\xbb\xbf{"model": "m"}')
    assert place.load().settings.model == "m"


def test_a_mistake_in_the_file_of_the_user_names_that_file(place: Place) -> None:
    write(place.user_file, {"limits": {"seconds": -1}})
    write(place.own_file, {"limits": {"iterations": 1}})
    assert str(place.user_file) in place.failure()


def test_an_older_file_is_brought_up_to_date_step_by_step() -> None:
    migrations = {
        1: lambda values: {**values, "model": values["modle"]},
        2: lambda values: {name: value for name, value in values.items() if name != "modle"},
    }
    values = migrated({"version": 1, "modle": "m"}, Path("x"), migrations=migrations, current=3)
    assert values == {"version": 3, "model": "m"}


def test_neither_settings_nor_variables_show_their_secrets(place: Place) -> None:
    write(place.own_file, {"providers": {"p": {"api_key": "${KEY}"}}})
    loaded = place.load({"KEY": "sk-secret"})
    assert "sk-secret" not in repr(loaded)
    assert "sk-secret" not in str(loaded.settings.model_dump())
