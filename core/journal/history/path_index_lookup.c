/* path_index_lookup - translates a past path to later moments, by the log records. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/fs/object.h"
#include "core/journal/history.h"
#include "core/journal/history/path_index_lookup.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/log_reader.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/util/path_set.h"

#include <errno.h>
#include <string.h>

#include "core/base/path.h"

/* Returns the rest of path below dir (with its slash), "" for dir itself, or NULL. */
static const char *below(int root, const char *path, const struct place *dir)
{
	return root == dir->root && path_is_beneath(path, dir->path) ? path + strlen(dir->path)
								     : NULL;
}

static bool carry(int *root, char **path, const struct place *from, const struct place *to)
{
	if (*root != from->root || !path_carry(path, from->path, to->path))
		return false;
	*root = to->root;
	return true;
}

static void carry_mark(const struct path_record *m, int *root, char **path)
{
	if (!m->to || carry(root, path, m->from, m->to))
		return;
	if (m->type == REC_XCHG)
		carry(root, path, m->to, m->from);
}

static bool is_rename(const struct path_record *m)
{
	return m->type == REC_RENAME || m->type == REC_XCHG;
}

/* Returns the first mark from `at` on that names this very path and renames it or is wanted. */
static size_t next_exact(const struct path_index *t, size_t at, unsigned wanted, int root,
			 const char *path)
{
	AUTO_FREE char *key = path_key_make(root, path);
	struct place *p;
	size_t i;

	HASH_FIND_STR(t->places, key, p);
	for (i = p ? p->first : NO_MARK; i != NO_MARK; i = t->list[i].next)
		if (i >= at && (is_rename(&t->list[i]) || wanted & 1u << t->list[i].type))
			return i;
	return t->n;
}

/* Returns how many of the marks are before `at`. */
static size_t count_before(const struct path_records *m, size_t at)
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

static const struct crossing *crossing_of(const struct path_index *t, const char *key)
{
	size_t i = path_set_find(&t->crossed, key);

	return i == PATH_SET_NONE ? NULL : &t->crossings[i];
}

/* Returns the crossing of the key's path, or NULL, and cuts the key to the directory above. */
static const struct crossing *next_above(const struct path_index *t, char *key, bool *top)
{
	char *first = strchr(key, '/'), *slash = strrchr(key, '/');
	const struct crossing *c = crossing_of(t, key);

	*top = slash == first;
	if (!*top)
		*slash = '\0';
	return c;
}

/* Returns the first mark in [at, end) that moves an object away from the path or one above. */
static size_t next_wide(const struct path_index *t, size_t at, size_t end, int root,
			const char *path)
{
	AUTO_FREE char *key = path_key_make(root, path);

	for (bool top = false; !top;) {
		const struct crossing *c = next_above(t, key, &top);
		size_t i = c ? count_before(&c->leaves, at) : 0;

		if (c && i < c->leaves.n)
			end = MIN(end, c->leaves.list[i]);
	}
	return end;
}

static size_t next_blind(const struct path_index *t, size_t at)
{
	for (size_t i = 0; i < t->n_blind; i++)
		if (t->blind[i] >= at)
			return t->blind[i];
	return t->n;
}

/* Returns 1 + the last mark before `end` that moved an object to the path or one above it; or 0. */
static size_t last_wide(const struct path_index *t, size_t end, int root, const char *path)
{
	AUTO_FREE char *key = path_key_make(root, path);
	size_t last = 0;

	for (bool top = false; !top;) {
		const struct crossing *c = next_above(t, key, &top);
		size_t i = c ? count_before(&c->comes, end) : 0;

		if (i)
			last = MAX(last, c->comes.list[i - 1] + 1);
	}
	return last;
}

size_t path_index_follow(const struct path_index *t, size_t at, unsigned wanted, int *root,
			 char **path, char **inside)
{
	*inside = NULL;
	while (at < t->n) {
		size_t i = next_exact(t, at, wanted, *root, *path);
		const struct path_record *m;

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

static size_t first_of(const struct path_index *t, uint64_t ino, bool gone, unsigned wanted,
		       size_t at, size_t end)
{
	size_t lo = 0, hi = t->n_inodes;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2, i = t->inodes[mid];

		if (path_record_is_before(&t->list[i], i, ino, gone, at))
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < t->n_inodes && t->inodes[lo] < end; lo++) {
		const struct path_record *m = &t->list[t->inodes[lo]];

		if (m->ino != ino || (m->type == REC_GONE) != gone)
			break;
		if (wanted & 1u << m->type)
			return t->inodes[lo];
	}
	return end;
}

size_t path_index_of_inode(const struct path_index *t, size_t at, size_t end, unsigned wanted,
			   uint64_t ino)
{
	if (wanted & ~(1u << REC_GONE))
		end = first_of(t, ino, false, wanted, at, end);
	return wanted & 1u << REC_GONE ? first_of(t, ino, true, wanted, at, end) : end;
}

int path_index_fetch(const struct path_index *t, size_t mark, struct buf *mem, struct rec *r)
{
	const struct path_record *m = &t->list[mark];
	int e = log_reader_fetch(t->logs[m->log].fd, m->at, mem, r);

	return e == 0 && r->seq != m->seq ? -ESTALE : e;
}

int64_t path_index_time(const struct path_index *t, size_t i)
{
	struct path_record *m = &t->list[i];
	AUTO_BUF struct buf mem = BUF_INIT;
	struct change_side then;
	struct span meta, bytes;
	struct rec rec;

	if (m->mtime_ns != NOT_ASKED)
		return m->mtime_ns;
	m->mtime_ns = -1;
	if (path_index_fetch(t, i, &mem, &rec) < 0)
		return -1;
	if (rec.type == REC_GONE) {
		capture_noted(&rec, &then);
		m->mtime_ns = then.exists ? then.mtime_ns : -1;
	} else {
		undo_log_content(&rec, &meta, &bytes);
		m->mtime_ns = attributes_mtime(meta);
	}
	return m->mtime_ns;
}

size_t path_index_behind(const struct path_index *t, size_t i)
{
	struct path_record *m = &t->list[i];
	size_t next;

	m->behind = MAX(m->behind, i + 1);
	while (m->type == REC_GONE &&
	       (next = path_index_of_inode(t, m->behind, t->n, PATH_INDEX_META, m->ino)) < t->n) {
		const struct path_record *other = &t->list[next];

		if (other->type != REC_GONE || other->log != m->log ||
		    path_index_time(t, next) != path_index_time(t, i))
			break;
		m->behind = MAX(other->behind, next + 1);
	}
	return m->behind;
}

/* Reverts a rename in the path. An undone step's summary may have the old name of the directory
 * itself, so only paths below it are changed. */
static bool carry_back(const struct path_index *t, const struct place *from, const struct place *to,
		       int *root, char **path)
{
	const char *rest = below(*root, *path, from);

	return rest && (*rest || !t->undone) && carry(root, path, from, to);
}

/* Returns the step's first mark of this very name: only renames before it lead to an older name. */
static size_t first_named(const struct path_index *t, const struct path_log *log, int root,
			  const char *path)
{
	AUTO_FREE char *key = path_key_make(root, path);
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

/* Reverts the rename of a mark. A redo log leads from the end of its step to the beginning. */
static void carry_back_by(const struct path_index *t, const struct path_record *m, int *root,
			  char **path)
{
	const struct place *a = t->undone ? m->from : m->to;
	const struct place *b = t->undone ? m->to : m->from;

	if (!m->to || !(m->flags & REC_DIRECTORY))
		return;
	if (!carry_back(t, a, b, root, path) && m->type == REC_XCHG)
		carry_back(t, b, a, root, path);
}

char *path_index_back_from(const struct path_index *t, const struct path_log *log, size_t end,
			   int *root, const char *path)
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

char *path_index_back(const struct path_index *t, const struct path_log *log, int *root,
		      const char *path)
{
	size_t end = t->undone ? log->end : first_named(t, log, *root, path);

	return path_index_back_from(t, log, end, root, path);
}
