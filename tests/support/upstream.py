#!/usr/bin/python3
"""upstream - proxies of a company for a test: each speaks CONNECT in its own way.

usage: upstream.py DIR    on 127.0.0.1, port 3128: serves; 3129: wants user:p@ss; 3130: nonsense; 3131: answers 502;
                          3132: closes at once. DIR gets ready, and asked: a line "PORT TARGET" for each request
What it connects to is itself: the host says "HOST:PORT", and then repeats what it is sent.
"""
# SPDX-License-Identifier: MIT
import base64, os, socket, sys, threading

DIR = sys.argv[1]
asked = open(DIR + "/asked", "a", buffering=1)
PASS = "Basic " + base64.b64encode(b"user:p@ss").decode()


def head_of(s):
    head = b""
    while b"\r\n\r\n" not in head:
        got = s.recv(1)
        if not got:
            return None
        head += got
    return head.decode("latin-1")


def serve(port, s):
    with s:
        if port == 3132:
            return
        head = head_of(s)
        if head is None:
            return
        target = head.split(" ")[1]
        asked.write(f"{port} {target}\n")
        if port == 3130:
            s.sendall(b"SSH-2.0-OpenSSH_9.2p1\r\n")
        elif port == 3131:
            s.sendall(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 3\r\n\r\nno\n")
        elif port == 3129 and f"Proxy-Authorization: {PASS}" not in head:
            s.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n")
        else:
            # In one piece: the bytes after the head are the host's.
            s.sendall(b"HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\n" + target.encode() + b"\n")
            while data := s.recv(65536):
                s.sendall(data)


def listen(port):
    with socket.create_server(("127.0.0.1", port)) as l:
        up.release()
        while True:
            threading.Thread(target=serve, args=(port, l.accept()[0]), daemon=True).start()


up = threading.Semaphore(0)
PORTS = (3128, 3129, 3130, 3131, 3132)
for p in PORTS:
    threading.Thread(target=listen, args=(p,), daemon=True).start()
for p in PORTS:
    up.acquire()
open(DIR + "/ready", "w").close()
threading.Event().wait()
