from __future__ import annotations

from typing import Any

import pytest

from octo_lab.config.demands import HARMLESS, Demand, fingerprint, of_variables, split
from octo_lab.config.layers import Json, leaves, merge
from octo_lab.config.settings import Settings
from octo_lab.config.toolkit import OPTIONS


def demanded(layer: Json, user: Json | None = None) -> list[str]:
    below = merge({"": Settings().model_dump(mode="json"), "user": user or {}})
    harmless, demands = split(layer, below.values)
    kept = {key for key, _ in leaves(harmless)}
    assert kept.isdisjoint(demand.key for demand in demands)
    return [demand.key for demand in demands]


POWERFUL = [
    {"hooks": [{"event": "before_llm_call", "command": ["x"]}]},
    {"providers": {"openai": {"base_url": "http://x"}}},
    {"providers": {"openai": {"api_key": "k"}}},
    {"model": "openrouter/theirs/m"},
    {"fallbacks": ["theirs/m"]},
    {"models": {"m": {"hints": {"vision": True}}}},
    {"models": {"m": {"price_in": 0}}},
    {"routing": {"mode": "hedge"}},
    {"local": {"model": "theirs.gguf"}},
    {"database": "sqlite:///theirs.db"},
    {"tools": {"allow": ["python"]}},
    {"tools": {"python": "allow"}},
    {"tools": {"rules": {"shell": "allow"}}},
    {"tools": {"risks": {"execute": "allow"}}},
    {"tools": {"hosts": ["*"]}},
    {"tools": {"channels": {"web": {"origin": "owner"}}}},
    {"tools": {"models": {"m": {"aliases": {"shell": "grep"}}}}},
    {"tools": {"timeout": 9e9}},
    {"sandbox": {"mode": "none"}},
    {"sandbox": {"network": True}},
    {"sandbox": {"readable": ["/"]}},
    {"sandbox": {"environ": ["*"]}},
    {"sandbox": {"image": "theirs"}},
    {"sandbox": {"mounts": "none"}},
    {"sandbox": {"container": "theirs"}},
    {"sandbox": {"memory": 9_999_999}},
    {"network": {"allow": ["10.0.0.0/8"]}},
    {"network": {"proxy": "http://theirs"}},
    {"security": {"trusted_hosts": ["*"]}},
    {"security": {"mask_lookalikes": False}},
    {"workspace": {"mode": "soft"}},
    {"workspace": {"roots": {"/": "rw"}}},
    {"web_search": {"urls": {"searxng": "http://theirs"}}},
    {"web_search": {"engines": ["searxng"]}},
    {"browser": {"executable": "./theirs"}},
    {"gateway": {"host": "0.0.0.0"}},
    {"limits": {"iterations": 1_000_000}},
    {"limits": {"iterations": True}},
    {"limits": {"iterations": "1"}},
    {"nothing": {"known": 1}},
    {"tools.deny": ["x"]},
]


@pytest.mark.parametrize("layer", POWERFUL, ids=str)
def test_what_runs_loosens_or_leads_elsewhere_needs_trust(layer: Json) -> None:
    assert len(demanded(layer)) == 1


@pytest.mark.parametrize(
    "layer",
    [
        {"version": 1},
        {"limits": {"iterations": 3, "tokens": 5, "seconds": 1.5, "calls": {"shell": 2}}},
        {"session": {"history": 2, "compact": False, "workers": 1, "queue_mode": "steer"}},
        {"tools": {"deny": ["shell"], "python": "deny", "risks": {"network": "deny"}}},
        {"tools": {"rules": {"write_*": "ask"}, "timeout": 5, "approval_seconds": 5}},
        {"sandbox": {"network": False, "memory": 100, "cpus": 1}},
        {"security": {"private_paths": ["data/*"], "private_variables": ["x_*"]}},
        {"workspace": {"mode": "strict"}, "local": {"detect": False, "threads": 2}},
        {"web_search": {"count": 9}, "gateway": {"port": 8000}, "tools": {}},
        {"network": {"allow": [], "proxy": ""}, "hooks": [], "model": None},
    ],
    ids=str,
)
def test_what_is_harmless_or_stricter_or_changes_nothing_needs_none(layer: Json) -> None:
    assert demanded(layer) == []


@pytest.mark.parametrize(
    ("user", "layer"),
    [
        ({"tools": {"deny": ["shell"]}}, {"tools": {"deny": []}}),
        ({"tools": {"deny": ["shell"]}}, {"tools": {"deny": ["grep"]}}),
        ({"tools": {"rules": {"*": "deny"}}}, {"tools": {"rules": {"shell": "ask"}}}),
        ({"tools": {"risks": {"execute": "deny"}}}, {"tools": {"rules": {"shell": "ask"}}}),
        ({"limits": {"tokens": 5}}, {"limits": {"tokens": None}}),
        ({"limits": {"tokens": 5}}, {"limits": {"tokens": 6}}),
        ({"security": {"private_paths": ["a"]}}, {"security": {"private_paths": ["b"]}}),
        ({"model": "mine/m"}, {"model": None}),
        ({"limits": 4}, {"limits": {"tokens": {"a": 1}}}),
    ],
    ids=str,
)
def test_nothing_that_the_person_made_strict_is_loosened_unasked(user: Json, layer: Json) -> None:
    assert len(demanded(layer, user)) == 1


@pytest.mark.parametrize(
    ("user", "layer"),
    [
        ({"tools": {"deny": ["shell"]}}, {"tools": {"deny": ["grep", "shell"]}}),
        ({"tools": {"rules": {"*": "deny"}}}, {"tools": {"rules": {"shell": "deny"}}}),
        ({"limits": {"tokens": 5}}, {"limits": {"tokens": 5}}),
        ({"model": "mine/m"}, {"model": "mine/m"}),
        ({"workspace": {"mode": "soft"}}, {"workspace": {"mode": "strict"}}),
    ],
    ids=str,
)
def test_what_is_stricter_than_the_person_or_the_same_holds(user: Json, layer: Json) -> None:
    assert demanded(layer, user) == []


@pytest.mark.parametrize("value", ["${OPENAI_API_KEY}", "$${plain}"])
def test_a_harmless_setting_that_names_a_variable_needs_trust(value: str) -> None:
    assert demanded({"tools": {"deny": [value]}}) == ["tools.deny"]


def test_what_octo_lab_writes_for_the_person_needs_no_trust() -> None:
    layer: Json = {"version": 1}
    for option in OPTIONS:
        section, _, name = option.partition(".")
        layer.setdefault(section, {})[name] = 7
    assert demanded(layer) == []


def test_every_harmless_setting_exists() -> None:
    known = {key for key, _ in leaves(Settings().model_dump(mode="python"))}
    assert {key.removesuffix(".*") for key in HARMLESS} <= known


def test_a_fingerprint_is_of_names_and_values_in_any_order() -> None:
    one, two = Demand(path=("a", "b"), value=1), Demand(path=("c",), value=[2])
    assert fingerprint([one, two]) == fingerprint([two, one]) != fingerprint([one])
    assert fingerprint([Demand(path=("a.b",), value=1)]) != fingerprint([one])
    assert fingerprint([]) == ""


@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        (("providers", "x", "api_key"), "sk-plain", "providers.x.api_key = ***"),
        (("providers", "x", "api_key"), "${MY_KEY}", "providers.x.api_key = ${MY_KEY}"),
        (("network", "proxy"), "http://me:pw@there", "network.proxy = ***"),
        (("providers", "x", "base_url"), "http://me:pw@h/v1",
         "providers.x.base_url = http://me:***@h/v1"),
        (("hooks",), [{"command": ["sh", "-c", "a\nb"]}],
         'hooks[0] = {"command": ["sh", "-c", "a\\nb"]}'),
        (("model",), "a\x1b[2K\u202eb\nc", "model = a\\x1b[2K\\u202eb\\nc"),
        (("models", "`\n`", "price_in"), 1, "models.'\\n'.price_in = 1"),
        (("model",), "x" * 2100, f"model = {'x' * 2000} … (cut: 100 bytes more)"),
    ],
)  # fmt: skip
def test_a_person_sees_one_honest_line_of_each_and_no_secret(
    path: tuple[str, ...], value: Any, line: str
) -> None:
    assert Demand(path=path, value=value).lines == (line,)


@pytest.mark.parametrize(
    "program",
    [
        "password=aaaaaaaa|/tmp/evil",
        "curl http://a:;reboot;@b",
        ": -----BEGIN PRIVATE KEY-----; evil",
        "https://password=aaaa@evil.example/v1",
    ],
)
def test_what_looks_like_a_key_hides_no_part_of_a_program(program: str) -> None:
    hook = {"event": "before_tool_call", "command": ["sh", "-c", program]}
    hidden = {**hook, "command": ["true", "x" * 3000]}
    lines = Demand(path=("hooks",), value=[hidden, hook]).lines
    assert lines[0].endswith(" bytes more)")
    assert program in lines[1]


def test_each_variable_is_a_demand_and_a_key_is_masked() -> None:
    lines = [
        one.lines[0] for one in of_variables({"OPENAI_API_KEY": "k", "HTTP_PROXY": "http://p"})
    ]
    assert lines == [".env.OPENAI_API_KEY = ***", ".env.HTTP_PROXY = http://p"]
