/* original_after_image - after-states of undone steps that newer steps may have replaced. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/journal/fs/object.h"
#include "core/journal/fs/reach.h"
#include "core/journal/history/after_image.h"
#include "core/journal/history/net_effect.h"
#include "core/journal/history/newest_toucher.h"
#include "core/journal/history/rename_list.h"
#include "core/journal/history/step_summary.h"
#include "core/journal/journal.h"
#include "core/journal/rollback/undo.h"
#include "core/journal/store/store.h"
#include "core/journal/util/path_set.h"

/*
 * A step's own image of a path is made at its commit, and anew when it was undone or redone. It is
 * what the step left unless newer ones came back with it: then it is what those left, where the
 * first one is not known.
 */

int left_keep(int stepdir)
{
	int r = linkat(stepdir, "post", stepdir, "left", 0) < 0 ? -errno : 0;

	if (r == -EPERM || r == -EOPNOTSUPP) /* a file system that has no links goes without */
		return 0;
	return r == -EEXIST || r == -ENOENT ? 0 : r;
}

int left_drop(int stepdir)
{
	int r = unlinkat(stepdir, "left", 0) < 0 ? -errno : 0;

	return r == -ENOENT ? 0 : r;
}

static int take_all(int stepdir, struct posts *ret)
{
	AUTO_POST_READER struct post_reader reader;
	struct post p;
	int r = post_begin(&reader, stepdir, "post");

	if (r == -ENOENT)
		return 0; /* nothing is known */
	while (r >= 0 && (r = post_next(&reader, &p)) > 0) {
		struct post have = {0};

		posts_find(ret, p.key, &have);
		posts_take(ret, &p);
		/* Of any of the steps: when those after it have gone, that work lies there. */
		posts_mark(ret, p.key, (have.flags | p.flags) & POST_FOREIGN);
	}
	return r;
}

int left_load(struct journal *j, const struct group *dirs, struct posts *ret)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < dirs->n; i++) {
		AUTO_CLOSE int fd = store_open_dir(j, dirs->dirs[i]);

		r = fd < 0 ? fd : take_all(fd, ret);
		if (r == -ENOENT)
			r = 0;
	}
	return r;
}

static bool differs_behind(struct journal *j, struct reach *w, const struct post *left,
			   const struct post *newest)
{
	struct change_side was, is;
	bool known, same;
	struct spot at;
	struct obj o;

	if (reach_look(j, w, left->root, left->path, &at, &o) < 0)
		return true;
	if (o.mode == OBJ_UNSEEN)
		return false;
	change_side_set(&was, &left->obj);
	change_side_set(&is, &o);
	/* The newest image has the hash of what is there. */
	known = S_ISREG(o.mode) && left->hash && newest->hash && newest->obj.ino == o.ino &&
		newest->obj.ctime_ns == o.ctime_ns;
	same = left->hash == newest->hash;
	/* Another's file gets a new time from each rollback. */
	if (known && same && o.size <= DATA_HASH_MAX && o.uid != geteuid())
		was.mtime_ns = is.mtime_ns;
	/* The times can be set back. */
	return !sides_equal(&was, &is) || (known && !same);
}

bool left_differs(struct journal *j, const struct post *left, const struct post *newest)
{
	struct reach reach = {0};
	bool differs;

	if (left->obj.mode == OBJ_UNSEEN)
		return false;
	differs = differs_behind(j, &reach, left, newest);
	reach_close(j, &reach);
	return differs;
}

void touchers_note(struct touchers *h, size_t place, const struct names *names)
{
	for (size_t i = 0; i < names_count(names); i++)
		names_add_key(&h->names, names_key(names, i));
	h->ends = xrealloc(h->ends, (place + 1) * sizeof(*h->ends));
	h->ends[place] = names_count(&h->names);
}

void touchers_find(const struct touchers *h, size_t place, const struct moves *moves,
		   const struct names *names, struct names *ret)
{
	size_t newer = h->ends && place ? h->ends[place - 1] : 0;

	for (size_t i = 0; h->ends && i < names_count(names); i++) {
		const char *key = names_key(names, i), *path;
		int root = key_root(key, &path);

		if ((newer && names_find(&h->names, key) < newer) || moves_touch(moves, root, path))
			names_add_key(ret, key);
	}
}

struct writing {
	uint64_t ino;
	size_t place; /* of the newest */
	UT_hash_handle hh;
};

static struct writing *find_writing(const struct touchers *h, uint64_t ino)
{
	struct writing *one;

	HASH_FIND(hh, h->files, &ino, sizeof(ino), one);
	return one;
}

void touchers_wrote(struct touchers *h, size_t place, uint64_t ino)
{
	struct writing *one;

	if (find_writing(h, ino))
		return;
	one = xcalloc(1, sizeof(*one));
	one->ino = ino;
	one->place = place;
	HASH_ADD(hh, h->files, ino, sizeof(one->ino), one);
}

bool touchers_have_file(const struct touchers *h, size_t place, uint64_t ino)
{
	const struct writing *one = find_writing(h, ino);

	return one && one->place < place;
}

void touchers_done(struct touchers *h)
{
	struct writing *one, *rest;

	HASH_ITER (hh, h->files, one, rest) {
		HASH_DEL(h->files, one);
		free(one);
	}
	names_done(&h->names);
	free(h->ends);
}
