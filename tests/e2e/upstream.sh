#!/bin/bash
# upstream - hosts behind a company's proxy are reached through it, after they were allowed.
# SPDX-License-Identifier: MIT
# root and user
. "$(dirname "$0")/../support/lib.sh"
. "$(dirname "$0")/../support/hosts.sh"
own_loopback "$@"
dir=$(new_folder work)
cd "$dir" || exit 1
state=$TEST_TMP/upstream
mkdir "$state"
python3 "$(dirname "$0")/../support/upstream.py" "$state" &
wait_for 20 test -e "$state/ready" || skip_all "the test's proxies do not start"
unset HTTPS_PROXY https_proxy HTTP_PROXY http_proxy ALL_PROXY all_proxy NO_PROXY no_proxy

# Like any program: by name if the sandbox has its own network, else through cordon's proxy.
cat >to.py <<'P'
import base64, errno, os, socket, sys, urllib.parse
def dial(host, port):
    if not os.environ.get("HTTPS_PROXY"):
        return socket.create_connection((host, port), timeout=60)
    p = urllib.parse.urlparse(os.environ["HTTPS_PROXY"])
    auth = base64.b64encode(f"{p.username}:{p.password}".encode()).decode()
    s = socket.create_connection((p.hostname, p.port), timeout=60)
    s.sendall(f"CONNECT {host}:{port} HTTP/1.1\r\nProxy-Authorization: Basic {auth}\r\n\r\n".encode())
    head = b""
    while b"\r\n\r\n" not in head:
        got = s.recv(1)
        if not got: raise OSError(errno.ECONNRESET, "reset")
        head += got
    if b" 200 " not in head: raise OSError(errno.EACCES, "refused")
    return s
for target in sys.argv[1:]:
    host, port = target.rsplit(":", 1)
    try:
        s = dial(host, int(port))
        f = s.makefile("rwb")
        line = f.readline()
        f.write(b"x" * 300000); f.flush(); s.shutdown(socket.SHUT_WR)
        print("reached", line.decode().strip(), len(f.read()))
    except socket.gaierror: print("no such name")
    except OSError: print("not reached")
P
run() { "$CORDON" run --headless "$@" 2>"$TEST_TMP/words"; }
said() { cat "$TEST_TMP/words"; }
one_line() { [ "$(wc -l <<<"$1")" = 1 ]; }

for BACKEND in native landlock; do
	use_backend
	export HTTPS_PROXY=http://127.0.0.1:3128
	is "$(run --allow-domain far.example -- python3 to.py far.example:443)" "reached far.example:443 300000" "$BACKEND: a host behind the proxy"
	: >"$state/asked"
	like "$(run -- python3 to.py far.example:443)" "no such name|not reached" "$BACKEND: not one that is not allowed"
	is "$(cat "$state/asked")" "" "$BACKEND: which the proxy never hears of"
	like "$(said)" "far.example.*was refused" "$BACKEND: by the name of the host"
	HTTPS_PROXY=http://user:p%40ss@127.0.0.1:3129 run --allow-domain far.example -- python3 to.py far.example:443 >out
	is "$(cat out)" "reached far.example:443 300000" "$BACKEND: with a password"
	while read -r name url words; do
		HTTPS_PROXY=$url run --allow-domain far.example -- python3 to.py far.example:443 far.example:443 >out
		is "$(sort -u out)" "not reached" "$BACKEND: $name"
		like "$(said)" "$words" "$BACKEND: and it is said"
		ok "$BACKEND: once" one_line "$(said | grep prox)"
	done <<-'T'
		without-a-password http://127.0.0.1:3129 wants.a.user.and.a.password:.set.HTTPS_PROXY
		with-a-wrong-one http://user:wrong@127.0.0.1:3129 refuses.the.user.and.password
		nonsense http://127.0.0.1:3130 is.no.HTTP.proxy
		one-that-cannot http://127.0.0.1:3131 does.not.connect.to.far.example:443:.it.answers.502
		one-that-closes http://127.0.0.1:3132 closes.the.connection.without.an.answer
		one-that-is-down http://127.0.0.1:3139 cannot.be.reached:.Connection.refused
		one-without-a-name http://nowhere.example:3128 cannot.be.looked.up
	T
	: >"$state/asked"
	NO_PROXY=.example run --allow-domain far.example -- python3 to.py far.example:443 >out
	is "$(cat "$state/asked")" "" "$BACKEND: what NO_PROXY names is not asked of it"
	run --set 'rule.r.allow=connect 127.0.0.1' -- python3 to.py 127.0.0.1:443 >out
	is "$(cat "$state/asked")" "" "$BACKEND: nor what is near"
	unset HTTPS_PROXY
	ALL_PROXY=socks5://127.0.0.1:1080 run -- true
	like "$(said)" "ALL_PROXY is not used: only http:// proxies" "$BACKEND: SOCKS is not spoken, which is said"
done

# ---- certificates
mkdir -p "$HOME/certs" "$HOME/.ssh" && echo CA >"$HOME/certs/ca.pem" && echo K >"$HOME/.ssh/id"
export NODE_EXTRA_CA_CERTS=$HOME/certs/ca.pem REQUESTS_CA_BUNDLE=$HOME/certs/ca.pem CURL_CA_BUNDLE=$HOME/.ssh/id
is "$(run -- sh -c 'cat "$NODE_EXTRA_CA_CERTS" "$REQUESTS_CA_BUNDLE"')" "CA
CA" "the variables of certificates go inside, and their files can be read"
is "$(run -- sh -c 'cat "$CURL_CA_BUNDLE"')" "" "but nothing that is hidden"
is "$(SSL_CERT_DIR=$HOME run -- sh -c 'cat certs/ca.pem; ls ~/certs' 2>&1; true)" "$(run -- sh -c 'cat certs/ca.pem; ls ~/certs' 2>&1; true)" "and no whole home"
done_testing
