#!/bin/bash
# editor_pane - E in a diff, inside tmux: the editor is in a pane beside it, whatever the file's name.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox
dir=$(new_folder work)
printf "PS1='ready> '\nHISTFILE=\n" >"$dir/rc"
# vi, so that it gets a line number; it keeps the pane until the test ends it.
cat >"$TEST_TMP/vi" <<'E2'
#!/bin/sh
{ printf '<%s>' "$@" && cat -- "$2"; } >"$0.args.new"
mv "$0.args.new" "$0.args"
read -r go
E2
chmod +x "$TEST_TMP/vi"
names=(plain 'a;' 'b\;' '; touch pwned' "\$(touch pwned)'q\"u" '#{pane_id}')
for n in "${!names[@]}"; do # nobody but the session changes the folder while it runs
	printf 'printf "one\ntwo\n" >./%q; echo made-%d\n' "${names[n]}" $((n + 41)) >"$dir/cmd$((n + 1))"
done
panes_are() { [ "$(tmux_ list-panes -t =t: | wc -l)" = "$1" ]; }
start 130 50 "$dir" "EDITOR=$TEST_TMP/vi $CORDON run -- bash --noprofile --rcfile rc -i"
tmux_ set -g remain-on-exit off
sees 'ready>' "a session in tmux"
n=0
for name in "${names[@]}"; do
	n=$((n + 1))
	type_text "clear; sh cmd$n" && keys Enter
	sees "^made-$((n + 40))" "a command writes $name"
	sees " sh cmd$n +\+2" "which is a step"
	keys C-] s G Enter
	sees '1 \+ one' "its diff"
	keys n j
	keys E
	ok "E makes a pane" wait_for 15 panes_are 2
	ok "with the editor" wait_for 15 test -s "$TEST_TMP/vi.args"
	like "$(cat "$TEST_TMP/vi.args")" '^<\+[0-9]+><' "it is given a line"
	is "$(sed 's/^<[^>]*>//' "$TEST_TMP/vi.args")" "<$dir/$name>one
two" "and the file, as one word"
	rm "$TEST_TMP/vi.args"
	keys Enter
	ok "the pane goes with it" wait_for 15 panes_are 1
	sees '1 \+ one' "the diff is as it was"
	keys q
	loses '> step 1' "and left"
	keys C-] t
done
is "$(find "$dir" "$HOME" -name pwned)" "" "no shell has read a name"
keys C-] q Q
ended "the session is left" 143

start 130 50 "$dir" "EDITOR=no-such-editor $CORDON run -- bash --noprofile --rcfile rc -i"
tmux_ set -g remain-on-exit off
sees 'ready>' "another"
type_text 'echo x >last' && keys Enter
sees 'edit last .*\+1' "writes a file"
keys C-] s G Enter
sees '1 \+ x' "its diff"
keys E
sees 'your editor does not start: set .EDITOR' "an editor that is not there is said"
keys Enter
ok "and the pane goes" wait_for 15 panes_are 1
done_testing
