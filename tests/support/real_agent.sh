# shellcheck shell=bash
# real_agent - drives an agent from the npm registry through two prompts and their undo; sourced.
# SPDX-License-Identifier: MIT
#
# A model's stand-in (agent_api.py) answers it: read, edit, write and run a command for the first prompt, write for
# the second. The script that sources this sets:
#   agent             its command        ready     what its first screen says
#   permission        what its own permission prompts say ('' if it has none): Enter allows
#   edits             a pattern for the name of the step that changed greet.py
#   begins            how many turns there are before the first prompt, if any
#   slow              skip all if the agent natively needs so many seconds to print its version
# and defines settings(), which writes the agent's settings for a user who has used it before, and sets environment.
: "${agent:?}" "${ready:?}" "${edits:?}" "${permission=}" "${begins:=0}" "${slow:=100}"
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox python3 git node
agents=$PWD/build/agents
[ -x "$agents/bin/$agent" ] || skip_all "$agent is not here: the npm registry could not be reached (make agents)"
# How fast the machine is at this moment, without cordon
began=$SECONDS
HOME=$(new_folder other-home) "$agents/bin/$agent" --version >/dev/null 2>&1
machine=$((SECONDS - began))
[ $machine -lt "$slow" ] || skip_all "it takes $machine s to print the version of $agent: the machine is too slow for it"
dir=$(new_folder work)
PATH=$agents/bin:$PATH

git -C "$dir" init -q
echo 'print("helo")' >"$dir/greet.py"
git -C "$dir" add . && git -C "$dir" -c user.name=u -c user.email=u@x commit -qm one
FOLDER=$dir python3 tests/support/agent_api.py "$TEST_TMP/port" "$TEST_TMP/called" &
api=$!
trap 'tmux_ kill-server 2>/dev/null; kill $api 2>/dev/null' EXIT
wait_for 15 test -s "$TEST_TMP/port"
port=$(cat "$TEST_TMP/port")
settings

questions=0 allowed=0
# Answers for this session: each of the agent's own files is asked about at most once.
answer_question() {
	questions=$((questions + 1))
	screen | grep -E 'ASK' | tail -n 1 | sed 's/^/# /'
	keys C-] a && wait_for 3 screen_has '╔═ . ASK' || return 0
	until_keys_count
	keys a
	wait_for 2 screen_lacks '╔═' || keys Escape
}
has_called() { grep -q "$1" "$TEST_TMP/called"; }
# until_done COMMAND... - answers questions and the agent's own prompts until the command succeeds.
patience=400 # for its start: an agent of 100 MB of JavaScript on a loaded machine
until_done() {
	local end=$((SECONDS + patience))
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || return 1
		if screen_has '\? [0-9]+ waiting'; then
			answer_question
		elif [ -n "$permission" ] && screen_has "$permission"; then
			allowed=$((allowed + 1))
			keys Enter
			wait_for 3 screen_lacks "$permission"
		else
			sleep 0.1
		fi
	done
}
# prompts TEXT - types it, and continues when the model has said that it is done.
prompts() {
	type_text "$1"
	until_done screen_has "$1" && keys Enter
	if until_done has_called "done $1" && wait_for 30 screen_has "All done: $1"; then
		pass "$agent does: $1"
	else
		fail "$agent does: $1" "$(cat "$TEST_TMP/called")"
	fi
}
rest() { git -C "$dir" status --porcelain --untracked-files=all; }

start 150 45 "$dir" "$CORDON run --allow-domain localhost:$port -- $agent"
if until_done screen_has "$ready"; then
	pass "$agent starts"
else
	fail "$agent starts"
	done_testing
	exit 1
fi
patience=$((150 + 30 * machine))
prompts "fix the greeting"
ok "at most one question until its first prompt is done" test "$questions" -le 1
[ -z "$permission" ] || ok "its own prompts are answered in its pane" test "$allowed" -ge 1
is "$(cat "$dir/greet.py" "$dir/NOTES.md" "$dir/out/result.txt")" $'print("hello")\nthe greeting is fixed\nhello' \
	"the files are as the model wished"
prompts "add a licence"
ok "no further question" test "$questions" -le 1

log=$(cordon_in "$dir" log --json)
like "$log" '"command":"mkdir -p out && python3 greet.py > out/result.txt"' "a command's step has its words"
like "$log" "$edits" "an edit's step has a name"
unlike "$(cordon_in "$dir" log)" '/snapshot/' "its own copies of the folder are no steps"
turns() { cordon_in "$dir" log --turns --json | grep -vc '"files":0'; }
has_turns() { [ "$(turns)" = $((2 + begins)) ]; }
ok "each prompt is a turn" wait_for 15 has_turns

# undoes TEXT NAME - the turn of the step with that text; again if a program of the agent's own has begun meanwhile.
undoes() {
	local before try
	before=$(rest)
	for try in 1 2 3; do
		keys C-] s
		keys / && type_text "$1" && keys Enter
		press_until 'Rolls back [0-9s]' "T is about $2 ($try)" T
		ok "U closes the dialog" wait_for 30 dialog_is_done
		! wait_for 4 differs "$before" || break
	done
}
differs() { [ "$(rest)" != "$1" ]; }
dialog_is_done() { keys U && wait_for 2 screen_lacks '╔═'; }
undoes LICENSE "the newest turn"
is "$(rest)" $' M greet.py\n?? NOTES.md\n?? out/result.txt' "it alone is gone"
undoes 'mkdir -p out' "the first turn"
is "$(rest)" "" "all is back as it was"
keys C-] t
loses 'ended' "$agent is alive"
note "$agent: questions $questions, its own prompts $allowed"
close_all
done_testing
