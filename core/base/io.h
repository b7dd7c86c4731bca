/* io - complete reads and writes, small files, directories, descriptors over sockets. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/stat.h>

#include "core/base/err.h"

/* All return 0 or a count, or a negative errno; EINTR is retried. */
int io_write_all(int fd, const void *data, size_t len);
int io_pwrite_all(int fd, const void *data, size_t len, off_t at);
/* Returns the number of bytes read: fewer than len only at end of file. */
ssize_t io_read_full(int fd, void *data, size_t len);
ssize_t io_pread_full(int fd, void *data, size_t len, off_t at);
/* Reads the rest of fd into a heap copy, NUL-terminated, at most max bytes (-EFBIG beyond). */
int io_read_all(int fd, size_t max, char **ret, size_t *ret_len) MUST_USE;
/* Opens (O_NOFOLLOW, regular files only) and reads a whole small file. */
int io_read_file(int dirfd, const char *name, size_t max, char **ret, size_t *ret_len) MUST_USE;
/* Writes name.tmp, syncs it if durable, and renames it over name. */
int io_write_file(int dirfd, const char *name, mode_t mode, const void *data, size_t len,
		  bool durable) MUST_USE;
/* Makes directories like mkdir -p below dirfd; existing ones are fine, symbolic links on the way
 * are followed. */
int io_mkdir_p(int dirfd, const char *path, mode_t mode) MUST_USE;
/* Removes a tree below dirfd/name without following links, however deep, and through directories of
 * this user without permissions. Returns 0 also if it does not exist. */
int io_remove_tree(int dirfd, const char *name) MUST_USE;

/* Send or receive one message with at most one descriptor (fd or *ret_fd may be -1/NULL).
 * SCM_RIGHTS, CLOEXEC. */
int io_send_fd(int sock, const void *data, size_t len, int fd) MUST_USE;
ssize_t io_recv_fd(int sock, void *data, size_t len, int *ret_fd) MUST_USE;
/* Do the same without waiting: -EAGAIN. */
int io_try_send_fd(int sock, const void *data, size_t len, int fd) MUST_USE;
ssize_t io_try_recv_fd(int sock, void *data, size_t len, int *ret_fd) MUST_USE;

/* Locks a file with flock(2), exclusive. A killed process holds its locks until its exit is
 * complete, so this tries again for a second. Returns -EAGAIN if another process has the lock. */
int io_lock(int fd) MUST_USE;
int io_lock_shared(int fd) MUST_USE;

/* Returns whether the file at path is still this one. A symbolic link is not followed. */
bool io_is_at(const char *path, const struct stat *st);

/* Opens /dev/null on closed descriptors of 0 to 2, in the wrong direction: reads of 0 and writes to
 * 1 and 2 fail with EBADF, as before. Otherwise the next file that this process opens would get one
 * of these numbers, and be passed to the command. For the beginning of main(). */
int io_hold_stdio(void) MUST_USE;
/* Closes every descriptor from `from` on except those in keep, in any order; -1 is none. Uses only
 * system calls: it may run between fork and exec. */
void io_close_all_but(int from, const int *keep, size_t n);
/* Opens a pty. Returns the master end, which does not block; the other end goes to *ret_slave and
 * edits lines by whole characters (IUTF8). It does not become a controlling terminal. */
int io_open_pty(int *ret_slave) MUST_USE;
/* Returns whether dir has an entry of that name, including a dangling link. */
bool io_has(const char *dir, const char *name);
int io_set_nonblock(int fd, bool on);
int io_set_cloexec(int fd, bool on);
