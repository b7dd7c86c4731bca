/* io - complete reads and writes, small files, directories, descriptors over sockets. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/stat.h>

#include "core/base/err.h"

/* All functions return 0 or a count, or a negative errno; they retry EINTR. */
int io_write_all(int fd, const void *data, size_t len);
int io_pwrite_all(int fd, const void *data, size_t len, off_t at);
/* Returns the number of bytes read, which is less than len only at end of file. */
ssize_t io_read_full(int fd, void *data, size_t len);
ssize_t io_pread_full(int fd, void *data, size_t len, off_t at);
/* Reads the rest of fd, NUL-terminated, heap. Returns -EFBIG if it has more than max bytes. */
int io_read_all(int fd, size_t max, char **ret, size_t *ret_len) MUST_USE;
/* Reads a whole small file; opens only regular files, with O_NOFOLLOW. */
int io_read_file(int dirfd, const char *name, size_t max, char **ret, size_t *ret_len) MUST_USE;
/* Writes name.tmp, syncs it if durable, and renames it over name. */
int io_write_file(int dirfd, const char *name, mode_t mode, const void *data, size_t len,
		  bool durable) MUST_USE;
/* Makes directories below dirfd, like mkdir -p: existing ones are kept, symbolic links followed. */
int io_mkdir_p(int dirfd, const char *path, mode_t mode) MUST_USE;
/* Removes the tree dirfd/name without following links, at any depth, and through this user's
 * directories without permissions. Returns 0 also if it does not exist. */
int io_remove_tree(int dirfd, const char *name) MUST_USE;

/* Sends bytes with n descriptors (SCM_RIGHTS). Returns how many bytes, or negative errno. */
#define IO_FDS_MAX 253 /* as the kernel: SCM_MAX_FD */
ssize_t io_send_fds(int sock, const void *data, size_t len, const int *fds, size_t n, int flags)
	MUST_USE;
/* Receives bytes, and appends the descriptors (CLOEXEC) that come with them to fds, which has *n
 * and room for max; closes the others. Returns how many bytes, or negative errno. */
ssize_t io_recv_fds(int sock, void *data, size_t len, int *fds, size_t *n, size_t max, int flags)
	MUST_USE;
/* Sends or receives one message with at most one descriptor (SCM_RIGHTS, CLOEXEC). fd can be -1,
 * ret_fd NULL. */
int io_send_fd(int sock, const void *data, size_t len, int fd) MUST_USE;
ssize_t io_recv_fd(int sock, void *data, size_t len, int *ret_fd) MUST_USE;
/* Does the same without waiting: -EAGAIN. */
int io_try_send_fd(int sock, const void *data, size_t len, int fd) MUST_USE;
ssize_t io_try_recv_fd(int sock, void *data, size_t len, int *ret_fd) MUST_USE;

/* Raises the limit of open files as far as allowed. Returns it. */
size_t io_raise_open_files(void);

/* Locks a file with flock(2), exclusively. A killed process holds its locks until its exit is
 * complete, so this retries for a second. Returns -EAGAIN if another process has the lock. */
int io_lock(int fd) MUST_USE;
int io_lock_shared(int fd) MUST_USE;
/* Does the same as io_lock(), but retries for so many milliseconds. */
int io_lock_within(int fd, int ms) MUST_USE;

/* Returns whether the file at path is the one of st. Does not follow a symbolic link. */
bool io_is_at(const char *path, const struct stat *st);

/* Opens /dev/null on the closed ones of descriptors 0 to 2, in the wrong direction: reads of 0 and
 * writes to 1 and 2 still fail with EBADF. Otherwise the next file opened here would get such a
 * number and be passed to the command. For the beginning of main(). */
int io_hold_stdio(void) MUST_USE;
/* Closes every descriptor from `from` on except those in keep, in any order; -1: none. Uses only
 * system calls: it can run between fork and exec. */
void io_close_all_but(int from, const int *keep, size_t n);
/* Opens a pty. Returns the master end, which does not block. *ret_slave gets the other end, which
 * edits lines by whole characters (IUTF8). It does not become a controlling terminal. */
int io_open_pty(int *ret_slave) MUST_USE;
/* Returns whether dir has an entry of that name, which may be a dangling link. */
bool io_has(const char *dir, const char *name);
int io_set_nonblock(int fd, bool on);
int io_set_cloexec(int fd, bool on);
