#!/usr/bin/python3
"""tls_hosts - HTTPS servers for tests, which record their requests.

usage: tls_hosts.py DIR ADDRESS PORT    DIR has NAME.crt, NAME.key of each name; gets requests, ready
"""
# SPDX-License-Identifier: MIT
import glob, os, socket, ssl, sys, threading, time

DIR, ADDRESS, PORT = sys.argv[1], sys.argv[2], int(sys.argv[3])
contexts = {}
for crt in glob.glob(DIR + "/*.crt"):
    c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    c.load_cert_chain(crt, crt[:-4] + ".key")
    c.set_alpn_protocols(["http/1.1"])
    contexts[os.path.basename(crt)[:-4]] = c
log = open(DIR + "/requests", "a", buffering=1)
first = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)


def choose(sock, name, context):
    sock.server_name_seen = name
    if name not in contexts:
        return ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME
    sock.context = contexts[name]


first.load_cert_chain(DIR + "/good.example.crt", DIR + "/good.example.key")
first.sni_callback = choose


def body_of(f, headers):
    if "content-length" in headers:
        return f.read(int(headers["content-length"]))
    data = b""
    while headers.get("transfer-encoding") == "chunked":
        n = int(f.readline().split(b";")[0], 16)
        data += f.read(n)
        f.readline()
        if n == 0:
            break
    return data


def serve(raw):
    try:
        s = first.wrap_socket(raw, server_side=True)
        f = s.makefile("rb")
        while True:
            line = f.readline()
            if not line:
                break
            headers = {}
            for h in iter(f.readline, b"\r\n"):
                k, v = h.decode().split(":", 1)
                headers[k.lower()] = v.strip()
            body = body_of(f, headers)
            log.write(f"{s.server_name_seen} {line.decode().split()[0]} {line.decode().split()[1]} "
                      f"key={headers.get('x-api-key')} other={headers.get('x-other')} body={len(body)}\n")
            if b"large" in line:
                text = b"x" * 3000000
            elif b"repeat" in line:
                text = f"{headers.get('x-api-key')}\n".encode() * 600000
            elif b"echo" in line:  # in two pieces, of which each has a part of the key
                late = b"late" in line
                text = f"you sent {headers.get('x-api-key')} with {headers.get('accept-encoding')}\n".encode()
                s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(text) + text[:21 if late else 14])
                time.sleep(1 if late else 0.1)
                s.sendall(text[21 if late else 14:])
                continue
            else:
                text = f"hello from {s.server_name_seen}, {len(body)} bytes\n".encode()
            s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(text) + text)
    except (OSError, ValueError):
        pass
    raw.close()


listener = socket.create_server((ADDRESS, PORT), backlog=64)
open(DIR + "/ready", "w").close()


def accept():
    while True:
        threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()


threading.Thread(target=accept, daemon=True).start()
while os.getppid() != 1:
    time.sleep(0.2)
