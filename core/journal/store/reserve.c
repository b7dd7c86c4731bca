/* reserve - disk space set aside, so that a full disk does not stop an undo. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/journal/fs/object.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback/txn.h"
#include "core/journal/step/step.h"
#include "core/journal/store/store.h"
#include "core/os/file.h"

/*
 * The file "room" holds nothing but blocks. Whoever brings files back, or keeps what a step did,
 * and finds the disk or the quota full, gives them back and tries again. An undo asks beforehand
 * for as much as it may need, and if that is not to be had refuses before it has touched anything.
 * A step that grows long takes more of it along: what could neither be kept nor rolled back in the
 * end is refused when it is to be done.
 *
 * A file system may run out of inodes before it does of blocks, and whoever works in the folder can
 * take all of them. The empty files "spare/0" and so on are given back with the blocks; they are
 * made in this order and go in the other one.
 */
#define SPARE_DIR  "spare"
#define SPARES	   32
#define ROOM_KEPT  ((off_t)1 << 20)
#define ROOM_LEAST ((off_t)64 << 10)
#define ROOM_LENT  ((off_t)256 << 10)
#define ROOM_LARGE ((off_t)16 << 20)
#define LOG_SMALL  ((off_t)256 << 10)
#define LOG_TIMES  4 /* its commit, or its way back and what is written of that */

static void spares_fill(struct journal *j)
{
	char name[32];

	if (mkdirat(j->store, SPARE_DIR, 0700) < 0 && errno != EEXIST)
		return;
	for (; j->spares < SPARES; j->spares++) {
		AUTO_CLOSE int fd = -1;

		snprintf(name, sizeof(name), SPARE_DIR "/%u", j->spares);
		fd = openat(j->store, name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (fd < 0)
			return;
	}
}

/* What a process before has left of them. */
static void spares_find(struct journal *j)
{
	char name[32];

	for (j->spares = SPARES; j->spares > 0; j->spares--) {
		snprintf(name, sizeof(name), SPARE_DIR "/%u", j->spares - 1);
		if (faccessat(j->store, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			return;
	}
}

static bool spares_give(struct journal *j)
{
	bool any = false;
	char name[32];

	for (; j->spares > 0; j->spares--) {
		snprintf(name, sizeof(name), SPARE_DIR "/%u", j->spares - 1);
		any |= unlinkat(j->store, name, 0) == 0;
	}
	return any;
}

static off_t size_of(const struct journal *j)
{
	struct stat st;

	return j->room < 0 || fstat(j->room, &st) < 0 ? 0 : st.st_size;
}

static int set_aside(struct journal *j, off_t size)
{
	int r;

	off_t have = size_of(j);

	do {
		r = posix_fallocate(j->room, 0, size);
	} while (r == EINTR);
	/* A try that failed half way keeps what it got. */
	return r && ftruncate(j->room, have) < 0 ? -errno : -r;
}

/* For the steps that run. */
static off_t wanted(const struct journal *j)
{
	off_t logs = 0;

	for (const struct step *s = j->open; s; s = s->next)
		logs += (off_t)s->side.log.cap;
	return ROOM_KEPT + (logs > LOG_SMALL ? LOG_TIMES * logs : 0);
}

int room_follow(struct journal *j)
{
	off_t size = wanted(j);
	int r;

	if (j->room < 0 || size == ROOM_KEPT || size <= size_of(j))
		return 0;
	j->room_short = true;
	r = set_aside(j, size);
	return r == -ENOSPC || r == -EDQUOT ? r : 0;
}

/* As much as there is; nobody is told: it is only for worse times. */
static void refill(struct journal *j, bool cut)
{
	off_t have = size_of(j), want = wanted(j);

	if (have > want && cut && ftruncate(j->room, want) < 0)
		return;
	j->room_short = have < want || (have > want && !cut);
	for (off_t size = want; size > have && size >= ROOM_LEAST; size /= 2)
		if (set_aside(j, size) == 0) {
			j->room_short = size < want;
			return;
		}
}

/* What a process before had set aside may be needed for what it left. */
void room_open(struct journal *j)
{
	j->room = openat(j->store, "room", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (j->room >= 0)
		refill(j, false);
	spares_find(j);
	spares_fill(j);
}

void room_unmake(struct journal *j)
{
	spares_give(j);
	if (unlinkat(j->store, SPARE_DIR, AT_REMOVEDIR) < 0 && errno != ENOENT)
		log_warn("journal", "'%s/" SPARE_DIR "' stays", j->store_path);
}

void room_refill(struct journal *j)
{
	if (j->room >= 0 && j->room_short)
		refill(j, true);
	if (j->spares < SPARES)
		spares_fill(j);
}

/* On tmpfs to set space aside is to write it: for much of it the file system's word will do. */
static bool is_free(const struct journal *j, off_t size)
{
	struct statvfs fs;

	return fstatvfs(j->room, &fs) < 0 ||
	       (uint64_t)size <= (uint64_t)fs.f_bavail * (uint64_t)fs.f_frsize;
}

int room_need(struct journal *j, off_t size)
{
	off_t have = size_of(j);
	int r;

	if (j->room < 0 || size <= have)
		return 0;
	if (j->in_memory && size > ROOM_LARGE)
		return is_free(j, size - have) ? 0 : -ENOSPC;
	j->room_short = true; /* or more than is usual */
	r = set_aside(j, size);
	return r == -ENOSPC || r == -EDQUOT ? r : 0;
}

bool room_give(struct journal *j, int why)
{
	bool given;

	if (why != -ENOSPC && why != -EDQUOT)
		return false;
	given = spares_give(j);
	if (size_of(j) == 0)
		return given;
	j->room_short = true;
	return ftruncate(j->room, 0) == 0 || given;
}

bool room_lend(struct journal *j, int why)
{
	off_t left = wanted(j) - ROOM_LENT;

	if ((why != -ENOSPC && why != -EDQUOT) || size_of(j) <= left)
		return false;
	j->room_short = true;
	return ftruncate(j->room, left) == 0;
}

/* ---- what a rollback may need -----------------------------------------------------------------
 */

/* Bytes that come back out of the log, and what is kept because the inode must stay. */
static off_t content_need(struct txn *t, const struct rec *r)
{
	struct span meta, bytes;
	struct spot at;
	struct obj o;
	off_t need;

	wal_content(r, &meta, &bytes);
	need = 4096; /* the last block; the bytes are a file then, and not in the log */
	if (spot_look(t->j, r->root, r->path, &at, &o) == 0 && S_ISREG(o.mode) && o.nlink > 1)
		need += 2 * (off_t)MIN(o.size, o.blocks * 512); /* holes are kept as holes */
	return need;
}

/* Its own files, and one for each file that stays while its content changes. What else comes back
 * or goes is moved. */
uint64_t inodes_for(struct txn *t)
{
	uint64_t need = 6;

	for (size_t i = 0; i < t->n; i++) {
		const struct wal *log = &txn_from(t, &t->list[i])->log;
		size_t at = 0;
		struct rec r;

		while (!t->list[i].arrived && wal_next(log, &at, &r))
			need += r.type == REC_CONTENT || r.type == REC_XINODE ||
				r.type == REC_DIR_GONE;
	}
	return need;
}

bool inodes_are_free(const struct journal *j, uint64_t n)
{
	struct statvfs fs;

	/* Some have no number of inodes to run out of. */
	return fstatvfs(j->store, &fs) < 0 || fs.f_files == 0 || n <= fs.f_favail + j->spares;
}

/* The way back is as long as the way, each directory's times once more; then the images. */
off_t room_for(struct txn *t)
{
	off_t need = 0;

	store_forget_near(t->j);
	for (size_t i = 0; i < t->n; i++) {
		const struct wal *log = &txn_from(t, &t->list[i])->log;
		size_t at = 0, start = 0;
		struct rec r;

		while (!t->list[i].arrived && wal_next(log, &at, &r)) {
			need += (off_t)(at - start) + 512;
			start = at;
			if (r.type == REC_CONTENT)
				need += content_need(t, &r);
		}
	}
	store_forget_near(t->j);
	return need + ROOM_LEAST;
}
