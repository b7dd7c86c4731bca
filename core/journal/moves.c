/* moves - sets of paths, and where a path of then lies now that directories were renamed. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/journal/priv.h"

char *key_make(int root, const char *path)
{
	size_t len = strlen(path);
	char *key;

	if (root) /* rare */
		return xasprintf("%d/%s", root, path);
	key = xmalloc(len + 3);
	key[0] = '0';
	key[1] = '/';
	memcpy(key + 2, path, len + 1);
	return key;
}

int key_root(const char *key, const char **path)
{
	*path = strchr(key, '/') + 1;
	return atoi(key);
}

bool names_has(const struct names *n, int root, const char *path)
{
	AUTO_FREE char *key = key_make(root, path);

	return names_has_key(n, key);
}

bool names_has_key(const struct names *n, const char *key)
{
	struct name *have;

	HASH_FIND_STR(n->set, key, have);
	return have;
}

bool names_add(struct names *n, int root, const char *path)
{
	AUTO_FREE char *key = key_make(root, path);

	return names_add_key(n, key);
}

bool names_add_key(struct names *n, const char *key)
{
	struct name *have;

	HASH_FIND_STR(n->set, key, have);
	if (have)
		return false;
	have = xcalloc(1, sizeof(*have));
	have->key = xstrdup(key);
	HASH_ADD_KEYPTR(hh, n->set, have->key, strlen(have->key), have);
	return true;
}

const char **names_list(const struct names *n, size_t *ret_n)
{
	const char **list = xcalloc(HASH_COUNT(n->set) + 1, sizeof(*list));

	*ret_n = 0;
	for (struct name *e = n->set; e; e = e->hh.next)
		list[(*ret_n)++] = e->key;
	return list;
}

void names_done(struct names *n)
{
	struct name *e, *next;

	HASH_ITER (hh, n->set, e, next) {
		HASH_DEL(n->set, e);
		free(e->key);
		free(e);
	}
}

/* ---- moves ------------------------------------------------------------------------------------
 */

void moves_add(struct moves *m, const struct wal *log)
{
	struct rec rec;
	size_t at = 0;

	while (wal_next(log, &at, &rec)) {
		struct move *move;

		if ((rec.type != REC_RENAME && rec.type != REC_XCHG) ||
		    !(rec.flags & REC_DIRECTORY) || (rec.flags & REC_SKIPPED))
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

int post_moved(struct journal *j, const struct moves *m, struct names *add)
{
	struct post *all = NULL;
	int r;

	if (!m->n)
		return 0;
	r = post_load_all(j, &all);
	for (struct post *p = all; r == 0 && p; p = p->hh.next) {
		AUTO_FREE char *now = NULL;
		int root = p->root;

		if (!moves_touch(m, p->root, p->path))
			continue;
		names_add(add, p->root, p->path);
		now = xstrdup(p->path);
		if (moves_follow(m, 0, &root, &now))
			names_add(add, root, now);
	}
	post_free_all(all);
	return r;
}
