/* git_words_index - finds the paths whose entries differ between two git indexes. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/git_index.h"
#include "core/diff/git_words_priv.h"

/* A reader at an entry, or at the end. */
struct side {
	struct git_index git;
	struct git_index_entry entry;
	uint32_t left;
	bool ended, broken;
};

static void step_on(struct side *s)
{
	s->ended = s->left == 0;
	if (s->ended)
		return;
	s->left--;
	s->broken = !git_index_entry(&s->git, &s->entry);
	s->ended = s->broken;
}

static bool begin(struct side *s, const char *data, size_t len, size_t hash)
{
	*s = (struct side){.ended = true};
	if (!data)
		return true;
	if (!git_index_open(&s->git, data, len, hash))
		return false;
	s->left = s->git.entries;
	step_on(s);
	return true;
}

/* Compares as git sorts: by the bytes of paths; a path can have several stages. */
static int compare(const struct side *a, const struct side *b)
{
	if (a->ended || b->ended)
		return a->ended - b->ended;
	return strcmp(a->git.name, b->git.name);
}

static bool same(const struct side *a, const struct side *b, size_t hash)
{
	return a->entry.mode == b->entry.mode && a->entry.flags >> 12 == b->entry.flags >> 12 &&
	       memcmp(a->entry.object_bytes, b->entry.object_bytes, hash) == 0;
}

static void add(struct index_change *x, const struct side *s, bool gone, size_t hash)
{
	if (x->n < INDEX_NAMES)
		x->names[x->n] = xstrdup(s->git.name);
	x->n++;
	x->gone += gone;
	if (gone || x->hash)
		return;
	memcpy(x->object, s->entry.object_bytes, hash);
	x->hash = hash;
}

static bool walk(struct index_change *x, struct side *a, struct side *b, size_t hash)
{
	while (!a->ended || !b->ended) {
		int cmp = compare(a, b);

		if (cmp < 0)
			add(x, a, true, hash);
		else if (cmp > 0 || !same(a, b, hash))
			add(x, b, false, hash);
		if (cmp <= 0)
			step_on(a);
		if (cmp >= 0)
			step_on(b);
	}
	return !a->broken && !b->broken;
}

bool index_compare(struct index_change *ret, const char *before, size_t before_len,
		   const char *after, size_t after_len)
{
	static const size_t hashes[] = {20, 32}; /* the file does not say which size it uses */
	struct side a, b;

	for (size_t i = 0; i < ARRAY_LEN(hashes); i++) {
		*ret = (struct index_change){0};
		if (begin(&a, before, before_len, hashes[i]) &&
		    begin(&b, after, after_len, hashes[i]) && walk(ret, &a, &b, hashes[i]))
			return true;
		index_change_done(ret);
	}
	return false;
}

void index_change_done(struct index_change *x)
{
	for (size_t i = 0; i < INDEX_NAMES; i++)
		free(x->names[i]);
	*x = (struct index_change){0};
}
