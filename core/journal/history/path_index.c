/* path_index - builds the index of all log records that path_index_lookup.c uses. */
/* SPDX-License-Identifier: MIT */
#include "core/base/clock.h"
#include "core/journal/fs/object.h"
#include "core/journal/history.h"
#include "core/journal/history/after_image.h"
#include "core/journal/history/list.h"
#include "core/journal/history/path_index_lookup.h"
#include "core/journal/history/step_summary.h"
#include "core/journal/log/log_reader.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/store/store.h"
#include "core/journal/util/path_set.h"
#include "core/os/sort.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define TICK_NS 20000000 /* two ticks at 100 Hz */

static struct place *place_get(struct path_index *t, int root, const char *path)
{
	char *key = path_key_make(root, path);
	struct place *p;

	HASH_FIND_STR(t->places, key, p);
	if (p) {
		free(key);
		return p;
	}
	p = xcalloc(1, sizeof(*p));
	p->key = key;
	p->root = path_key_root(key, &p->path);
	p->first = NO_MARK;
	HASH_ADD_KEYPTR(hh, t->places, p->key, strlen(p->key), p);
	return p;
}

static void add_mark(struct path_index *t, const struct rec *r, uint64_t at)
{
	struct path_record *m;

	if (t->n % 1024 == 0)
		t->list = xrealloc(t->list, (t->n + 1024) * sizeof(*t->list));
	m = &t->list[t->n++];
	*m = (struct path_record){.seq = r->seq,
				  .slot = r->slot,
				  .ino = r->ino,
				  .at = at,
				  .log = (uint32_t)t->n_logs - 1,
				  .type = r->type,
				  .flags = r->flags,
				  .from = place_get(t, r->root, r->path),
				  .next = NO_MARK,
				  .mtime_ns = NOT_ASKED};
	if (r->type == REC_RENAME || r->type == REC_XCHG)
		m->to = place_get(t, r->root2, r->path2);
}

/* Marks a damaged step: its changes of any path are unknown. */
static void add_blind(struct path_index *t, uint64_t seq)
{
	struct rec rec = {.type = REC_MARK, .seq = seq, .path = ""};

	add_mark(t, &rec, 0);
}

/* Adds marks behind the records of an unprotected step, for the paths that it changed without a
 * record. marked: its log has a REC_MARK, perhaps for that. */
static void add_lost(struct path_index *t, int dir, uint64_t seq, bool marked)
{
	struct summary s = {0};
	int r = summary_load(dir, false, &s);
	bool lost = r == 0 && s.info.unprotected;

	summary_done(&s);
	if (lost)
		r = summary_load(dir, true, &s);
	if (r < 0 && marked) /* the paths are unknown */
		add_blind(t, seq);
	for (size_t i = 0; r == 0 && i < s.n; i++) {
		const struct change *c = &s.changes[i];
		struct rec rec = {.type = REC_MARK, .seq = seq, .root = c->root, .path = c->path};

		add_mark(t, &rec, 0);
		rec.path = c->old_path;
		if (rec.path)
			add_mark(t, &rec, 0);
	}
	summary_done(&s);
}

/* Indexes one log. Returns 0 also if the step was moved meanwhile, or all its records are older
 * than t->since. */
static int add_log(struct path_index *t, struct journal *j, const char *dir, int64_t id)
{
	AUTO_CLOSE int fd = store_open_dir(j, dir);
	struct log_reader s = LOG_READER_NONE;
	struct path_log *log;
	uint64_t last = 0, at;
	struct rec rec = {0};
	bool damaged, marked = false;
	int r;

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	r = log_reader_open(&s, fd, t->undone ? "redo" : "undo");
	if (r == 0)
		r = log_reader_last_seq(&s, &last);
	damaged = history_step_is_damaged(r);
	if (damaged && (last = after_image_peek_seq(fd, "post"))) /* written at its end */
		r = 0;
	if (r < 0 || last < t->since) {
		log_reader_close(&s);
		return r < 0 && history_step_is_gone(j, dir) ? 0 : r;
	}
	log = &t->logs[t->n_logs++];
	*log = (struct path_log){.id = id, .fd = -1, .first = NO_MARK};
	log->obj = openat(fd, "obj", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (log->obj < 0)
		r = -errno;
	while (r == 0 && (r = log_reader_next(&s, &rec, &at)) == 1) {
		if (rec.type == REC_DTIME || !rec_is_idle(&rec))
			add_mark(t, &rec, at);
		marked |= rec.type == REC_MARK;
		r = 0;
	}
	log->fd = take_fd(&s.fd);
	log_reader_close(&s);
	damaged |= history_step_is_damaged(r);
	if (damaged)
		add_blind(t, last);
	else if (r == 0 && !t->undone)
		add_lost(t, fd, last, marked);
	return damaged ? 0 : r;
}

static int by_seq(const void *a, const void *b)
{
	const struct path_record *x = a, *y = b;

	if (x->seq != y->seq)
		return x->seq < y->seq ? -1 : 1;
	return (x->type == REC_MARK) - (y->type == REC_MARK);
}

static bool is_of_inode(const struct path_record *m)
{
	return m->ino && 1u << m->type & PATH_INDEX_META;
}

bool path_record_is_before(const struct path_record *m, size_t i, uint64_t ino, bool gone,
			   size_t at)
{
	if (m->ino != ino)
		return m->ino < ino;
	return (m->type == REC_GONE) != gone ? gone : i < at;
}

static int by_inode(const void *a, const void *b, void *list)
{
	const struct path_record *marks = list;
	const size_t *x = a, *y = b;
	const struct path_record *m = &marks[*y];

	if (*x == *y)
		return 0;
	return path_record_is_before(&marks[*x], *x, m->ino, m->type == REC_GONE, *y) ? -1 : 1;
}

static void link_inodes(struct path_index *t)
{
	t->inodes = xcalloc(t->n + 1, sizeof(*t->inodes));
	for (size_t i = 0; i < t->n; i++)
		if (is_of_inode(&t->list[i]))
			t->inodes[t->n_inodes++] = i;
	if (t->n_inodes)
		os_sort(t->inodes, t->n_inodes, sizeof(*t->inodes), by_inode, t->list);
}

/* Returns whether the record is not about one path alone: a rollback may keep whole directories,
 * where a step keeps files. An exchange has two paths. */
static bool is_wide(const struct path_index *t, const struct path_record *m)
{
	return m->flags & REC_DIRECTORY || m->type == REC_XCHG ||
	       (t->undone && m->type == REC_GONE);
}

static void cross(struct path_index *t, const struct place *at, bool comes, size_t i)
{
	bool fresh;
	size_t k = path_set_put(&t->crossed, at->key, &fresh);
	struct path_records *m;

	if (fresh && k % 64 == 0)
		t->crossings = xrealloc(t->crossings, (k + 64) * sizeof(*t->crossings));
	if (fresh)
		t->crossings[k] = (struct crossing){0};
	m = comes ? &t->crossings[k].comes : &t->crossings[k].leaves;
	if ((m->n & (m->n - 1)) == 0) /* a power of two */
		m->list = xrealloc(m->list, (m->n ? m->n * 2 : 1) * sizeof(*m->list));
	m->list[m->n++] = i;
}

static void link_wide(struct path_index *t, size_t i)
{
	const struct path_record *m = &t->list[i];

	cross(t, m->from, false, i);
	if (!m->to)
		return;
	cross(t, m->to, true, i);
	if (m->type == REC_XCHG) {
		cross(t, m->to, false, i);
		cross(t, m->from, true, i);
	}
}

/* Backwards, so that each chain begins with its oldest mark. */
static void link_marks(struct path_index *t)
{
	if (t->n)
		qsort(t->list, t->n, sizeof(*t->list), by_seq);
	t->blind = xcalloc(t->n_logs + 1, sizeof(*t->blind));
	for (size_t i = 0; i < t->n; i++) {
		if (is_wide(t, &t->list[i]))
			link_wide(t, i);
		if (path_record_is_blind(&t->list[i]))
			t->blind[t->n_blind++] = i;
	}
	for (size_t i = t->n; i-- > 0;) {
		struct path_record *m = &t->list[i];
		struct path_log *log = &t->logs[m->log];

		m->next = m->from->first;
		m->from->first = i;
		log->end = MAX(log->end, i + 1);
		log->first = i;
	}
	link_inodes(t);
}

static int first_seq(struct journal *j, int64_t id, bool undone, uint64_t *ret)
{
	AUTO_FREE char *dir = xasprintf("%s/%lld", undone ? "redo" : "steps", (long long)id);
	AUTO_CLOSE int fd = store_open_dir(j, dir);
	struct log_reader s = LOG_READER_NONE;
	uint64_t at;
	struct rec rec = {0};
	int r = fd < 0 ? fd : log_reader_open(&s, fd, undone ? "redo" : "undo");

	*ret = 0;
	if (r == 0)
		r = log_reader_next(&s, &rec, &at);
	if (r == 1)
		*ret = rec.seq;
	log_reader_close(&s);
	return MIN(r, 0);
}

static int load(struct journal *j, struct path_index *t)
{
	const char *where = t->undone ? "redo" : "steps";
	AUTO_NAMES struct names names = {0};
	int r = store_names(j, where, &names);

	if (r == 0)
		t->logs = xcalloc(names.n + 1, sizeof(*t->logs));
	for (size_t i = 0; r == 0 && i < names.n; i++) {
		AUTO_FREE char *dir = xasprintf("%s/%s", where, names.list[i]);

		r = add_log(t, j, dir, atoll(names.list[i]));
	}
	if (r == 0)
		link_marks(t);
	return r;
}

static void path_index_free(struct path_index *t)
{
	struct place *p, *next_p;

	if (!t)
		return;
	HASH_ITER (hh, t->places, p, next_p) {
		HASH_DEL(t->places, p);
		free(p->key);
		free(p);
	}
	for (size_t i = 0; i < t->n_logs; i++) {
		util_close_fd(&t->logs[i].fd);
		util_close_fd(&t->logs[i].obj);
		free(t->logs[i].left);
	}
	free(t->logs);
	for (size_t i = 0; i < path_set_count(&t->crossed); i++) {
		free(t->crossings[i].leaves.list);
		free(t->crossings[i].comes.list);
	}
	path_set_done(&t->crossed);
	free(t->crossings);
	free(t->blind);
	free(t->inodes);
	free(t->list);
	free(t);
}

void path_index_drop(struct journal *j)
{
	path_index_free(j->trails);
	j->trails = NULL;
}

const struct path_log *path_index_log(const struct path_index *t, int64_t id)
{
	for (size_t i = 0; i < t->n_logs; i++)
		if (t->logs[i].id == id)
			return &t->logs[i];
	return NULL;
}

/* Returns the time at which a step was last committed, undone, redone or pruned. */
static int64_t changed_ns(const struct journal *j)
{
	static const char *const dirs[] = {"steps", "redo"};
	int64_t last = 0;
	struct object o;

	for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
		if (object_stat(j->store, dirs[i], &o) < 0 || !o.mode)
			return INT64_MAX;
		last = MAX(last, o.mtime_ns);
	}
	return last;
}

bool path_index_is_old(const struct journal *j)
{
	const struct path_index *t = j->trails;

	/* Two changes in one tick of the clock have one time. */
	return t && (changed_ns(j) != t->changed_ns || t->made_ns - t->changed_ns < TICK_NS);
}

int path_index_get(struct journal *j, int64_t id, bool undone, const struct path_index **ret)
{
	struct path_index *t = j->trails;
	uint64_t since = 0;
	int r;

	if (t && t->undone == undone && path_index_log(t, id)) {
		*ret = t;
		return 0;
	}
	path_index_drop(j);
	r = first_seq(j, id, undone, &since);
	if (r < 0)
		return r;
	t = xcalloc(1, sizeof(*t));
	t->undone = undone;
	t->since = since;
	t->made_ns = clock_wall_us() * 1000;
	t->changed_ns = changed_ns(j);
	r = load(j, t);
	if (r < 0) {
		path_index_free(t);
		return r;
	}
	*ret = j->trails = t;
	return 0;
}
