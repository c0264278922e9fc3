"""Programs that only look and print."""

from __future__ import annotations

from octo_lab.tools.command_policy.names import names

_LOOKS = names(
    "ls cat head tail wc echo printf pwd true false test [ [[ : cd date uname whoami id basename "
    "dirname realpath readlink stat file du df tree grep egrep fgrep rg diff cmp comm cut tr sort "
    "uniq nl tac rev seq expr sleep which type command md5sum sha1sum sha256sum sha512sum cksum "
    "jq yq column fold fmt paste join od hexdump xxd strings less more find fd git awk sed env "
    "printenv hostname uptime free ps tty locale let read set unset shift return exit wait "
    "break continue getopts umask ulimit times nproc arch"
)


_SHOWS = names(
    "ls cat head tail wc stat file du tree grep egrep fgrep rg diff cmp comm cut tr sort uniq nl "
    "tac rev md5sum sha1sum sha256sum sha512sum cksum jq yq column fold fmt paste join od hexdump "
    "xxd strings less more find fd fdfind sed gsed awk gawk mawk nawk base64 base32 iconv"
)


def shows_files(name: str) -> bool:
    """Whether the program shows what is in the files, or folders, that it is given."""
    return name in _SHOWS


def only_looks(name: str) -> bool:
    """Whether the program changes nothing by itself, what its own rule finds aside."""
    return name in _LOOKS
