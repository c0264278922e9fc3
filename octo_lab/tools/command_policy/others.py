"""Rules for all other programs that do more than look and compute."""

from __future__ import annotations

import re

from octo_lab.tools.command_policy.case import HARMLESS, Case, Rule
from octo_lab.tools.command_policy.files import write
from octo_lab.tools.command_policy.names import names
from octo_lab.tools.command_policy.options import read_options
from octo_lab.tools.command_policy.syntax import Word
from octo_lab.tools.verdict import Verdict, strictest

_AT = r"(?:\d+|\$|/(?:[^/\\\n]|\\.)*/)"
_PART = r"(?:[^{0}\\\n]|\\.)*{0}"
_SWAP = "|".join(f"s{mark}{_PART.format(mark) * 2}[gpiI0-9]*" for mark in map(re.escape, "/|#,:@"))
_STEP = rf"(?:{_AT}(?:,(?:\+?\d+|{_AT}))?)?[ \t]*+!?[ \t]*+(?:[pdDnNgGhHxqQ=]|{_SWAP})?[ \t]*+"
_SED = re.compile(rf"\s*+{_STEP}(?:[;\n]\s*+{_STEP})*+")
_RUN_BY_FD = re.compile(r"-[A-Za-z]*?[xX](.*)|--exec(?:-batch)?(?:=(.*))?", re.DOTALL)
_AWK = re.compile(r"system|getline|[|@]")

_STOPS = names("shutdown reboot halt poweroff telinit kexec")
_ASKS = {
    "reaches another machine": (
        "curl wget aria2c axel lynx w3m links elinks httpie http https xh nc ncat netcat socat "
        "telnet ftp lftp tftp sftp ssh scp rsync mosh rclone dig nslookup host drill whois ping "
        "ping6 traceroute nmap gh glab aws gcloud az kubectl helm terraform heroku vercel "
        "npx bunx uvx pipx mail mailx sendmail mutt smbclient redis-cli mysql psql mongosh"
    ),
    "installs or removes software": (
        "apt apt-get aptitude dpkg yum dnf rpm pacman zypper apk snap flatpak brew port gem "
        "conda mamba micromamba choco winget"
    ),
    "works with containers, which reach past the workspace": (
        "docker podman nerdctl buildah lxc lxd vagrant virsh qemu-system-x86_64 bwrap firejail"
    ),
    "changes what the machine runs": (
        "systemctl service launchctl crontab at batch init update-rc.d rc-service loginctl "
        "useradd userdel usermod groupadd passwd chpasswd visudo vipw adduser deluser chsh "
        "insmod rmmod modprobe sysctl mount umount swapon swapoff losetup cryptsetup lvremove "
        "vgremove pvremove mdadm zfs zpool iptables ip6tables nft ufw firewall-cmd ip ifconfig "
        "route hwclock date-set timedatectl hostnamectl setenforce dmsetup fsck tune2fs mknod"
    ),
    "ends processes": "killall killall5 pkill skill xkill fuser",
    "waits for a person": (
        "vi vim nvim nano emacs ed ex pico micro code less more most man top htop tmux screen "
        "passwd ftp gdb lldb mc ranger"
    ),
    "steers other programs": "xdotool ydotool xclip xsel pbcopy osascript screencapture dbus-send "
    "gdbus busctl gsettings defaults open xdg-open",
    "changes how the shell reads what follows": "enable hash shopt bind complete fc history",
}
_TALKS = names("s_client s_server s_time ocsp")
_FOLDERS = names("f C I file makefile directory")
_INSTALLERS = {
    "pip": {"install", "uninstall", "download", "wheel", "config"},
    "uv": {"pip", "add", "remove", "sync", "tool", "python", "publish", "lock", "self"},
    "npm": {"install", "i", "ci", "add", "update", "publish", "exec", "x", "uninstall", "config"},
    "pnpm": {"install", "i", "add", "update", "publish", "dlx", "exec", "remove"},
    "yarn": {"install", "add", "upgrade", "publish", "dlx", "remove"},
    "cargo": {"install", "publish", "add", "uninstall", "login", "owner", "yank"},
    "go": {"install", "get", "mod"},
    "poetry": {"install", "add", "update", "publish", "remove", "config"},
    "bundle": {"install", "update", "exec"},
    "composer": {"install", "require", "update"},
}


def _stop(case: Case) -> Verdict:
    if read_options(case.args).has("help", "version"):
        return HARMLESS
    return case.deny("stops the machine")


def _kill(case: Case) -> Verdict:
    texts = [word.text for word in case.args]
    if texts in (["-l"], ["-L"], ["--list"]) or texts[:1] == ["-0"]:
        return HARMLESS
    targets = texts[1:] if texts and texts[0].startswith("-") and texts[0] != "--" else texts
    if {"-1", "1", "0"} & set(targets) or texts == ["-1"]:
        return case.deny("ends every process")
    return case.ask("ends processes")


def _crontab(case: Case) -> Verdict:
    return HARMLESS if [word.text for word in case.args] == ["-l"] else case.ask(_why("crontab"))


def _system(case: Case) -> Verdict:
    first = case.args[0].text if case.args else ""
    if first in {"poweroff", "reboot", "halt", "kexec", "rescue", "emergency", "suspend"}:
        return case.deny("stops the machine")
    return HARMLESS if first in {"status", "--version"} else case.ask(_why("systemctl"))


def _install(case: Case) -> Verdict:
    operands = read_options(case.args).operands
    first = operands[0] if operands else Word("")
    if first.literal is None or first.text in _INSTALLERS[_plain(case.name)]:
        return case.ask("installs or changes software")
    return HARMLESS if first.text or case.name != "yarn" else case.ask("installs software")


def _sed(case: Case) -> Verdict:
    options = read_options(case.args, valued=("e", "f", "l", "expression", "file"))
    if options.has("f", "file"):
        return case.as_script("runs a script of sed")
    given = [options.values[name] for name in ("e", "expression") if name in options.values]
    scripts = given or options.operands[:1]
    files = options.operands if given else options.operands[1:]
    start = HARMLESS
    if not all(_plain_sed(word) for word in scripts):
        start = case.as_script("runs a script of sed that may do more than print")
    if any(word.text.startswith(("-", "--in-place")) and "/" in word.text and "i" in word.text
           for word in case.args if word not in scripts):  # fmt: skip
        start = case.ask("keeps copies elsewhere")
    if options.has("i", "in-place"):
        start = strictest((write(case, word) for word in files), start)
    return start


def _plain_sed(word: Word) -> bool:
    """Sed can run programs and write files: only lines of the plain commands are known not to."""
    if word.literal is None and "\0" in word.text:
        return False
    return _SED.fullmatch(word.text) is not None


def _awk(case: Case) -> Verdict:
    options = read_options(case.args, valued=("v", "F", "f", "i", "l", "e", "E", "file"), stop=True)
    if options.has("f", "i", "l", "e", "E", "file", "exec", "include", "load", "source"):
        return case.as_script("runs a script of awk")
    script = options.operands[0].text if options.operands else ""
    writes = ">" in script.partition("{")[2]
    if "\0" in script or writes or _AWK.search(script):
        return case.as_script("runs a program that may do more than print")
    return HARMLESS


def _tar(case: Case) -> Verdict:
    running = (
        "checkpoint-action",
        "to-command",
        "use-compress-program",
        "rsh-command",
        "info-script",
    )
    options = read_options(case.args, valued=("C", "f", "directory", "file"))
    if options.has("I", "F", *running) or any(
        full.startswith(name) for name in options.long for full in running if len(name) > 2
    ):
        return case.ask("may run another program")
    if options.has("P", "absolute-names"):
        return case.ask("may write outside the workspace")
    named = [options.values[name] for name in ("C", "directory") if name in options.values]
    return strictest((write(case, word) for word in named), HARMLESS)


def _zip(case: Case) -> Verdict:
    if read_options(case.args).has("TT", "unzip-command", "T"):
        return case.ask("may run another program")
    options = read_options(case.args, valued=("d",))
    return write(case, options.values["d"]) if "d" in options.values else HARMLESS


def _ripgrep(case: Case) -> Verdict:
    if read_options(case.args).has("pre", "hostname-bin"):
        return case.ask("may run another program")
    return HARMLESS


def _sorted(case: Case) -> Verdict:
    options = read_options(case.args, valued=("o", "output", "k", "t", "T", "S"))
    if any("compress-program".startswith(name) for name in options.long):
        return case.ask("may run another program")
    named = [
        word
        for name, word in options.values.items()
        if name in {"o", "T"} or (len(name) > 1 and name[0] in "ot")
    ]
    return strictest((write(case, word) for word in named), HARMLESS)


def _second(case: Case) -> Verdict:
    """Programs whose second operand is a file that they write."""
    options = read_options(case.args, valued=("f", "s", "w", "c", "g", "l", "o", "n"))
    return strictest((write(case, word) for word in options.operands[1:2]), HARMLESS)


def _told(case: Case) -> Verdict:
    """Programs that write what an option names."""
    options = read_options(case.args, valued=("o", "output", "L", "I", "P"))
    named = [options.values[name] for name in ("o", "output") if name in options.values]
    files = options.operands if case.name == "yq" and options.has("i", "inplace") else []
    return strictest((write(case, word) for word in (*named, *files)), HARMLESS)


def _named_machine(case: Case) -> Verdict:
    options = read_options(case.args)
    set_ = bool(options.operands) if case.name == "hostname" else options.has("s", "set")
    return case.ask("changes what the machine goes by") if set_ else HARMLESS


def _fd(case: Case) -> Verdict:
    for index, word in enumerate(case.args):
        if found := _RUN_BY_FD.fullmatch(word.text):
            first = [Word(found[1] or found[2])] if found[1] or found[2] else []
            return case.again([*first, *case.args[index + 1 :], Word("\0", bare=False)])
    return HARMLESS


def _openssl(case: Case) -> Verdict:
    first = case.args[0].text if case.args else ""
    return case.ask("reaches another machine") if first in _TALKS else HARMLESS


def _make(case: Case) -> Verdict:
    options = read_options(case.args, valued=("f", "C", "I", "j", "file", "makefile", "directory"))
    if options.has("E", "eval") or any(word.text.startswith("SHELL=") for word in case.args):
        return case.ask("is told what to run on the line")
    named = [word for name, word in options.values.items() if name in _FOLDERS]
    near = {"inside", "workspace", "temporary"}
    if all(case.spot(word) in near for word in named):
        return HARMLESS
    return case.ask("runs what is not of the workspace")


def _why(name: str) -> str:
    return next(why for why, text in _ASKS.items() if name in names(text))


def _asked(case: Case) -> Verdict:
    if [word.text for word in case.args] in (["--version"], ["--help"], ["-V"]):
        return HARMLESS
    return case.ask(_why(case.name))


def _plain(name: str) -> str:
    return name.rstrip("0123456789.")


RULES: dict[str, Rule] = {
    **{name: _asked for text in _ASKS.values() for name in names(text)},
    **dict.fromkeys(_STOPS, _stop),
    **dict.fromkeys(_INSTALLERS, _install),
    **dict.fromkeys(("pip3", "pip2"), _install),
    "kill": _kill,
    "openssl": _openssl,
    **dict.fromkeys(("make", "gmake"), _make),
    "crontab": _crontab,
    "systemctl": _system,
    **dict.fromkeys(("sed", "gsed"), _sed),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _awk),
    **dict.fromkeys(("tar", "bsdtar", "gtar"), _tar),
    **dict.fromkeys(("zip", "unzip"), _zip),
    "rg": _ripgrep,
    "sort": _sorted,
    **dict.fromkeys(("uniq", "xxd"), _second),
    **dict.fromkeys(("tree", "yq"), _told),
    **dict.fromkeys(("date", "hostname"), _named_machine),
    **dict.fromkeys(("fd", "fdfind"), _fd),
}
