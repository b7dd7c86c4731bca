#!/bin/bash
# restore - single files and directories of a step, as they were before it, from the command line.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox setfattr setfacl

dir=$(new_folder work)
mkdir -p "$dir/src/deep" && cd "$dir" || exit 1
printf 'int main(void)\n' >src/main.c
printf 'a\n' >src/deep/a && ln src/deep/a src/b && ln -s ../x src/link && mkfifo src/pipe
echo keep >keep && ln keep src/kept && echo other >other
truncate -s 4M src/sparse && echo x >>src/sparse
setfattr -n user.note -v hello src/main.c 2>/dev/null || note "no user attributes here"
setfacl -m u:12345:r src/deep/a 2>/dev/null || note "no ACLs here"
chmod 2751 src/deep && chmod 4640 src/main.c && touch -d '2001-02-03 04:05:06.123456789' src/deep/a src/deep src
cd / || exit 1
before=$(tree "$dir")
below() { tree "$dir" | grep -E '^(\./src|[0-9a-f]{64}  \./src|# file: src|user\.|u:)'; }
src=$(below)

in_folder "$dir" sh -c 'rm -rf src; echo made >made; echo more >>other'
after=$(tree "$dir")

out=$(cordon_in "$dir" undo --step 1 --dry-run -- src)
is "$?" 0 "--dry-run"
is "$(grep -c 'comes back' <<<"$out")" 9 "names all that would come back"
unlike "$out" "made" "and nothing else"
same "$(tree "$dir")" "$after" "and changes nothing"

ok "a directory that was removed comes back" cordon_in "$dir" undo --step 1 -- src
same "$(below)" "$src" "with all that it had"
is "$(cat "$dir/made") $(tail -n 1 "$dir/other")" "made more" "what else the step did stays"
ok "a second file of the step" cordon_in "$dir/src" undo --step 1 -- ../other
ok "what it made goes" cordon_in "$dir" undo --step 1 -- made
same "$(tree "$dir" | grep -v '^\. ')" "$(grep -v '^\. ' <<<"$before")" "and all is as it was before the step"
is "$(cordon_in "$dir" log --json | head -n 1 | grep -c '"kind":"api"')" 1 "a restore is a step"
ok "which can be undone" cordon_in "$dir" undo -n 3
same "$(tree "$dir")" "$after" "and the folder is as the step left it"
ok "and redone" cordon_in "$dir" redo
same "$(below)" "$src" "all of it"

# ---- a later step made the directory anew
ok "undo" cordon_in "$dir" undo -n 3
in_folder "$dir" sh -c 'mkdir src && echo new >src/new'
out=$(cordon_in "$dir" undo --step 1 --dry-run -- src)
like "$out" 'comes back +src/main.c' "a directory that a later step made anew can come back"
unlike "$out" "what later steps changed goes" "and no word says that what is in it now would go"
ok "it comes back" cordon_in "$dir" undo --step 1 -- src
is "$(cat "$dir/src/main.c" "$dir/src/new")" $'int main(void)\nnew' "with what that step made in it"
ok "undo" cordon_in "$dir" undo -n 2
in_folder "$dir" sh -c 'mkdir -m 700 src'
like "$(cordon_in "$dir" undo --step 1 --dry-run -- src)" "comes back +src +what later steps changed goes" "a later step's mode would go"
ok "undo" cordon_in "$dir" undo

# ---- somebody was there since
mkdir "$dir/src" && echo mine >"$dir/src/main.c"
out=$(cordon_in "$dir" undo --step 1 -- src/main.c 2>&1)
isnt $? 0 "a file that somebody made there since is not overwritten"
like "$out" "CONFLICT: changed since that step, and not by later steps alone" "it is named"
is "$(cat "$dir/src/main.c")" mine "and stays"
ok "--force" cordon_in "$dir" undo --step 1 --force -- src/main.c
is "$(cat "$dir/src/main.c")" "int main(void)" "goes over it"
ok "undo" cordon_in "$dir" undo
is "$(cat "$dir/src/main.c")" mine "and what was there comes back"

# ---- a directory of theirs at the place of a file
rm "$dir/other" && mkdir -p "$dir/other/deep" && echo mine >"$dir/other/deep/file"
after=$(tree "$dir")
out=$(cordon_in "$dir" undo --step 1 --force -- other 2>&1)
is "$?" 1 "a directory that somebody filled is not taken away, with --force neither"
like "$(grep ^cordon: <<<"$out")" "'other': a directory is in its place.* move it away first$" "which is said in one line"
same "$(tree "$dir")" "$after" "nothing of it has changed"
mv "$dir/other" "$dir/aside"
ok "moved away" cordon_in "$dir" undo --step 1 --force -- other
is "$(cat "$dir/other" "$dir/aside/deep/file")" "$(printf 'other\nmine')" "it comes back, and theirs is there"

rm "$dir/made" && mkdir "$dir/made" && echo mine >"$dir/made/file"
out=$(cordon_in "$dir" undo --step 1 --force -- made 2>&1)
is "$?" 1 "nor is one in the place of what the step had made"
like "$(grep ^cordon: <<<"$out")" "'made': a directory is in its place.* move it away first$" "which is said as well"
is "$(cat "$dir/made/file")" mine "and not that it was restored"

# ---- another folder of the step
a=$(new_folder a) b=$(new_folder b)
echo one >"$a/file" && echo one >"$b/file"
cd "$a" || exit 1
"$CORDON" run --headless --rw "$a" --rw "$b" -- sh -c "echo two >file; echo two >$b/file; echo new >$b/new"
step=$("$CORDON" log --json | sed -n 's/^{"id":\([0-9]*\),.*/\1/p' | head -n 1)
out=$("$CORDON" undo --step "$step" --dry-run -- "$b/file" "$b/new")
is "$(grep -c " $b/" <<<"$out")" 2 "paths of another folder are named whole"
ok "and restored" "$CORDON" undo --step "$step" -- "$b/file" "$b/new"
is "$(cat "$a/file" "$b/file")" "$(printf 'two\none')" "there, not here"
ok "what it made goes" test ! -e "$b/new"
out=$("$CORDON" undo --step "$step" -- file "$b/file" 2>&1)
isnt $? 0 "of two folders at a time"
like "$out" "one folder at a time" "is refused in words"
is "$(cat "$a/file")" two "and nothing is changed"
ok "by its own absolute name" "$CORDON" undo --step "$step" -- "$a/file"
is "$(cat "$a/file")" one "it is restored"
cd "$b" || exit 1
ok "the restore there is a step there, and undone there" "$CORDON" undo
is "$(cat "$b/file" "$b/new")" "$(printf 'two\nnew')" "with all that it changed"
cd "$dir" || exit 1

# ---- what cannot be
for args in "99 -- src" "1 -- nowhere" "1 -- ../elsewhere"; do
	# shellcheck disable=SC2086 # words
	out=$(cordon_in "$dir" undo --step $args 2>&1)
	isnt $? 0 "undo --step $args fails"
	is "$(wc -l <<<"$out")" 1 "in one line"
done
done_testing
