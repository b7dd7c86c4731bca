/* past - the folder's tree at each moment since a step, by the records of the steps. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/history/past.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/path.h"
#include "core/journal/fs/object.h"
#include "core/journal/history.h"
#include "core/journal/history/after_image.h"
#include "core/journal/history/list.h"
#include "core/journal/history/step_summary.h"
#include "core/journal/history/virtual_tree_priv.h"
#include "core/journal/log/log_reader.h"
#include "core/journal/store/store.h"
#include "core/journal/util/grow.h"

#define TICK_NS 20000000 /* two ticks at 100 Hz */

struct noted {
	struct rec rec; /* without meta; its paths are in the names */
	uint64_t at;
	uint32_t log;
};

struct reading { /* the records of all logs */
	struct past *p;
	struct noted *list;
	size_t n, cap;
	struct path_set names;
};

/* ---- reading ----------------------------------------------------------------------------------
 */

static const char *keep_name(struct reading *in, const char *path)
{
	bool fresh;

	return path_set_key(&in->names, path_set_put(&in->names, path, &fresh));
}

static void note(struct reading *in, const struct rec *r, uint64_t at)
{
	struct noted *one;

	GROW(in->list, in->cap, in->n);
	one = &in->list[in->n++];
	*one = (struct noted){.rec = *r, .at = at, .log = (uint32_t)in->p->n_logs - 1};
	one->rec.path = keep_name(in, r->path);
	one->rec.path2 = r->path2 && r->path2[0] ? keep_name(in, r->path2) : "";
}

static void add_blind(struct past *p, const struct past_log *log)
{
	p->blind = xrealloc(p->blind, (p->n_blind + 1) * sizeof(*p->blind));
	p->blind[p->n_blind++] = (struct past_blind){log->last, log->id};
}

/* Adds marks behind the records of an unprotected step, for the paths that it changed without a
 * record. marked: its log has a REC_MARK, perhaps for that. */
static void add_lost(struct reading *in, int dir, const struct past_log *log, bool marked)
{
	struct summary s = {0};
	int r = summary_load(dir, false, &s);
	bool lost = r == 0 && s.info.unprotected;

	summary_done(&s);
	if (lost)
		r = summary_load(dir, true, &s);
	if (r < 0 && marked) /* the paths are unknown */
		add_blind(in->p, log);
	for (size_t i = 0; r == 0 && i < s.n; i++) {
		const struct change *c = &s.changes[i];
		struct rec rec = {
			.type = REC_MARK, .seq = log->last, .root = c->root, .path = c->path};

		note(in, &rec, 0);
		rec.path = c->old_path;
		if (rec.path)
			note(in, &rec, 0);
	}
	summary_done(&s);
}

static int read_records(struct reading *in, struct log_reader *s, struct past_log *log,
			bool *marked)
{
	struct rec rec = {0};
	uint64_t at;
	int r;

	while ((r = log_reader_next(s, &rec, &at)) == 1) {
		if (!log->first && rec.type != REC_STEP)
			log->first = rec.seq;
		if (rec.type == REC_END)
			log->end = rec.seq;
		if (!rec_is_idle(&rec))
			note(in, &rec, at);
		*marked |= rec.type == REC_MARK;
	}
	if (!log->first)
		log->first = log->last;
	if (!log->end)
		log->end = in->p->undone ? log->first : log->last;
	return r;
}

/* Reads one log. Returns 0 also if the step was moved meanwhile, or all its records are older than
 * p->since. */
static int add_log(struct reading *in, const char *dir, int64_t id)
{
	struct past *p = in->p;
	AUTO_CLOSE int fd = store_open_dir(p->tree.j, dir);
	struct log_reader s = LOG_READER_NONE;
	struct past_log *log = &p->logs[p->n_logs];
	uint64_t last = 0;
	bool damaged, marked = false;
	int r;

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	r = log_reader_open(&s, fd, p->undone ? "redo" : "undo");
	if (r == 0)
		r = log_reader_last_seq(&s, &last);
	damaged = history_step_is_damaged(r);
	if (damaged && (last = after_image_peek_seq(fd, "post"))) /* written at its end */
		r = 0;
	if (r < 0 || last < p->since) {
		log_reader_close(&s);
		return r < 0 && history_step_is_gone(p->tree.j, dir) ? 0 : r;
	}
	*log = (struct past_log){.id = id, .last = last};
	names_add(&p->dirs, xstrdup(dir));
	p->n_logs++;
	r = s.fd < 0 ? -EBADMSG : read_records(in, &s, log, &marked);
	log_reader_close(&s);
	damaged |= history_step_is_damaged(r);
	if (damaged)
		add_blind(p, log);
	else if (r == 0 && !p->undone)
		add_lost(in, fd, log, marked);
	return damaged ? 0 : r;
}

static int newest_first(const void *a, const void *b)
{
	const struct noted *x = a, *y = b;

	if (x->rec.seq != y->rec.seq)
		return x->rec.seq > y->rec.seq ? -1 : 1;
	return (y->rec.type == REC_MARK) - (x->rec.type == REC_MARK);
}

static int load(struct past *p)
{
	const char *where = p->undone ? "redo" : "steps";
	struct reading in = {.p = p};
	AUTO_NAMES struct names ids = {0};
	int r = store_names(p->tree.j, where, &ids);

	if (r == 0)
		p->logs = xcalloc(ids.n + 1, sizeof(*p->logs));
	for (size_t i = 0; r == 0 && i < ids.n; i++) {
		AUTO_FREE char *dir = xasprintf("%s/%s", where, ids.list[i]);

		r = add_log(&in, dir, atoll(ids.list[i]));
	}
	if (r == 0 && in.n)
		qsort(in.list, in.n, sizeof(*in.list), newest_first);
	for (size_t i = 0; r == 0 && i < in.n; i++)
		tree_keep(&p->tree, &in.list[i].rec, in.list[i].log, in.list[i].at);
	free(in.list);
	path_set_done(&in.names);
	return r;
}

/* ---- life -------------------------------------------------------------------------------------
 */

static void past_free(struct past *p)
{
	for (size_t i = 0; i < p->n_logs; i++) {
		step_names_done(&p->logs[i].names);
		free(p->logs[i].left);
		free(p->logs[i].left_by_ino);
	}
	free(p->logs);
	util_close_fd(&p->fd);
	names_done(&p->dirs);
	tree_done(&p->tree);
	free(p->blind);
	free(p->inodes);
	free(p);
}

void past_drop(struct journal *j)
{
	if (j->past)
		past_free(j->past);
	j->past = NULL;
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

bool past_is_old(const struct journal *j)
{
	const struct past *p = j->past;

	/* Two changes in one tick of the clock have one time. */
	return p && (changed_ns(j) != p->changed_ns || p->made_ns - p->changed_ns < TICK_NS);
}

/* Reads the number of a kept step's first record. */
static int first_seq(struct journal *j, int64_t id, uint64_t *ret)
{
	AUTO_FREE char *dir = xasprintf("steps/%" PRId64, id);
	AUTO_CLOSE int fd = store_open_dir(j, dir);

	return fd < 0 ? fd : undo_log_peek_first(fd, "undo", ret);
}

int past_get(struct journal *j, int64_t id, bool undone, struct past **ret)
{
	struct past *p = j->past;
	uint64_t since = 0;
	int r;

	if (p && p->undone == undone && past_log(p, id)) {
		*ret = p;
		return 0;
	}
	past_drop(j);
	r = undone ? 0 : first_seq(j, id, &since);
	if (r < 0)
		return r;
	p = xcalloc(1, sizeof(*p));
	p->undone = undone;
	p->fd = -1;
	p->since = since;
	p->made_ns = clock_wall_us() * 1000;
	p->changed_ns = changed_ns(j);
	p->tree = (struct vtree){.j = j,
				 .dirs = &p->dirs,
				 .keeps = true,
				 .below = -1,
				 .key = BUF_INIT,
				 .path = BUF_INIT};
	r = load(p);
	if (r < 0) {
		past_free(p);
		return r;
	}
	*ret = j->past = p;
	return 0;
}

/* ---- questions --------------------------------------------------------------------------------
 */

struct past_log *past_log(struct past *p, int64_t id)
{
	for (size_t i = 0; i < p->n_logs; i++)
		if (p->logs[i].id == id)
			return &p->logs[i];
	return NULL;
}

static const struct step_names *names_of(struct past *p, struct past_log *log)
{
	AUTO_CLOSE int dir = -1;

	if (!log->named)
		dir = store_open_dir(p->tree.j, p->dirs.list[log - p->logs]);
	if (dir >= 0 && step_names_load(&log->names, dir, p->undone) < 0)
		step_names_done(&log->names); /* damaged: no name is known */
	log->named = true;
	return &log->names;
}

uint32_t past_find(struct past *p, struct past_log *log, const struct change *c, bool after,
		   uint64_t *moment)
{
	const char *path = !after && c->old_path ? c->old_path : c->path;
	AUTO_FREE char *first = NULL;
	int root = c->root;
	uint64_t record;

	if (after) {
		*moment = log->end + !p->undone;
	} else if ((record = step_names_record(names_of(p, log), root, path))) {
		*moment = record + p->undone;
	} else {
		*moment = p->undone ? log->last + 1 : log->first;
		path = first = step_names_first(&log->names, 0, &root, path);
	}
	p->tree.moment = *moment;
	return tree_node(&p->tree, root, path);
}

/* Opens the log that a change is in. Returns a descriptor, borrowed until the next call. */
static int open_log(struct past *p, uint32_t log)
{
	AUTO_FREE char *name = NULL;

	if (p->fd >= 0 && p->fd_log == log)
		return p->fd;
	util_close_fd(&p->fd);
	name = path_join(p->dirs.list[log], p->undone ? "redo" : "undo");
	p->fd = openat(p->tree.j->store, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	p->fd_log = log;
	return p->fd < 0 ? -errno : p->fd;
}

int past_fetch(struct past *p, const struct vchange *c, struct buf *mem, struct rec *ret)
{
	int fd = open_log(p, c->log);
	int r = fd < 0 ? fd : log_reader_fetch(fd, c->at, mem, ret);

	return r == 0 && ret->seq != c->seq ? -ESTALE : r;
}

void past_load_links(struct past *p)
{
	struct vtree *t = &p->tree;

	for (uint32_t i = 0; !p->linked && i < t->n_nodes; i++) {
		struct linked_node *other;
		struct reach reach = {0};
		struct vobject now = {0};
		int r = t->nodes[i].state ? tree_look_at_node(t, i, &reach, &now) : -ENOENT;

		reach_close(t->j, &reach);
		other = r == 0 ? tree_linked_find(t, &now.o) : NULL;
		if (other) {
			t->nodes[i].held = other->node + 1;
			other->node = i;
		} else if (r == 0) {
			tree_linked_add(t, &now.o, i);
		}
	}
	p->linked = true;
}

static int by_inode(const void *a, const void *b)
{
	const struct past_inode *x = a, *y = b;

	if (x->ino != y->ino)
		return x->ino < y->ino ? -1 : 1;
	return (x->change < y->change) - (x->change > y->change); /* the newest came first */
}

static void sort_inodes(struct past *p)
{
	struct vtree *t = &p->tree;
	size_t n = 0;

	p->inodes = xcalloc(t->n_changes + 1, sizeof(*p->inodes));
	for (uint32_t i = 0; i < t->n_nodes; i++)
		for (struct vchange *c = tree_change(t, i, 0); c; c = tree_next_change(t, c))
			p->inodes[n++] = (struct past_inode){c->ino, (uint32_t)(c - t->changes), i};
	qsort(p->inodes, n, sizeof(*p->inodes), by_inode);
}

size_t past_of_inode(struct past *p, uint64_t ino, const struct past_inode **ret)
{
	size_t lo = 0, hi = p->tree.n_changes, n = 0;

	if (!p->inodes)
		sort_inodes(p);
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (p->inodes[mid].ino < ino)
			lo = mid + 1;
		else
			hi = mid;
	}
	while (lo + n < p->tree.n_changes && p->inodes[lo + n].ino == ino)
		n++;
	*ret = p->inodes + lo;
	return n;
}
