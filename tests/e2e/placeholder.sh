#!/bin/bash
# placeholder - network.secret: a key that programs inside use without having it.
# SPDX-License-Identifier: MIT
# root and user
. "$(dirname "$0")/../support/lib.sh"
. "$(dirname "$0")/../support/hosts.sh"
need openssl curl
hosts_folder "$@"
hosts_start

# ---- servers behind one address, with certificates of an authority that this human trusts
pki=$TEST_TMP/pki
mkdir "$pki" && (
	cd "$pki" || exit 1
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj '/CN=test authority' \
		-keyout ../ca.key -out ../ca.pem
	sign() { # FILE NAME
		openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$2" -keyout "$1.key" -out "$1.csr"
		openssl x509 -req -in "$1.csr" -CA ../ca.pem -CAkey ../ca.key -CAcreateserial -days 2 -out "$1.crt" \
			-extfile <(echo "subjectAltName=DNS:$2")
	}
	sign good.example good.example
	sign other.example other.example
	sign moves.example wrong.example # whoever answers for it is somebody else
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj '/CN=brief.example' \
		-addext 'subjectAltName=DNS:brief.example' -keyout brief.example.key -out brief.example.crt
) >/dev/null 2>&1
there python3 "$(dirname "$0")/../support/tls_hosts.py" "$pki" 203.0.113.7 443 &
wait_for 10 test -e "$pki/ready" || skip_all "no server"
export SSL_CERT_FILE=$TEST_TMP/ca.pem

secret=sk-real-27182818284590
echo " $secret" >"$TEST_TMP/secret"
command="echo run >>$TEST_TMP/runs; cat $TEST_TMP/secret"
printf '[network]\n\tsecret = "API_KEY, good.example, X-Api-Key, %s"\n\tsecret = "MOVED_KEY, moves.example, X-Api-Key, echo moved"\n\tsecret = "BAD_KEY, good.example, X-Other, exit 3"\n\tsecret = "BRIEF_KEY, brief.example, X-Api-Key, echo brief"\n' \
	"$command" >>"$HOME/.config/cordon/config"
run() { plain "$CORDON" run --headless --allow-domain good.example --allow-domain other.example \
	--allow-domain moves.example --allow-domain brief.example "$@"; }
requests() { cat "$pki/requests" 2>/dev/null; : >"$pki/requests"; }

# ---- the key arrives, and is nowhere inside
cat >look.py <<'E2'
import os, subprocess, urllib.request
key = os.environ["API_KEY"]
print("curl", subprocess.run(["curl", "-sS", "https://good.example/a", "-H", "X-Api-Key: " + key], capture_output=True, text=True).stdout, end="")
r = urllib.request.Request("https://good.example/b", headers={"X-Api-Key": key})
print("python", urllib.request.urlopen(r).read().decode(), end="")
r = urllib.request.Request("https://other.example/c", headers={"X-Api-Key": key})
print("other", urllib.request.urlopen(r).read().decode(), end="")
held = open("/proc/self/environ", "rb").read()
for line in open("/proc/self/maps"):
    span, mode, *_ = line.split()
    if mode[0] == "r" and "[v" not in line:
        a, b = (int(x, 16) for x in span.split("-"))
        with open("/proc/self/mem", "rb", 0) as m:
            m.seek(a)
            held += m.read(b - a)
print("placeholder", key.encode() in held, "secret", b"-".join([b"sk", b"real", b"27182818284590"]) in held)
E2
out=$(run -- python3 look.py 2>&1)
is "$out" "curl hello from good.example, 0 bytes
python hello from good.example, 0 bytes
other hello from other.example, 0 bytes
placeholder True secret False" "curl and python are answered, and memory inside holds the placeholder alone"
got=$(requests)
like "$got" "good.example GET /a key=$secret .*good.example GET /b key=$secret " "the server gets the key"
like "$got" "other.example GET /c key=cordon-[0-9a-f]{40} " "another host at the same address gets the placeholder"
unlike "$got" "other.example.*key=sk-" "and not the key"
is "$(cat "$TEST_TMP/runs")" run "the command ran once"
out=$(run -- sh -c 'curl -sS --compressed https://good.example/echo -H "X-Api-Key: $API_KEY"; curl -sS https://good.example/echo -H "X-Api-Key: x$API_KEY"')
like "$out" "^you sent \*{${#secret}} with None"$'\n'"you sent xcordon-[0-9a-f]{40} with" \
	"a host that repeats the header gives stars; the key is put in for a whole value only"
like "$(run -- sh -c 'curl -sS https://good.example/echo/late -H "X-Api-Key: $API_KEY"')" "^you sent \*{${#secret}} with" "also if the host pauses in the middle"
cat >slow.py <<'E2'
import http.client, os, re, time
c = http.client.HTTPSConnection("good.example")
c.request("GET", "/repeat", headers={"X-Api-Key": os.environ["API_KEY"]})
r = c.getresponse()
time.sleep(1.5) # what is on its way stops in the middle of a key
print(set(re.sub(rb"[*\n]", b"", r.read()).decode()))
E2
is "$(run -- python3 slow.py 2>&1)" "set()" "also to a program that does not read for a while"
: >"$TEST_TMP/runs" && requests >/dev/null
ls "$HOME"/.local/state/cordon/ca-*.pem >/dev/null 2>&1 && fail "no list of authorities is left" || pass "no list of authorities is left"
like "$(cordon_in "$dir" audit --json)" '"op":"secret".*good.example:443' "the use is in the audit log"
like "$(cordon_in "$dir" audit --json)" 'API_KEY' "by its name"
grep -rqF "$secret" "$HOME/.local/state" && fail "nothing outside wrote the key down" || pass "nothing outside wrote the key down"

# ---- bodies, many requests on a connection, large answers
cat >bodies.py <<'E2'
import http.client, os
c = http.client.HTTPSConnection("good.example")
h = {"X-Api-Key": os.environ["API_KEY"]}
for i, body in enumerate((b"a" * 300000, iter([b"b" * 70000, b"c" * 5]), None)):
    c.request("POST" if body else "GET", f"/{i}", body, h, encode_chunked=i == 1)
    print(c.getresponse().read().decode(), end="")
c.request("GET", "/large", headers=h)
print(len(c.getresponse().read()))
E2
is "$(run -- python3 bodies.py 2>&1)" "hello from good.example, 300000 bytes
hello from good.example, 70005 bytes
hello from good.example, 0 bytes
3000000" "long and chunked bodies, keep-alive, a large answer"
is "$(requests | grep -c "key=$secret ")" 4 "each with the key"
if command -v node >/dev/null; then
	cat >get.js <<'E2'
fetch("https://good.example/node", {headers: {"x-api-key": process.env.API_KEY}}).then(r => r.text()).then(t => process.stdout.write(t), e => console.log(e.cause || e));
E2
	is "$(run -- node get.js 2>&1)" "hello from good.example, 0 bytes" "node"
	like "$(requests)" "/node key=$secret " "node's request has the key"
fi

# ---- what is refused
cat >refused.py <<'E2'
import os, socket, ssl
def ask(text, name="good.example", protocols=("http/1.1",)):
    c = ssl.create_default_context()
    c.set_alpn_protocols(list(protocols))
    try:
        with c.wrap_socket(socket.create_connection((name, 443), timeout=20), server_hostname=name) as s:
            s.sendall(text.replace("KEY", os.environ["API_KEY"]).replace("\n", "\r\n").encode())
            data = b""
            while b := s.recv(65536):
                data += b
            return data.decode().replace("\r\n", "\n").split("\n")[0] + " / " + data.decode().strip().split("\n")[-1]
    except OSError as e:
        return type(e).__name__ + " " + str(getattr(e, "reason", ""))
print(ask("GET /x HTTP/1.1\nHost: other.example\nX-Api-Key: KEY\n\n"))
print(ask("GET /x HTTP/1.1\nHost: good.example\nUpgrade: websocket\nX-Api-Key: KEY\n\n"))
print(ask("POST /x HTTP/1.1\nHost: good.example\nX-Api-Key: KEY\nContent-Length: 4\nTransfer-Encoding: chunked\n\n0\n\n"))
print(ask("GET /x HTTP/1.1\nHost: good.example\nX-Other: " + os.environ["BAD_KEY"] + "\n\n"))
print(ask("GET /x HTTP/1.1\nHost: moves.example\nX-Api-Key: " + os.environ["MOVED_KEY"] + "\n\n", "moves.example"))
print(ask("GET /x HTTP/1.1\nHost: brief.example\nX-Api-Key: " + os.environ["BRIEF_KEY"] + "\n\n", "brief.example"))
print(ask("", protocols=("h2",)))
E2
out=$(run -- python3 refused.py 2>&1)
like "$out" "^HTTP/1.1 400 Bad Request / .*Host that is not the connection's" "another Host than the one of the connection"
like "$out" "400 Bad Request / .*: Upgrade" "an upgrade"
like "$out" "400 Bad Request / .*beside a Transfer-Encoding" "two lengths"
like "$out" "502 Bad Gateway / .*BAD_KEY: its command failed" "a command that fails"
like "$out" "moves.example: its certificate is not accepted: hostname mismatch" "a certificate of somebody else"
like "$out" "brief.example: its certificate is not accepted: self.signed" "a certificate that nobody vouches for"
like "$out" "SSLError" "HTTP/2 alone"
is "$(requests)" "" "nothing of it reached a server"

# ---- a command that the agent can write does not run
printf '#!/bin/sh\ntouch %s/ran\necho key\n' "$TEST_TMP" >tool && chmod 755 tool
mkdir -p "$HOME/granted" && cp tool "$HOME/granted/tool"
for at in "$dir/tool" 'exec ~/granted/tool' '"$HOME"/granted/tool'; do
	like "$(run --set 'rule.r.allow=write ~/granted/**' --set "network.secret=OWN_KEY, good.example, X-Own, $at" -- \
		sh -c 'curl -sS https://good.example/ -H "X-Own: $OWN_KEY"' 2>&1)" "OWN_KEY: its command is not run" "a command that the agent can write: $at"
	ok "which does not run" test ! -e "$TEST_TMP/ran"
done
like "$(cordon_in "$dir" audit --json)" 'OWN_KEY: network.secret: .* is in a folder that the agent can write' "the audit log says why"

# ---- only there
is "$(plain "$CORDON" run --headless --no-network -- sh -c 'echo "$API_KEY$SSL_CERT_FILE"' 2>"$TEST_TMP/said")" \
	"$SSL_CERT_FILE" "without hosts to ask about there is no placeholder"
like "$(cat "$TEST_TMP/said")" "network.secret is not offered" "which is said"
like "$(run -- sh -c 'curl -sS https://good.example/; echo >>/run/cordon/ca.pem' 2>&1)" \
	"hello from good.*(Read-only|Permission)" "the list of authorities cannot be written inside"
like "$(run --set 'network.secret=PATH, good.example, X, echo' -- true 2>&1)" "'PATH' cannot be" "a setting that is wrong is said"
kill "$servers"
done_testing
