#!/bin/bash
# steps - the processes of one step: commands, wrappers, trees of processes, jobs of a shell, remaining processes.
# SPDX-License-Identifier: MIT
# root and user
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox python3
dir=$(new_folder work)
PATH=$(dirname "$CORDON"):$PATH
cd "$dir" || exit 1

# history - one line per step, oldest first: "COMMAND: PATH PATH", "~" before steps without a command.
history() {
	"$CORDON" log --json | python3 -c '
import json, subprocess, sys
for line in reversed(sys.stdin.readlines()):
    s = json.loads(line)
    if s["undone"]: continue
    out = subprocess.run([sys.argv[1], "diff", str(s["id"]), "--raw"], capture_output=True, text=True).stdout
    paths = sorted({l.split(" b/")[-1] for l in out.splitlines() if l.startswith("diff --git ")})
    print(("~" if s["kind"] == "ambient" else "") + s["command"] + ": " + " ".join(paths))' "$CORDON"
}
forget() { "$CORDON" log --discard --yes >/dev/null; }
mode=dynamic
# agent NAME WANT - runs the script on stdin as the agent, in $mode, and compares its history.
agent() {
	cat >"$TEST_TMP/agent.sh"
	cp "$TEST_TMP/agent.sh" agent.sh
	"$CORDON" run --headless --mode "$mode" --steps auto -- bash agent.sh >"$TEST_TMP/out" 2>&1
	same "$(history)" "$2" "$1"
	forget
	find . -mindepth 1 -maxdepth 1 ! -name .cordon ! -name tree -exec rm -rf {} +
}

agent "wrappers" "echo x >a: a
echo x >b; echo x >c: b c
touch d: d
touch e: e
touch f: f
touch g: g
xargs touch: h i" <<'END'
bash -lc 'echo x >a'
env A=1 sh -c 'echo x >b; echo x >c'
nice -n 5 touch d
timeout 10 touch e
nohup touch f >/dev/null 2>&1
sh -c 'exec touch g'
printf 'h i' | xargs touch
END

mkdir -p tree/node_modules/.bin tree/src
cat >tree/Makefile <<'END'
all: o1 o2 o3 o4
o%: ; sleep 0.0$*; cat src/* >$@.tmp; mv $@.tmp $@
END
echo s >tree/src/s
printf '#!/bin/sh\nmkdir -p dist; for i in 1 2 3; do sh -c "echo $i >dist/$i" & done; wait\n' >tree/node_modules/.bin/bundle
chmod +x tree/node_modules/.bin/bundle
agent "trees of processes are one step" "make -s -j4 all: tree/o1 tree/o2 tree/o3 tree/o4
PATH=node_modules/.bin:\$PATH bundle; :: tree/dist tree/dist/1 tree/dist/2 tree/dist/3" <<'END'
cd tree
make -s -j4 all
bash -c 'PATH=node_modules/.bin:$PATH bundle; :'
END
rm -rf tree

agent "commands at the same time" "echo c1 >a; until [ -e c ]; do sleep 0.01; done; echo c1 >b: a b
until [ -e a ]; do sleep 0.01; done; echo c2 >c; until [ -e b ]; do sleep 0.01; done; echo c2 >d: c d" <<'END'
sh -c 'echo c1 >a; until [ -e c ]; do sleep 0.01; done; echo c1 >b' &
sh -c 'until [ -e a ]; do sleep 0.01; done; echo c2 >c; until [ -e b ]; do sleep 0.01; done; echo c2 >d'
wait
END

agent 'a directory "~" is not the home' "mkdir '~': ~
~bash: edit ./~/own: ~/own" <<'END'
mkdir '~'
echo 1 >'~/own'
END

agent "the agent's own edits, a subshell" "~bash: edit own1, own2: own1 own2
sh -c true; echo x >x: x
bash: edit sub: sub
~bash: edit own3: own3" <<'END'
echo 1 >own1; echo 2 >own2
sh -c 'sh -c true; echo x >x'
(cd /; echo s >"$OLDPWD/sub")
echo 3 >own3
END

agent "what outlives its command, and what the agent does meanwhile" \
	"sh -c 'until [ -s own ]; do sleep 0.01; done; echo late >late' & echo now >now: now
~bash: edit own: own
~left running: sh -c 'until [ -s own ]; do sleep 0.01; done; echo late >late' & echo now >now: late" <<'END'
bash -c "sh -c 'until [ -s own ]; do sleep 0.01; done; echo late >late' & echo now >now"
sleep 0.5
echo own >own
until [ -e late ]; do sleep 0.01; done
END

agent "a daemon in a session of its own, while its command runs" \
	"(setsid sh -c \"sleep 0.05; echo d >d1; echo d >d2\" &); until [ -e d2 ]; do sleep 0.01; done; echo e >e: d1 d2 e" <<'END'
bash -c '(setsid sh -c "sleep 0.05; echo d >d1; echo d >d2" &); until [ -e d2 ]; do sleep 0.01; done; echo e >e'
END

# A subshell that only runs other programs makes no trapped call of its own, if it may read all files.
mode=static
agent "a loop that a command has left running is the command's, whatever runs by then" \
	"touch x1 x2 x3; (mkdir s; until [ -e go ]; do :; done; for i in 1 2 3; do rm x\$i; done) & until [ -e s ]; do :; done: s x1 x2 x3
: >go; until [ ! -e x3 ]; do :; done: go
~left running: touch x1 x2 x3; (mkdir s; until [ -e go ]; do :; done; for i in 1 2 3; do rm x\$i; done) & until [ -e s ]; do :; done: x1 x2 x3" <<'END'
sh -c 'touch x1 x2 x3; (mkdir s; until [ -e go ]; do :; done; for i in 1 2 3; do rm x$i; done) & until [ -e s ]; do :; done'
sleep 0.5
sh -c ': >go; until [ ! -e x3 ]; do :; done'
END
agent "of one that nobody knows all is one step" "touch x1 x2 x3: x1 x2 x3
: >go; until [ ! -e x3 ]; do :; done: go
~left running: x1: x1 x2 x3" <<'END'
touch x1 x2 x3
sh -c '(until [ -e go ]; do :; done; for i in 1 2 3; do rm x$i; done) &'
sleep 0.5
sh -c ': >go; until [ ! -e x3 ]; do :; done'
END
mode=dynamic

# Within the quiet time a change belongs to the command's step, later to the step of its remaining processes.
cat >agent.sh <<'END'
bash -c '(echo w >w; sleep 0.03; echo x >x) & until [ -e w ]; do :; done; echo y >y'
until [ -e x ]; do sleep 0.01; done
END
"$CORDON" run --headless --steps auto -- bash agent.sh
like "$(history)" $'until \\[ -e w \\]; do :; done; echo y >y: w (x y$|y\n~left running: \\(echo w .*: x$)' \
	"what a command leaves behind for a moment is its own"
forget
rm -f w x y

# A remaining process that never rests has its own step, and so do the files that it closes between the two.
cat >agent.sh <<'END'
bash -c '(until [ -s own ]; do echo >busy; done) & echo y >y'
sleep 3
echo own >own
END
"$CORDON" run --headless --steps auto -- bash agent.sh
like "$(history)" $'& echo y >y: busy y\n~left running: \\(until .* echo y >y: busy\n' "what never rests"
unlike "$("$CORDON" log)" "edited from outside" "is nobody else's"
forget
rm -f busy own y

# ---- groups, command by command
agent "begin and end in commands of their own" "echo >before: before
the middle: d own1 x y
echo >after: after" <<'END'
sh -c 'echo >before'
bash -c "cordon step begin 'the middle'"
sh -c 'echo x >x'; sh -c 'echo y >y'
echo own >own1
(setsid sh -c 'echo d >d' &); until [ -e d ]; do sleep 0.01; done
bash -c "cordon step end"
sh -c 'echo >after'
END
agent "a command that ran before has its own step" "echo a >a; until [ -e x ]; do sleep 0.01; done; echo b >b1; until [ -e end ]; do sleep 0.01; done; echo b >b2: a b1 b2
group: x
~bash: edit end: end" <<'END'
sh -c 'echo a >a; until [ -e x ]; do sleep 0.01; done; echo b >b1; until [ -e end ]; do sleep 0.01; done; echo b >b2' &
until [ -e a ]; do sleep 0.01; done
cordon step begin group
echo x >x
until [ -e b1 ]; do sleep 0.01; done
cordon step end
echo end >end
wait
END
# ---- an interactive shell in the pane: one step per job
printf "PS1='ready> '\nHISTFILE=\n" >rc
start 130 40 "$dir" "$CORDON run --exit -- bash --noprofile --rcfile rc -i"
sees 'ready>' "a shell in the pane"
job() { # LINE FILE - type it and wait for the file
	type_text "$1" && keys Enter
	wait_for 20 test -s "$2" || fail "the shell runs: $1"
}
job 'echo x | tee a | sed s/x/y/ | tee b' b
job '(cd /; sh -c "echo x >$OLDPWD/c"; sleep 0.1; sh -c "echo x >$OLDPWD/d")' d
job 'sh -c "echo x >e" && sh -c "echo x >f"' f
job 'sh -c "until [ -e h ]; do sleep 0.01; done; echo x >g" &' rc
job 'sh -c "echo x >h"' g
job 'printf "all: m1 m2\nm%%: ; echo x >\$@\n" >Makefile; echo y >y' y
job 'make -s -j2 all; echo x >z' z
job 'sh -c "echo s >stopped"; sh -c "kill -STOP \$\$; echo x >i"' stopped
sees 'Stopped' "a job can be stopped"
job 'fg' i
type_text 'exit' && keys Enter
ended "the shell ends" 0
same "$(history)" "$(cat <<'END'
tee a | sed s/x/y/ | tee b: a b
bash: edit c, d: c d
echo x >e: e
echo x >f: f
echo x >h: h
until [ -e h ]; do sleep 0.01; done; echo x >g: g
~bash: edit Makefile, y: Makefile y
make -s -j2 all: m1 m2
~bash: edit z: z
echo s >stopped: stopped
kill -STOP $$; echo x >i: i
END
)" "its jobs are the steps"
done_testing
