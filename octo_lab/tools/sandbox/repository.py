"""What in a repository's own folder makes git run programs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_SETTINGS = ("config", "config.worktree")
_HEADING = re.compile(r'\[\s*([\w.-]+)(?:\s+"(?:[^"\\]|\\.)*")?\s*\]\s*')
_SETTING = re.compile(r"([A-Za-z][\w-]*)\s*(?:=[^\\\n]*)?")
_LARGEST = 100_000
# Section and key, whatever stands between: none of these names a program or a file of settings.
_PLAIN = re.compile(
    r"core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|symlinks"
    r"|precomposeunicode|autocrlf|safecrlf|eol|quotepath|abbrev|commentchar|compression)"
    r"|(?:user|author|committer)\.(?:name|email)|(?:color|advice|column|i18n|status)\..*"
    r"|branch\.(?:remote|merge|rebase|pushremote|description)|init\.defaultbranch"
    r"|remote\.(?:url|fetch|push|pushurl|tagopt|prune)|submodule\.(?:url|active|branch)"
    r"|extensions\.(?:objectformat|refstorage)|(?:push|pull|fetch|rebase|merge)\.(?:default|rebase|ff"
    r"|prune|autostash|autosquash|conflictstyle|autosetupremote)|gc\.auto|diff\.(?:renames|algorithm)"
    r"|(?:commit|tag)\.gpgsign"
)


def running_parts(repository: Path) -> Iterator[Path]:
    """The hooks that git would run, and files of settings that hold more than the plain ones."""
    if _looks_elsewhere(repository / "commondir"):
        yield repository / "commondir"
    hooks = repository / "hooks"
    if hooks.is_symlink():
        yield hooks
    else:
        with suppress(OSError):
            yield from (hook for hook in hooks.iterdir() if hook.suffix != ".sample")
    yield from (path for name in _SETTINGS if not _plain(path := repository / name))


def _looks_elsewhere(common: Path) -> bool:
    return common.is_symlink() or common.exists()


def _plain(path: Path) -> bool:
    """Whether there is nothing, or only settings that run nothing."""
    try:
        if path.is_symlink() or path.lstat().st_size > _LARGEST:
            return False
        return plain_settings(path.read_text(errors="replace"))
    except FileNotFoundError:
        return True
    except OSError:
        return False


def plain_settings(text: str) -> bool:
    """Read line by line; what is not understood is not plain."""
    section = ""
    for line in map(str.strip, text.split("\n")):
        if heading := _HEADING.match(line):
            section, line = heading[1].lower(), line[heading.end() :]
        if not line or line[0] in "#;":
            continue
        setting = _SETTING.fullmatch(line)
        if setting is None or not _PLAIN.fullmatch(f"{section}.{setting[1].lower()}"):
            return False
    return True
