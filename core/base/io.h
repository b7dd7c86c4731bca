/* io - whole reads and writes, small files, directories, descriptors over sockets. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/stat.h>

#include "core/base/err.h"

/* All return 0 or a count, or a negative errno; EINTR is retried. */
int io_write_all(int fd, const void *data, size_t len);
int io_pwrite_all(int fd, const void *data, size_t len, off_t at);
/* Fewer than len bytes only at end of file; the count is returned. */
ssize_t io_read_full(int fd, void *data, size_t len);
ssize_t io_pread_full(int fd, void *data, size_t len, off_t at);
/* Heap copy of the rest of fd, NUL-terminated, at most max bytes (-EFBIG beyond). */
int io_read_all(int fd, size_t max, char **ret, size_t *ret_len) MUST_USE;
/* Open (O_NOFOLLOW, regular files only) and read a whole small file. */
int io_read_file(int dirfd, const char *name, size_t max, char **ret, size_t *ret_len) MUST_USE;
/* Write name.tmp, fsync if durable, rename over name. */
int io_write_file(int dirfd, const char *name, mode_t mode, const void *data, size_t len,
		  bool durable) MUST_USE;
/* mkdir -p below dirfd; existing directories are fine, symbolic links on the way are followed. */
int io_mkdir_p(int dirfd, const char *path, mode_t mode) MUST_USE;
/* Remove a tree below dirfd/name without following links, however deep, and through directories of
 * ours that are closed to us; 0 when it is not there. */
int io_remove_tree(int dirfd, const char *name) MUST_USE;

/* One message with at most one descriptor (fd or *ret_fd may be -1/NULL). SCM_RIGHTS, CLOEXEC. */
int io_send_fd(int sock, const void *data, size_t len, int fd) MUST_USE;
ssize_t io_recv_fd(int sock, void *data, size_t len, int *ret_fd) MUST_USE;
/* The same, and -EAGAIN in place of waiting. */
int io_try_send_fd(int sock, const void *data, size_t len, int fd) MUST_USE;
ssize_t io_try_recv_fd(int sock, void *data, size_t len, int *ret_fd) MUST_USE;

/* flock(2), exclusive. A process that was killed holds its locks until it is gone altogether, which
 * is not at once: tried again for a second. -EAGAIN: somebody else has it. */
int io_lock(int fd) MUST_USE;

/* Is it still that file which has the name? A symlink is not followed. */
bool io_is_at(const char *path, const struct stat *st);

int io_set_nonblock(int fd, bool on);
int io_set_cloexec(int fd, bool on);
