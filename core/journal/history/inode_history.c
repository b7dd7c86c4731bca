/* inode_history - follows one inode through the history from a given moment on. */
/* SPDX-License-Identifier: MIT */
#include <sys/stat.h>
#include "core/journal/history.h"
#include "core/journal/history/inode_history.h"
#include "core/journal/history/path_index_lookup.h"
#include "core/journal/log/undo_log.h"

size_t inode_history_record(const struct inode_history *s, size_t at, size_t end, unsigned wanted,
			    uint64_t ino)
{
	while (ino && (at = path_index_of_inode(s->t, at, end, wanted, ino)) < end) {
		if (path_index_time(s->t, at) == s->want->mtime_ns)
			return at;
		at = path_index_behind(s->t, at);
	}
	return end;
}

struct course {		    /* a file's state, from mark to mark */
	uint64_t ino, also; /* its inode numbers; 0: none */
	size_t bytes;	    /* the mark with the file's bytes, or the end */
	uint64_t size;
	int64_t mtime_ns;	    /* the present time, if only steps have set it */
	int64_t record_ns;	    /* the time at the newest record so far */
	const struct path_log *set; /* the log whose step set the time; NULL: none */
	bool recorded;		    /* that step's summary has the time */
	bool broken;		    /* the time was set elsewhere, too, or is unknown */
};

/* Returns whether the mark may be of an older state: a concurrent step captured the file in that
 * state, or another file had the inode number before. */
static bool may_be_before(const struct inode_history *s, size_t i)
{
	return !s->own || i < s->own->end || s->t->list[i].ino != s->want->ino;
}

/* Returns whether the object at the file's path after the step may be the file: it has the same
 * type, and the step did not remove its name. */
static bool may_lie_there(const struct inode_history *s, size_t i)
{
	const struct path_record *m = &s->t->list[i];
	const size_t end = s->own->end;

	return s->left->exists && !((s->left->mode ^ s->want->mode) & S_IFMT) &&
	       path_index_of_inode(s->t, i, end, 1u << REC_GONE, m->ino) == end;
}

static struct left_of ask_left(const struct inode_history *s, size_t i, const struct course *c)
{
	const struct path_record *m = &s->t->list[i];
	bool own = s->own && s->own->id == s->t->logs[m->log].id;

	return (struct left_of){.ino = m->ino,
				.then = own || c->also ? s->want->ino : 0,
				.beside = own && may_lie_there(s, i) ? s->left : NULL};
}

/* Takes the state that the step of mark i left. A step captures a file's metadata once; after that
 * record it may have set the times, and removed names. */
static void set_times(const struct inode_history *s, size_t i, struct course *c)
{
	const uint32_t log = s->t->list[i].log;
	const struct left_of of = ask_left(s, i, c);
	struct change_side left;

	c->set = &s->t->logs[log];
	c->recorded = path_index_left(s->j, s->t, log, &of, &left);
	if (!c->recorded)
		return;
	c->mtime_ns = left.mtime_ns;
	c->size = left.size;
	c->broken = !left.exists;
}

static bool ran_beside(const struct inode_history *s, size_t i, const struct course *c)
{
	return path_index_overlap(s->j, s->t, (uint32_t)(c->set - s->t->logs), s->t->list[i].log);
}

/* Returns whether a concurrent step has set the times and has this step's change in its summary: up
 * to this mark the file was as before. */
static bool is_beside(const struct inode_history *s, size_t i, int64_t time, const struct course *c)
{
	return c->recorded && time == c->record_ns && ran_beside(s, i, c);
}

/* Returns whether the step that had set the times, or a concurrent one, captured the file at the
 * mark: perhaps between its changes, in a state that no summary has. */
static bool is_taken_by(const struct inode_history *s, size_t i, int64_t time,
			const struct course *c)
{
	return c->set == &s->t->logs[s->t->list[i].log] || is_beside(s, i, time, c) ||
	       (c->set && !c->recorded && ran_beside(s, i, c));
}

static void go_on(const struct inode_history *s, size_t i, struct course *c)
{
	const struct path_record *m = &s->t->list[i];
	const int64_t time = path_index_time(s->t, i);
	const bool again = c->set == &s->t->logs[m->log] || is_beside(s, i, time, c);

	if (m->type == REC_GONE && time < 0) /* its last hard link: no time was recorded */
		return;
	c->record_ns = time;
	if (!again && (time != c->mtime_ns || c->size != s->want->size))
		c->broken = c->set || !may_be_before(s, i);
	else if (m->type == REC_CONTENT)
		c->bytes = i;
	else if (m->type == REC_META)
		set_times(s, i, c);
	else if (again && !c->recorded)
		c->mtime_ns = time;
}

static size_t next_of(const struct inode_history *s, size_t at, size_t end, const struct course *c)
{
	const unsigned wanted = 1u << REC_CONTENT | 1u << REC_META | 1u << REC_GONE;

	if (c->ino)
		end = path_index_of_inode(s->t, at, end, wanted, c->ino);
	return c->also ? path_index_of_inode(s->t, at, end, wanted, c->also) : end;
}

/* Follows the file from mark to mark. also: its second inode number, if a redo restored it as
 * another inode between two marks, or 0. */
static struct course follow(const struct inode_history *s, size_t end, uint64_t ino, uint64_t also)
{
	struct course c = {.ino = ino,
			   .also = also,
			   .bytes = end,
			   .size = s->want->size,
			   .mtime_ns = s->want->mtime_ns};
	size_t i = s->at;

	while (!c.broken && c.bytes == end && (i = next_of(s, i, end, &c)) < end) {
		go_on(s, i, &c);
		i = path_index_behind(s->t, i);
	}
	return c;
}

size_t inode_history_bytes(const struct inode_history *s, size_t end, uint64_t ino)
{
	return follow(s, end, ino, 0).bytes;
}

static bool leads_to(const struct inode_history *s, size_t end, uint64_t ino, uint64_t also,
		     uint64_t size, int64_t mtime_ns)
{
	const struct course c = follow(s, end, ino, also);

	if (c.broken || c.bytes < end)
		return false;
	if (end < s->t->n && is_taken_by(s, end, mtime_ns, &c))
		return true;
	return c.size == size && c.mtime_ns == mtime_ns;
}

bool inode_history_is_same(const struct inode_history *s, size_t end, uint64_t ino, uint64_t size,
			   int64_t mtime_ns)
{
	const uint64_t then = s->want->ino;

	if (size != s->want->size)
		return false;
	if (!S_ISREG(s->want->mode) || leads_to(s, end, then, 0, size, mtime_ns))
		return true;
	return ino != then && (leads_to(s, end, ino, 0, size, mtime_ns) ||
			       leads_to(s, end, then, ino, size, mtime_ns));
}
