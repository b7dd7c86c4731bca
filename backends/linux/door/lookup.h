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
bool is_plain(const char *path);	    /* every component is a name: no empty one, no dots */
/* A path beneath one of our directories; no link is followed. A descriptor or negative errno. */
int open_beneath(int dirfd, const char *path, uint64_t flags);
/* O_PATH descriptor of a path without links, through the sandbox's mounts. */
int open_in_sandbox(const struct ldoor *d, const char *path);
/* readlink of our descriptor; length or negative errno. */
int fd_text(const struct ldoor *d, int fd, char *out, size_t size);
/* /proc/TID, kept open: a dead one never becomes another's. */
int proc_dir(struct ldoor *d, int tid, bool again);
/* stat(2) of a link in the caller's directory of /proc: "cwd", "fd/3". Returns 0 or negative errno.
 */
int stat_caller_link(struct ldoor *d, struct request *r, const char *link, struct stat *st);
/* O_PATH descriptor of the caller's own directory `dirfd` (AT_FDCWD: the current one). */
int open_caller_dir(struct request *r, int dirfd);
/* Of its "/": with nesting it may have another than the sandbox's. */
int open_caller_root(const struct ldoor *d, struct request *r);
