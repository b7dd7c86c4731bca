/* file - calls on files that Linux has and macOS has not, under Linux's names on both. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

/*
 * core is written against Linux. On Linux core/os is no code at all: its headers include the
 * system's, or hold one line. On macOS they declare what is missing there, and the *_darwin.c do
 * the same with what there is. Each header says what is weaker.
 *
 * Here:  O_PATH is O_EVTONLY, which needs the file's read bit and cannot open a socket. With
 *        O_NOFOLLOW it refuses a link; O_ITSELF opens the link on both systems. O_TMPFILE fails
 *        with EISDIR. Renames are renameatx_np(2). "" with AT_EMPTY_PATH is the descriptor
 *        itself. Leases are never given: F_SETLEASE fails, and somebody may be writing.
 *        fdatasync() and syncfs() are F_FULLFSYNC: fsync(2) does not reach the disk there.
 */
#define OS_FD_PATH 64

#ifdef __linux__
#include <sys/sysmacros.h>

#define O_ITSELF O_NOFOLLOW
/* The kernel takes the times of files from it: no time of before is later. */
#define OS_CLOCK_OF_FILES CLOCK_REALTIME_COARSE
#define OS_MTIME(st)	  ((st)->st_mtim)
#define OS_ATIME(st)	  ((st)->st_atim)
#define OS_CTIME(st)	  ((st)->st_ctim)

/* A path that leads to what fd is open on, whatever that is called by now. */
static inline void os_fd_path(char out[OS_FD_PATH], int fd)
{
	snprintf(out, OS_FD_PATH, "/proc/self/fd/%d", fd);
}

static inline ssize_t os_copy_range(int in, off_t *in_at, int out, off_t *out_at, size_t n)
{
	return copy_file_range(in, in_at, out, out_at, n, 0);
}
#else
#define O_PATH		  O_EVTONLY
#define O_ITSELF	  O_SYMLINK
#define OS_CLOCK_OF_FILES CLOCK_REALTIME
#define O_NOATIME	  0
#define O_TMPFILE	  0x02000000
#define AT_EMPTY_PATH	  0x1000
#define RENAME_NOREPLACE  (1u << 0)
#define RENAME_EXCHANGE	  (1u << 1)

#ifndef F_SETLEASE
#define F_SETLEASE 106
#endif

#define OS_MTIME(st)	    ((st)->st_mtimespec)
#define OS_ATIME(st)	    ((st)->st_atimespec)
#define OS_CTIME(st)	    ((st)->st_ctimespec)

void os_fd_path(char out[OS_FD_PATH], int fd);
int renameat2(int fromfd, const char *from, int tofd, const char *to, unsigned flags);
int fdatasync(int fd);
int syncfs(int fd);
/* Always refused: copied by hand. */
ssize_t os_copy_range(int in, off_t *in_at, int out, off_t *out_at, size_t n);
int posix_fallocate(int fd, off_t at, off_t len);

int os_fstatat(int fd, const char *path, struct stat *st, int flags);
int os_fchownat(int fd, const char *path, uid_t uid, gid_t gid, int flags);
int os_utimensat(int fd, const char *path, const struct timespec times[2], int flags);
ssize_t os_readlinkat(int fd, const char *path, char *out, size_t size);
int os_linkat(int fromfd, const char *from, int tofd, const char *to, int flags);
#define eaccess(path, mode) faccessat(AT_FDCWD, path, mode, AT_EACCESS)
#define fstatat		    os_fstatat
#define fchownat	    os_fchownat
#define utimensat	    os_utimensat
#define readlinkat	    os_readlinkat
#define linkat		    os_linkat
#endif

/* The path of what fd is open on, at most size - 1 bytes and NUL. The length, or negative errno. */
ssize_t os_fd_name(int fd, char *out, size_t size);
/* That of the file that this program runs from. */
ssize_t os_self_path(char *out, size_t size);
char *os_self_copy(void); /* the same, heap, or NULL */
/* chmod(2) of what has the name, not of what a link leads to. -1 and errno; ENOSYS: not here. */
int os_chmod_nofollow(int dirfd, const char *name, mode_t mode);
/* An empty file without a name. Negative errno. */
int os_memory_file(const char *name);
