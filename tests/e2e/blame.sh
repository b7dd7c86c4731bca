#!/bin/bash
# blame - the writer of each line: random edits by commands and by the user, renames, and files without lines.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox

dir=$(new_folder work)
# Each line begins with its writer: "old0 7", "agent3 2" (the third command), "you3 5" (after that one). These are the
# oracle: no two lines are equal, and none is moved.
mkdir -p "$TEST_TMP/bin"
cat >"$TEST_TMP/bin/change-lines" <<'EOF'
#!/bin/sh
# change-lines WHO SEED FILE HOW - deletes, replaces and inserts lines at random
awk -v who="$1" -v seed="$2" '
	BEGIN { srand(seed) }
	function new() { print who " " ++n " " rand() }
	{ r = rand() }
	r < 0.08 { next }
	r < 0.16 { new(); next }
	r < 0.24 { new() }
	{ print }
	END { new() }' "$3" >"$3.new"
case $4 in
0) cat "$3.new" >"$3" && rm "$3.new" ;;
1) mv "$3.new" "$3" ;;
2) rm "$3" && cat "$3.new" >"$3" && rm "$3.new" ;;
esac
EOF
chmod +x "$TEST_TMP/bin/change-lines"
newest() { cordon_in "$dir" log --json | sed -n 's/^{"id":\(-\{0,1\}[0-9]\{1,\}\),.*/\1/p' | head -n 1; }

# wrong FILE - lines of `blame --json` that contradict the oracle; "agent N STEP" lines are in $TEST_TMP/steps.
wrong() {
	cordon_in "$dir" blame --json "$1" |
		sed 's/^{"line":\([0-9]*\),"by":"\([a-z]*\)","step":\([-0-9a-z]*\),"unsure":\([a-z]*\),.*"text":"\([a-z]*\)\([0-9]*\) \(.*\)"}$/\1 \2 \3 \4 \5 \6 \7/' |
		awk -v file="$dir/$1" '
			BEGIN { while ((getline l <"'"$TEST_TMP/steps"'") > 0) { split(l, f, " "); step[f[1]] = f[2] }
				while ((getline l <file) > 0) text[++n] = l
				by["old"] = "before"; by["agent"] = "step"; by["you"] = "outside" }
			{ want = $5 == "old" ? step[1] : step[$6] }
			$1 != NR || $2 != by[$5] || $3 != want || $4 != "false" || $5 $6 " " $7 " " $8 != text[NR]
			END { if (NR != n || n < 50) print NR " lines, the file has " n }'
}

for ((i = 0; i < 120; i++)); do echo "old0 $i $RANDOM"; done >"$dir/f"
touch -d 2001-02-03 "$dir/f"
seed=$RANDOM file=f
note "seed $seed"
: >"$TEST_TMP/steps"
for k in 1 2 3 4 5 6 7 8; do
	how=$((k == 4 || k == 7)) command="change-lines agent$k $((seed + k)) $file $how"
	case $k in
	3) command="$command && mkdir sub && mv $file sub/g" file=sub/g ;;
	5) command="mv sub moved && change-lines agent$k $((seed + k)) moved/g 0" file=moved/g ;;
	6) command="$command && mv moved again && mv again/g again/h" file=again/h ;;
	8) command="change-lines agent$k $((seed + k)) $file 1 && mv $file other" file=other ;; # not the same inode
	esac
	in_folder "$dir" sh -c "$command"
	echo "$k $(newest)" >>"$TEST_TMP/steps"
	is "$(wrong $file)" "" "after command $k each line is its writer's"
	[ $((k % 3)) = 2 ] && continue
	"$TEST_TMP/bin/change-lines" you$k $((seed + 100 + k)) "$dir/$file" $((k < 6))
	[ $k = 7 ] && mv "$dir/$file" "$dir/mine" && file=mine
	is "$(wrong $file)" "" "and after your edit"
done

# ---- as text
out=$(cordon_in "$dir" blame $file)
is "$(wc -l <<<"$out")" "$(wc -l <"$dir/$file")" "a row for each line"
at=$(grep -n '^agent4 ' "$dir/$file" | head -n 1)
like "$(sed -n "${at%%:*}p" <<<"$out")" "^4 .* change-lines agent4… .* ${at%%:*}  ${at#*:}$" "which has step, command, number, text"
like "$(grep '  you7 ' <<<"$out" | head -n 1)" "^you " "your lines are called yours"
like "$(grep '  old0 ' <<<"$out" | head -n 1)" "^before " "and older ones older"
turns=$(find "$HOME" -name turns)
printf 'session 3 1700000000000000 claude\nturn 3 1700000000000001\nwords fix \033[31mit\n' >"$turns"
out=$(cordon_in "$dir" blame "$file:${at%%:*}")
like "$out" "step     4,.*
command  change-lines agent4.*
prompt   fix .*it
agent    claude" "FILE:LINE has the step, command, prompt and agent"
unlike "$out" $'\033' "escaped"
like "$(cordon_in "$dir" blame --json "$file:${at%%:*}")" \
	'^\{"line":[0-9]+,"by":"step","step":4,.*"turn":"2023-11-14T.*"prompt":"fix .*","agent":"claude","text":"agent4 [^"]*"\}$' "--json too"
out=$(cordon_in "$dir" blame "$file:9999" 2>&1)
is "$? $(grep -c 'no line 9999' <<<"$out")" "1 1" "a line that is not there"

# ---- files without lines
hostile=$'odd\033[2J:7'
printf 'x\0y' >"$dir/binary" && : >"$dir/empty" && echo untouched >"$dir/untouched" && touch -d 2001-02-03 "$dir/untouched"
in_folder "$dir" sh -c "rm $file; printf 'a\\0b' >binary2; printf 'one\\033[2J\\ntwo' >'$hostile'; ln -s empty link"
id=$(newest)
out=$(cordon_in "$dir" blame "$file" 2>&1)
is "$? $(grep -c "step $id deleted it" <<<"$out")" "1 1" "a deleted file: the step that deleted it"
out=$(cordon_in "$dir" blame sub/g 2>&1)
is "$? $(grep -c "step 5 renamed it to 'moved/g'" <<<"$out")" "1 1" "a renamed one: its name"
for f in binary binary2 link . nothing ../x; do
	out=$(cordon_in "$dir" blame "$f" 2>&1)
	isnt $? 0 "$f: refused"
	is "$(wc -l <<<"$out") $(grep -c '^cordon: ' <<<"$out")" "1 1" "$f: in one line"
done
is "$(cordon_in "$dir" blame empty)" "" "an empty file has no lines"
like "$(cordon_in "$dir" blame untouched)" "^before " "a file that no step touched"
out=$(cordon_in "$dir" blame "$hostile")
is "$(grep -c "^$id " <<<"$out")" 2 "a name that ends as a line number does"
unlike "$out" $'\033' "and what it has is escaped"
like "$(cordon_in "$dir" blame "$hostile:2")" "^2        two" "and its second line"

# ---- a line that you took back
back=$(new_folder back)
printf 'one\ntwo\n' >"$back/f"
in_folder "$back" sh -c "sed -i 's/two/2/' f"
ok "a change is taken back" cordon_in "$back" undo --step 1 -- f
in_folder "$back" sh -c 'echo 3 >>f'
printf 'session 0 1700000000000000 claude\nturn 0 1700000000000001\nwords fix it\n' >"$(dirname "$(find "$HOME" -path '*back*' -name state)")/turns"
out=$(cordon_in "$back" blame f)
like "$out" '(^|'$'\n'')you 2 .* undo --step 1 -- f .* 2  two'$'\n' "is yours, in that step"
like "$out" $'\n''3 .* fix it .* 3  3$' "the agent's lines are of its prompt"
like "$(cordon_in "$back" blame --json f:2)" '"by":"step","step":2,.*"prompt":null,"agent":null' "--json names no agent"
like "$(cordon_in "$back" blame f:2)" 'you +made this step' "FILE:LINE says so"

# ---- while a step runs
start_in "$dir" sh -c 'echo now >>untouched; echo made >"$0"; exec sleep 60' made
wait_for 10 grep -q made "$dir/made"
out=$(cordon_in "$dir" blame untouched 2>&1; cordon_in "$dir" blame made 2>&1; cordon_in "$dir" blame "$hostile")
is "$(grep -c '^[0-9]*? ' <<<"$out")" 3 "lines that it may have written are marked"
kill "$pid" && wait "$pid"

# ---- a large file
# Without an after-image (above 256 KiB) an edit after the newest step cannot be told from it.
big=$(new_folder big)
in_folder "$big" sh -c 'seq 100000 | sed "s/^/line /" >big'
echo mine >>"$big/big"
is "$(cordon_in "$big" blame --json big:100001 | grep -o '"by":"step","step":1,"unsure":true')" \
	'"by":"step","step":1,"unsure":true' "a line that is a step's or yours is unsure"
done_testing
