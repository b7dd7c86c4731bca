/* edits - tracks the bytes of external edits, which must not get lost anywhere. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "tests/model/history.h"
#include "tests/model/lines.h"

/*
 * Trees predict the result of most rollbacks, but not over steps that overlapped, or after a forced
 * one. No two writers write the same bytes (acts.c): so a file that was edited externally after the
 * steps began must still exist, under any name, when they were rolled back unforced. A file that a
 * forced rollback took away may come and go with later ones.
 */

static bool has_bytes(const char *tree, const char *hash)
{
	AUTO_FREE char *field = xasprintf(" hash %s", hash);

	return strstr(tree, field);
}

static void print_lost(const char *tree, const char *hash)
{
	struct lines l = split(tree);

	for (size_t i = 0; i < l.n; i++)
		if (has_bytes(l.list[i], hash))
			fprintf(stderr, "# gone: %s\n", l.list[i]);
	lines_done(&l);
}

static size_t count(const char *tree, const char *hash)
{
	AUTO_FREE char *field = xasprintf(" hash %s", hash);
	size_t n = 0;

	for (const char *at = tree; (at = strstr(at, field)); at++)
		n++;
	return n;
}

/* Drops edits of which an external edit removed a copy. */
static void drop_taken(struct history *h, const char *before, const char *after)
{
	size_t n = 0;

	for (size_t i = 0; i < h->n_edits; i++)
		if (count(after, h->edits[i].hash) >= count(before, h->edits[i].hash))
			h->edits[n++] = h->edits[i];
	h->n_edits = n;
}

static bool is_locked(const char *line)
{
	return (strtoul(field(line, 1), NULL, 8) & 0500) != 0500;
}

/* Returns whether an external chmod opened a directory above the path: then its content is not
 * new. */
static bool came_to_light(const struct lines *was, const struct lines *is, const char *path)
{
	for (size_t len = path_len(path); len; len--) {
		const char *before = path[len] == '/' ? line_of(was, path, len) : NULL;
		const char *after = before ? line_of(is, path, len) : NULL;

		if (after && is_dir(before) && is_dir(after) && is_locked(before) &&
		    !is_locked(after))
			return true;
	}
	return false;
}

void edits_note(struct history *h, const char *before, const char *after)
{
	struct lines was = split(before), l = split(after);

	drop_taken(h, before, after);
	for (size_t i = 0; i < l.n; i++) {
		const char *at = strstr(l.list[i], " hash ");
		struct edit e = {.when = h->clock};

		if (!at || strstr(l.list[i], " size 0 ") || strstr(l.list[i], " size 1 "))
			continue; /* too short to be unique */
		snprintf(e.hash, sizeof(e.hash), "%.16s", at + strlen(" hash "));
		if (has_bytes(before, e.hash) || came_to_light(&was, &l, l.list[i]))
			continue;
		h->edits = xrealloc(h->edits, (h->n_edits + 1) * sizeof(*h->edits));
		h->edits[h->n_edits++] = e;
	}
	lines_done(&was);
	lines_done(&l);
}

static bool hides_some(const char *tree)
{
	struct lines l = split(tree);
	bool hides = false;

	for (size_t i = 0; i < l.n; i++)
		hides |= is_unseen(l.list[i]) || is_shut(l.list[i]);
	lines_done(&l);
	return hides;
}

/* Returns whether a restore copied the bytes there: the copy disappears with the restore. */
static bool was_brought(const struct history *h, const struct edit *e)
{
	for (size_t i = 0; i < h->n_kept; i++) {
		const struct rung *r = &h->kept[i];

		if (r->begun > e->when && r->before && r->after && !has_bytes(r->before, e->hash) &&
		    has_bytes(r->after, e->hash))
			return true;
	}
	return false;
}

bool edits_kept(const struct history *h, long since, const char *now, const char *result,
		bool quiet)
{
	if (hides_some(result))
		return true;
	for (size_t i = 0; i < h->n_edits; i++) {
		const struct edit *e = &h->edits[i];

		if (e->when <= since || !has_bytes(now, e->hash) || has_bytes(result, e->hash) ||
		    was_brought(h, e))
			continue;
		if (!quiet)
			print_lost(now, e->hash);
		return false;
	}
	return true;
}
