#!/bin/bash
# refused - every refusal has a line with a reason: secrets in the folder, the network, sockets.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
dir=$(new_folder work)
cd "$dir" || exit 1
echo SECRET >.env

denied() { cordon_in "$dir" audit --json | grep '"event":"deny"'; }

out=$(in_folder "$dir" sh -c 'echo more >>.env; echo 1-$?; rm .env; echo 2-$?; mv .env x; echo 3-$?; ls -A' 2>&1)
is "$(cat .env)" SECRET "nothing happens to .env"
like "$out" "rm: .*'.env': Permission denied" "who removes it hears that it may not, as ls shows it"
unlike "$out" "No such file" "and not that there is none"
for op in openat unlink rename; do
	like "$(denied)" "\"op\":\"${op}[a-z0-9]*\",\"path\":\"$dir/.env\".*its name says" "$op leaves a line and the reason"
done
out=$(in_folder "$dir" sh -c 'rm .env.none' 2>&1)
like "$out" "No such file" "a secret that is not there is not there"

# Without a network each attempted host, and each name, has a line.
# shellcheck disable=SC2016 # python's variable
try='
import socket, sys
for kind, family, to in [
        (socket.SOCK_STREAM, socket.AF_INET, ("192.0.2.1", 443)),
        (socket.SOCK_DGRAM, socket.AF_INET, ("192.0.2.53", 53)),
        (socket.SOCK_STREAM, socket.AF_INET6, ("2001:db8::1", 80)),
        (socket.SOCK_STREAM, socket.AF_INET, ("127.0.0.1", 1)),
        (socket.SOCK_STREAM, socket.AF_UNIX, "/run/docker.sock"),
        (socket.SOCK_STREAM, socket.AF_UNIX, "/run/user/%d/gnupg/S.gpg-agent" % __import__("os").getuid()),
        (socket.SOCK_STREAM, socket.AF_UNIX, "/run/dbus/system_bus_socket"),
        (socket.SOCK_STREAM, socket.AF_UNIX, "/run/other")]:
    try:
        socket.socket(family, kind).connect(to)
    except OSError as e:
        print(to, e.strerror)
'
"$CORDON" run --headless --no-network -- python3 -c "$try" >/dev/null
out=$(denied)
like "$out" '"path":"192.0.2.1:443".*no network: --network ask' "a host that was tried leaves a line"
like "$out" '"path":"192.0.2.53:53".*looks a name up' "so does a name that was looked up"
[ ! -e /proc/net/if_inet6 ] || like "$out" '"path":"\[2001:db8::1\]:80"' "and one of the other family"
unlike "$out" '127.0.0.1' "loopback is there"
for path in /run/docker.sock '/run/user/[0-9]*/gnupg/S.gpg-agent' /run/dbus/system_bus_socket; do
	like "$out" "\"path\":\"$path\".*socket of the host: --allow-unix" "so does $path"
done
unlike "$out" '/run/other' "of what nobody knows there is nothing to tell"
done_testing
