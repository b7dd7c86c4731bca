#!/usr/bin/env python3
# npm_registry - an npm registry on loopback with the given packages; prints its port.
# SPDX-License-Identifier: MIT
# usage: npm_registry.py TARBALL...     each is of one package; its name and version are in its package.json
import base64, hashlib, http.server, json, sys, tarfile, urllib.parse

packages, files = {}, {}
for path in sys.argv[1:]:
    with open(path, "rb") as f:
        data = f.read()
    with tarfile.open(path) as tar:
        entry = json.load(next(tar.extractfile(m) for m in tar if m.name.split("/")[1:] == ["package.json"]))
    at = f"/{entry['name']}/-/{entry['name'].split('/')[-1]}-{entry['version']}.tgz"
    files[at] = data
    entry["dist"] = {"tarball": at, "shasum": hashlib.sha1(data).hexdigest(),
                     "integrity": "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()}
    of = packages.setdefault(entry["name"], {"name": entry["name"], "dist-tags": {}, "versions": {}})
    of["versions"][entry["version"]] = entry
    of["dist-tags"]["latest"] = entry["version"]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path = urllib.parse.unquote(self.path)
        if path in files:
            return self.answer(200, "application/octet-stream", files[path])
        body = json.dumps(packages.get(path[1:], {"error": "not found"}))
        base = f"http://127.0.0.1:{self.server.server_address[1]}/"
        self.answer(200 if path[1:] in packages else 404, "application/json", body.replace('"tarball": "/', f'"tarball": "{base}').encode())

    def answer(self, status, kind, body):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
