/* trail - where a path of then went: the records of the steps, indexed by path and inode. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/log/trail.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/base/path.h"

#define NO_MARK	  SIZE_MAX
#define NOT_ASKED INT64_MIN

/* ---- making the index -------------------------------------------------------------------------
 */

static struct place *place_get(struct trails *t, int root, const char *path)
{
	char *key = key_make(root, path);
	struct place *p;

	HASH_FIND_STR(t->places, key, p);
	if (p) {
		free(key);
		return p;
	}
	p = xcalloc(1, sizeof(*p));
	p->key = key;
	p->root = key_root(key, &p->path);
	p->first = NO_MARK;
	HASH_ADD_KEYPTR(hh, t->places, p->key, strlen(p->key), p);
	return p;
}

static void add_mark(struct trails *t, const struct rec *r, uint64_t at)
{
	struct mark *m;

	if (t->n % 1024 == 0)
		t->list = xrealloc(t->list, (t->n + 1024) * sizeof(*t->list));
	m = &t->list[t->n++];
	*m = (struct mark){.seq = r->seq,
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

/* It is damaged: what it did to any path is not known. */
static void add_blind(struct trails *t, uint64_t seq)
{
	struct rec rec = {.type = REC_MARK, .seq = seq, .path = ""};

	add_mark(t, &rec, 0);
}

/* Behind the records of a step that went unprotected: paths that it changed and kept nothing of.
 * marked: its log may say that it did. */
static void add_lost(struct trails *t, int dir, uint64_t seq, bool marked)
{
	struct summary s = {0};
	int r = summary_load(dir, false, &s);
	bool lost = r == 0 && s.info.unprotected;

	summary_done(&s);
	if (lost)
		r = summary_load(dir, true, &s);
	if (r < 0 && marked) /* who knows which */
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

/* 0 also when the step has moved meanwhile, or all its records are older than t->since. */
static int add_log(struct trails *t, struct journal *j, const char *dir, int64_t id)
{
	AUTO_CLOSE int fd = store_open_dir(j, dir);
	struct scan s = SCAN_NONE;
	struct trail_log *log;
	uint64_t last = 0, at;
	struct rec rec = {0};
	bool damaged, marked = false;
	int r;

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	r = scan_open(&s, fd, t->undone ? "redo" : "undo");
	if (r == 0)
		r = scan_last_seq(&s, &last);
	damaged = step_is_damaged(r);
	if (damaged && (last = post_peek_seq(fd, "post"))) /* written at its end */
		r = 0;
	if (r < 0 || last < t->since) {
		scan_close(&s);
		return r < 0 && step_is_gone(j, dir) ? 0 : r;
	}
	log = &t->logs[t->n_logs++];
	*log = (struct trail_log){.id = id, .fd = -1, .first = NO_MARK};
	log->obj = openat(fd, "obj", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (log->obj < 0)
		r = -errno;
	while (r == 0 && (r = scan_next(&s, &rec, &at)) == 1) {
		if (rec.type == REC_DTIME || !rec_is_idle(&rec))
			add_mark(t, &rec, at);
		marked |= rec.type == REC_MARK;
		r = 0;
	}
	log->fd = take_fd(&s.fd);
	scan_close(&s);
	damaged |= step_is_damaged(r);
	if (damaged)
		add_blind(t, last);
	else if (r == 0 && !t->undone)
		add_lost(t, fd, last, marked);
	return damaged ? 0 : r;
}

static int by_seq(const void *a, const void *b)
{
	const struct mark *x = a, *y = b;

	if (x->seq != y->seq)
		return x->seq < y->seq ? -1 : 1;
	return (x->type == REC_MARK) - (y->type == REC_MARK);
}

static bool is_of_inode(const struct mark *m)
{
	return m->ino && 1u << m->type & TRAIL_META;
}

/* Names that were taken apart from the rest: of a file by many there is little else. */
static bool comes_before(const struct mark *m, size_t i, uint64_t ino, bool gone, size_t at)
{
	if (m->ino != ino)
		return m->ino < ino;
	return (m->type == REC_GONE) != gone ? gone : i < at;
}

static int by_inode(const void *a, const void *b, void *list)
{
	const struct mark *marks = list;
	const size_t *x = a, *y = b;
	const struct mark *m = &marks[*y];

	if (*x == *y)
		return 0;
	return comes_before(&marks[*x], *x, m->ino, m->type == REC_GONE, *y) ? -1 : 1;
}

static void link_inodes(struct trails *t)
{
	t->inodes = xcalloc(t->n + 1, sizeof(*t->inodes));
	for (size_t i = 0; i < t->n; i++)
		if (is_of_inode(&t->list[i]))
			t->inodes[t->n_inodes++] = i;
	if (t->n_inodes)
		qsort_r(t->inodes, t->n_inodes, sizeof(*t->inodes), by_inode, t->list);
}

/* A forward step keeps files in its objects; a rollback may keep whole directories. An exchange is
 * about two paths. */
static bool is_wide(const struct trails *t, const struct mark *m)
{
	return m->flags & REC_DIRECTORY || m->type == REC_XCHG ||
	       (t->undone && m->type == REC_GONE);
}

struct marks { /* in their order */
	size_t *list, n;
};

struct crossing { /* of a path: what was there leaves it, what is there then came to it */
	struct marks leaves, comes;
};

static void cross(struct trails *t, const struct place *at, bool comes, size_t i)
{
	bool fresh;
	size_t k = names_put(&t->crossed, at->key, &fresh);
	struct marks *m;

	if (fresh && k % 64 == 0)
		t->crossings = xrealloc(t->crossings, (k + 64) * sizeof(*t->crossings));
	if (fresh)
		t->crossings[k] = (struct crossing){0};
	m = comes ? &t->crossings[k].comes : &t->crossings[k].leaves;
	if ((m->n & (m->n - 1)) == 0) /* a power of two */
		m->list = xrealloc(m->list, (m->n ? m->n * 2 : 1) * sizeof(*m->list));
	m->list[m->n++] = i;
}

static void link_wide(struct trails *t, size_t i)
{
	const struct mark *m = &t->list[i];

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
static void link_marks(struct trails *t)
{
	if (t->n)
		qsort(t->list, t->n, sizeof(*t->list), by_seq);
	t->blind = xcalloc(t->n_logs + 1, sizeof(*t->blind));
	for (size_t i = 0; i < t->n; i++) {
		if (is_wide(t, &t->list[i]))
			link_wide(t, i);
		if (mark_is_blind(&t->list[i]))
			t->blind[t->n_blind++] = i;
	}
	for (size_t i = t->n; i-- > 0;) {
		struct mark *m = &t->list[i];
		struct trail_log *log = &t->logs[m->log];

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
	struct scan s = SCAN_NONE;
	uint64_t at;
	struct rec rec = {0};
	int r = fd < 0 ? fd : scan_open(&s, fd, undone ? "redo" : "undo");

	*ret = 0;
	if (r == 0)
		r = scan_next(&s, &rec, &at);
	if (r == 1)
		*ret = rec.seq;
	scan_close(&s);
	return MIN(r, 0);
}

static int load(struct journal *j, struct trails *t)
{
	const char *where = t->undone ? "redo" : "steps";
	char **names = NULL;
	size_t n = 0;
	int r = store_names(j, where, &names, &n);

	if (r == 0)
		t->logs = xcalloc(n + 1, sizeof(*t->logs));
	for (size_t i = 0; r == 0 && i < n; i++) {
		AUTO_FREE char *dir = xasprintf("%s/%s", where, names[i]);

		r = add_log(t, j, dir, atoll(names[i]));
	}
	store_names_free(names, n);
	if (r == 0)
		link_marks(t);
	return r;
}

static void trails_free(struct trails *t)
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
	for (size_t i = 0; i < names_count(&t->crossed); i++) {
		free(t->crossings[i].leaves.list);
		free(t->crossings[i].comes.list);
	}
	names_done(&t->crossed);
	free(t->crossings);
	free(t->blind);
	free(t->inodes);
	free(t->list);
	free(t);
}

void trails_drop(struct journal *j)
{
	trails_free(j->trails);
	j->trails = NULL;
}

const struct trail_log *trails_log(const struct trails *t, int64_t id)
{
	for (size_t i = 0; i < t->n_logs; i++)
		if (t->logs[i].id == id)
			return &t->logs[i];
	return NULL;
}

int trails_get(struct journal *j, int64_t id, bool undone, const struct trails **ret)
{
	struct trails *t = j->trails;
	uint64_t since = 0;
	int r;

	if (t && t->undone == undone && trails_log(t, id)) {
		*ret = t;
		return 0;
	}
	trails_drop(j);
	r = first_seq(j, id, undone, &since);
	if (r < 0)
		return r;
	t = xcalloc(1, sizeof(*t));
	t->undone = undone;
	t->since = since;
	r = load(j, t);
	if (r < 0) {
		trails_free(t);
		return r;
	}
	*ret = j->trails = t;
	return 0;
}

/* ---- following a path -------------------------------------------------------------------------
 */

/* The rest of path below dir (with its slash), "" for dir itself, NULL: elsewhere. */
static const char *below(int root, const char *path, const struct place *dir)
{
	return root == dir->root && path_is_beneath(path, dir->path) ? path + strlen(dir->path)
								     : NULL;
}

static bool carry(int *root, char **path, const struct place *from, const struct place *to)
{
	const char *rest = below(*root, *path, from);
	char *p;

	if (!rest)
		return false;
	p = xasprintf("%s%s", to->path, rest);
	free(*path);
	*path = p;
	*root = to->root;
	return true;
}

static void carry_mark(const struct mark *m, int *root, char **path)
{
	if (!m->to || carry(root, path, m->from, m->to))
		return;
	if (m->type == REC_XCHG)
		carry(root, path, m->to, m->from);
}

static bool is_rename(const struct mark *m)
{
	return m->type == REC_RENAME || m->type == REC_XCHG;
}

/* The first mark from `at` on that names this very path and moves it or is wanted. */
static size_t next_exact(const struct trails *t, size_t at, unsigned wanted, int root,
			 const char *path)
{
	AUTO_FREE char *key = key_make(root, path);
	struct place *p;
	size_t i;

	HASH_FIND_STR(t->places, key, p);
	for (i = p ? p->first : NO_MARK; i != NO_MARK; i = t->list[i].next)
		if (i >= at && (is_rename(&t->list[i]) || wanted & 1u << t->list[i].type))
			return i;
	return t->n;
}

/* How many of them are before mark `at`. */
static size_t count_before(const struct marks *m, size_t at)
{
	size_t lo = 0, hi = m->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (m->list[mid] < at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static const struct crossing *crossing_of(const struct trails *t, const char *key)
{
	size_t i = names_find(&t->crossed, key);

	return i == NAMES_NONE ? NULL : &t->crossings[i];
}

/* Goes up from a path to its root: of each, what crosses there. *key: of the path; cut on the way.
 */
static const struct crossing *next_above(const struct trails *t, char *key, bool *top)
{
	char *first = strchr(key, '/'), *slash = strrchr(key, '/');
	const struct crossing *c = crossing_of(t, key);

	*top = slash == first;
	if (!*top)
		*slash = '\0';
	return c;
}

/* The first mark from `at` on, before end, by which something leaves the path or one above it. */
static size_t next_wide(const struct trails *t, size_t at, size_t end, int root, const char *path)
{
	AUTO_FREE char *key = key_make(root, path);

	for (bool top = false; !top;) {
		const struct crossing *c = next_above(t, key, &top);
		size_t i = c ? count_before(&c->leaves, at) : 0;

		if (c && i < c->leaves.n)
			end = MIN(end, c->leaves.list[i]);
	}
	return end;
}

static size_t next_blind(const struct trails *t, size_t at)
{
	for (size_t i = 0; i < t->n_blind; i++)
		if (t->blind[i] >= at)
			return t->blind[i];
	return t->n;
}

/* The last one before `end` by which something came there: its number + 1, or 0. */
static size_t last_wide(const struct trails *t, size_t end, int root, const char *path)
{
	AUTO_FREE char *key = key_make(root, path);
	size_t last = 0;

	for (bool top = false; !top;) {
		const struct crossing *c = next_above(t, key, &top);
		size_t i = c ? count_before(&c->comes, end) : 0;

		if (i)
			last = MAX(last, c->comes.list[i - 1] + 1);
	}
	return last;
}

size_t trail_follow(const struct trails *t, size_t at, unsigned wanted, int *root, char **path,
		    char **inside)
{
	*inside = NULL;
	while (at < t->n) {
		size_t i = next_exact(t, at, wanted, *root, *path);
		const struct mark *m;

		i = next_wide(t, at, i, *root, *path);
		if (wanted & 1u << REC_MARK && next_blind(t, at) < i) {
			*inside = xstrdup("");
			return next_blind(t, at);
		}
		if (i == t->n)
			break;
		m = &t->list[i];
		if (!is_rename(m)) {
			*inside = xstrdup(below(*root, *path, m->from));
			return i;
		}
		carry_mark(m, root, path);
		at = i + 1;
	}
	return t->n;
}

static size_t first_of(const struct trails *t, uint64_t ino, bool gone, unsigned wanted, size_t at,
		       size_t end)
{
	size_t lo = 0, hi = t->n_inodes;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2, i = t->inodes[mid];

		if (comes_before(&t->list[i], i, ino, gone, at))
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < t->n_inodes && t->inodes[lo] < end; lo++) {
		const struct mark *m = &t->list[t->inodes[lo]];

		if (m->ino != ino || (m->type == REC_GONE) != gone)
			break;
		if (wanted & 1u << m->type)
			return t->inodes[lo];
	}
	return end;
}

size_t trail_of_inode(const struct trails *t, size_t at, size_t end, unsigned wanted, uint64_t ino)
{
	if (wanted & ~(1u << REC_GONE))
		end = first_of(t, ino, false, wanted, at, end);
	return wanted & 1u << REC_GONE ? first_of(t, ino, true, wanted, at, end) : end;
}

int trail_fetch(const struct trails *t, size_t mark, struct buf *mem, struct rec *r)
{
	const struct mark *m = &t->list[mark];
	int e = scan_fetch(t->logs[m->log].fd, m->at, mem, r);

	return e == 0 && r->seq != m->seq ? -ESTALE : e;
}

int64_t trail_time(const struct trails *t, size_t i)
{
	struct mark *m = &t->list[i];
	AUTO_BUF struct buf mem = BUF_INIT;
	struct change_side then;
	struct span meta, bytes;
	struct rec rec;

	if (m->mtime_ns != NOT_ASKED)
		return m->mtime_ns;
	m->mtime_ns = -1;
	if (trail_fetch(t, i, &mem, &rec) < 0)
		return -1;
	if (rec.type == REC_GONE) {
		side_noted(&rec, &then);
		m->mtime_ns = then.exists ? then.mtime_ns : -1;
	} else {
		wal_content(&rec, &meta, &bytes);
		m->mtime_ns = meta_mtime(meta);
	}
	return m->mtime_ns;
}

size_t trail_behind(const struct trails *t, size_t i)
{
	struct mark *m = &t->list[i];
	size_t next;

	m->behind = MAX(m->behind, i + 1);
	while (m->type == REC_GONE &&
	       (next = trail_of_inode(t, m->behind, t->n, TRAIL_META, m->ino)) < t->n) {
		const struct mark *other = &t->list[next];

		if (other->type != REC_GONE || other->log != m->log ||
		    trail_time(t, next) != trail_time(t, i))
			break;
		m->behind = MAX(other->behind, next + 1);
	}
	return m->behind;
}

/* Of an undone step's path nobody knows when it was spoken of first: a directory itself has its old
 * name in the summary, so only what lies below it is carried. */
static bool carry_back(const struct trails *t, const struct place *from, const struct place *to,
		       int *root, char **path)
{
	const char *rest = below(*root, *path, from);

	return rest && (*rest || !t->undone) && carry(root, path, from, to);
}

/* Where the step first spoke of this very name: what it renamed before, it renamed under it. */
static size_t first_named(const struct trails *t, const struct trail_log *log, int root,
			  const char *path)
{
	AUTO_FREE char *key = key_make(root, path);
	size_t first = log->end;
	const struct crossing *c;
	struct place *p;

	HASH_FIND_STR(t->places, key, p);
	for (size_t i = p ? p->first : NO_MARK; i != NO_MARK && i < first; i = t->list[i].next)
		if (&t->logs[t->list[i].log] == log)
			first = i;
	c = crossing_of(t, key);
	for (size_t k = 0; c && k < c->comes.n && c->comes.list[k] < first; k++)
		if (&t->logs[t->list[c->comes.list[k]].log] == log)
			return c->comes.list[k];
	return first;
}

/* A redo log tells the way from the end of its step to the beginning. */
static void carry_back_by(const struct trails *t, const struct mark *m, int *root, char **path)
{
	const struct place *a = t->undone ? m->from : m->to;
	const struct place *b = t->undone ? m->to : m->from;

	if (!m->to || !(m->flags & REC_DIRECTORY))
		return;
	if (!carry_back(t, a, b, root, path) && m->type == REC_XCHG)
		carry_back(t, b, a, root, path);
}

char *trail_back_from(const struct trails *t, const struct trail_log *log, size_t end, int *root,
		      const char *path)
{
	char *p = xstrdup(path);
	size_t i = t->undone ? 0 : end;

	for (;;) {
		i = t->undone ? next_wide(t, i, end, *root, p) : last_wide(t, i, *root, p);
		if (t->undone ? i >= end : !i)
			return p;
		i -= !t->undone;
		if (&t->logs[t->list[i].log] == log)
			carry_back_by(t, &t->list[i], root, &p);
		i += t->undone;
	}
}

char *trail_back(const struct trails *t, const struct trail_log *log, int *root, const char *path)
{
	size_t end = t->undone ? log->end : first_named(t, log, *root, path);

	return trail_back_from(t, log, end, root, path);
}
