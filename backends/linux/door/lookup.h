/* lookup - opens directories and files where the caller cannot change what the path means. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct ldoor;
struct request;

void lookup_open(struct ldoor *d);
void lookup_close(struct ldoor *d);
bool is_dots(const char *name, size_t len); /* "." or ".." */
bool is_plain(const char *path);	    /* every component is a name: not empty, no dots */
/* Opens a path beneath a directory of the keeper's; follows no link. Returns a descriptor or
 * negative errno. */
int open_beneath(int dirfd, const char *path, uint64_t flags);
/* Opens a path without links through the sandbox's mounts. Returns an O_PATH descriptor. */
int open_in_sandbox(const struct ldoor *d, const char *path);
/* Reads the path of a descriptor of the keeper's. Returns its length or negative errno. */
int fd_text(const struct ldoor *d, int fd, char *out, size_t size);
/* Returns a descriptor of /proc/TID, kept open: it never leads to another process. again: reopens
 * it. */
int proc_dir(struct ldoor *d, int tid, bool again);
/* stat(2) of a link in the caller's directory of /proc: "cwd", "fd/3". Returns 0 or negative errno.
 */
int stat_caller_link(struct ldoor *d, struct request *r, const char *link, struct stat *st);
/* Opens the caller's directory `dirfd` (AT_FDCWD: the current one) with O_PATH. */
int open_caller_dir(struct request *r, int dirfd);
/* Opens the caller's "/", which with nesting may differ from the sandbox's. */
int open_caller_root(const struct ldoor *d, struct request *r);
