/* file - calls on files that Linux has and macOS lacks, under Linux's names on both. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

/*
 * core is written against Linux. On Linux core/os has almost no code: its headers include those of
 * the system, or have one line. On macOS the headers declare the missing functions, and the
 * *_darwin.c implement them. Each header lists the weaknesses on macOS.
 *
 * Here:  O_PATH is O_EVTONLY, which needs the file's read bit and cannot open a socket. With
 *        O_NOFOLLOW it refuses a link; O_ITSELF opens the link on both systems. O_TMPFILE fails
 *        with EISDIR. Renames are renameatx_np(2). "" with AT_EMPTY_PATH is the descriptor
 *        itself. Leases are never granted: F_SETLEASE fails, as if a process had the file open.
 */
#define OS_FD_PATH 64

#ifdef __linux__
#include <sys/sysmacros.h>

#define O_ITSELF O_NOFOLLOW
/* The clock of file times: no earlier change has a later time than its present value. */
#define OS_CLOCK_OF_FILES CLOCK_REALTIME_COARSE
#define OS_MTIME(st)	  ((st)->st_mtim)
#define OS_ATIME(st)	  ((st)->st_atim)
#define OS_CTIME(st)	  ((st)->st_ctim)

/* Formats a path to the open file of fd, independent of its current name. */
static inline void os_fd_path(char out[OS_FD_PATH], int fd)
{
	snprintf(out, OS_FD_PATH, "/proc/self/fd/%d", fd);
}

static inline ssize_t os_copy_range(int in, off_t *in_at, int out, off_t *out_at, size_t n)
{
	return copy_file_range(in, in_at, out, out_at, n, 0);
}

/* Reserves space on the disk for bytes behind the end of a file. Returns false if it cannot. */
static inline bool os_reserve(int fd, off_t end, off_t n)
{
	return fallocate(fd, FALLOC_FL_KEEP_SIZE, end, n) == 0;
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
/* Always fails: the caller copies the bytes. */
ssize_t os_copy_range(int in, off_t *in_at, int out, off_t *out_at, size_t n);
int posix_fallocate(int fd, off_t at, off_t len);
bool os_reserve(int fd, off_t end, off_t n);

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

/* Gets the path of the open file of fd, at most size - 1 bytes and NUL. Returns its length, or
 * negative errno. */
ssize_t os_fd_name(int fd, char *out, size_t size);
/* Gets the path of the program file of this process. On Linux it ends in " (deleted)" if the file
 * has been deleted or replaced. */
ssize_t os_self_path(char *out, size_t size);
bool os_self_is(const char *path); /* the same file as this path */
char *os_self_copy(void);	   /* its path as a heap string, or NULL */
/* Changes the mode of the named file, never of the target of a link. Returns -1 and errno; ENOSYS:
 * not supported. */
int os_chmod_nofollow(int dirfd, const char *name, mode_t mode);
/* Returns a descriptor of an empty file without a name, or negative errno. */
int os_memory_file(const char *name);
