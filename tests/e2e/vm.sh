#!/bin/bash
# vm - the virtual machine: two boots, emulated, in which everything is looked at; what is refused without one.
# SPDX-License-Identifier: MIT
# root only: the guest boots emulated, which is too slow for a second run
# timeout: 300
. "$(dirname "$0")/../support/lib.sh"
. "$(dirname "$0")/../support/tmux.sh"
need tmux
[ "$(uname -m)" = x86_64 ] || skip_all "this backend runs on x86-64 only"
need qemu-system-x86_64
# The kernel is downloaded once for this tree (27 MB), by the command that does it for people.
kept=$PWD/build/vm packages=$PWD/build/vm/cordon/vm/packages
kernel() { find "$packages" -path '*/boot/vmlinuz-*' 2>/dev/null | head -n 1; }
if [ -z "$(kernel)" ]; then
	mkdir -p "$kept"
	said=$(XDG_STATE_HOME=$kept timeout 120 "$CORDON" vm build --download 2>&1) ||
		skip_all "no kernel can be had: $(tail -n 1 <<<"$said")"
	note "$said"
fi
dir=$(new_folder work)
mkdir -p "$dir/sub" "$dir/.git/hooks" "$HOME/.ssh" "$HOME/.config/cordon" && echo kept >"$dir/kept" && echo gone >"$dir/gone"
echo "SECRET key" >"$HOME/.ssh/id"
printf '[sandbox]\n\tbackend = vm\n\tmode = static\n[vm]\n\tkernel = %s\n\tmemory = 512m\n\tdisk = 128m\n' \
	"$(kernel)" >"$HOME/.config/cordon/config"
run() { (cd "$dir" && exec "$CORDON" run "$@"); }
refused() { # REGEX NAME ARGUMENTS... - 125, one line, nothing has run
	local regex=$1 name=$2 out
	shift 2
	out=$(run --headless "$@" -- touch "$dir/ran" 2>&1)
	is "$?" 125 "$name: refused"
	like "$out" "^cordon: [^"$'\n'"]*${regex}[^"$'\n'"]*$" "$name: in one line"
	ok "$name: nothing has run" test ! -e "$dir/ran"
}

# ---- without a boot

refused "no network yet" "an open network" --network open
refused "cannot tell hosts apart" "a domain" --allow-domain example.org
refused "too little" "20 MiB" --vm-memory 20m
refused "not free here" "more memory than there is" --vm-memory 9000g
refused "vm.kernel" "no such kernel" --set vm.kernel=/nowhere/vmlinuz-1
refused "vm.mode" "no such mode" --vm-mode forever
mkdir -p "$TEST_TMP/k/boot" "$TEST_TMP/k/lib/modules/1" && echo "no kernel" >"$TEST_TMP/k/boot/vmlinuz-1"
echo "kernel/fs/overlay.ko" >"$TEST_TMP/k/lib/modules/1/modules.order"
refused "no module 'virtio_pci'" "a kernel without virtio" --set "vm.kernel=$TEST_TMP/k/boot/vmlinuz-1"
printf 'kernel/%s.ko\n' virtio_pci virtio_console virtiofs overlay >"$TEST_TMP/k/lib/modules/1/modules.builtin"
: >"$TEST_TMP/k/lib/modules/1/modules.order"
refused "did not start: its last words: .*" "a kernel that is none" --set "vm.kernel=$TEST_TMP/k/boot/vmlinuz-1"
mkdir "$TEST_TMP/path" && for p in sh touch; do ln -s "$(command -v $p)" "$TEST_TMP/path/$p"; done
out=$(PATH=$TEST_TMP/path run --headless -- true 2>&1)
like "$out" "^cordon: [^"$'\n'"]*install QEMU[^"$'\n'"]*$" "no QEMU: what to install"
out=$("$CORDON" doctor --json | grep '^{"backend":"vm"')
like "$out" '"probe":"QEMU","ok":true' "doctor finds QEMU"
like "$out" '"probe":"processor"' "and says how the processor runs"

# ---- first boot: without a terminal, persistent

cat >"$dir/look.sh" <<'LOOK'
read -r line && echo "input $line"
echo err >&2
echo "cwd $(pwd)"
echo "uid $(id -u)"
echo "cordon $CORDON"
echo "root $(grep -c '^root / overlay' /proc/mounts)"
echo "folder $(grep -c "virtiofs rw" /proc/mounts)"
echo "nets $(ls /sys/class/net | tr '\n' ' ')"
echo "ssh $(ls "$HOME/.ssh/id" 2>&1 | grep -c 'No such file')"
echo "self $(tr '\0' ' ' </proc/1/cmdline)"
echo made >made && mkdir d && echo in >d/f && rm gone && mv kept sub/moved && ln -s made link
echo "hook $(echo x 2>&1 >.git/hooks/pre-commit | grep -cE 'denied|permitted')"
touch /etc/of-the-guest && echo kept >/var/kept-of-guest && echo "etc $(ls /etc/of-the-guest)"
echo "tmp $(ls /tmp | wc -l)"
(setsid sleep 300 &)
exit 7
LOOK
before=$(tree "$dir") mark=$(new_mark)
out=$(echo words | run --headless --vm-mode persistent -- sh ./look.sh "$mark" 2>"$TEST_TMP/err")
is "$?" 7 "the exit status is the command's"
has() { if grep -qxF "$1" <<<"$out"; then pass "$2"; else fail "$2" "no line: $1
$out
$(cat "$TEST_TMP/err")"; fi }
has "input words" "standard input arrives"
is "$(head -n 1 "$TEST_TMP/err")" err "standard error is apart"
has "cwd $dir" "the working directory has its own path"
has "uid $(id -u)" "the same user"
has "cordon 1" "the environment is the sandbox's"
has "root 1" "the root is the host's tree with a layer over it"
has "folder 1" "the working folder is a share"
has "nets lo " "there is no network device"
has "ssh 1" "a hidden path does not exist"
has "self /init " "pid 1 is ours"
has "hook 1" "a protected path is denied as everywhere"
has "etc /etc/of-the-guest" "the guest's own /etc takes writes"
has "tmp 0" "/tmp is its own"
ok "and the host's does not see them" test ! -e /etc/of-the-guest
is "$(cat "$dir/made" "$dir/d/f" "$dir/sub/moved")" "made
in
kept" "the folder has what the guest wrote"
ok "and not what it removed" test ! -e "$dir/gone"
ok "nothing outlives it" wait_for 5 none_marked "$mark"
ok "undo" cordon_in "$dir" undo
same "$(tree "$dir")" "$before" "brings everything back"
like "$("$CORDON" vm list)" "of +128 MiB +$dir" "vm list knows what is kept"

# ---- second boot: in the console, with the same image

start 100 30 "$dir" "$CORDON run --vm-mode persistent --exit -- sh -c ': $mark; exec bash --norc'"
sees 'network off . vm . emulated' "the status bar says how it runs"
sees 'bash-|#|\$' "the shell's prompt shows" 60
type_text "cat /var/kept-of-guest; stty size; tty; printf '\\033[1mbold\\033[m\\n'"
keys Enter
sees '^kept' "a persistent guest has what the one before it wrote" 30
sees '^[0-9]+ 100$' "its terminal has a size"
sees '^/dev/pts/0' "and is a terminal"
sees '^bold' "escape sequences are obeyed, not shown"
ok "the image is in use" sh -c "cd '$dir' && '$CORDON' vm reset 2>&1 | grep -q 'in use'"
resize 120 40
type_text 'until [ "$(stty size)" != "$old" ]; do :; done; echo size $(stty size)'
keys Enter
sees '^size [0-9]+ [0-9]+' "a new size arrives"
type_text 'echo asleep; sleep 300'
keys Enter
sees '^asleep' "a command runs"
keys C-c
sees "^\\^C" "Ctrl-C is shown"
type_text 'echo status $?'
keys Enter
sees '^status 130' "Ctrl-C interrupts"
# The machine dies: all ends, and the human is told.
monitor=$(pgrep -f -- "$mark" | while read -r p; do [ "$(cat "/proc/$p/comm" 2>/dev/null)" = cordon-monitor ] && echo "$p"; done)
qemu=$(pgrep -P "$monitor" | head -n 1)
isnt "$qemu" "" "QEMU is the monitor's child"
is "$(grep -E '^(CapEff|NoNewPrivs|Seccomp):' "/proc/$qemu/status" | tr -s '\t\n' ' ')" \
	"CapEff: 0000000000000000 NoNewPrivs: 1 Seccomp: 2 " "QEMU has no capability and a filter"
is "$(find "/proc/$qemu/fd" -lname "$dir*" | wc -l)" 0 "and no descriptor of the folder"
kill -KILL "$qemu"
ok "its end ends everything" wait_for 5 none_marked "$mark"
ended "the console has ended, with 125" 125
ok "reset" cordon_in "$dir" vm reset
is "$("$CORDON" vm list)" "" "forgets what was kept"
done_testing
