/* audit - checks that the store is sound, and that its steps list the changes in the trees. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/model/lines.h"
#include "tests/model/play.h"
#include "tests/support/tree.h"

struct audit { /* of one step, from the trees before and after it */
	struct game *g;
	struct journal *j;
	int64_t id;
	struct lines before, after;
	struct change *list;
	size_t n;
};

static void damage(void *data, const char *words)
{
	fail(data, "damaged: %s", words);
}

/* ---- the list of changes ----------------------------------------------------------------------
 */

static const char *line_at(const struct lines *l, const char *path)
{
	AUTO_FREE char *whole = xasprintf("/%s", path);

	return line_of(l, whole, strlen(whole));
}

/* Returns whether the tree's line agrees with a side of the change. */
static bool side_is(const struct change_side *s, const char *line)
{
	const char *size = strstr(line, " size ");
	long long sec, nsec;

	if (s->mode != strtoul(field(line, 1), NULL, 8))
		return false;
	if (S_ISREG(s->mode) && (!size || strtoull(size + strlen(" size "), NULL, 10) != s->size))
		return false;
	if (S_ISDIR(s->mode) || sscanf(field(line, 3), "%lld.%lld", &sec, &nsec) != 2)
		return S_ISDIR(s->mode);
	return s->mtime_ns == sec * 1000000000 + nsec;
}

/* Returns whether another directory is now above the path: then the change is about the new one's
 * content. */
static bool is_elsewhere(const struct audit *a, const char *path)
{
	for (size_t i = 0; i < a->n; i++) {
		const struct change *c = &a->list[i];
		size_t n = strlen(c->path);

		if (c->before.ino != c->after.ino && strncmp(c->path, path, n) == 0 &&
		    path[n] == '/')
			return true;
	}
	return false;
}

/* Returns whether the trees agree with a change. The content of a renamed directory is listed by
 * its new path, so the old path may have no line. */
static bool is_true(const struct audit *a, const struct change *c)
{
	const char *was = line_at(&a->before, c->old_path ? c->old_path : c->path);
	const char *is = line_at(&a->after, c->path);

	/* The directory had another name for a while, and the other directory had such an entry. */
	if (was && is && str_eq(was, is))
		return true;
	if (c->after.exists != (is != NULL) || (c->old_path && line_at(&a->after, c->old_path)))
		return false;
	if (is && !side_is(&c->after, is))
		return false;
	return !was || is_elsewhere(a, c->path) || (c->before.exists && side_is(&c->before, was));
}

static bool tells_of(const struct change *c, const char *path, size_t len)
{
	const char *const names[] = {c->path, c->old_path};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		size_t n = names[i] ? strlen(names[i]) : SIZE_MAX;

		if (n >= len || strncmp(path + 1, names[i], n) != 0)
			continue;
		/* It was removed or made with a directory. */
		if (len == n + 1 ||
		    (path[n + 1] == '/' && (c->old_path || c->before.ino != c->after.ino)))
			return true;
	}
	return false;
}

/* It was removed while its directory had another name, under which it is listed. */
static bool went_elsewhere(const struct audit *a, const struct change *c, const char *path,
			   size_t len)
{
	const char *slash = strrchr(c->path, '/');
	size_t n = slash ? strlen(slash) : SIZE_MAX;

	return !c->after.exists && n < len && memcmp(path + len - n, slash, n) == 0 &&
	       !line_at(&a->before, c->path);
}

static bool is_told(const struct audit *a, const char *path, size_t len)
{
	const char *was = line_of(&a->before, path, len), *is = line_of(&a->after, path, len);
	AUTO_FREE char *x = was ? bare(was) : NULL, *y = is ? bare(is) : NULL;

	if (alike(x, y) || len < 2 || has_link(&a->before, path, len) ||
	    has_link(&a->after, path, len))
		return true;
	for (size_t i = 0; i < a->n; i++)
		if (tells_of(&a->list[i], path, len) ||
		    (!is && went_elsewhere(a, &a->list[i], path, len)))
			return true;
	return false;
}

static void check_changes(struct audit *a)
{
	const struct lines *const both[] = {&a->before, &a->after};

	for (size_t i = 0; i < a->n; i++)
		if (!is_true(a, &a->list[i]))
			fail(a->g, "step %lld: what it tells of '%s' is not so", (long long)a->id,
			     a->list[i].path);
	for (size_t k = 0; k < 2; k++)
		for (size_t i = 0; i < both[k]->n; i++) {
			const char *line = both[k]->list[i];

			if (!is_told(a, line, path_len(line)))
				fail(a->g, "step %lld: it does not tell of '%.*s'",
				     (long long)a->id, (int)path_len(line), line);
		}
}

/* ---- their content ----------------------------------------------------------------------------
 */

/* Returns whether the tree has a hash: not for files that their owner may not read. */
static bool is_hashed(const char *line)
{
	return strstr(line, " hash ") &&
	       (geteuid() == 0 || strtoul(field(line, 1), NULL, 8) & S_IRUSR);
}

static void check_side(struct audit *a, const struct change *c, bool after)
{
	const char *path = !after && c->old_path ? c->old_path : c->path;
	const char *line = line_at(after ? &a->after : &a->before, path);
	const char *hash = line && is_hashed(line) ? strstr(line, " hash ") : NULL;
	AUTO_CLOSE int fd = -1;
	struct err err = {0};
	char proc[40];
	int r;

	/* Content written by another name of the file is unavailable, and reported so. */
	if (!hash || !(after ? &c->after : &c->before)->exists ||
	    (!after && is_elsewhere(a, path)) || has_link(&a->before, line, path_len(line)) ||
	    has_link(&a->after, line, path_len(line)))
		return;
	r = journal_content(a->j, a->id, c, after, &fd, &err);
	if (r == -ESTALE && after && a->id != a->g->h.kept[a->g->h.n_kept - 1].id)
		return;
	if (r == -EACCES && geteuid() != 0) /* closed in the meantime, and reported so */
		return;
	if (r < 0) {
		fail(a->g, "step %lld: '%s' %s it: %s", (long long)a->id, c->path,
		     after ? "after" : "before", err.text);
		return;
	}
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
	if (access(proc, R_OK) < 0) /* not by this name */
		return;
	if (tree_hash(proc) != strtoull(hash + strlen(" hash "), NULL, 16))
		fail(a->g, "step %lld: '%s' %s it is something else", (long long)a->id, c->path,
		     after ? "after" : "before");
}

static bool is_known(const struct game *g, const struct rung *r)
{
	for (size_t i = 0; i < g->h.n_kept; i++)
		if (&g->h.kept[i] != r && g->h.kept[i].cluster == r->cluster)
			return false;
	return !r->torn && r->before && r->after && !r->loose && !r->gap &&
	       g->h.edited < r->begun && g->h.poked < r->begun && !g->h.murky && !g->h.contested;
}

static void check_step(struct game *g, struct journal *j, const struct rung *r)
{
	struct audit a = {.g = g, .j = j, .id = r->id};
	struct err err = {0};

	if (!is_known(g, r))
		return;
	a.before = split(r->before);
	a.after = split(r->after);
	if (locks_a_dir(&a.before) || locks_a_dir(&a.after))
		goto out;
	if (journal_changes(j, r->id, &a.list, &a.n, &err) < 0)
		fail(g, "step %lld: %s", (long long)r->id, err.text);
	check_changes(&a);
	for (size_t i = 0; i < a.n; i++) {
		check_side(&a, &a.list[i], false);
		check_side(&a, &a.list[i], true);
	}
	change_free(a.list, a.n);
out:
	lines_done(&a.before);
	lines_done(&a.after);
}

void audit(struct game *g)
{
	const char *const folders[] = {g->w.folder, g->w.second, NULL};
	struct journal *j = NULL;
	struct err err = {0};
	int r = g->failed ? -ENOENT : journal_open_all(&j, folders, g->w.state, &err);

	if (r == 0) {
		if (verify_all(j, damage, g, &err) < 0)
			fail(g, "verify: %s", err.text);
		if (g->h.n_kept)
			check_step(g, j, &g->h.kept[g->turn * 7 % g->h.n_kept]);
		if (g->h.n_kept)
			check_step(g, j, &g->h.kept[g->h.n_kept - 1]);
	} else if (r != -ENOENT) {
		fail(g, "to be looked at: %s", err.text);
	}
	journal_close_all(j);
}
