#!/bin/bash
# late_secret - an .env file that an external program creates or renames during the session is hidden.
# SPDX-License-Identifier: MIT
# with: /dev/fuse
. "$(dirname "$0")/../support/lib.sh"
need_sandbox python3
[ -w /dev/fuse ] || skip_all "no FUSE here: nothing hides what comes later"
dir=$(new_folder work)
cd "$dir" || exit 1
mkdir a && echo OLD >.env
mkdir -p "$HOME/.config/cordon"
printf '[rule "closed"]\n\tdeny = read %s/**/*.pem\n\tdeny = read %s/priv/**\n' "$dir" "$dir" >"$HOME/.config/cordon/config"

cat >agent.sh <<'S'
shut() { # is it unreadable, soon?
	local i
	for i in $(seq 500); do
		cat "$1" >/dev/null 2>&1 || { echo "$1 is shut"; return; }
		sleep 0.02
	done
	echo "$1 stays open: $(cat "$1")"
}
cat .env
echo OWN >b.env && mv b.env a/.env
echo >ready
until [ -e go ]; do sleep 0.02; done
shut ./.env; shut a/.env; shut a/.env.local; shut whole/sub/.env; shut a/.ENV
shut late/sub/key.pem; shut priv/keys/k; cat late/sub/open
cat a/.env.example
# Many at once, in new directories, while the machine is busy.
while :; do :; done &
trap "kill $!" EXIT
echo >ready2
until [ -e go2 ]; do sleep 0.02; done
for i in $(seq 400); do
	open=$(cat many/*/sub/.env 2>/dev/null | wc -l)
	[ "$open" = 0 ] && break
	sleep 0.05
done
echo "$(ls many | wc -l) are there, $open stay open"
S
timeout 60 "$CORDON" run --headless -- bash agent.sh >out 2>&1 &
wait_for 20 test -e ready
echo NEW >.env.tmp && mv .env.tmp .env
echo NEW >a/.env
echo NEW >a/.ENV
echo NEW >elsewhere && mv elsewhere a/.env.local
echo example >a/.env.example
mkdir -p ../whole/sub && echo NEW >../whole/sub/.env && mv ../whole .
mkdir -p ../late/sub ../made/keys && echo NEW >../late/sub/key.pem && echo readable >../late/sub/open && mv ../late .
echo NEW >../made/keys/k && mv ../made priv
echo >go
wait_for 20 test -e ready2
python3 -c 'import os
for i in range(1500):
	os.makedirs(f"many/{i}/sub")
	open(f"many/{i}/sub/.env", "w").write("NEW\n")'
echo >go2
wait $!
out=$(cat out)
unlike "$out" OLD "what was there is hidden"
like "$out" "cannot move 'b.env'" "those inside cannot make such a file"
like "$out" "\\./.env is shut" "one that replaces another by a rename is hidden"
like "$out" "a/.env is shut" "and a new one"
like "$out" "a/.env.local is shut" "and one that was moved there"
like "$out" "a/.ENV is shut" "and one in other letters"
like "$out" "whole/sub/.env is shut" "and one in a directory that was moved there"
like "$out" "late/sub/key.pem is shut" "and a file that a rule closes, in a directory that was moved there"
like "$out" "priv/keys/k is shut" "and all that lies in a directory that a rule closes"
like "$out" "readable" "but no other"
like "$out" "1500 are there, 0 stay open" "and very many of them, on a busy machine"
like "$out" "example" "an example can be read"
is "$(cat .env a/.env a/.env.local whole/sub/.env | sort -u)" NEW "the host has them all"
done_testing
