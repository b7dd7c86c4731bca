#!/bin/bash
# headless_stdio - the command is connected to the caller's own stdin, stdout and stderr.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
dir=$(new_folder work)

is "$(echo hello | in_folder "$dir" cat)" hello "stdin to stdout"
is "$(in_folder "$dir" sh -c 'echo e >&2' 2>&1 >/dev/null)" e "stderr"
is "$(in_folder "$dir" pwd)" "$dir" "the same working directory"
mkdir -p "$dir/sub/deeper"
is "$(cd "$dir/sub/deeper" && "$CORDON" run --headless -- pwd)" "$dir/sub/deeper" "also below"
is "$(in_folder "$dir" id -u)" "$(id -u)" "the same user"
is "$(head -c 50000000 /dev/zero | in_folder "$dir" sh -c 'cat | tail -c +1' | sha256sum)" \
	"$(head -c 50000000 /dev/zero | sha256sum)" "50 MB through pipes"
is "$(in_folder "$dir" yes | head -n 2)" "$(printf 'y\ny')" "a reader that leaves early"
is "$(in_folder "$dir" sh -c 'read x; echo "[$x]"' </dev/null)" "[]" "end of file"
in_folder "$dir" sh -c 'cat > file' <<<"from a here document"
is "$(cat "$dir/file")" "from a here document" "into a file"
is "$(in_folder "$dir" sh -c 'ls /proc/self/fd | wc -l' 5<"$dir/file" 7>/dev/null)" 4 "no other descriptor inside"
is "$(in_folder "$dir" printf '%s|' 'a b' "c'd" '' $'e\nf' '*')" "a b|c'd||"$'e\nf|*|' "arguments as they are"

# The terminal and pipes belong to cordon and the agent alone.
if [ "$(id -u)" = 0 ]; then # a user may not read that
	start_in "$dir" sh -c 'echo >ready; sleep 600'
	wait_for 20 test -e "$dir/ready"
	keeper=$(pgrep -P "$pid" -x cordon-keeper)
	is "$(readlink "/proc/$keeper/fd/0" "/proc/$keeper/fd/1" "/proc/$keeper/fd/2" | sort -u)" /dev/null "the keeper holds none of them"
	kill "$pid" && wait "$pid"
fi

# Environment: an allow list; variables that make programs run code, or are secret, are not passed on.
env_inside=$(cd "$dir" && AWS_SECRET_ACCESS_KEY=s GITHUB_TOKEN=s SSH_AUTH_SOCK=/x BASH_ENV=/x ENV=/x \
	GIT_SSH_COMMAND=x GIT_DIR=/x PYTHONSTARTUP=/x NODE_OPTIONS=--x PERL5OPT=-x DBUS_SESSION_BUS_ADDRESS=x \
	DISPLAY=:0 WAYLAND_DISPLAY=w XDG_RUNTIME_DIR=/run/user/0 PROMPT_COMMAND=x LD_LIBRARY_PATH=/x \
	"$CORDON" run --headless -- env)
for name in AWS_SECRET_ACCESS_KEY GITHUB_TOKEN SSH_AUTH_SOCK BASH_ENV ENV GIT_SSH_COMMAND GIT_DIR PYTHONSTARTUP \
	NODE_OPTIONS PERL5OPT DBUS_SESSION_BUS_ADDRESS PROMPT_COMMAND LD_LIBRARY_PATH; do
	unlike "$env_inside" "(^|"$'\n'")$name=" "$name does not pass"
done
like "$env_inside" $'(^|\n)CORDON=1(\n|$)' "CORDON=1"
like "$env_inside" $'(^|\n)CORDON_SESSION=.+' "CORDON_SESSION"
like "$env_inside" $'(^|\n)PATH=.+' "PATH"
like "$env_inside" $'(^|\n)HOME=.+' "HOME"
like "$env_inside" $'(^|\n)TERM=xterm-256color(\n|$)' "TERM"
unlike "$(cd "$dir" && TERM=$'x\e]52;c;AAAA\a' "$CORDON" run --headless -- env)" $'\e' "no escape sequence in TERM"

# The terminal's modes are restored for the caller, however the command left them.
is "$(python3 - "$CORDON" "$dir" <<'P'
import os, subprocess, sys, termios
keeper, tty = os.openpty()
before = termios.tcgetattr(tty)
for do in "stty -isig -echo -icanon -opost", "python3 -c 'import termios; termios.tcflow(0, termios.TCOOFF)'":
    p = subprocess.Popen([sys.argv[1], "run", "--headless", "--", "sh", "-c", do + "; echo $?"],
                         cwd=sys.argv[2], stdin=tty, stdout=subprocess.PIPE, stderr=tty, start_new_session=True)
    print(p.communicate(timeout=300)[0].decode().strip(), termios.tcgetattr(tty) == before)
os.write(tty, b"x")
P
)" $'0 True\n0 True' "a terminal's modes are what they were"

# Private files of the sandbox can be changed by every form of call.
ok "touch, chmod and attributes in /tmp and /dev/shm" in_folder "$dir" sh -ec 'for d in /tmp /dev/shm; do
	touch $d/x && touch -d 2001-01-01 $d/x && [ "$(stat -c %Y $d/x)" = 978307200 ] && chmod 604 $d/x; done
	python3 -c "import os
f = os.open(\"/tmp/x\", os.O_RDWR); os.fchmod(f, 0o640); os.utime(f, (1, 1)); os.fchown(f, os.getuid(), os.getgid())"
	[ "$(stat -c %a%Y /tmp/x)" = 6401 ]'

# The folder may be given by a symbolic link, may be in /tmp, may have an odd name.
ln -s "$dir" "$TEST_TMP/link"
ok "through a symbolic link" in_folder "$TEST_TMP/link" sh -c 'echo 1 >by-link'
is "$(cat "$dir/by-link")" 1 "it is the same folder"
odd=$(new_folder $'odd \n\e[31m\xff name')
ok "an odd name" in_folder "$odd" sh -c 'echo 1 >f && mv f g'
is "$(cat "$odd/g")" 1 "worked there"
tmp=$(mktemp -d /tmp/cordon-test.XXXXXX)
ok "a folder in /tmp" in_folder "$tmp" sh -c 'echo 1 >f && test ! -e /tmp/not-ours && echo x >/tmp/private'
is "$(cat "$tmp/f")" 1 "worked there"
ok "while /tmp itself stays private" test ! -e /tmp/private
rm -rf "$tmp"
done_testing
