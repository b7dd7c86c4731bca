/* plan_dirs - directories that a rollback would take away, and what else lies in them. */
/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "core/journal/store/way.h"
#include "core/journal/undo/planner.h"

/* Is the directory here because it was moved here? Then it goes away with all that is in it. */
static bool came_by_move(const struct planner *p, int root, const char *path)
{
	for (size_t i = 0; i < p->moves.n; i++) {
		const struct move *m = &p->moves.list[i];

		for (int end = 0; end < 1 + m->both; end++) {
			AUTO_FREE char *to = xstrdup(end ? m->from : m->to);
			int at = end ? m->root : m->root2;

			moves_follow(&p->moves, m->seq, &at, &to);
			if (at == root && str_eq(to, path))
				return true;
		}
	}
	return false;
}

/* -1: it is not there, or no directory, or not ours; then the image's comparison says it. */
static int open_dir(struct journal *j, int root, const char *path)
{
	struct way way = {0};
	struct spot at;
	struct obj o;
	int fd = -1;

	if (way_look(j, &way, root, path, &at, &o) == 0 && S_ISDIR(o.mode) &&
	    way_lend(j, &way, &at, S_IRUSR) == 0)
		fd = openat(at.fd, at.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	way_close(j, &way);
	return fd;
}

/* A directory that goes away must hold nothing that does not go with it. */
static int check_dir(struct planner *p, int root, const char *path)
{
	AUTO_CLOSE int fd = open_dir(p->j, root, path);
	AUTO_DIR DIR *dir = NULL;
	struct dirent *e;

	if (fd < 0)
		return 0;
	dir = fdopendir(fd);
	if (!dir)
		return -errno;
	fd = -1;
	while ((errno = 0, e = readdir(dir))) {
		AUTO_FREE char *child = xasprintf("%s/%s", path, e->d_name);

		if (str_eq(e->d_name, ".") || str_eq(e->d_name, ".."))
			continue;
		if (!names_has(&p->places, root, child))
			plan_entry(p, root, child, 'D', true);
	}
	return -errno;
}

/* A redo gives it another name. */
static bool moves_on(const struct planner *p, const char *path)
{
	for (size_t k = 0; k < names_count(&p->fates.keys); k++) {
		const char *from = p->fates.list[k].renamed_from;

		if (from && str_eq(from, path))
			return true;
	}
	return false;
}

/* A new directory was moved: was it this one, or did another take its name first? */
static bool made_here(const struct planner *p, int root, const char *path)
{
	AUTO_FREE char *key = key_make(root, path);
	const struct fate *f = fates_find(&p->fates, key);
	const struct change_side *now, *then;

	if (!f)
		return false;
	now = p->redo ? &f->before : &f->after;
	then = p->redo ? &f->after : &f->before;
	return S_ISDIR(now->mode) && !(then->exists && then->ino == now->ino) &&
	       !(p->redo ? moves_on(p, path) : f->renamed_from != NULL);
}

/* Where a directory was removed, or another took its place, which is said only where it was no new
 * one. */
static const char *removed_at(const struct rec *r, int *root)
{
	bool moved = r->type == REC_RENAME && r->flags & REC_DIRECTORY;

	*root = moved ? r->root2 : r->root;
	return moved ? r->path2 : r->type == REC_DIR_GONE ? r->path : NULL;
}

/* Was the directory that the record is about removed, so that another one has its name? */
static bool removed_since(const struct planner *p, const struct rec *made)
{
	for (size_t i = 0; i < p->dirs->n; i++) {
		struct rec rec;
		size_t at = 0;

		while (wal_next(&p->logs[i], &at, &rec)) {
			AUTO_FREE char *then = NULL, *gone = NULL;
			int root = made->root, gone_root;
			const char *path = removed_at(&rec, &gone_root);

			if (!path || rec.flags & REC_SKIPPED || rec.seq < made->seq)
				continue;
			then = xasprintf("%s/", made->path);
			gone = xasprintf("%s/", path);
			moves_follow_until(&p->moves, made->seq, rec.seq, &root, &then);
			if (root == gone_root && str_eq(then, gone))
				return true;
		}
	}
	return false;
}

/* Does the directory that the record made go away with what lies there now? */
static bool goes(const struct planner *p, const struct rec *made, int root, const char *now,
		 bool moved)
{
	if (!moved)
		return !came_by_move(p, root, now);
	return made_here(p, root, now) && !removed_since(p, made);
}

int plan_check_dirs(struct planner *p)
{
	struct names done = {0};
	int r = 0;

	for (size_t i = 0; i < p->dirs->n; i++) {
		struct rec rec;
		size_t at = 0;

		while (r == 0 && wal_next(&p->logs[i], &at, &rec)) {
			AUTO_FREE char *now = NULL;
			int root = rec.root;
			bool moved;

			if (rec.type != REC_DIR_NEW || rec.flags & REC_SKIPPED)
				continue;
			/* Itself, not only what lies in it. */
			now = xasprintf("%s/", rec.path);
			moved = moves_follow(&p->moves, rec.seq, &root, &now);
			now[strlen(now) - 1] = '\0';
			if (names_has(&done, root, now) || !goes(p, &rec, root, now, moved))
				continue;
			names_add(&done, root, now);
			r = check_dir(p, root, now);
		}
	}
	names_done(&done);
	return r;
}
