#!/bin/bash
# vm - the virtual machine: all properties in a few emulated boots; refusals without one.
# SPDX-License-Identifier: MIT
# root only: the guest boots emulated, which is too slow for a second run
. "$(dirname "$0")/../support/tmux.sh"
. "$(dirname "$0")/../support/vm.sh"
. "$(dirname "$0")/../support/hosts.sh"
hosts_enter "$@"
dir=$(new_folder work)
mkdir -p "$dir/sub" "$dir/.git/hooks" "$HOME/.ssh" "$HOME/.config/cordon" && echo kept >"$dir/kept" && echo gone >"$dir/gone"
echo "SECRET key" >"$HOME/.ssh/id"
vm_settings ""
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

refused "cannot show a port" "a published port" --publish 3000
refused "too little" "20 MiB" --vm-memory 20m
refused "not free here" "more memory than there is" --vm-memory 9000g
refused "vm.kernel" "no such kernel" --set vm.kernel=/nowhere/vmlinuz-1
refused "vm.mode" "no such mode" --vm-mode forever
mkdir -p "$TEST_TMP/k/boot" "$TEST_TMP/k/lib/modules/1" && echo "no kernel" >"$TEST_TMP/k/boot/vmlinuz-1"
echo "kernel/fs/overlay.ko" >"$TEST_TMP/k/lib/modules/1/modules.order"
refused "no module 'virtio_pci'" "a kernel without virtio" --set "vm.kernel=$TEST_TMP/k/boot/vmlinuz-1"
printf 'kernel/%s.ko\n' virtio_pci virtio_console virtiofs overlay virtio_net >"$TEST_TMP/k/lib/modules/1/modules.builtin"
: >"$TEST_TMP/k/lib/modules/1/modules.order"
refused "did not start: its last words: .*" "a kernel that is none" --set "vm.kernel=$TEST_TMP/k/boot/vmlinuz-1"
mkdir "$TEST_TMP/k/boot/vmlinuz-2" && mkfifo "$TEST_TMP/k/boot/vmlinuz-3" && cp -r "$TEST_TMP/k/lib/modules/1" "$TEST_TMP/k/lib/modules/2"
refused "no file: name a kernel's image" "a directory for a kernel" --set "vm.kernel=$TEST_TMP/k/boot/vmlinuz-2"
refused "no file: name a kernel's image" "a fifo, which is not waited for" --set "vm.kernel=$TEST_TMP/k/boot/vmlinuz-3"
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
echo "host $(uname -n)"
echo "cordon $CORDON"
echo "root $(grep -c '^root / overlay' /proc/mounts)"
echo "folder $(grep -c "virtiofs rw" /proc/mounts)"
echo "bridge $(cat /sys/bus/pci/devices/0000:00:00.0/device)"
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
out=$(echo words | run --headless --no-network --vm-mode persistent -- sh ./look.sh "$mark" 2>"$TEST_TMP/err")
is "$?" 7 "the exit status is the command's"
has() { if grep -qxF "$1" <<<"$out"; then pass "$2"; else fail "$2" "no line: $1
$out
$(cat "$TEST_TMP/err")"; fi }
has "input words" "standard input arrives"
is "$(head -n 1 "$TEST_TMP/err")" err "standard error is apart"
has "cwd $dir" "the working directory has its own path"
has "uid $(id -u)" "the same user"
has "host $(uname -n)" "the host's name"
has "cordon 1" "the environment is the sandbox's"
has "root 1" "the root is the host's tree with a layer over it"
has "folder 1" "the working folder is a share"
has "bridge 0x29c0" "the machine is a q35"
has "nets lo " "--no-network: there is no network device"
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

# ---- a boot against us: root in the guest takes its first program's descriptors

cat >"$dir/attack.py" <<'ATTACK'
import ctypes, os, socket, subprocess, sys

libc = ctypes.CDLL(None, use_errno=True)


def port(name):
    ports = "/sys/class/virtio-ports"
    dev = [p for p in os.listdir(ports) if open(f"{ports}/{p}/name").read().strip() == name][0]
    for fd in os.listdir("/proc/1/fd"):
        if os.readlink("/proc/1/fd/" + fd) == "/dev/" + dev:
            got = libc.syscall(438, libc.syscall(434, 1, 0), int(fd), 0)  # pidfd_getfd, pidfd_open
            os.set_blocking(got, True)
            return got
    sys.exit("no descriptor of " + dev)


def attempt(name, command):
    done = subprocess.run(["sh", "-c", command], capture_output=True).returncode == 0
    print(name, "done" if done else "refused")


for host in ("good.example", "10.9.9.9", "2001:db8:1::7"):
    s = socket.create_connection((host, 7))
    s.sendall(b"open")
    print(s.recv(9).decode(), host)
print("bridge", open("/sys/bus/pci/devices/0000:00:00.0/device").read().strip())
here = os.getcwd()
subprocess.run("mkdir /run/m && mount -t virtiofs -o rw root /run/m && mount -o remount,rw /", shell=True, check=True)
attempt("etc", "echo x >/run/m/etc/cordon-attack")
attempt("folder", f"echo x >/run/m{here}/through-root")
attempt("hidden", "ls /run/m$HOME/.ssh/id")
attempt("block", "mknod disk b 8 0")
attempt("character", "mknod null c 1 3")
attempt("link", "ln -s ../../../../../../../../etc out && echo x >out/cordon-attack")
attempt("fill", "dd if=/dev/zero of=/fill bs=1M")
print("after", os.path.getsize("/fill") > 0, flush=True)
control, tty = port("control"), port("tty")
for i in range(64):
    os.write(tty, b"tty" * 10000)
for line in (
    b'{"type":"nonsense"}',
    b'{"type":"output","id":99,"stream":"stdout","data":"of nobody"}',
    b'{"type":"step_completed","id":2,"exit_code":1}',
    b'{"type":"ready"}',
    b'{"type":"step_started","id":1}',
):
    os.write(control, line + b"\n")
for i in range(500):
    os.write(control, b'{"type":"taken","id":1,"n":9007199254740991}\n' * 10)
os.write(control, b'{"type":"output","id":1,"stream":"stdout","data":"survived\\n"}\n')
libc.ptrace(16, 1, 0, 0)  # PTRACE_ATTACH: nobody is left who switches off
os.waitpid(1, 0x40000000)
os.write(control, b'{"type":"step_completed","id":1,"exit_code":9,"signal":19,"tty_bytes":9007199254740991}\n')
while True:
    os.write(tty, b"flood" * 10000)
ATTACK
if command -v python3 >/dev/null; then
	before=$(tree "$dir") mark=$(new_mark)
	hosts_start
	out=$(run --headless --network open --set vm.machine=microvm -- python3 ./attack.py "$mark" </dev/null 2>"$TEST_TMP/err")
	is "$?" 9 "a guest that says it was stopped has ended"
	is "$out" "open good.example
open 10.9.9.9
open 2001:db8:1::7
bridge 0x0008
etc refused
folder refused
hidden refused
block refused
character refused
link done
fill refused
after True
survived" "a microvm: its network is open, and its root did nothing more than it may"
	is "$(cat "$TEST_TMP/err")" "" "and nothing is said"
	ok "nor did anything come out" test ! -e /etc/cordon-attack
	ok "nothing outlives that either" wait_for 5 none_marked "$mark"
	ok "undo of it" cordon_in "$dir" undo
	same "$(tree "$dir")" "$before" "brings the folder back"
fi

# ---- another boot: in the console, with the same image

start 100 30 "$dir" "$CORDON run --vm-mode persistent --exit -- sh -c ': $mark; exec bash --norc'"
sees 'network asks . vm . emulated' "the status bar says how it runs"
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
# A shell that is about to start a command may miss the signal.
type_text 'sh -c "trap \"echo woken; exit 3\" INT; echo asleep; while :; do sleep 1; done"; echo status $?'
keys Enter
sees '^asleep' "a command runs"
press_until '^(\^C)+woken' "Ctrl-C interrupts, and is shown" C-c
type_text 'dd if=/dev/zero of=/var/fill bs=1M 2>&1 | grep -o "No space"; sync; echo filled=$?'
keys Enter
sees '^No space' "its image can be filled" 60
sees '^filled=0' "and nothing hangs" 60
# The machine dies: the session ends, and the user is told.
qemu=$(vm_qemu "$mark")
isnt "$qemu" "" "QEMU is the monitor's child"
is "$(grep -E '^(CapEff|NoNewPrivs|Seccomp):' "/proc/$qemu/status" | tr -s '\t\n' ' ')" \
	"CapEff: 0000000000000000 NoNewPrivs: 1 Seccomp: 2 " "QEMU has no capability and a filter"
is "$(find "/proc/$qemu/fd" -lname "$dir*" | wc -l)" 0 "and no descriptor of the folder"
kill -KILL "$qemu"
ok "its end ends everything" wait_for 5 none_marked "$mark"
ended "the console has ended, with 125" 125
# After such an end the kernel may lack the memory to remove any file: then it does not start.
run --headless --vm-mode persistent -- sh -c 'rm /var/fill && echo x >/var/room && echo room' >"$TEST_TMP/room" 2>"$TEST_TMP/err" </dev/null
status=$?
like "$(grep -v '^room' "$TEST_TMP/err")" '^cordon: .*image is full: .*cordon vm reset' "a full image is told of in a line that says what to do"
is "$status $(cat "$TEST_TMP/room")" "$([ $status = 0 ] && echo 0 room || echo 125 "")" "and room can be made in the guest, or nothing has run"
ok "reset" cordon_in "$dir" vm reset
is "$("$CORDON" vm list)" "" "forgets what was kept"
out=$(run --headless -- no-such-command 2>&1)
is "$?" 127 "a command that the guest does not have"
like "$out" "^cordon: 'no-such-command': command not found inside the sandbox: install it, or say its path" "what to do is said"
[ -z "${servers:-}" ] || kill "$servers"
done_testing
