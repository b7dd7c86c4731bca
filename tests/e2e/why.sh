#!/bin/bash
# why - the answers of cordon why about reading and writing agree with a run with the same options.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
dir=$(new_folder work)
cd "$dir" || exit 1
mkdir -p "$HOME/over/sub" "$HOME/shown/sub" "$HOME/other" "$HOME/.ssh" sub
files=(plain .env sub/.env.local)
for d in . "$HOME/over" "$HOME/shown" "$HOME/other"; do
	mkdir -p "$d/sub"
	for f in "${files[@]}"; do echo here >"$d/$f"; done
done
echo key >"$HOME/.ssh/id"

paths=("$HOME/.ssh/id" /etc/passwd)
for d in "$dir" "$HOME/over" "$HOME/shown" "$HOME/other"; do
	for f in "${files[@]}"; do paths+=("$d/$f"); done
done

# Headless, a question is a denial.
cat >try.sh <<'S'
for p; do
	read=no write=no
	cat "$p" >/dev/null 2>&1 && read=yes
	{ : >>"$p"; } 2>/dev/null && write=yes
	echo "$p read $read write $write"
done
S
said() {
	local p kind words
	for p in "${paths[@]}"; do
		words=$p
		for kind in read write; do
			case $("$CORDON" why $kind "$p" "$@" | head -n 1) in
			allow*) words+=" $kind yes" ;;
			*) words+=" $kind no" ;;
			esac
		done
		echo "$words"
	done
}
for options in "--mode dynamic" "--mode static" "--mode dynamic --overlay $HOME/over" "--mode static --overlay $HOME/over" \
	"--mode dynamic --ro $HOME/shown" "--mode static --ro $HOME/shown"; do
	# shellcheck disable=SC2086 # several words
	same "$(said $options)" "$(timeout 60 "$CORDON" run --headless $options -- bash try.sh "${paths[@]}" 2>/dev/null)" \
		"with $options, why says what a run does"
done
like "$("$CORDON" why read "$HOME/over/x" --overlay "$HOME/over" --hide "$HOME/over/x")" '^hide' "so does --hide"

# Where a tool keeps files, each folder has its own; the gate makes them, and not each backend.
ran() { "$CORDON" run --headless -- sh -c 'mkdir ~/.npm && echo 1 >~/.npm/x && cat ~/.npm/x' 2>/dev/null; }
npm() { "$CORDON" why "$1" "$HOME/.npm/x" | head -n 1 | sed 's/ .*//'; }
mkdir -p "$HOME/.config/cordon"
for backend in native landlock; do
	printf '[sandbox]\n\tbackend = %s\n' "$backend" >"$HOME/.config/cordon/config"
	want="ask ask"
	[ "$(ran)" != 1 ] || want="allow allow"
	[ "$backend $want" != "native ask ask" ] || continue # without a read gate here
	is "$(npm read) $(npm write)" "$want" "$backend: why says of a tool's directory what a run does"
	rm -rf "$HOME/.npm"
done
rm "$HOME/.config/cordon/config"
like "$("$CORDON" why read "$HOME/nothing")" '^ask.*nothing is there now' "what is not there is not asked about"
done_testing
