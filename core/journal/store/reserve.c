/* reserve - reserves disk space, so that a full disk does not stop an undo. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/log.h"
#include "core/journal/store/news.h"
#include "core/journal/store/reserve.h"
#include "core/journal/store/store.h"
#include "core/os/file.h"

/*
 * The file "room" only reserves blocks. If the disk or the quota is full during a rollback or a
 * capture, the blocks are freed and the call is tried again. An undo first enlarges the reserve to
 * the space that it may need, and if there is too little, refuses before it has changed anything. A
 * step with a long log enlarges the reserve, too: an operation that could in the end be neither
 * committed nor rolled back is refused.
 *
 * A file system may run out of inodes before it runs out of blocks, and a process in the folder can
 * use up all of them. The empty files "spare/0" and so on are freed with the blocks; they are
 * created in this order and removed in the reverse order.
 */
#define SPARE_DIR  "spare"
#define SPARES	   32
#define ROOM_KEPT  ((off_t)1 << 20)
#define ROOM_LENT  ((off_t)256 << 10)
#define ROOM_LARGE ((off_t)16 << 20)
#define LOG_SMALL  ((off_t)256 << 10)
#define LOG_TIMES  4 /* for its commit, or its rollback and the redo log */

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

/* Counts the spare files that an earlier process left. */
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
	/* A failed call may keep the blocks that it got. */
	return r && ftruncate(j->room, have) < 0 ? -errno : -r;
}

/* Returns the size that the open steps need. */
static off_t wanted(const struct journal *j)
{
	off_t logs = j->hooks->log_bytes(j);

	return ROOM_KEPT + (logs > LOG_SMALL ? LOG_TIMES * logs : 0);
}

int reserve_follow(struct journal *j)
{
	off_t size = wanted(j);
	int r;

	if (j->room < 0 || size == ROOM_KEPT || size <= size_of(j))
		return 0;
	j->room_short = true;
	r = set_aside(j, size);
	return r == -ENOSPC || r == -EDQUOT ? r : 0;
}

/* Reserves as much of the wanted size as there is. No error is reported: this is a precaution. */
static void refill(struct journal *j, bool cut)
{
	off_t have = size_of(j), want = wanted(j);

	if (have > want && cut && ftruncate(j->room, want) < 0)
		return;
	j->room_short = have < want || (have > want && !cut);
	for (off_t size = want; size > have && size >= RESERVE_LEAST; size /= 2)
		if (set_aside(j, size) == 0) {
			j->room_short = size < want;
			return;
		}
}

/* Opens the reserve. Keeps a larger one: a rollback that an earlier process left may need it. */
void reserve_open(struct journal *j)
{
	j->room = openat(j->store, "room", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (j->room >= 0)
		refill(j, false);
	spares_find(j);
	spares_fill(j);
}

void reserve_unmake(struct journal *j)
{
	if (io_remove_tree(j->store, SPARE_DIR) < 0)
		log_warn("journal", "'%s/" SPARE_DIR "' stays", j->store_path);
}

void reserve_refill(struct journal *j)
{
	if (j->room >= 0 && j->room_short)
		refill(j, true);
	if (j->spares < SPARES)
		spares_fill(j);
}

/* Returns whether the file system has so much free space, as it says. On tmpfs, to reserve space
 * means to write it, which takes too long for a large size. */
static bool is_free(const struct journal *j, off_t size)
{
	struct statvfs fs;

	return fstatvfs(j->room, &fs) < 0 ||
	       (uint64_t)size <= (uint64_t)fs.f_bavail * (uint64_t)fs.f_frsize;
}

int reserve_need(struct journal *j, off_t size)
{
	off_t have = size_of(j);
	int r;

	if (j->room < 0 || size <= have)
		return 0;
	if (j->in_memory && size > ROOM_LARGE)
		return is_free(j, size - have) ? 0 : -ENOSPC;
	j->room_short = true; /* it is too small, or larger than usual */
	r = set_aside(j, size);
	return r == -ENOSPC || r == -EDQUOT ? r : 0;
}

bool reserve_give(struct journal *j, int why)
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

/* Frees a part of the reserve for a running operation: even a removal needs a record. Returns
 * whether to try again. */
static bool lend(struct journal *j, int why)
{
	off_t left = wanted(j) - ROOM_LENT;

	if ((why != -ENOSPC && why != -EDQUOT) || size_of(j) <= left)
		return false;
	j->room_short = true;
	return ftruncate(j->room, left) == 0;
}

/* ---- space for a rollback ---------------------------------------------------------------------
 */

bool reserve_has_inodes(const struct journal *j, uint64_t n)
{
	struct statvfs fs;

	/* Some file systems have no fixed number of inodes. */
	return fstatvfs(j->store, &fs) < 0 || fs.f_files == 0 || n <= fs.f_favail + j->spares;
}

static void say_full(struct journal *j)
{
	if (j->reported_full)
		return;
	j->reported_full = j->urgent = true;
	journal_say(
		j,
		"the disk or the quota of the undo store '%s' is full: changes that it cannot keep "
		"are refused: make room, or let old steps go with cordon log --prune",
		j->store_path);
}

bool store_relieve(struct journal *j, int why, bool back)
{
	if (why != -ENOSPC && why != -EDQUOT)
		return false;
	if (store_empty_trash(j, NULL))
		return true;
	if (!back && lend(j, why))
		return true;
	if (!back) {
		say_full(j);
		return false;
	}
	/* A rollback may use the whole reserve. */
	return reserve_give(j, why) || j->hooks->make_room(j);
}
