/* barrier - external edits in the history: between which steps, when, which paths. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/base/path.h"
#include "core/journal/history/rename_list.h"
#include "core/journal/journal.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback/undo.h"
#include "core/journal/step/step.h"
#include "core/journal/store/store.h"
#include "core/journal/util/path_set.h"

/*
 * One small file each in barriers/, named by a number of the store's own count. Edits at the same
 * place in the history share a barrier. Its place is a list of steps, newest first: those that ran
 * then, and the newest that was kept. The first of them that is still there is the one before it,
 * and a rollback of that one crosses the barrier; once it is undone, there is nothing to cross.
 */

#define BARRIER_MAGIC 0x31524142u /* "BAR1" */
#define BARRIER_PATHS 100	  /* names kept of one */
#define BARRIER_STEPS 64
#define FILE_MAX      ((size_t)4 << 20)

struct place {
	int64_t steps[BARRIER_STEPS];
	size_t n;
};

void barrier_done(struct barrier *b)
{
	for (size_t i = 0; i < b->n_paths; i++)
		free(b->paths[i]);
	free(b->paths);
	*b = (struct barrier){0};
}

struct barrier barrier_copy(const struct barrier *b)
{
	struct barrier copy = *b;

	copy.paths = xcalloc(b->n_paths + 1, sizeof(char *));
	for (size_t i = 0; i < b->n_paths; i++)
		copy.paths[i] = xstrdup(b->paths[i]);
	return copy;
}

void barrier_free(struct barrier *list, size_t n)
{
	for (size_t i = 0; list && i < n; i++)
		barrier_done(&list[i]);
	free(list);
}

static int newer_first(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x < y) - (x > y);
}

static int place_now(struct journal *j, struct place *p)
{
	char **names = NULL;
	size_t n = 0;
	int r;

	p->n = 0;
	for (const struct step *s = j->open; s && p->n < BARRIER_STEPS - 1; s = s->next)
		if (s->made)
			p->steps[p->n++] = s->id;
	r = store_names(j, "steps", &names, &n);
	if (r == 0 && n)
		p->steps[p->n++] = atoll(names[n - 1]);
	store_names_free(names, n);
	/* What goes on in the background may have begun before the newest that was kept. */
	qsort(p->steps, p->n, sizeof(p->steps[0]), newer_first);
	return r;
}

static int barrier_save(struct journal *j, const char *name, const struct barrier *b,
			const struct place *p)
{
	AUTO_CLOSE int dir = store_open_dir(j, "barriers");
	AUTO_BUF struct buf out = BUF_INIT;

	if (dir < 0)
		return take_fd(&dir);
	put_u32(&out, BARRIER_MAGIC);
	put_u64(&out, (uint64_t)b->first_us);
	put_u64(&out, (uint64_t)b->last_us);
	put_u64(&out, b->count);
	put_u32(&out, (uint32_t)p->n);
	for (size_t i = 0; i < p->n; i++)
		put_u64(&out, (uint64_t)p->steps[i]);
	put_u32(&out, (uint32_t)b->n_paths);
	for (size_t i = 0; i < b->n_paths; i++)
		put_str(&out, b->paths[i], strlen(b->paths[i]));
	return io_write_file(dir, name, 0600, out.data, out.len, false);
}

static void barrier_name(struct barrier *b, const char *path)
{
	for (size_t i = 0; i < b->n_paths; i++)
		if (str_eq(b->paths[i], path))
			return;
	b->count++;
	if (b->n_paths == BARRIER_PATHS)
		return;
	b->paths = xrealloc(b->paths, (b->n_paths + 1) * sizeof(*b->paths));
	b->paths[b->n_paths++] = xstrdup(path);
}

static int barrier_parse(const char *text, size_t len, struct barrier *b, struct place *p)
{
	struct get g = {.p = text, .end = text + len};
	uint32_t magic = get_u32(&g), n;
	size_t count;

	*b = (struct barrier){.first_us = (int64_t)get_u64(&g)};
	b->last_us = (int64_t)get_u64(&g);
	count = (size_t)get_u64(&g);
	p->n = get_u32(&g);
	if (g.bad || magic != BARRIER_MAGIC || p->n > BARRIER_STEPS)
		return -EBADMSG;
	for (size_t i = 0; i < p->n; i++)
		p->steps[i] = (int64_t)get_u64(&g);
	n = get_u32(&g);
	for (uint32_t i = 0; i < n && i < BARRIER_PATHS && !g.bad; i++)
		barrier_name(b, get_str(&g).data);
	b->count = count;
	if (!g.bad)
		return 0;
	barrier_done(b);
	return -EBADMSG;
}

static int barrier_load(struct journal *j, const char *name, struct barrier *b, struct place *p)
{
	AUTO_CLOSE int dir = store_open_dir(j, "barriers");
	AUTO_FREE char *text = NULL;
	size_t len = 0;
	int r = dir < 0 ? dir : io_read_file(dir, name, FILE_MAX, &text, &len);

	return r < 0 ? r : barrier_parse(text, len, b, p);
}

/* Not the temporary file of one that was being written when its process died. */
static bool is_whole(const char *name)
{
	return name[strspn(name, "0123456789")] == '\0';
}

static bool step_is_in(const struct journal *j, const char *where, int64_t id)
{
	AUTO_FREE char *dir = xasprintf("%s/%" PRId64, where, id);

	return faccessat(j->store, dir, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* The step right before it; 0: none of them is left. */
static int64_t before_it(const struct journal *j, const struct place *p)
{
	static const char *const where[] = {"steps", "redo", "open"};

	for (size_t i = 0; i < p->n; i++)
		for (size_t k = 0; k < ARRAY_LEN(where); k++)
			if (step_is_in(j, where[k], p->steps[i]))
				return p->steps[i];
	return 0;
}

static int barrier_drop(struct journal *j, const char *name)
{
	AUTO_CLOSE int dir = store_open_dir(j, "barriers");

	if (dir < 0)
		return take_fd(&dir);
	return unlinkat(dir, name, 0) < 0 && errno != ENOENT ? -errno : 0;
}

/* The newest one if nothing happened since, else a new one; those that lost their place go. */
static int pick(struct journal *j, const struct place *now, struct barrier *b, char **ret_name)
{
	char **names = NULL;
	size_t n = 0;
	int r = store_names(j, "barriers", &names, &n);

	for (size_t i = 0; r == 0 && i < n; i++) {
		struct place p;

		if (!is_whole(names[i]))
			continue;
		r = barrier_load(j, names[i], b, &p);
		if (r == 0 && i == n - 1 && p.n == now->n &&
		    memcmp(p.steps, now->steps, p.n * sizeof(p.steps[0])) == 0) {
			*ret_name = xstrdup(names[i]);
			break;
		}
		if (r == 0)
			barrier_done(b);
		if (r == 0 && !before_it(j, &p))
			r = barrier_drop(j, names[i]);
	}
	store_names_free(names, n);
	return r;
}

int journal_add_barrier(struct journal *j, const char *const *paths, size_t n, struct err *err)
{
	AUTO_FREE char *name = NULL;
	struct barrier b = {0};
	struct place now;
	int r = place_now(j, &now);

	if (r == 0 && now.n == 0)
		return 0; /* no step before it that could be rolled back over it */
	if (r == 0)
		r = pick(j, &now, &b, &name);
	if (r == 0) {
		b.last_us = clock_wall_us();
		if (!name) {
			b.first_us = b.last_us;
			name = xasprintf("%" PRIu64, store_seq(j));
		}
		for (size_t i = 0; i < n; i++)
			barrier_name(&b, paths[i]);
		r = barrier_save(j, name, &b, &now);
	}
	barrier_done(&b);
	return r < 0 ? err_set(err, r, "write into the history of '%s'", j->folder) : 1;
}

static int load_all(struct journal *j, struct barrier **ret, size_t *ret_n)
{
	struct barrier *list = NULL;
	char **names = NULL;
	size_t n = 0, got = 0;
	int r = store_names(j, "barriers", &names, &n);

	if (r == -ENOENT) /* looked at before the folder's next session made the directory */
		r = 0;
	if (r == 0)
		list = xcalloc(n + 1, sizeof(*list));
	for (size_t i = n; r == 0 && i-- > 0;) {
		struct place p;

		if (!is_whole(names[i]))
			continue;
		r = barrier_load(j, names[i], &list[got], &p);
		if (r == -ENOENT) { /* dropped by the writer meanwhile */
			r = 0;
			continue;
		}
		if (r < 0)
			break;
		list[got].after = before_it(j, &p);
		if (list[got].after)
			got++;
		else
			barrier_done(&list[got]);
	}
	store_names_free(names, n);
	if (r < 0) {
		barrier_free(list, got);
		return r;
	}
	*ret = list;
	*ret_n = got;
	return 0;
}

int journal_barriers(struct journal *j, struct barrier **ret, size_t *ret_n, struct err *err)
{
	int r = load_all(j, ret, ret_n);

	return r < 0 ? err_set(err, r, "read the history of '%s'", j->folder) : 0;
}

static int newest_first(const void *a, const void *b)
{
	const struct barrier *x = a, *y = b;

	return (x->last_us < y->last_us) - (x->last_us > y->last_us);
}

int journal_barriers_all(struct journal *j, struct barrier **ret, size_t *ret_n, struct err *err)
{
	struct barrier *list = NULL;
	struct journal *k = j;
	size_t n = 0;
	int r = 0;

	do {
		struct barrier *more = NULL;
		size_t n_more = 0;

		r = journal_barriers(k, &more, &n_more, err);
		list = xrealloc(list, (n + n_more + 1) * sizeof(*list));
		for (size_t i = 0; r == 0 && i < n_more; i++) {
			for (size_t p = 0; k != j && p < more[i].n_paths; p++) {
				char *whole = path_join(k->folder, more[i].paths[p]);

				free(more[i].paths[p]);
				more[i].paths[p] = whole;
			}
			list[n++] = more[i];
		}
		free(more);
	} while (r == 0 && (k = k->sibling) != j);
	if (r < 0) {
		barrier_free(list, n);
		return r;
	}
	if (n)
		qsort(list, n, sizeof(*list), newest_first);
	*ret = list;
	*ret_n = n;
	return 0;
}

/* ---- which of them a rollback meets -----------------------------------------------------------
 */

/* Paths of the folder that the steps' records name, as they were called then and are called now. */
struct touched {
	struct names paths;
	struct names moved; /* of those, what was made, taken away or renamed: with all below */
};

static void touch_name(struct touched *t, const struct emptied *e, const struct rec *r, int root,
		       const char *path)
{
	AUTO_FREE char *now = xstrdup(path);
	int root_now = root;

	moves_follow(e->moves, r->seq, &root_now, &now);
	if (root == 0)
		names_add(&t->paths, 0, path);
	if (root_now == 0)
		names_add(&t->paths, 0, now);
	if (rec_is_in_place(r))
		return;
	if (root == 0)
		names_add(&t->moved, 0, path);
	if (root_now == 0)
		names_add(&t->moved, 0, now);
}

static void touched_load(struct touched *t, const struct emptied *e)
{
	for (size_t i = 0; i < e->dirs->n; i++) {
		struct rec r;
		size_t at = 0;

		while (wal_next(&e->logs[i], &at, &r)) {
			if (rec_is_idle(&r))
				continue;
			touch_name(t, e, &r, r.root, r.path);
			if (r.path2[0])
				touch_name(t, e, &r, r.root2, r.path2);
		}
	}
}

static bool touched_above(const struct touched *t, const char *path)
{
	AUTO_FREE char *above = xstrdup(path);

	for (char *slash; (slash = strrchr(above, '/'));) {
		*slash = '\0';
		if (names_has(&t->moved, 0, above))
			return true;
	}
	return false;
}

/* A directory that was edited: its place is that of what the steps changed in it. */
static bool touched_below(const struct touched *t, const char *path)
{
	for (size_t i = 0; i < names_count(&t->paths); i++) {
		const char *one;

		key_root(names_key(&t->paths, i), &one);
		if (path_is_inside(one, path))
			return true;
	}
	return false;
}

/* The path that is met comes first: it is the one that is named. Not all paths of a large barrier
 * are known: then it may meet any. */
static bool meets(const struct touched *t, struct barrier *b)
{
	for (size_t i = 0; i < b->n_paths; i++) {
		char *path = b->paths[i];

		if (!names_has(&t->paths, 0, path) && !touched_above(t, path) &&
		    !touched_below(t, path))
			continue;
		b->paths[i] = b->paths[0];
		b->paths[0] = path;
		return true;
	}
	return b->count > b->n_paths;
}

static bool is_after(const struct undo_plan *p, const struct barrier *b)
{
	for (size_t k = 0; k < p->n_ids; k++)
		if (b->after == p->ids[k])
			return true;
	return false;
}

int barriers_crossed(struct journal *j, struct undo_plan *p, const struct emptied *e)
{
	struct touched touched = {0};
	struct barrier *list = NULL;
	size_t n = 0;
	int r = p->kind == UNDO_BACK ? load_all(j, &list, &n) : 0;

	p->barriers = xcalloc(n + 1, sizeof(*p->barriers));
	if (n)
		touched_load(&touched, e);
	for (size_t i = 0; i < n; i++) {
		if (!is_after(p, &list[i]) || !meets(&touched, &list[i]))
			continue;
		p->barriers[p->n_barriers++] = list[i];
		list[i] = (struct barrier){0};
	}
	barrier_free(list, n);
	names_done(&touched.paths);
	names_done(&touched.moved);
	return r;
}
