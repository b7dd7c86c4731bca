#!/usr/bin/env python3
# git_server - git over https with a password, at loopback; prints its port, logs accepted users.
# SPDX-License-Identifier: MIT
# usage: git_server.py DIRECTORY CERT KEY USER:PASSWORD LOG
import base64, http.server, os, ssl, subprocess, sys, urllib.parse

root, cert, key, secret, log = sys.argv[1:]
want = "Basic " + base64.b64encode(secret.encode()).decode()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def serve(self):
        given = self.headers.get("Authorization")
        with open(log, "a") as f:
            f.write(f"{self.command} {self.path} {'let in' if given == want else 'refused'}\n")
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if given != want:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="test"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        url = urllib.parse.urlsplit(self.path)
        env = dict(os.environ, GIT_PROJECT_ROOT=root, GIT_HTTP_EXPORT_ALL="1", PATH_INFO=url.path, QUERY_STRING=url.query,
                   REQUEST_METHOD=self.command, REMOTE_USER="me", CONTENT_TYPE=self.headers.get("Content-Type") or "",
                   CONTENT_LENGTH=str(len(body)), HTTP_CONTENT_ENCODING=self.headers.get("Content-Encoding") or "",
                   GIT_PROTOCOL=self.headers.get("Git-Protocol") or "")
        out = subprocess.run(["git", "http-backend"], input=body, env=env, stdout=subprocess.PIPE).stdout
        head, _, rest = out.partition(b"\r\n\r\n")
        lines = [line.split(": ", 1) for line in head.decode().split("\r\n")]
        self.send_response(int(dict(lines).get("Status", "200").split()[0]))
        for name, value in lines:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(rest)))
        self.end_headers()
        self.wfile.write(rest)

    do_GET = do_POST = serve

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(cert, key)
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_port, flush=True)
server.serve_forever()
