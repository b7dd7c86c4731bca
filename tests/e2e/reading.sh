#!/bin/bash
# reading - the past: cordon log PATH, cordon diff over several steps, undo --to, steps that do not exist.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox

dir=$(new_folder work)
mkdir "$dir/old" && printf 'one\ntwo\n' >"$dir/old/f" && echo other >"$dir/g" && echo left >"$dir/gone"
before=$(tree "$dir")
in_folder "$dir" sh -c 'echo three >>old/f'			 # 1
in_folder "$dir" sh -c 'echo 2 >>g; mkdir sub; echo new >sub/n' # 2
two=$(tree "$dir")
in_folder "$dir" mv old new					  # 3
in_folder "$dir" sh -c 'sed -i s/one/ONE/ new/f; rm gone'	 # 4
in_folder "$dir" sh -c 'echo tmp >tmp; echo g3 >>g'		  # 5
in_folder "$dir" sh -c 'rm tmp; mv new/f new/final'		  # 6
ids=$(cordon_in "$dir" log --json | sed 's/{"id":\([0-9-]*\).*/\1/' | tr '\n' ' ')
is "$ids" "6 5 4 3 2 1 " "six steps"
log_of() { cordon_in "$dir" log --json "$@" | sed 's/{"id":\([0-9-]*\).*/\1/' | tr '\n' ' '; }

# ---- which steps touched a path
is "$(log_of new/final)" "6 4 3 1 " "log PATH follows a file and its directory through renames"
is "$(log_of g)" "5 2 " "log PATH of a file that was only written to"
is "$(log_of g sub)" "5 2 " "log PATH PATH: a directory takes in what is below it"
is "$(log_of tmp)" "6 5 " "log PATH of a file that came and went"
is "$(log_of nothing)" "" "log PATH of a path that no step touched"
like "$(cordon_in "$dir" log nothing)" "No step touched it" "and says so"
is "$(cordon_in "$dir/new" log --json final | wc -l)" 4 "paths are relative to the current directory"
out=$(cordon_in "$dir" log ../elsewhere 2>&1)
is "$? $(wc -l <<<"$out")" "125 1" "log of a path outside is one line"

# ---- several steps as one
all=$(cordon_in "$dir" diff 1..6)
like "$all" "rename from old/f
rename to new/final" "diff A..B follows renames of a file and of its directory"
like "$all" "-one
.two
.three|-one
.ONE" "and has the net change of its content"
unlike "$all" "tmp" "what came and went between is not there"
like "$all" "deleted file mode" "what was deleted is"
same "$(cordon_in "$dir" diff 6..1)" "$all" "the order of writing does not matter"
same "$(cordon_in "$dir" diff 1..)" "$all" "A.. goes to the newest"
same "$(cordon_in "$dir" diff ..6)" "$all" "..B begins with the oldest"
like "$(cordon_in "$dir" diff 2..5 g)" "\+2
\+g3" "only these paths"
unlike "$(cordon_in "$dir" diff 2..5 g)" "sub/n|tmp" "and no others"
like "$(cordon_in "$dir" diff ..3 --stat)" "4 files changed|5 files changed" "..B --stat"
like "$(cordon_in "$dir" diff 3..4)" "--- a/old/f" "a file in a directory that was renamed before it changed"
like "$(cordon_in "$dir" diff 4..5)" "--- a/new/f" "and when the rename came earlier"

# ---- back to a step
now=$(tree "$dir")
out=$(cordon_in "$dir" undo --to 2 --dry-run)
like "$out" "gone" "undo --to --dry-run says what comes back"
same "$(tree "$dir")" "$now" "and changes nothing"
ok "undo --to STEP" cordon_in "$dir" undo --to 2
same "$(tree "$dir")" "$two" "everything newer is rolled back"
is "$(cordon_in "$dir" log --json | grep -c '"undone":true')" 4 "four steps are undone"
like "$(cordon_in "$dir" diff 6)" "rename to new/final" "an undone step can still be looked at"
for args in "diff 1..6" "undo --to 6"; do
	# shellcheck disable=SC2086 # words
	like "$(cordon_in "$dir" $args 2>&1)" "^cordon: step 6 is undone: .cordon redo. brings it back$" "$args: not beside kept ones"
done
ok "redo" cordon_in "$dir" redo
ok "undo --to the oldest" cordon_in "$dir" undo --to 1
ok "and that one" cordon_in "$dir" undo
same "$(tree "$dir")" "$before" "all is as it was"

# ---- missing steps
for args in "undo --to 99" "undo --to 6" "undo --step 99 -- g" "diff 99" "diff 1..99"; do
	# shellcheck disable=SC2086 # words
	out=$(cordon_in "$dir" $args 2>&1)
	r=$?
	isnt $r 0 "$args fails"
	like "$out" "^cordon: .*step" "$args says why"
	is "$(wc -l <<<"$out")" 1 "$args: in one line"
done

# ---- changes elsewhere that a rule allows
mkdir -p "$HOME/.config/cordon" "$HOME/out"
printf '[rule "out"]\n\tallow = write ~/out/**\n' >"$HOME/.config/cordon/config"
in_folder "$dir" sh -c 'echo new >sub; echo out >~/out/g'
like "$(cordon_in "$dir" diff)" "\+\+\+ b${HOME}/out/g" "diff names what lies elsewhere by its whole path"
like "$(cordon_in "$dir" diff --stat)" "${HOME##*/}/out/g +\\| +1" "--stat too"
# ---- names that look like steps or options: after -- there are only paths
odd=$(new_folder odd)
ok "odd names" in_folder "$odd" sh -c 'echo x >./-1; echo y >./--stat; echo z >other; echo n >1'
for path in -1 --stat 1; do
	is "$(cordon_in "$odd" diff -- $path | grep -c '^+[a-z]$')" 1 "diff -- $path is about that file"
	like "$(cordon_in "$odd" diff 1 -- $path)" "^diff.*a/$path" "so is diff 1 -- $path"
done
is "$(cordon_in "$odd" diff | grep -c '^+[a-z]$')" 4 "of four"
like "$(cordon_in "$odd" undo --step 1 --dry-run -- -1)" " -1" "undo takes such a path"
like "$(cordon_in "$odd" undo --step 1 -- -1)" "1 path" "and undoes it"
ok "alone" test ! -e "$odd/-1" -a -e "$odd/--stat" -a -e "$odd/1"
is "$(cordon_in "$odd" log -- --stat | grep -c other)" 1 "cordon log, too"
done_testing
