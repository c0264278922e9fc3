"""What a person is told when a cassette begins or ends: what, how many requests, where."""

from __future__ import annotations

from pathlib import Path

from octo_lab.llm.cassette import TapeUse
from octo_lab.session.models import CassetteUse

LIVE = "Model traffic is live: nothing is recorded or replayed."
NO_TRAFFIC = (
    "Nothing was recorded in {where!r}: no request went to a model server. "
    "The offline helper sends none and needs no recording."
)


def cassette_words(used: CassetteUse, workspace: Path) -> str:
    """One line; paths are shown relative to the workspace."""
    ended = _ended(used.ended, workspace) if used.ended else ""
    begun = _begun(used.begun, workspace) if used.begun else ""
    return " ".join(filter(None, (ended, begun))) or LIVE


def _begun(use: TapeUse, workspace: Path) -> str:
    where = _where(use, workspace)
    if use.mode == "record":
        return f"Recording model traffic to {where!r}."
    return f"Replaying {_requests(use.held)} from {where!r}."


def _ended(use: TapeUse, workspace: Path) -> str:
    where = _where(use, workspace)
    if use.mode == "replay":
        return f"Replayed {_requests(use.requests)} from {where!r}; model traffic is live again."
    if not use.requests:
        return NO_TRAFFIC.format(where=where)
    return f"Recorded {_requests(use.requests)} in {where!r}."


def _requests(count: int) -> str:
    return "1 request" if count == 1 else f"{count} requests"


def _where(use: TapeUse, workspace: Path) -> str:
    inside = use.path.is_relative_to(workspace)
    return str(use.path.relative_to(workspace) if inside else use.path)
