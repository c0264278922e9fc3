"""``octo doctor``: checks what octo_lab needs on this machine."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Literal

from jupyter_client.kernelspec import KernelSpecManager
from packaging.requirements import Requirement

from octo_lab.cli.ask import FAILED
from octo_lab.cli.connect import place_around
from octo_lab.cli.look import ask_control
from octo_lab.cli.outcome import Outcome
from octo_lab.cli.printer import printable
from octo_lab.config.powers import sandbox_policy
from octo_lab.core.causes import cause_of
from octo_lab.core.errors import OctoError
from octo_lab.core.mail import GetProviders, GetStatus
from octo_lab.core.replies import ProviderList, Status
from octo_lab.gateway.find import find_gateway
from octo_lab.tools.browser.found import find_browser, sure
from octo_lab.tools.sandbox.choice import choose
from octo_lab.tools.sandbox.report import sandbox_words

State = Literal["ok", "warning", "error"]
_MARKS: dict[State, str] = {"ok": "✓", "warning": "!", "error": "✗"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """``hint`` is the next step; only an ``error`` keeps octo_lab from working."""

    name: str
    state: State
    detail: str
    hint: str = ""


def show_doctor(*, as_json: bool, workspace: Path | None) -> Outcome:
    findings = [_examined(name, check, workspace) for name, check in _CHECKS.items()]
    if as_json:
        sys.stdout.write(json.dumps([asdict(finding) for finding in findings]) + "\n")
    else:
        for finding in _told_once(findings):
            sys.stdout.write(_line(finding) + "\n")
    failed = any(finding.state == "error" for finding in findings)
    return Outcome(code=FAILED if failed else 0)


def _examined(
    name: str, check: Callable[[Path | None], Finding], workspace: Path | None
) -> Finding:
    try:
        return check(workspace)
    except (OctoError, BaseExceptionGroup) as exc:
        cause = cause_of(exc)
        if not isinstance(cause, OctoError):
            raise
        return Finding(name=name, state="error", detail=cause.message, hint=cause.hint)


def _told_once(findings: list[Finding]) -> Iterator[Finding]:
    """One fault, as in the config, can stop several checks."""
    told: set[str] = set()
    for finding in findings:
        known = finding.state == "error" and finding.detail in told
        yield (
            replace(finding, detail="not checked, for the same reason", hint="")
            if known
            else finding
        )
        told.add(finding.detail)


def _line(finding: Finding) -> str:
    hint = f" ({finding.hint})" if finding.hint else ""
    return printable(f"{_MARKS[finding.state]} {finding.name}: {finding.detail}{hint}")


def _python(_: Path | None) -> Finding:
    found = ".".join(str(part) for part in sys.version_info[:3])
    return Finding(name="python", state="ok", detail=f"{found} at {sys.executable}")


def _packages(_: Path | None) -> Finding:
    wrong = [fault for line in requires("octo_lab") or [] if (fault := _fault(Requirement(line)))]
    if wrong:
        hint = "install octo_lab anew, into an environment of its own"
        return Finding(name="packages", state="error", detail="; ".join(wrong), hint=hint)
    return Finding(name="packages", state="ok", detail=f"octo_lab {version('octo_lab')}")


def _fault(needed: Requirement) -> str:
    if needed.marker is not None and not needed.marker.evaluate({"extra": ""}):
        return ""
    try:
        found = version(needed.name)
    except PackageNotFoundError:
        return f"{needed.name} is missing"
    fits = needed.specifier.contains(found, prereleases=True)
    return "" if fits else f"{needed.name} is {found}, needed is {needed.specifier}"


def _kernel(_: Path | None) -> Finding:
    found = KernelSpecManager().find_kernel_specs().get("octo")
    if found is None:
        hint = "install it with 'octo kernel install'"
        return Finding(name="kernel", state="error", detail="no kernelspec 'octo'", hint=hint)
    return Finding(name="kernel", state="ok", detail=found)


def _data_folder(workspace: Path | None) -> Finding:
    folder = place_around(workspace).data_folder
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as exc:
        hint = "make it writable, or set OCTO_HOME to another folder"
        detail = f"{folder}: {exc.strerror}"
        return Finding(name="data folder", state="error", detail=detail, hint=hint)
    return Finding(name="data folder", state="ok", detail=str(folder))


def _trust(workspace: Path | None) -> Finding:
    asked = place_around(workspace).asked
    wrong = asked.trust.trouble or asked.left_out
    return Finding(name="trust", state="warning" if wrong else "ok", detail=asked.state)


def _sandbox(workspace: Path | None) -> Finding:
    place = place_around(workspace)
    choice = choose(sandbox_policy(place.settings.sandbox, place.workspace))
    weak = choice.kind in ("landlock", "none")
    hint = "install bubblewrap, or let it make user namespaces" if weak else ""
    state: State = "warning" if weak or choice.gaps else "ok"
    return Finding(name="sandbox", state=state, detail=sandbox_words(choice), hint=hint)


def _browser(workspace: Path | None) -> Finding:
    found = sure(find_browser(place_around(workspace).settings.browser.executable))
    if found.missing:
        hint = "without it the tool 'browser' is not offered"
        return Finding(name="browser", state="warning", detail=found.missing, hint=hint)
    if found.walls:
        return Finding(name="browser", state="ok", detail=f"{found.program}, in bubblewrap")
    detail = f"{found.program}, not shut in" + (" and as root" if found.root else "")
    hint = "install bubblewrap: then it sees none of your files"
    return Finding(name="browser", state="warning", detail=detail, hint=hint)


def _gateway(workspace: Path | None) -> Finding:
    endpoint = find_gateway(place_around(workspace).data_folder)
    detail = "none runs; 'octo run' and 'octo chat' work in their own process"
    if endpoint is not None:
        detail = f"http://{endpoint.authority}, process {endpoint.pid}"
    return Finding(name="gateway", state="ok", detail=detail)


def _model(workspace: Path | None) -> Finding:
    _, reply = ask_control(GetStatus(), workspace)
    if isinstance(reply, Status) and reply.model:
        detail = _model_words(reply)
        if reply.provider == "offline":
            hint = "set OPENAI_API_KEY, or OPENAI_BASE_URL of a local server"
            return Finding(name="model", state="warning", detail=detail, hint=hint)
        trouble = _server_trouble(reply.provider, workspace)
        if trouble:
            hint = "is the server running, and the base URL right?"
            return Finding(name="model", state="warning", detail=f"{detail}; {trouble}", hint=hint)
        return Finding(name="model", state="ok", detail=detail)
    detail = getattr(reply, "provider_note", "") or getattr(reply, "text", "") or "none"
    return Finding(name="model", state="error", detail=detail, hint="see the README, 'Models'")


def _server_trouble(provider: str, workspace: Path | None) -> str:
    """What its server says when it is asked for its models; '' when it lists them."""
    _, reply = ask_control(GetProviders(), workspace)
    infos = reply.providers if isinstance(reply, ProviderList) else ()
    return next((info.note for info in infos if info.name == provider), "")


def _model_words(status: Status) -> str:
    """Which, and which source won for each of its settings."""
    rows = [f"{name} {value}" for name, value in status.sources.items()]
    return "; ".join([f"{status.provider}/{status.model}", *rows[1:]])


_CHECKS: dict[str, Callable[[Path | None], Finding]] = {
    "python": _python,
    "packages": _packages,
    "kernel": _kernel,
    "data folder": _data_folder,
    "trust": _trust,
    "sandbox": _sandbox,
    "browser": _browser,
    "gateway": _gateway,
    "model": _model,
}
