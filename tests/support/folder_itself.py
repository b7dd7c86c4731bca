"""folder_itself - calls about the working folder by six of its names, one line each.

SPDX-License-Identifier: MIT
"""
import os
import sys

here = os.getcwd()
names = {".": ".", "$PWD": here, "$PWD/": here + "/", "../name": "../" + os.path.basename(here), "link": "self", "/proc/self/cwd": "/proc/self/cwd"}


def tmpfile(path):
    fd = os.open(path, os.O_TMPFILE | os.O_RDWR, 0o600)
    os.write(fd, b"x")
    os.close(fd)


def through(path):
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    os.fchmod(fd, 0o755)
    os.close(fd)


calls = {
    "access": lambda p: os.access(p, os.W_OK),
    "access, effective": lambda p: os.access(p, os.R_OK | os.W_OK | os.X_OK, effective_ids=True),
    "chmod": lambda p: (os.chmod(p, 0o750), oct(os.stat(here).st_mode))[1],
    "fchmod": through,
    "utimens": lambda p: (os.utime(p, (5, 7)), os.stat(here).st_mtime)[1],
    "chown": lambda p: os.chown(p, os.getuid(), -1),
    "setxattr": lambda p: (os.setxattr(p, "user.a", b"1"), os.getxattr(p, "user.a"), os.removexattr(p, "user.a"))[1],
    "O_TMPFILE": tmpfile,
    "open to write": lambda p: os.open(p, os.O_WRONLY),
    "O_CREAT": lambda p: os.open(p, os.O_WRONLY | os.O_CREAT, 0o600),
    "mkdir": os.mkdir,
    "file in it": lambda p: os.close(os.open(p + "/f", os.O_WRONLY | os.O_CREAT, 0o600)),
}
os.path.lexists("self") or os.symlink(here, "self")
for call, fn in calls.items():
    for name, path in names.items():
        try:
            said = fn(path)
        except OSError as e:
            said = e.strerror
        print(f"{call} {name}: {said}")
