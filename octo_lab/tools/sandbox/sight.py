"""What a command in a sandbox sees of this machine: the workspace, Python, and no secrets."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from octo_lab.core.errors import ToolFailed

OWN = ".octo"
# Below the home folder: keys, logins, histories, and what opens running kernels.
SECRETS = (
    *(".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".netrc", ".git-credentials"),
    *(".pypirc", ".npmrc", ".pgpass", ".my.cnf", ".password-store", ".mozilla", ".vault-token"),
    *(
        ".config/gcloud",
        ".config/gh",
        ".config/google-chrome",
        ".config/chromium",
        ".cargo/credentials.toml",
        ".cargo/credentials",
        ".gem/credentials",
        ".terraform.d",
    ),
    *(".claude", ".claude.json", ".codex", ".gemini", ".config/github-copilot", ".config/hub"),
    *(".cache/huggingface/token", ".huggingface", ".kaggle", ".config/rclone", ".config/op"),
    *(".s3cfg", ".boto", ".oci", ".subversion/auth", ".thunderbird", ".electrum", ".bitcoin"),
    *("Library/Keychains", "Library/Application Support/Google/Chrome"),
    *(
        ".local/share/keyrings",
        ".local/share/jupyter/runtime",
        ".jupyter",
        ".ipython/profile_default/security",
    ),
    *(
        ".bash_history",
        ".zsh_history",
        ".python_history",
        ".ipython/profile_default/history.sqlite",
    ),
)
# There, too: what a later shell, kernel, editor or git runs or obeys.
STARTING = (
    *(".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".inputrc"),
    *(".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".xprofile", ".xsession"),
    *(".ipython", ".config", ".local", ".pythonrc.py", ".Rprofile", ".gdbinit", ".gitconfig"),
    *(".vim", ".vimrc", ".emacs", ".emacs.d", ".vscode", ".vscode-server", ".tmux.conf"),
    *(".curlrc", ".wgetrc", ".direnvrc", ".envrc", ".condarc", "bin"),
)
_STEERING = ("hooks", "config", "config.worktree")
_SYSTEM = tuple(map(Path, ("/usr", "/bin", "/sbin", "/lib", "/lib64")))
_NEVER = tuple(map(Path, ("/", "/usr", "/etc", "/proc", "/sys", "/dev", "/bin", "/lib", "/run")))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """Resolved paths: ``readable`` folders, and what of everything is ``hidden``. ``fixed`` is what
    is run outside of any sandbox: Python's own environment where it lies in the workspace, by the
    next kernel, what git is told to run, by whoever next looks at the repository, and what starts
    with a shell or a kernel, where the home folder lies there, too.
    """

    workspace: Path
    readable: tuple[Path, ...]
    fixed: tuple[Path, ...]
    hidden_folders: tuple[Path, ...]
    hidden_files: tuple[Path, ...]


def make_private(workspace: Path, private: Iterable[Path]) -> None:
    """Make octo_lab's own folders, where they lie there: what is missing cannot be hidden."""
    for folder in private:
        if folder.is_relative_to(workspace):
            with suppress(OSError):
                folder.mkdir(parents=True, exist_ok=True)


def find_sight(
    workspace: Path,
    *,
    private: Iterable[Path],
    readable: Iterable[Path] = (),
    home: Path | None = None,
    prefixes: Sequence[str] = (sys.prefix, sys.base_prefix),
    repositories: Iterable[Path] = (),
) -> Sight:
    """Looks at the disk. ``private`` are octo_lab's own folders, ``repositories`` those of git;
    raises ToolFailed for a workspace that no sandbox could wall in.
    """
    real = workspace.resolve()
    if real in _NEVER or any(folder.is_relative_to(real) for folder in _SYSTEM):
        raise ToolFailed(
            f"Commands cannot be run in {str(workspace)!r}: the whole system lies in it",
            hint="work in a folder of its own",
        )
    shown = tuple(_shown(real, (*map(Path, prefixes), *readable)))
    keys = home or Path.home()
    secret = _there(keys, SECRETS)
    own = [folder for folder in (real / OWN, *private) if not real.is_relative_to(folder.resolve())]
    steering = [path for folder in repositories for path in _there(folder, _STEERING)]
    hidden = list(_hidden((*secret, *own), (real, *shown)))
    return Sight(
        workspace=real,
        readable=shown,
        fixed=_fixed(real, (*map(Path, prefixes), *_there(keys, STARTING), *steering)),
        hidden_folders=tuple(path for path in hidden if _is_folder(path)),
        hidden_files=tuple(path for path in hidden if not _is_folder(path)),
    )


def _there(folder: Path, names: Iterable[str]) -> list[Path]:
    """Looked up as text: most are not there, and this is done before each command."""
    paths = (f"{folder}/{name}" for name in names)
    return [Path(path) for path in paths if os.path.lexists(path)]


def _fixed(workspace: Path, paths: Iterable[Path]) -> tuple[Path, ...]:
    found = dict.fromkeys(path.resolve() for path in paths)
    return tuple(
        path
        for path in found
        if path != workspace and path.is_relative_to(workspace) and _mode(path)
    )


def _shown(workspace: Path, folders: Iterable[Path]) -> list[Path]:
    """Those that exist and are not seen anyway; none that would show everything."""
    found: dict[Path, None] = {}
    for folder in folders:
        real = folder.expanduser().resolve()
        seen = any(real.is_relative_to(system) for system in (*_SYSTEM, workspace))
        if _is_folder(real) and not seen and real not in _NEVER:
            found[real] = None
    return list(found)


def _is_folder(path: Path) -> bool:
    return stat.S_ISDIR(_mode(path))


def _mode(path: Path) -> int:
    """0 where there is nothing, or nothing that we, and so a command, may look at."""
    try:
        return path.stat().st_mode
    except OSError:
        return 0


def _hidden(paths: Iterable[Path], shown: Sequence[Path]) -> Iterable[Path]:
    """Links are hidden where they lead: nothing can be laid over a link itself."""
    real = dict.fromkeys(path.resolve() for path in paths if _mode(path))
    return [path for path in real if any(path.is_relative_to(folder) for folder in shown)]
