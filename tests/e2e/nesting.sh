#!/bin/bash
# nesting - sandbox.nesting: what namespaces inside can do, and what they cannot reach.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
T=$TOOLS/escape
dir=$(new_folder work)
outside=$(new_folder outside)
cd "$dir" || exit 1
mkdir -p "$HOME/.ssh" && echo SECRET >"$HOME/.ssh/key" && echo plain >"$outside/file"
nest() { "$CORDON" run --headless --set sandbox.nesting=true "$@"; }
# Landlock refuses mounts to the processes that it confines; without it, only mounts can close a tree.
free() { nest --mode static --set sandbox.landlock=off "$@"; }

isnt "$("$CORDON" run --headless -- unshare -Ur echo made 2>/dev/null)" made "no namespaces unless switched on"
printf '[sandbox]\n\tnesting = true\n' >.cordon.conf
isnt "$("$CORDON" run --headless -- unshare -Ur echo made 2>/dev/null)" made "a working folder cannot switch it on"
rm -f .cordon.conf
if [ "$(id -u)" = 0 ]; then
	# The kernel requires CAP_SETFCAP to map id 0 into a nested namespace.
	isnt "$(nest -- unshare -Ur echo made 2>/dev/null)" made "started by root, no id can be mapped inside"
	done_testing
fi

is "$(nest -- unshare -Ur id -u)" 0 "a user namespace"
is "$(nest -- unshare -Urn sh -c 'tail -n +3 /proc/net/dev | wc -l')" 1 "a network of its own"
nest -- unshare -Urm mount -t tmpfs none /tmp 2>/dev/null
isnt "$?" 0 "mounts are refused under Landlock"

# The same commands outside are the oracle.
mkdir "$TEST_TMP/bin"
cat >"$TEST_TMP/bin/jail" <<'E2'
mkdir -p jail"$PWD" jail/sub jail/tmp && ln -s /sub jail/link && ln -s "$PWD" jail/self
unshare -Ur python3 -c 'import os, sys
os.chroot("jail"); os.chdir("/")
for p in (sys.argv[1] + "/in-jail", "/sub/in-sub", "/link/by-link", "/self/by-self", "/../../up", "/none/x", "sub/rel"):
    try: open(p, "w").write("x"); print("made", p)
    except OSError as e: print(e.errno, p)
os.rename("/sub/in-sub", "/sub/moved"); os.mkdir("/sub/d"); os.unlink("/../up")
' "$PWD"
find . -name .cordon -prune -o -print | sort
rm -rf jail
E2
same "$(nest -- sh "$TEST_TMP/bin/jail")" "$(sh "$TEST_TMP/bin/jail")" "paths in a chroot are the chroot's"

echo old >kept
nest -- unshare -Ur sh -c 'echo new >kept; echo more >made; chmod 600 kept'
is "$(cat kept made)" "new
more" "a namespace changes the working folder"
ok "which is undone" "$CORDON" undo
is "$(cat kept) $(ls)" "old kept" "all of it"
nest -- unshare -Ur sh -c 'mkdir -p .git/hooks; echo evil >.git/hooks/pre-commit; echo x >'"$outside"'/new; chmod 777 '"$outside/file" 2>/dev/null
ok "protected and foreign paths stay refused" test ! -e .git/hooks/pre-commit -a ! -e "$outside/new"
is "$(nest -- unshare -Ur cat "$HOME/.ssh/key" 2>/dev/null)" "" "hidden paths stay hidden"

if [ -x /usr/bin/bwrap ] && free -- true 2>/dev/null; then
	is "$(free -- bwrap --unshare-all --ro-bind / / --proc /proc --dev /dev --tmpfs /tmp sh -c 'echo $$; ls -d /proc/2 2>&1 | wc -l')" "2
1" "bubblewrap inside, without Landlock"
	free -- bwrap --unshare-all --dev-bind / / --tmpfs "$TEST_TMP" sh -c 'mkdir -p "$1" && echo hidden >"$1/covered"' sh "$dir"
	ok "what it covers is not written through" test ! -e covered
	free -- bwrap --unshare-all --dev-bind / / sh -c 'echo real >"$1/through"' sh "$dir"
	is "$(cat through)" real "what it binds is"
	ok "and is undone" "$CORDON" undo
	ok "too" test ! -e through
	free -- bwrap --unshare-all --dev-bind / / --tmpfs /mnt sh -c 'echo x >"$1/new"; chmod 777 "$1/file"; : >/usr/x' sh "$outside" 2>/dev/null
	is "$(stat -c %a "$outside/file") $(ls "$outside")" "644 file" "nothing outside is written"
	mkdir "$HOME/over"
	free -- bwrap --unshare-all --dev-bind / / --tmpfs "$HOME/over" sh -c 'echo x >"$1/over/made"
		mkdir "$1/over/d" && chmod 700 "$1/over/d"; echo y >"$1/beside"' sh "$HOME" 2>said
	like "$(cat said)" 'writing ~/beside was refused' "what was refused is told"
	unlike "$(cat said)" '[~]/over' "and nothing of what was written to a mount of its own"
	ok "none of which is the host's" test -z "$(ls "$HOME/over")" -a ! -e "$HOME/beside"
	is "$(free -- bwrap --unshare-all --dev-bind / / sh -c "umount '$HOME'; umount -l '$HOME'; cat '$HOME/.ssh/key'" 2>/dev/null)" "" \
		"nor is a cover taken off"
fi

# Namespaces do not bring the host's control sockets back.
: >"$TEST_TMP/listen"
"$T/net" listen-unix "$outside/control.sock" stream >"$TEST_TMP/listen" 2>&1 &
listener=$!
wait_for 20 grep -q ready "$TEST_TMP/listen"
for how in "nest --" "free --"; do
	out=$($how unshare -Ur "$T/net" unix "$outside/control.sock" 2>&1)
	unlike "$out" ALLOWED "a host's socket stays shut (${how% --})"
	like "$out" denied "was tried"
done
unlike "$(cat "$TEST_TMP/listen")" ARRIVED "nothing arrived"
kill "$listener"
wait "$listener" 2>/dev/null
done_testing
