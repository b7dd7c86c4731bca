/* rename_list - translates paths through the renames of directories, in order. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/path.h"
#include "core/journal/history/after_image.h"
#include "core/journal/history/rename_list.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/store/store.h"
#include "core/journal/util/path_set.h"
#include "core/journal/util/rename_tree.h"

static void add_end(struct renames *m, int root, const char *path, uint64_t left)
{
	AUTO_FREE char *key = path_key_make(root, path);
	bool fresh;
	size_t i = path_set_put(&m->ends, key, &fresh);

	if (fresh && i % 16 == 0)
		m->left = xrealloc(m->left, (i + 16) * sizeof(*m->left));
	m->left[i] = fresh ? left : MAX(m->left[i], left);
}

void renames_add_one(struct renames *m, const struct dir_rename *one)
{
	struct dir_rename *move;

	if (m->n % 16 == 0)
		m->list = xrealloc(m->list, (m->n + 16) * sizeof(*m->list));
	move = &m->list[m->n++];
	*move = *one;
	move->from = xstrdup(one->from);
	move->to = xstrdup(one->to);
	add_end(m, one->root, one->from, one->seq);
	add_end(m, one->root2, one->to, one->both ? one->seq : 0);
}

static void add(struct renames *m, const struct undo_log *log, unsigned without)
{
	struct rec rec;
	size_t at = 0;

	while (undo_log_next(log, &at, &rec)) {
		struct dir_rename one = {.seq = rec.seq,
					 .root = rec.root,
					 .root2 = rec.root2,
					 .from = (char *)(uintptr_t)rec.path,
					 .to = (char *)(uintptr_t)rec.path2,
					 .both = rec.type == REC_XCHG};

		if ((rec.type == REC_RENAME || rec.type == REC_XCHG) &&
		    (rec.flags & REC_DIRECTORY) && !(rec.flags & without))
			renames_add_one(m, &one);
	}
}

void renames_add(struct renames *m, const struct undo_log *log)
{
	add(m, log, REC_SKIPPED);
}

void renames_add_made(struct renames *m, const struct undo_log *log)
{
	add(m, log, REC_SKIPPED | REC_ASIDE);
}

static int by_seq(const void *a, const void *b)
{
	const struct dir_rename *x = a, *y = b;

	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

void renames_sort(struct renames *m)
{
	if (m->n)
		qsort(m->list, m->n, sizeof(*m->list), by_seq);
	for (size_t i = 0; i < m->n; i++) {
		const struct dir_rename *v = &m->list[i];

		rename_tree_move(&m->on, v->root, v->from, v->root2, v->to, v->both);
	}
}

void renames_push(struct renames *m, int root, const char *from, const char *to)
{
	renames_add_one(m, &(struct dir_rename){.seq = m->n + 1,
						.root = root,
						.root2 = root,
						.from = (char *)(uintptr_t)from,
						.to = (char *)(uintptr_t)to});
	rename_tree_move(&m->on, root, from, root, to, false);
}

void renames_done(struct renames *m)
{
	for (size_t i = 0; i < m->n; i++) {
		free(m->list[i].from);
		free(m->list[i].to);
	}
	free(m->list);
	free(m->left);
	path_set_done(&m->ends);
	rename_tree_done(&m->on);
	*m = (struct renames){0};
}

/* Returns how many renames are not after the record. */
static uint32_t moment_of(const struct renames *m, uint64_t seq)
{
	size_t lo = 0, hi = m->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (m->list[mid].seq <= seq)
			lo = mid + 1;
		else
			hi = mid;
	}
	return (uint32_t)lo;
}

/* Returns whether a directory above the path is an end of a rename. *ret_left: the last rename that
 * took such a directory away. */
static bool look_above(const struct renames *m, int root, const char *path, uint64_t *ret_left)
{
	AUTO_FREE char *key = m->n ? path_key_make(root, path) : NULL;
	char *slash = key ? strchr(key, '/') : NULL;
	bool found = false;

	*ret_left = 0;
	while (slash && (slash = strchr(slash + 1, '/'))) {
		size_t i;

		*slash = '\0';
		i = path_set_find(&m->ends, key);
		*slash = '/';
		if (i == PATH_SET_NONE)
			continue;
		*ret_left = MAX(*ret_left, m->left[i]);
		found = true;
	}
	return found;
}

bool renames_touch(const struct renames *m, int root, const char *path)
{
	uint64_t left;

	return look_above(m, root, path, &left);
}

bool renames_follow(const struct renames *m, uint64_t seq, int *root, char **path)
{
	uint64_t left;

	look_above(m, *root, *path, &left);
	if (left <= seq) /* no later rename moves it */
		return false;
	rename_tree_follow(&m->on, moment_of(m, seq), m->on.now, root, path);
	return true;
}

char *renames_now(const struct renames *m, uint64_t seq, int *root, const char *path)
{
	char *now = xstrdup(path);

	renames_follow(m, seq, root, &now);
	return now;
}

void renames_add_now(const struct renames *m, uint64_t seq, int root, const char *path,
		     struct path_set *to)
{
	AUTO_FREE char *now = renames_now(m, seq, &root, path);

	path_set_add(to, root, now);
}

struct carried {
	const struct renames *moves;
	struct path_set *names;
};

static int add_carried(void *data, const struct after_image *p)
{
	const struct carried *c = data;
	AUTO_FREE char *now = NULL;
	int root = p->root;

	if (!renames_touch(c->moves, p->root, p->path))
		return 0;
	path_set_add_key(c->names, p->key);
	now = xstrdup(p->path);
	if (renames_follow(c->moves, 0, &root, &now))
		path_set_add(c->names, root, now);
	return 0;
}

int renames_add_images(struct journal *j, const struct renames *m, struct path_set *add)
{
	struct carried c = {.moves = m, .names = add};

	return m->n ? after_image_each(j, NULL, NULL, add_carried, &c) : 0;
}
