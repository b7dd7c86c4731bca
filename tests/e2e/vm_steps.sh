#!/bin/bash
# vm_steps - in a virtual machine each command is a step, too; a safeguard holds, and the guest sees an undo.
# SPDX-License-Identifier: MIT
# not in CI: vm.sh, vm_contract.sh and vm_cases.sh look at each part of it; each boot takes long
# root only: the guest boots emulated, which is too slow for a second run
. "$(dirname "$0")/../support/tmux.sh"
. "$(dirname "$0")/../support/vm.sh"
vm_settings '[safeguard]
	deletes = 5'
dir=$(new_folder work)
mark=$(new_mark)
printf "PS1='ready> '\nHISTFILE=\n" >"$dir/rc"
mkdir "$dir/many" && (cd "$dir/many" && seq -f 'f%g' 20 | xargs touch)
echo before >"$dir/seen" && echo before >"$dir/held" && echo old >"$dir/listed"
began=$SECONDS
seen() { sees "$1" "$2" 60 && note "$((SECONDS - began)) s"; }
steps() { "$CORDON" log "$dir" --json 2>/dev/null | grep -c '"command"'; }
typed() { type_text "$1" && keys Enter; }
command_is() { (cd "$dir" && "$CORDON" log) | grep -Eq -- "$1"; }
logged() { # REGEX NAME
	if wait_for 30 command_is "$1"; then pass "$2"; else fail "$2" "no step like: $1
$(cd "$dir" && "$CORDON" log)"; fi
}
start 130 40 "$dir" "$CORDON run -- sh -c 'exec bash --noprofile --rcfile rc -i' $mark"
seen 'ready>' "a shell in the console"

# ---- a step for each command

typed 'mkdir made'
logged ' 0 +\+1 +mkdir made$' "a command is a step, with its name and status"
typed "sh -c 'echo one >one; echo two >two; exit 3'; clear; echo status=\$?"
logged ' 3 +\+2 +echo one >one; echo two >two; exit 3$' "all that it does is one step, and its status is told"
typed 'echo three | tee three | sed s/e/E/g >Three; clear'
logged ' 0 +\+2 +tee three \| sed s/e/E/g$' "a pipeline is one"
typed 'echo typed >typed; clear; echo $((6*7))'
seen '^42' "what the shell does by itself"
logged '\+1 +sh: edit typed|\+1 +bash: edit typed' "is the agent's"
typed '(sleep 1; echo late >late) & clear; echo $((6*8))'
logged '\+1 .*late' "and what runs in the background is kept, too"

typed "clear; $CORDON step begin both; touch one-of-two; sh -c 'touch two-of-two'; $CORDON step end"
seen '^step [0-9]+: 2 paths' "cordon step is answered inside"
logged '\+2 +both$' "and makes one step of several commands"

# ---- the guest sees at once what the human undoes

cat >"$dir/change.sh" <<'CHANGE'
rm listed
echo after it, and much longer than before >seen
cat seen >held
(trap "" TERM; sleep 600) &
sleep 700
CHANGE
typed 'clear; cat held seen listed; sh ./change.sh; echo ended=$?'
ok "a command changes files and goes on" wait_for 60 grep -q after "$dir/held"
keys C-] s
keys End
press_until 'sh ./change.sh.*\(process [0-9]+\) is still running' "undo names it, and its process in the guest" u
press_until 'changes back +held' "S stops it, and the plan shows" S
press_until 'undone' "U does it" U
ok "the files are back" wait_for 10 grep -q before "$dir/held"
keys C-] t
seen 'ended=137' "the guest's shell saw its command end"
typed 'clear; echo seen=$(cat seen) size=$(stat -c %s seen) listed=$(cat listed) held=$(cat held)'
seen '^seen=before size=7 listed=old held=before' "and everything as it was, at once"
typed 'clear; pgrep -fc "sleep [67]00"; wc -l </run/cordon/rollbacks'
seen '^0' "nothing of the command runs on"
seen '^1' "and the guest was told once"

# ---- a safeguard

count() { find "$dir/many" -type f 2>/dev/null | wc -l; }
still() { # the processor stands: none of its time passes
	local a b
	a=$(cut -d' ' -f14,15 "/proc/$1/stat") && sleep 0.3 && b=$(cut -d' ' -f14,15 "/proc/$1/stat") && [ "$a" = "$b" ]
}
before=$(tree "$dir/many")
qemu=$(vm_qemu "$mark")
typed 'clear; while :; do :; done & rm -r many; echo status=$?'
seen '\? HELD delete rm -r many' "a safeguard holds a command of the guest"
is "$(count)" 16 "before the fifth file is gone"
ok "the whole machine stands still" wait_for 30 still "$qemu"
ok "and whoever asks what waits hears it at once" sh -c "cd '$dir' && timeout 60 '$CORDON' pending | grep -q 'rm -r many'"
keys C-] a
sees 'HELD 1 of 1' "the dialog"
press_until 'stopped and rolled back' "it is denied" d
keys C-] t
# Or all its further calls were refused, before the signal to end has arrived.
seen 'status=(137|1) ' "the command is ended in the guest"
same "$(tree "$dir/many")" "$before" "and rolled back"
ok "the machine runs again" wait_for 30 sh -c "! { $(declare -f still); still $qemu; }"
typed 'kill %1; clear; ls many | wc -l'
seen '^20' "and sees all of it again"
typed 'clear; rm -r many; echo gone=$?'
seen '\? HELD delete rm -r many' "held again"
keys C-] a
sees 'HELD' "the dialog"
press_until 'gone=0' "it is allowed" a
is "$(count)" 0 "and goes on to its end"

# ---- an end while it stands still

typed 'clear; mkdir more; touch more/{1,2,3,4,5,6,7,8}; echo $((6*10))'
seen '^60' "files again"
logged '\+.* touch more' "a step"
typed 'rm -r more'
seen '\? HELD delete rm -r more' "held, and nobody answers"
kill -KILL "$(pgrep -P "$(vm_part cordon "$mark")" -x cordon || vm_part cordon "$mark")"
ok "nothing outlives the session" wait_for 10 none_marked "$mark"
ok "its step is rolled back" sh -c "cd '$dir' && '$CORDON' undo >/dev/null 2>&1; [ \$(ls more | wc -l) = 8 ]"
done_testing
