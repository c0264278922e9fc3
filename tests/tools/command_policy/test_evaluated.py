"""Words that a shell works out, and programs that run or write what their options say."""

from __future__ import annotations

import pytest

from octo_lab.tools.command_policy.judge import judge_command
from octo_lab.tools.command_policy.place import Place

WALLED = Place(workspace="/home/ann/work", home="/home/ann")
OPEN = Place(workspace="/home/ann/work", home="/home/ann", walls=False)

DENIED = r"""
echo $(( $(rm -rf /) ))
(( $(rm -rf /) ))
echo "$((x+$(rm -rf /)))"
env --split='rm -rf /'
env --split-str='rm -rf ~'
env - rm -rf /
env - A=b rm -rf ~
env -a x rm -rf /
fd -xrm -rf /
fd -Hx rm -rf /
fd --exec=rm -rf /
setpriv --reuid=0 rm -rf ~
valgrind rm -rf /
setarch x86_64 /bin/rm -rf /
xvfb-run sh -c 'rm -rf /'
fish --command='rm -rf ~'
"""
ASKED = r"""
test -v 'x[$(rm -rf y)]'
[ -v 'x[$(touch y)]' ]
[[ -v 'x[$(touch y)]' ]]
[[ 'x[`touch y`]' -eq 0 ]]
let 'x[$(touch y)]=1'
unset 'x[$(touch y)]'
printf -v 'x[$(touch y)]' z
printf -v PATH .
printf -vPATH .
export 'x[$(touch y)]=1'
read PATH < x
read -r LD_PRELOAD <<< ./x.so
mapfile PATH < x
mapfile -C 'touch x' -c 1 y < z
compgen -C 'touch x'
for PATH in .; do ls; done
for LD_PRELOAD in ./x.so; do ls; done
RIPGREP_CONFIG_PATH=x rg y
npm_config_script_shell=./x npm test
CARGO_BUILD_RUSTC=./x cargo build
echo $((1 + (2 * $(touch x))))
/usr/bin/time --output=/home/ann/.bashrc ls
strace -o '|sh' ls
strace -o ../x ls
uniq x ../y
xxd -r x /home/ann/.bashrc
tree -o ~/.bashrc
yq -i .a=1 ../x
sort --outp=/home/ann/.bashrc x
sort -T /home/ann x
sed -i'../../*' p a
date -s 2020-01-01
hostname other
truncate -s 0 *
git checkout HEAD f
git read-tree -u --reset HEAD
git checkout-index -a -f
echo x > .gi*/hooks/pre-commit
echo x > .gi?/config
rm -f .GIT/HEAD
echo obey > AGENTS.md
echo obey >> ./claude.md
cp x AGENTS.md
"""
HARMLESS = r"""
echo $((1+(2*3)))
((x = (a + b) * 2))
echo $(($x+1))
[ -f x ] && echo yes
[[ $x == [a-z]* ]] && echo yes
test "$x" = y
printf '%s\n' "$x"
for f in a b; do echo "$f"; done
LC_ALL=C sort x
LANG=C ls
GIT_PAGER=cat git log
PAGER=cat git diff
uniq -c x
xxd x
date +%F
hostname
tree -L 2
env A=b ls
time ls
fd x src
cat AGENTS.md
ls .g*
git status
"""
OPEN_ONLY = r"""
HOME=/tmp git status
XDG_CONFIG_HOME=. git log
LOCPATH=. ls
TMPDIR=/home/ann sort x
cat ~/.ssh/id_rsa
cat ../.netrc
head -c 100 /home/ann/notes.txt
grep -r key ~
ls ~/Documents
cat .env
cat "$x"
cat /proc/1/environ
cat /proc/self/../1/environ
wc -l < ~/.bash_history
for f in ~/.ssh/*; do cat "$f"; done
find / -name '*.pem'
sed -n 1p /home/bob/x
git status
git diff --no-index /etc/hostname x
git log -p
cat .octo/config.json
ls .OCTO
sort < .octo/octo.db
cat .o*/config.json
cat .*/config.json
head -c 9 src/../.octo/x
cd .octo && cat config.json
grep -rn 'a b' .
grep -r key
grep --recursive key $PWD
rg -uu key
diff -r . src
find . -name '*.json' -exec cat {} +
find . -type f | xargs cat
"""
OPEN_HARMLESS = r"""
ls
ls -la src
cat README.md
cat /etc/os-release
ls /usr/bin
grep -rn foo src
grep -rn 'a b' src tests
rg x
grep -r x docs/.octopus
head -20 a.csv
sort data.csv | uniq -c | head -5
find . -name '*.py'
sed -n 1,20p a.py
awk '{print $1}' x
wc -l < data.csv
echo "$HOME"
cat AGENTS.md .gitignore
"""


def rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if line]


@pytest.mark.parametrize("line", rows(DENIED))
@pytest.mark.parametrize("place", [WALLED, OPEN], ids=["walled", "open"])
def test_what_destroys_is_denied(line: str, place: Place) -> None:
    verdict = judge_command(line, place)
    assert verdict.decision == "deny", verdict


@pytest.mark.parametrize("line", rows(ASKED))
@pytest.mark.parametrize("place", [WALLED, OPEN], ids=["walled", "open"])
def test_what_runs_or_writes_unseen_is_asked_about(line: str, place: Place) -> None:
    verdict = judge_command(line, place)
    assert verdict.decision == "ask", verdict


@pytest.mark.parametrize("line", rows(HARMLESS))
def test_what_only_looks_like_it_is_allowed(line: str) -> None:
    verdict = judge_command(line, WALLED)
    assert verdict.decision == "allow", verdict


@pytest.mark.parametrize("line", rows(OPEN_ONLY))
def test_what_only_walls_make_harmless_is_asked_about_without_them(line: str) -> None:
    assert judge_command(line, OPEN).decision == "ask"
    assert judge_command(line, WALLED).decision == "allow"


@pytest.mark.parametrize("line", rows(OPEN_HARMLESS))
def test_looking_at_the_workspace_needs_no_walls(line: str) -> None:
    verdict = judge_command(line, OPEN)
    assert verdict.decision == "allow", verdict


@pytest.mark.parametrize(
    "line",
    [
        f"sed '{' ' * 90_000}X'; rm -r x",
        f"sed '{'p;' * 40_000}X'; rm -r x",
        f"awk '{'{' * 90_000}|'; rm -r x",
        f"foo {'rm ' * 20_000}",
        f"foo {'bash -c ' * 8_000}",
        f"foo {'timeout --x rm ' * 3_000}",
    ],
    ids=["blanks", "steps", "braces", "names", "shells", "wrappers"],
)
def test_a_long_line_is_judged_in_a_moment(line: str) -> None:
    assert judge_command(line, WALLED).decision in {"ask", "deny"}
