#!/bin/bash
# network_programs - real programs through the gate: output and exit status are as outside.
# SPDX-License-Identifier: MIT
# root and user
. "$(dirname "$0")/../support/lib.sh"
. "$(dirname "$0")/../support/hosts.sh"
need curl
hosts_folder "$@"
hosts_start
opts=(--allow-domain good.example --allow-domain 203.0.113.7 --allow-domain 2001:db8:1::7 --allow-domain silent.example --allow-domain six.example)
# Outside there is a name server, too; inside there is cordon's.
both() { # NAME COMMAND - the same output and exit status, natively and inside; each in a directory of its own
	local want got
	mkdir -p native inside
	want=$(cd native && sh -c "$2" 2>&1 </dev/null; echo "= $?")
	got=$(cd inside && plain "$CORDON" run --headless --rw "$dir" "${opts[@]}" -- sh -c "$2" 2>/dev/null </dev/null; echo "= $?")
	is "$got" "$want" "$1"
	last=$want
	rm -rf native inside
}
has() { command -v "$1" >/dev/null && [ -x "$(readlink -f "$(command -v "$1")")" ] || { skip "$2" "there is no $1"; false; }; }

both "curl, a page and its headers" 'curl -s -D - http://good.example/ | grep -v ^Date; curl -s -o /dev/null -w "%{http_code} %{remote_ip} %{num_connects}\n" http://good.example/ http://good.example/none http://203.0.113.7/'
like "$last" "200 203.0.113.7 1.*404 203.0.113.7 0" "which is what was meant to be compared"
both "curl, IPv6" 'curl -s -6 "http://[2001:db8:1::7]/"; curl -s http://six.example/'
both "curl, refused and silent" 'curl -sS http://good.example:81/ 2>&1 | sed "s/after [0-9]* ms//"; curl -s -m 1 http://silent.example/; echo $?'
has wget wget && both "wget" 'wget -q -O - http://good.example/; wget -q -T 1 -t 1 -O - http://good.example:81/; echo $?'

# ---- from registries
python3 - "$HOSTS/www" <<'E2'
import base64, hashlib, io, json, os, sys, tarfile, zipfile
www = sys.argv[1]
os.makedirs(www + "/simple/little"); os.makedirs(www + "/npm")
with zipfile.ZipFile(www + "/simple/little/little-1.0-py3-none-any.whl", "w") as z:
    z.writestr("little.py", "word = 'from pip'\n")
    z.writestr("little-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: little\nVersion: 1.0\n")
    z.writestr("little-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    z.writestr("little-1.0.dist-info/RECORD", "little.py,,\n")
open(www + "/simple/little/index.html", "w").write('<a href="little-1.0-py3-none-any.whl">little-1.0-py3-none-any.whl</a>')
b = io.BytesIO()
with tarfile.open(fileobj=b, mode="w:gz") as t:
    for name, text in (("package.json", '{"name":"little","version":"1.0.0"}'), ("index.js", "module.exports = 'from npm'\n")):
        i = tarfile.TarInfo("package/" + name); i.size = len(text); t.addfile(i, io.BytesIO(text.encode()))
open(www + "/npm/little-1.0.0.tgz", "wb").write(b.getvalue())
sha = "sha512-" + base64.b64encode(hashlib.sha512(b.getvalue()).digest()).decode()
json.dump({"name": "little", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": {"name": "little", "version": "1.0.0",
    "dist": {"tarball": "http://good.example/npm/little-1.0.0.tgz", "integrity": sha}}}}, open(www + "/npm/little", "w"))
E2
python3 -m pip --version >/dev/null 2>&1 &&
	both "pip from an index" 'python3 -m pip install -q --no-cache-dir --disable-pip-version-check --root-user-action=ignore --trusted-host good.example --index-url http://good.example/simple --target d little && PYTHONPATH=d python3 -c "import little; print(little.word)"; rm -rf d'
has npm "npm from a registry" &&
	both "npm from a registry" 'HOME=$PWD npm install --silent --no-audit --no-fund --no-update-notifier --registry http://good.example/npm/ little >/dev/null 2>&1; node -p "require(\"little\")"'
if has git "git over http"; then
	(cd "$HOSTS/www" && git init -q r && cd r && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first && git update-server-info)
	both "git over http" 'git clone -q http://good.example/r/.git c && git -C c log --format=%s; rm -rf c; git ls-remote http://good.example:81/r 2>&1 | sed "s/after [0-9]* ms//"'
fi

# ---- libraries
both "python: urllib, asyncio, many at once" 'python3 -c "
import asyncio, socket, urllib.error, urllib.request
print(urllib.request.urlopen(\"http://good.example/\").read())
try: urllib.request.urlopen(\"http://good.example:81/\")
except urllib.error.URLError as e: print(e.reason)
try: socket.create_connection((\"silent.example\", 80), timeout=0.5)
except OSError as e: print(repr(e))
async def one():
    r, w = await asyncio.open_connection(\"good.example\", 80); w.write(b\"GET / HTTP/1.0\r\n\r\n\"); d = await r.read(); w.close(); return d.endswith(b\"hello\\n\")
async def main(): print(sum(await asyncio.gather(*[one() for i in range(50)])))
asyncio.run(main())
"'
python3 -c 'import requests' 2>/dev/null && both "python requests" 'python3 -c "
import requests
s = requests.Session(); print([s.get(\"http://good.example/\").text for i in range(3)])
try: s.get(\"http://good.example:81/\")
except requests.ConnectionError as e: print(e.args[0].reason.args[0].split(\":\")[-1])
"'
if has node "node: fetch, http2, net"; then
	cat >"$HOSTS/two.js" <<'E2'
const s = require("http2").createServer();
s.on("stream", (st, h) => { st.respond({ ":status": 200 }); st.end("two " + h[":path"]); });
s.listen(8082, "203.0.113.7", () => require("fs").writeFileSync(process.argv[2], ""));
setInterval(() => process.ppid === 1 && process.exit(), 300);
E2
	there node "$HOSTS/two.js" "$HOSTS/two" &
	two=$!
	wait_for 10 test -e "$HOSTS/two"
	cat >"$HOSTS/node.js" <<'E2'
const net = require("net"), h2 = require("http2");
const code = e => (e.cause || e).code;
(async () => {
  console.log(await fetch("http://good.example/").then(r => r.text()));
  console.log(await fetch("http://good.example:81/").catch(code));
  console.log(await fetch("http://silent.example/", { signal: AbortSignal.timeout(500) }).catch(e => e.name));
  const c = h2.connect("http://good.example:8082");
  console.log(await Promise.all(["/a", "/b", "/c"].map(p => new Promise(ok => {
    const r = c.request({ ":path": p }); let d = ""; r.setEncoding("utf8"); r.on("data", x => d += x); r.on("end", () => ok(d)); }))));
  c.close();
  const s = net.connect(7, "good.example");
  s.end("half closed"); let d = ""; for await (const x of s) d += x; console.log(d);
})();
E2
	cp "$HOSTS/node.js" "$dir"
	both "node: fetch, http2, net" 'node ../node.js'
	like "$last" "ECONNREFUSED.*TimeoutError.*two /a.*half closed" "which is what was meant to be compared"
	kill "$two"
fi
if has psql "psql, refused and silent"; then
	both "psql, refused and silent" 'psql -h good.example -p 81 x 2>&1; psql "host=silent.example connect_timeout=2" 2>&1'
fi
if has ssh "ssh, refused and silent"; then
	both "ssh, refused and silent" 'ssh -F none -o BatchMode=yes -p 81 good.example 2>&1; ssh -F none -o BatchMode=yes -o ConnectTimeout=1 silent.example 2>&1'
fi
kill "$servers"
done_testing
