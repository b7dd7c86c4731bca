/* moves - where a path of then lies now that directories were renamed. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/journal/priv.h"

static void add(struct moves *m, const struct wal *log, unsigned without)
{
	struct rec rec;
	size_t at = 0;

	while (wal_next(log, &at, &rec)) {
		struct move *move;

		if ((rec.type != REC_RENAME && rec.type != REC_XCHG) ||
		    !(rec.flags & REC_DIRECTORY) || (rec.flags & without))
			continue;
		if (m->n % 16 == 0)
			m->list = xrealloc(m->list, (m->n + 16) * sizeof(*m->list));
		move = &m->list[m->n++];
		*move = (struct move){.seq = rec.seq,
				      .root = rec.root,
				      .root2 = rec.root2,
				      .both = rec.type == REC_XCHG};
		move->from = xstrdup(rec.path);
		move->to = xstrdup(rec.path2);
	}
}

void moves_add(struct moves *m, const struct wal *log)
{
	add(m, log, REC_SKIPPED);
}

void moves_add_made(struct moves *m, const struct wal *log)
{
	add(m, log, REC_SKIPPED | REC_ASIDE);
}

static int by_seq(const void *a, const void *b)
{
	const struct move *x = a, *y = b;

	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

void moves_sort(struct moves *m)
{
	if (m->n)
		qsort(m->list, m->n, sizeof(*m->list), by_seq);
}

void moves_done(struct moves *m)
{
	for (size_t i = 0; i < m->n; i++) {
		free(m->list[i].from);
		free(m->list[i].to);
	}
	free(m->list);
	*m = (struct moves){0};
}

static bool carry(int *root, char **path, int from_root, const char *from, int to_root,
		  const char *to)
{
	size_t len = strlen(from);
	char *p;

	if (*root != from_root || strncmp(*path, from, len) != 0 || (*path)[len] != '/')
		return false;
	p = xasprintf("%s%s", to, *path + len);
	free(*path);
	*path = p;
	*root = to_root;
	return true;
}

bool moves_follow(const struct moves *m, uint64_t seq, int *root, char **path)
{
	bool moved = false;

	for (size_t i = 0; i < m->n; i++) {
		const struct move *v = &m->list[i];

		if (v->seq <= seq)
			continue;
		if (carry(root, path, v->root, v->from, v->root2, v->to))
			moved = true;
		else if (v->both && carry(root, path, v->root2, v->to, v->root, v->from))
			moved = true;
	}
	return moved;
}

void moves_back(const struct moves *m, uint64_t seq, int *root, char **path)
{
	for (size_t i = m->n; i-- > 0 && m->list[i].seq > seq;) {
		const struct move *v = &m->list[i];

		if (!carry(root, path, v->root2, v->to, v->root, v->from) && v->both)
			carry(root, path, v->root, v->from, v->root2, v->to);
	}
}

bool moves_touch(const struct moves *m, int root, const char *path)
{
	for (size_t i = 0; i < m->n; i++) {
		const struct move *v = &m->list[i];
		size_t len = strlen(v->from), len2 = strlen(v->to);

		if (root == v->root && strncmp(path, v->from, len) == 0 && path[len] == '/')
			return true;
		if (root == v->root2 && strncmp(path, v->to, len2) == 0 && path[len2] == '/')
			return true;
	}
	return false;
}

struct carried {
	const struct moves *moves;
	struct names *names;
};

static int add_carried(void *data, const struct post *p)
{
	const struct carried *c = data;
	AUTO_FREE char *now = NULL;
	int root = p->root;

	if (!moves_touch(c->moves, p->root, p->path))
		return 0;
	names_add_key(c->names, p->key);
	now = xstrdup(p->path);
	if (moves_follow(c->moves, 0, &root, &now))
		names_add(c->names, root, now);
	return 0;
}

int post_moved(struct journal *j, const struct moves *m, struct names *add)
{
	struct carried c = {.moves = m, .names = add};

	return m->n ? post_each(j, NULL, add_carried, &c) : 0;
}
