#!/bin/bash
# headless_tty - a command without a console in the user's terminal: its output there, its keys, signals, sizes, and
# the terminal afterwards.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox python3
dir=$(new_folder work)
# in_terminal STREAMS SCRIPT - headless, with a new terminal of 30x100 for the streams ("012"); prints its bytes, and
# whether its modes are unchanged.
in_terminal() {
	python3 - "$CORDON" "$dir" "$@" <<'P'
import fcntl, os, pty, struct, subprocess, sys, termios, threading
cordon, folder, streams, script = sys.argv[1:]
ours, tty = pty.openpty()
fcntl.ioctl(tty, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
before = termios.tcgetattr(tty)
other = [subprocess.DEVNULL, subprocess.PIPE, subprocess.PIPE]
p = subprocess.Popen([cordon, "run", "--headless", "--", "sh", "-c", script], cwd=folder, start_new_session=True,
                     **{n: tty if str(i) in streams else other[i] for i, n in enumerate(("stdin", "stdout", "stderr"))})
shown = []
def read():
    try:
        while True:
            shown.append(os.read(ours, 65536))
    except OSError:
        pass
reader = threading.Thread(target=read)
reader.start()
piped = p.communicate(timeout=60)[0] or b""
after = termios.tcgetattr(tty)
os.close(tty)
reader.join()
print(repr(piped + b"".join(shown)).lstrip("b"), "" if after == before else "modes changed")
P
}
hostile='printf "a\033]52;c;QUJD\007\033]0;t\033\\\\\033[21t\033[6n\033[31mb\033[m\n"'
is "$(in_terminal 012 "$hostile")" "'a\\x1b[31mb\\x1b[m\\r\\n' " "a terminal gets text and colours, no clipboard, title or query"
is "$(in_terminal 1 "$hostile")" "'a\\x1b[31mb\\x1b[m\\r\\n' " "also where only output is one"
is "$(in_terminal 0 "$hostile >&0")" "'a\\x1b[31mb\\x1b[m\\r\\n' " "also through standard input"
is "$(in_terminal 02 "$hostile")" "'a\\x1b]52;c;QUJD\\x07\\x1b]0;t\\x1b\\\\\\x1b[21t\\x1b[6n\\x1b[31mb\\x1b[m\\n' " \
	"a pipe gets each byte"
is "$(in_terminal 012 'printf "\033[?1049h\033[?1000h"; stty raw -echo; kill -9 $$')" \
	"'\\x1b[?1049h\\x1b[?1000h\\x1b[?1049l\\x1b[?1000l' " "what a command leaves on is turned off"
is "$(in_terminal 012 'exec </dev/null >/dev/null 2>&1; sleep 0.5; echo late >/dev/tty')" "'late\\r\\n' " \
	"a command that has closed its streams runs on, and may write to its terminal"
is "$(in_terminal 012 'stty size')" "'30 100\\r\\n' " "its size is the terminal's"
is "$(in_terminal 012 'seq 20000' | md5sum)" "$(echo "'$(seq -f '%.0f\r\n' 20000 | tr -d '\n')' " | md5sum)" "much output is whole"

# ---- terminals of 8-bit characters: they obey the bytes 0x80 to 0x9f, of which UTF-8 has many
eight='printf "caf\\303\\251 \\303\\2336n\\n"'
is "$(in_terminal 012 "$eight")" "'caf\\xc3\\xa9 \\xc3\\x9b6n\\r\\n' " "a terminal with UTF-8 gets all characters"
export PYTHONCOERCECLOCALE=0 # Python would set LC_CTYPE
for of in LC_ALL=C LC_CTYPE=de_DE LANG=de_DE.ISO-8859-1 TERM=vt220; do
	is "$({ [[ $of = T* ]] || unset LC_ALL; export "${of?}"; } 2>/dev/null; in_terminal 012 "$eight")" "'caf? ?6n\\r\\n' " "$of: ASCII"
done
is "$(unset LC_ALL LANG; in_terminal 012 "$eight")" "'caf\\xc3\\xa9 \\xc3\\x9b6n\\r\\n' " "without a locale: UTF-8"
(cd "$dir" && "$CORDON" run --headless -- touch "$(printf '\303\2336n')")
like "$(cordon_in "$dir" diff --stat 2>&1)" 'Û6n' "a name in a list"
like "$(cd "$dir" && LC_ALL=C script -qec "$CORDON diff --stat" /dev/null </dev/null)" '\\u[{]db[}]6n' "LC_ALL=C: the same in ASCII"

# ---- keys and jobs, below a shell
start 100 30 "$dir" "env PS1='\$ ' bash --norc"
sees '^\$' "a shell"
type_text "$CORDON run --headless -- sh -c 'echo rea\"\"dy; trap \"echo INT\" INT; read x; echo \"got \$x\"; read y; stty size; read z'"
keys Enter
sees '^ready' "a command runs"
type_text hello
keys Enter
sees '^got hello' "keys reach it"
keys C-z
sees 'Stopped' "Ctrl-Z gives the terminal back"
type_text 'echo "$((6*7))"' && keys Enter
sees '^42' "the shell works, with its own modes"
resize 90 28
type_text fg && keys Enter
sleep 0.3 && keys Enter
sees '^28 90' "fg goes on; the new size is known"
keys C-c
sees '^\^CINT' "Ctrl-C reaches it"
keys Enter
sees '^\$ *$' "it ends"
type_text "$CORDON run --headless -- sh -c 'sleep 1; echo from-the-back' & wait" && keys Enter
sees '^from-the-back' "in the background it writes"
type_text 'echo "$((6*8))"' && keys Enter
sees '^48' "and takes no keys"

start 80 24 "$dir" "LC_ALL=C $CORDON run -- sh -c 'printf \"caf\\\\303\\\\251 \\\\303\\\\2336n end\"; read x'"
sees 'caf\? \?6n end' "LC_ALL=C: a console sends ASCII"
close_all
done_testing
