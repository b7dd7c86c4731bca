/* external - changes the folder behind the journal's back, like a user's editor, shell or cron. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <time.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/journal/op.h"
#include "tests/model/worker.h"

/* Writes a new file and renames it over the old one, as editors do. */
static int save(struct inside *in, const struct at *at)
{
	int fd = openat(at->dirfd, "save~", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0)
		return -errno;
	fill_data(in, fd, in->turn);
	close(fd);
	if (renameat(at->dirfd, "save~", at->dirfd, at->name) == 0)
		return 0;
	unlinkat(at->dirfd, "save~", 0);
	return -errno;
}

/* Returns whether an agent has it open for writing: the writer of bytes between two steps is then
 * unknown. */
static bool is_held(const struct inside *in, const struct at *at)
{
	struct stat st, held;

	if (fstatat(at->dirfd, at->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	for (int i = 0; i < HELD_MAX; i++)
		if (in->held[i].place >= 0 && fstat(in->held[i].place, &held) == 0 &&
		    held.st_dev == st.st_dev && held.st_ino == st.st_ino)
			return true;
	return false;
}

static int edit(struct inside *in, const struct at *at, int flags)
{
	int fd = openat(at->dirfd, at->name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		fill_data(in, fd, 2 + in->turn % 3);
	close(fd);
	return 0;
}

static int move(struct inside *in, const struct at *at, const char *path)
{
	char dir[16], was[HELD_MAX][PATH_MAX], is[PATH_MAX];
	struct at to;
	int r;

	if (!place_of(in, path, &to, dir))
		return -ENOENT;
	for (int i = 0; i < HELD_MAX; i++)
		held_path(&in->held[i], was[i]);
	r = renameat(at->dirfd, at->name, to.dirfd, to.name) < 0 ? -errno : 0;
	close(to.dirfd);
	for (int i = 0; i < HELD_MAX; i++) {
		held_path(&in->held[i], is);
		in->held[i].moved |= !str_eq(was[i], is);
	}
	return r;
}

static int64_t time_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Waits, so that an external edit never has the time of an agent's write: two files of the same
 * size would look the same. New files have the time of the last tick. */
static void wait_for_tick(void)
{
	int64_t now = time_of(CLOCK_REALTIME);

	while (time_of(CLOCK_REALTIME_COARSE) <= now)
		;
}

void act_external(struct inside *in, const struct act *a)
{
	int *r = &in->sh->reply.r;
	char dir[16];
	struct at at;

	*r = -ENOENT;
	if (!place_of(in, a->a, &at, dir))
		return;
	wait_for_tick();
	in->sh->reply.stray = a->y % 8 != 0 && a->y % 8 != 1 && is_held(in, &at);
	switch (a->y % 8) {
	case 0:
	case 1:
		*r = save(in, &at);
		break;
	case 2:
		*r = edit(in, &at, O_WRONLY | O_CREAT | O_TRUNC);
		break;
	case 3:
		*r = edit(in, &at, O_WRONLY | O_APPEND);
		break;
	case 4:
		*r = unlinkat(at.dirfd, at.name, 0) < 0 ? -errno : 0;
		break;
	case 5:
		*r = move(in, &at, a->b);
		break;
	case 6:
		*r = mkdirat(at.dirfd, at.name, 0755) < 0 ? -errno : 0;
		break;
	default:
		*r = fchmodat(at.dirfd, at.name, a->x & 1 ? 0640 : 0755, 0) < 0 ? -errno : 0;
	}
	close(at.dirfd);
}
