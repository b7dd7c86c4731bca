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
#include "core/journal/edits.h"
#include "core/journal/step/step.h"
#include "core/journal/store/store.h"
#include "core/journal/util/codec.h"

/*
 * Each barrier is a small file in barriers/, named by a sequence number of the store. Edits at the
 * same place in the history share a barrier. Its place is a list of steps, newest first: the steps
 * that ran at that time, and the newest kept one. The first of them that still exists is the step
 * before the barrier: a rollback of it crosses the barrier. Once it is undone, there is nothing to
 * cross.
 */

#define BARRIER_MAGIC 0x31524142u /* "BAR1" */
#define BARRIER_PATHS 100	  /* paths stored per barrier */
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
	AUTO_NAMES struct names names = {0};
	int r;

	p->n = 0;
	for (const struct step *s = j->open; s && p->n < BARRIER_STEPS - 1; s = s->next)
		if (s->made)
			p->steps[p->n++] = s->id;
	r = store_names(j, "steps", &names);
	if (r == 0 && names.n)
		p->steps[p->n++] = atoll(names.list[names.n - 1]);
	/* A background step may have begun before the newest kept one. */
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
	codec_put_u32(&out, BARRIER_MAGIC);
	codec_put_u64(&out, (uint64_t)b->first_us);
	codec_put_u64(&out, (uint64_t)b->last_us);
	codec_put_u64(&out, b->count);
	codec_put_u32(&out, (uint32_t)p->n);
	for (size_t i = 0; i < p->n; i++)
		codec_put_u64(&out, (uint64_t)p->steps[i]);
	codec_put_u32(&out, (uint32_t)b->n_paths);
	for (size_t i = 0; i < b->n_paths; i++)
		codec_put_str(&out, b->paths[i], strlen(b->paths[i]));
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
	struct codec_reader g = {.p = text, .end = text + len};
	uint32_t magic = codec_get_u32(&g), n;
	size_t count;

	*b = (struct barrier){.first_us = (int64_t)codec_get_u64(&g)};
	b->last_us = (int64_t)codec_get_u64(&g);
	count = (size_t)codec_get_u64(&g);
	p->n = codec_get_u32(&g);
	if (g.bad || magic != BARRIER_MAGIC || p->n > BARRIER_STEPS)
		return -EBADMSG;
	for (size_t i = 0; i < p->n; i++)
		p->steps[i] = (int64_t)codec_get_u64(&g);
	n = codec_get_u32(&g);
	for (uint32_t i = 0; i < n && i < BARRIER_PATHS && !g.bad; i++)
		barrier_name(b, codec_get_str(&g).data);
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

/* Returns whether this is a barrier, and not the temporary file of a process that died. */
static bool is_whole(const char *name)
{
	return name[strspn(name, "0123456789")] == '\0';
}

static bool step_is_in(const struct journal *j, const char *where, int64_t id)
{
	AUTO_FREE char *dir = xasprintf("%s/%" PRId64, where, id);

	return faccessat(j->store, dir, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Returns the step right before the barrier, or 0 if none of its steps is left. */
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

/* Finds the newest barrier, if its place is the present one; else *ret_name stays unset. Removes
 * the barriers whose steps are all gone. */
static int pick(struct journal *j, const struct place *now, struct barrier *b, char **ret_name)
{
	AUTO_NAMES struct names names = {0};
	int r = store_names(j, "barriers", &names);

	for (size_t i = 0; r == 0 && i < names.n; i++) {
		struct place p;

		if (!is_whole(names.list[i]))
			continue;
		r = barrier_load(j, names.list[i], b, &p);
		if (r == 0 && i == names.n - 1 && p.n == now->n &&
		    memcmp(p.steps, now->steps, p.n * sizeof(p.steps[0])) == 0) {
			*ret_name = xstrdup(names.list[i]);
			break;
		}
		if (r == 0)
			barrier_done(b);
		if (r == 0 && !before_it(j, &p))
			r = barrier_drop(j, names.list[i]);
	}
	return r;
}

int journal_add_barrier(struct journal *j, const char *const *paths, size_t n, struct err *err)
{
	AUTO_FREE char *name = NULL;
	struct barrier b = {0};
	struct place now;
	int r = place_now(j, &now);

	if (r == 0 && now.n == 0)
		return 0; /* no rollback could cross the barrier */
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
	AUTO_NAMES struct names names = {0};
	size_t got = 0;
	int r = store_names(j, "barriers", &names);

	if (r == -ENOENT) /* no session has created the directory yet */
		r = 0;
	if (r == 0)
		list = xcalloc(names.n + 1, sizeof(*list));
	for (size_t i = names.n; r == 0 && i-- > 0;) {
		struct place p;

		if (!is_whole(names.list[i]))
			continue;
		r = barrier_load(j, names.list[i], &list[got], &p);
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
