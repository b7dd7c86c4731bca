/* object - stat, open and copy of a file system object by name, never following a link. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/journal/fs/object.h"
#include "core/os/clone.h"
#include "core/os/statx.h"
#include "core/os/volume.h"

#ifndef AT_HANDLE_FID
#define AT_HANDLE_FID 0x200 /* Linux 6.5; before, EINVAL */
#endif

#define HOLD_TRIES    8
#define HOLD_PAUSE_NS 500000

/* Converts a time to nanoseconds. The agent may set times that do not fit: the nearest value is
 * enough to compare. */
static int64_t to_ns(struct statx_timestamp t)
{
	int64_t ns;

	if (__builtin_mul_overflow(t.tv_sec, (int64_t)1000000000, &ns) ||
	    __builtin_add_overflow(ns, (int64_t)t.tv_nsec, &ns))
		return t.tv_sec < 0 ? INT64_MIN : INT64_MAX;
	return ns;
}

static int stat_raw(int dirfd, const char *name, struct statx *x)
{
	if (statx(dirfd, name, AT_SYMLINK_NOFOLLOW | (*name ? 0 : AT_EMPTY_PATH),
		  STATX_BASIC_STATS | STATX_BTIME, x) < 0)
		return -errno;
	return 0;
}

/*
 * Returns whether the birth time stays while the inode does. An overlay reports that of the file in
 * the layer: it changes when the file is copied up at its first change, while the inode stays the
 * same. Such file systems have devices without a major number, and the answer is remembered for
 * each.
 */
static bool birth_stays(int dirfd, const char *name, const struct statx *x)
{
	static _Thread_local struct {
		uint32_t minor;
		bool known, stays;
	} seen[16];
	const size_t at = x->stx_dev_minor % ARRAY_LEN(seen);
	AUTO_CLOSE int fd = -1;
	int volume;

	if (x->stx_dev_major)
		return true;
	if (seen[at].known && seen[at].minor == x->stx_dev_minor)
		return seen[at].stays;
	fd = object_open(dirfd, name);
	volume = fd < 0 ? fd : os_volume(fd);
	if (volume < 0)
		return true;
	seen[at].minor = x->stx_dev_minor;
	seen[at].known = true;
	seen[at].stays = volume != VOLUME_OVERLAY;
	return seen[at].stays;
}

/*
 * Returns a hash of the handle that an NFS server would give out, or 0. It has the generation of
 * the inode number, which shows a reuse where there is no birth time. An overlay has handles from
 * Linux 6.6 on, and keeps that of the lower file when it is copied up.
 */
static uint64_t handle_hash(int dirfd, const char *name)
{
#ifdef __linux__
	union {
		struct file_handle h;
		char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} u;
	int mount;

	u.h.handle_bytes = MAX_HANDLE_SZ;
	if (name_to_handle_at(dirfd, name, &u.h, &mount,
			      AT_HANDLE_FID | (*name ? 0 : AT_EMPTY_PATH)) < 0)
		return 0;
	return content_hash_bytes((const char *)u.h.f_handle, u.h.handle_bytes);
#else
	(void)dirfd, (void)name; /* births are always known */
	return 0;
#endif
}

int object_stat(int dirfd, const char *name, struct object *o)
{
	struct statx x;
	int r = stat_raw(dirfd, name, &x);

	*o = (struct object){0};
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	o->mode = x.stx_mode;
	o->uid = x.stx_uid;
	o->gid = x.stx_gid;
	o->nlink = x.stx_nlink;
	o->dev = (uint64_t)x.stx_dev_major << 32 | x.stx_dev_minor;
	o->ino = x.stx_ino;
	o->size = x.stx_size;
	o->blocks = x.stx_blocks;
	o->mtime_ns = to_ns(x.stx_mtime);
	o->ctime_ns = to_ns(x.stx_ctime);
	if (x.stx_mask & STATX_BTIME && birth_stays(dirfd, name, &x))
		o->btime_ns = to_ns(x.stx_btime);
	else
		o->generation = handle_hash(dirfd, name);
	return 0;
}

bool object_is_reuse(int64_t a_btime_ns, uint64_t a_generation, const struct object *b)
{
	return a_btime_ns != b->btime_ns ||
	       (a_generation && b->generation && a_generation != b->generation);
}

bool object_same(const struct object *a, const struct object *b)
{
	return a->mode && b->mode && a->ino == b->ino && a->dev == b->dev &&
	       !object_is_reuse(a->btime_ns, a->generation, b);
}

#define MODE_UNSEEN 0xffffu /* no type of file has all four bits */

void object_pack(struct packed_object *l, const struct object *o)
{
	*l = (struct packed_object){
		.ino = o->ino,
		.size = o->size,
		.mtime_ns = o->mtime_ns,
		.ctime_ns = o->ctime_ns,
		.btime_ns = o->btime_ns,
		.dev = object_pack_dev(o->dev),
		.uid = o->uid,
		.gid = o->gid,
		.mode = (uint16_t)(o->mode == OBJECT_UNSEEN ? MODE_UNSEEN : o->mode),
		.linked = o->nlink > 1};
}

void object_unpack(const struct packed_object *l, struct object *ret)
{
	*ret = (struct object){.mode = l->mode == MODE_UNSEEN ? OBJECT_UNSEEN : l->mode,
			       .uid = l->uid,
			       .gid = l->gid,
			       .nlink = l->mode ? 1 + l->linked : 0,
			       .dev = object_unpack_dev(l->dev),
			       .ino = l->ino,
			       .size = l->size,
			       .mtime_ns = l->mtime_ns,
			       .ctime_ns = l->ctime_ns,
			       .btime_ns = l->btime_ns};
}

int object_open(int dirfd, const char *name)
{
	int fd;

	if (!*name)
		fd = fcntl(dirfd, F_DUPFD_CLOEXEC, 3);
	else
		fd = openat(dirfd, name, O_PATH | O_ITSELF | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static void broken(int sig)
{
	(void)sig;
}

void object_expect_breaks(void)
{
	struct sigaction now, act = {.sa_handler = broken, .sa_flags = SA_RESTART};

	/* Not SIG_IGN, because started programs would inherit that. */
	if (sigaction(SIGIO, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
		sigaction(SIGIO, &act, NULL);
}

bool object_has_writer(int fd)
{
	/* The lease is refused while a process has the file open to write; close() drops it. */
	return fcntl(fd, F_SETLEASE, F_RDLCK) < 0;
}

bool object_is_written(int fd)
{
	return object_has_writer(fd) && errno == EAGAIN;
}

bool object_hold(int fd)
{
	const struct timespec pause = {.tv_nsec = HOLD_PAUSE_NS};

	for (int i = 0; i < HOLD_TRIES; i++) {
		if (fcntl(fd, F_SETLEASE, F_WRLCK) == 0)
			return true;
		if (errno != EAGAIN)
			return false;
		nanosleep(&pause, NULL);
	}
	return false;
}

static int copy_range(int src, int dst, off_t at, off_t end)
{
	char block[65536];

	while (at < end) {
		off_t in = at, out = at;
		size_t want = (size_t)MIN(end - at, (off_t)1 << 30);
		ssize_t n = os_copy_range(src, &in, dst, &out, want);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) { /* not possible between these two: reads and writes */
			n = pread(src, block, MIN(want, sizeof(block)), at);
			if (n < 0)
				return -errno;
			if (n == 0)
				return 0; /* the file shrank meanwhile */
			int r = io_pwrite_all(dst, block, (size_t)n, at);

			if (r < 0)
				return r;
		}
		at += n;
	}
	return 0;
}

static int copy_sparse(int src, int dst, off_t size)
{
	off_t at = 0;

	while (at < size) {
		off_t data = lseek(src, at, SEEK_DATA), hole;
		int r;

		if (data < 0 && errno == ENXIO)
			return 0;
		if (data < 0) /* a file system without support for holes */
			return errno == EINVAL ? copy_range(src, dst, at, size) : -errno;
		hole = lseek(src, data, SEEK_HOLE);
		if (hole < 0)
			return -errno;
		r = copy_range(src, dst, data, MIN(hole, size));
		if (r < 0)
			return r;
		at = hole;
	}
	return 0;
}

static int clone_by(int (*clone)(int src, int dst), int src, int dst)
{
	struct stat st;

	if (fstat(src, &st) < 0)
		return -errno;
	if (clone(src, dst) < 0)
		return errno == ENOSPC || errno == EDQUOT || errno == EIO ? -errno : -EOPNOTSUPP;
	return ftruncate(dst, st.st_size) < 0 ? -errno : 1;
}

int object_clone_data(int src, int dst)
{
	return clone_by(os_clone, src, dst);
}

static bool is_dense(const struct stat *st)
{
	return st->st_blocks * 512 >= st->st_size;
}

int object_copy_data(int src, int dst)
{
	char block[32768];
	struct stat st, old;
	ssize_t n;
	int r;

	if (fstat(src, &st) < 0 || fstat(dst, &old) < 0)
		return -errno;
	if (st.st_size <= (off_t)sizeof(block) && is_dense(&st)) {
		n = io_pread_full(src, block, sizeof(block), 0);
		if (n < 0)
			return (int)n;
		r = io_pwrite_all(dst, block, (size_t)n, 0);
		return r < 0 || old.st_size <= n || ftruncate(dst, n) == 0 ? r : -errno;
	}
	if (clone_by(os_share, src, dst) == 1)
		return 1;
	/* If neither has holes, dst is overwritten in place, which takes no new blocks. */
	if (!(is_dense(&st) && is_dense(&old)) && ftruncate(dst, 0) < 0)
		return -errno;
	r = copy_sparse(src, dst, st.st_size);
	if (r == 0 && ftruncate(dst, st.st_size) < 0)
		r = -errno;
	return r;
}

int object_chmod(int fd, mode_t mode)
{
	char proc[OS_FD_PATH];

	os_fd_path(proc, fd);
	return chmod(proc, mode & 07777) < 0 ? -errno : 0;
}

int object_chmod_at(int dirfd, const char *name, mode_t mode)
{
	static bool missing;
	AUTO_CLOSE int fd = -1;

	if (*name && !missing) {
		if (os_chmod_nofollow(dirfd, name, mode & 07777) == 0)
			return 0;
		/* A seccomp filter around this process may answer an unknown call with EPERM. */
		if (errno != ENOSYS && errno != EPERM)
			return -errno;
		missing = errno == ENOSYS;
	}
	fd = object_open(dirfd, name);
	return fd < 0 ? fd : object_chmod(fd, mode);
}
