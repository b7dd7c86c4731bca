/* protected_names - names that a rollback must not change, followed back through renames. */
/* SPDX-License-Identifier: MIT */
#include "core/base/hash.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback/protected_names.h"
#include "core/journal/util/path_set.h"

#include <string.h>

#include "core/base/path.h"

struct protected_name { /* a name, as of the current record */
	char *key;
	bool named;    /* the name itself is protected */
	bool tree;     /* with all names below it */
	bool exists;   /* the directories above it must stay */
	size_t held;   /* names below it that exist */
	size_t passes; /* passing trees with this top */
	UT_hash_handle hh;
};

struct passing { /* a tree that is protected up to a record */
	char *key;
	uint64_t last;
};

static struct protected_name *find(const struct protected_set *s, const char *key, size_t len)
{
	struct protected_name *m;

	HASH_FIND(hh, s->names, key, len, m);
	return m;
}

static struct protected_name *get(struct protected_set *s, const char *key, size_t len)
{
	struct protected_name *m = find(s, key, len);

	if (m)
		return m;
	m = xcalloc(1, sizeof(*m));
	m->key = xstrndup(key, len);
	HASH_ADD_KEYPTR(hh, s->names, m->key, len, m);
	return m;
}

/* Returns the length of the key of the directory above, or 0 if that is the root. */
static size_t above(const char *key, size_t len)
{
	size_t root = (size_t)(strchr(key, '/') - key);

	while (len > root && key[len - 1] != '/')
		len--;
	return len > root + 1 ? len - 1 : 0;
}

static void add_key(struct protected_set *s, const char *key, bool tree, bool exists)
{
	size_t len = strlen(key);
	struct protected_name *m = get(s, key, len);
	bool more = exists && !m->exists;

	m->named = true;
	m->tree |= tree;
	m->exists |= exists;
	while (more && (len = above(key, len)))
		get(s, key, len)->held++;
}

void protected_add(struct protected_set *s, int root, const char *path, bool tree, bool exists)
{
	AUTO_FREE char *key = path_key_make(root, path);

	add_key(s, key, tree, exists);
}

void protected_done(struct protected_set *s)
{
	struct protected_name *m, *next;

	HASH_ITER (hh, s->names, m, next) {
		HASH_DEL(s->names, m);
		free(m->key);
		free(m);
	}
	while (s->n_passing)
		free(s->passing[--s->n_passing].key);
	free(take_ptr(&s->passing));
}

bool protected_covers(const struct protected_set *s, int root, const char *path, bool trees_only)
{
	AUTO_FREE char *key = path_key_make(root, path);
	size_t len = strlen(key);
	const struct protected_name *m = find(s, key, len);

	if (m && m->named && !trees_only)
		return true;
	for (; len; len = above(key, len)) {
		m = find(s, key, len);
		if (m && (m->tree || m->passes))
			return true;
	}
	return false;
}

bool protected_holds(const struct protected_set *s, int root, const char *path)
{
	AUTO_FREE char *key = path_key_make(root, path);
	const struct protected_name *m = find(s, key, strlen(key));

	return m && m->held;
}

/* Ends the protection of the name, and returns it as it was. */
static struct protected_name take(struct protected_set *s, struct protected_name *m)
{
	struct protected_name was = *m;
	size_t len = strlen(m->key);

	while (m->exists && (len = above(m->key, len)))
		get(s, m->key, len)->held--;
	m->named = m->tree = m->exists = false;
	return was;
}

static void carry_passing(struct protected_set *s, const char *from, size_t len, const char *to)
{
	for (size_t i = 0; i < s->n_passing; i++) {
		struct passing *p = &s->passing[i];
		char *key;

		if (!path_is_beneath(p->key, from))
			continue;
		key = xasprintf("%s%s", to, p->key + len);
		get(s, p->key, strlen(p->key))->passes--;
		get(s, key, strlen(key))->passes++;
		free(p->key);
		p->key = key;
	}
}

void protected_carry(struct protected_set *s, int root2, const char *p2, int root1, const char *p1)
{
	AUTO_FREE char *from = path_key_make(root2, p2), *to = path_key_make(root1, p1);
	size_t len = strlen(from), n = 0;
	AUTO_FREE struct protected_name *taken = NULL;
	struct protected_name *m, *next;

	HASH_ITER (hh, s->names, m, next) {
		if (!m->named || !path_is_beneath(m->key, from))
			continue;
		if (!(n & (n - 1)))
			taken = xrealloc(taken, (n ? 2 * n : 1) * sizeof(*taken));
		taken[n++] = take(s, m);
	}
	for (size_t i = 0; i < n; i++) {
		AUTO_FREE char *key = xasprintf("%s%s", to, taken[i].key + len);

		add_key(s, key, taken[i].tree, taken[i].exists);
	}
	carry_passing(s, from, len, to);
}

void protected_carry_both(struct protected_set *s, const struct rec *r)
{
	const char *aside = "\n"; /* no path below a root begins so */

	protected_carry(s, r->root, r->path, -1, aside);
	protected_carry(s, r->root2, r->path2, r->root, r->path);
	protected_carry(s, -1, aside, r->root2, r->path2);
}

void protected_pass(struct protected_set *s, int root, const char *path, uint64_t last)
{
	struct passing *p;

	if (s->n_passing % 16 == 0)
		s->passing = xrealloc(s->passing, (s->n_passing + 16) * sizeof(*s->passing));
	p = &s->passing[s->n_passing++];
	*p = (struct passing){.key = path_key_make(root, path), .last = last};
	get(s, p->key, strlen(p->key))->passes++;
}

bool protected_passes(const struct protected_set *s, int root, const char *path)
{
	AUTO_FREE char *key = s->n_passing ? path_key_make(root, path) : NULL;

	for (size_t len = key ? strlen(key) : 0; len; len = above(key, len)) {
		const struct protected_name *m = find(s, key, len);

		if (m && m->passes)
			return true;
	}
	return false;
}

void protected_passed(struct protected_set *s, uint64_t seq)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->n_passing; i++) {
		struct passing *p = &s->passing[i];

		if (p->last != seq) {
			s->passing[kept++] = *p;
			continue;
		}
		get(s, p->key, strlen(p->key))->passes--;
		free(p->key);
	}
	s->n_passing = kept;
}
