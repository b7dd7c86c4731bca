/* temp_dir - the directory for a sandbox's temporary files; removes stale ones of earlier
 * sessions. */
/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/landlock/tier_priv.h"
#include "core/base/io.h"
#include "core/base/log.h"
#include "core/base/path.h"

/*
 * The fence removes a session's directory, but a session has no fence in its first milliseconds,
 * nor after a power cut. So the keeper holds a lock on its directory, and the next session removes
 * directories that are not locked. A lock on their parent directory protects a new directory that
 * is not locked yet. It is held briefly: stale directories are only locked under it, and removed
 * later.
 */

#define LEFT_MAX 64 /* per session start */

struct left { /* locked, so that no other session removes them */
	char *names[LEFT_MAX];
	int fds[LEFT_MAX];
	size_t n;
};

static void left_done(struct left *l)
{
	while (l->n) {
		free(l->names[--l->n]);
		util_close_fd(&l->fds[l->n]);
	}
}

static void claim(struct left *l, int all, const char *name)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	AUTO_CLOSE int fd = openat(all, name, flags);

	if (fd < 0 && errno == EACCES && fchmodat(all, name, 0700, AT_SYMLINK_NOFOLLOW) == 0)
		fd = openat(all, name, flags); /* its agent has removed the permission */
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return;
	l->names[l->n] = xstrdup(name);
	l->fds[l->n++] = take_fd(&fd);
}

static void claim_all(struct left *l, int all)
{
	AUTO_DIR DIR *dir = NULL;
	int fd = openat(all, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct dirent *e;

	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir)
		return;
	while (l->n < LEFT_MAX && (e = readdir(dir)))
		if (e->d_name[0] != '.')
			claim(l, all, e->d_name);
}

static void remove_left(const struct left *l, int all)
{
	for (size_t i = 0; i < l->n; i++) {
		int r = io_remove_tree(all, l->names[i]);

		if (r < 0)
			log_warn("sandbox", "remove what an earlier session left, '%s': %s",
				 l->names[i], strerror(-r));
	}
}

/* Makes and locks the session's own directory. The caller holds the parent's lock. */
static int make_own(struct plan *p, const struct spawn_spec *spec, int all, struct err *err)
{
	int r;

	if (mkdirat(all, spec->session, 0700) < 0)
		return err_set(err, -errno, "make a directory for temporary files, '%s'", p->own);
	p->own_lock = openat(all, spec->session, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	r = p->own_lock < 0 ? -errno : io_lock(p->own_lock);
	return r < 0 ? err_set(err, r, "lock '%s'", p->own) : 0;
}

int temp_dir_own(struct plan *p, const struct spawn_spec *spec, struct err *err)
{
	AUTO_FREE char *state = realpath(spec->state_dir, NULL), *path = NULL;
	CLEANUP(left_done) struct left left = {0};
	AUTO_CLOSE int all = -1;
	int r;

	path = path_join(state ? state : spec->state_dir, "tmp");
	p->own = path_join(path, spec->session);
	p->own_lock = -1;
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return err_set(err, -errno, "make a directory for temporary files, '%s'", path);
	all = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	r = all < 0 ? -errno : io_lock(all);
	if (r < 0)
		return err_set(err, r, "lock the directory for temporary files, '%s'", path);
	claim_all(&left, all);
	r = make_own(p, spec, all, err);
	flock(all, LOCK_UN);
	remove_left(&left, all);
	return r;
}
