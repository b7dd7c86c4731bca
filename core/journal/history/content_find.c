/* content_find - finds where the content of an object is that it had at a moment. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "core/journal/fs/borrow.h"
#include "core/journal/fs/object.h"
#include "core/journal/history.h"
#include "core/journal/history/content.h"
#include "core/journal/history/net_changes.h"
#include "core/journal/history/past.h"
#include "core/journal/history/virtual_tree_priv.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/store/compressed.h"
#include "core/journal/store/reach.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"
#include "core/journal/util/grow.h"

#define INODE_MAX 64 /* records of one inode number: more are of many files */

int content_open(struct journal *j, int dirfd, const char *name)
{
	char target[PATH_MAX];
	struct object o;
	ssize_t n;
	int r = object_stat(dirfd, name, &o);

	if (r < 0)
		return r;
	if (!o.mode)
		return -ENOENT;
	if (!S_ISLNK(o.mode))
		return borrow_open_file(j, dirfd, name);
	n = readlinkat(dirfd, name, target, sizeof(target));
	return n < 0 ? -errno : capture_in_memory((struct span){target, (size_t)n});
}

bool content_has_bytes(const struct change_side *s)
{
	return S_ISREG(s->mode) || S_ISLNK(s->mode);
}

static int read_meta(struct journal *j, int dirfd, const char *name, struct buf *ret)
{
	AUTO_CLOSE int fd = object_open(dirfd, name);

	return fd < 0 ? fd : attributes_read(j, fd, ret);
}

/* ---- one object -------------------------------------------------------------------------------
 */

struct look {
	struct journal *j;
	struct past *p;
	const struct past_log *own; /* of the step in question */
	const struct change_side *want;
	uint64_t moment;
	uint32_t *nodes; /* of the object: several hard links have one each; the first was found */
	size_t n_nodes, cap_nodes;
	struct object lies;	    /* the inode as it is now */
	const struct vchange *gone; /* the record that moved it to a step's objects, or NULL */
	uint32_t *list; /* what records say of it, by index in tree.changes, the oldest first */
	size_t n, cap;
	size_t bytes;  /* the one that captured its bytes, or n: they are where it lies */
	bool by_inode; /* follow_inode() made the list */
};

static int open_slot(struct look *s, const struct vchange *c)
{
	char slot[24];
	int obj = tree_objects_of(&s->p->tree, c->log);

	store_slot_name(slot, c->slot);
	if (obj < 0)
		return obj;
	return c->type == REC_CONTENT ? compressed_open(obj, slot) : content_open(s->j, obj, slot);
}

/* Opens the bytes that the record captured. */
static int open_captured(struct look *s, const struct vchange *c)
{
	AUTO_BUF struct buf mem = BUF_INIT;
	struct span meta, bytes;
	struct rec rec;
	int r;

	if (!(c->flags & REC_INLINE))
		return open_slot(s, c);
	r = past_fetch(s->p, c, &mem, &rec);
	if (r < 0)
		return r;
	undo_log_content(&rec, &meta, &bytes);
	return capture_in_memory(bytes);
}

/* Returns the file's modification time in the record, or -1. */
static int64_t time_of(struct look *s, struct vchange *c)
{
	AUTO_BUF struct buf mem = BUF_INIT;
	struct change_side noted;
	struct span meta, bytes;
	struct rec rec;

	if (c->mtime_ns != VCHANGE_NOT_ASKED)
		return c->mtime_ns;
	c->mtime_ns = -1;
	if (c->type == REC_XINODE || past_fetch(s->p, c, &mem, &rec) < 0)
		return -1;
	undo_log_content(&rec, &meta, &bytes);
	capture_noted(&rec, &noted);
	if (c->type != REC_GONE)
		c->mtime_ns = attributes_mtime(meta);
	else if (noted.exists)
		c->mtime_ns = noted.mtime_ns;
	return c->mtime_ns;
}

static bool has_captured(const struct vchange *c)
{
	return c->type == REC_CONTENT || c->type == REC_XINODE || c->type == REC_MARK;
}

static struct vchange *change_at(const struct look *s, size_t i)
{
	return &s->p->tree.changes[s->list[i]];
}

static void add_change(struct look *s, const struct vchange *c)
{
	size_t i = s->n++;

	GROW(s->list, s->cap, i);
	for (; i && change_at(s, i - 1)->seq > c->seq; i--)
		s->list[i] = s->list[i - 1];
	s->list[i] = (uint32_t)(c - s->p->tree.changes);
}

/* Lists what records say of the object from `moment` on: of each node up to its bytes. */
static void list_changes(struct look *s, uint64_t moment)
{
	s->n = 0;
	for (size_t i = 0; i < s->n_nodes; i++) {
		struct vchange *c = tree_change(&s->p->tree, s->nodes[i], moment);

		for (bool more = true; c && more; c = tree_next_change(&s->p->tree, c)) {
			add_change(s, c);
			more = !has_captured(c) || c->seq < s->moment;
		}
	}
}

/* A step captures each inode once: the record of a file with several hard links may come before the
 * first one that has this name. Drops those that show an older state. */
static void drop_older(struct look *s)
{
	size_t older = 0;

	while (older < s->n && change_at(s, older)->seq < s->moment &&
	       time_of(s, change_at(s, older)) != s->want->mtime_ns)
		older++;
	for (size_t i = older; older && i < s->n; i++)
		s->list[i - older] = s->list[i];
	s->n -= older;
}

static void add_node(struct look *s, uint32_t node)
{
	GROW(s->nodes, s->cap_nodes, s->n_nodes);
	s->nodes[s->n_nodes++] = node;
}

static void add_links(struct look *s)
{
	const struct linked_node *one;

	past_load_links(s->p);
	one = tree_linked_find(&s->p->tree, &s->lies);
	for (uint32_t i = one ? one->node + 1 : 0; i; i = s->p->tree.nodes[i - 1].held)
		if (i - 1 != s->nodes[0])
			add_node(s, i - 1);
}

/* Returns whether the step itself captured the bytes: that capture is right. */
static bool is_own(const struct look *s)
{
	return !s->by_inode && s->bytes == 0 && s->n && &s->p->logs[change_at(s, 0)->log] == s->own;
}

static void find_captured(struct look *s)
{
	drop_older(s);
	s->bytes = 0;
	while (s->bytes < s->n && !has_captured(change_at(s, s->bytes)))
		s->bytes++;
}

static void list_from(struct look *s, uint64_t moment)
{
	list_changes(s, moment);
	find_captured(s);
}

/* The records may name another hard link, whose name an external writer has taken away. Lists those
 * about the inode number instead. It may be reused: each is checked by its time. Returns whether
 * there are any. */
static bool follow_inode(struct look *s, bool before)
{
	uint64_t from = before ? MIN(s->own->first, s->moment) : s->moment;
	const struct past_inode *one;
	size_t n = past_of_inode(s->p, s->want->ino, &one);
	bool more = true;

	s->by_inode = true;
	s->n = 0;
	for (; n-- && more && s->n < INODE_MAX; one++) {
		const struct vchange *c = &s->p->tree.changes[one->change];

		if (c->seq < from)
			continue;
		add_change(s, c);
		add_node(s, one->node);
		more = !has_captured(c) || c->seq < s->moment;
	}
	find_captured(s);
	return s->n;
}

/* Looks at the object as it is now. */
static int look_at(struct look *s, bool before)
{
	struct reach reach = {0};
	struct vobject lies;
	int r = tree_look_at_node(&s->p->tree, s->nodes[0], &reach, &lies);

	reach_close(s->j, &reach);
	if (r < 0)
		return r;
	s->lies = lies.o;
	s->gone = tree_removal(&s->p->tree, s->nodes[0]);
	if (!S_ISDIR(s->want->mode) && s->lies.nlink > 1 && s->lies.mode != OBJECT_UNSEEN)
		add_links(s);
	if (s->n_nodes > 1)
		list_from(s, before ? MIN(s->own->first, s->moment) : s->moment);
	return 0;
}

/* Finds the object of the change at that side. */
static int find_object(struct look *s, int64_t id, const struct change *c, bool after, bool undone)
{
	struct past_log *own;
	uint32_t node;
	int r = past_get(s->j, id, undone, &s->p);

	if (r < 0)
		return r;
	s->own = own = past_log(s->p, id);
	s->want = after ? &c->after : &c->before;
	node = own ? past_find(s->p, own, c, after, &s->moment) : NO_NODE;
	if (node == NO_NODE)
		return -ESTALE;
	add_node(s, node);
	list_from(s, s->moment);
	return is_own(s) ? 0 : look_at(s, !after && !undone);
}

/*
 * External writers leave no record, so a file is checked by its modification time: the time in each
 * record must be the one that the last step known to set it had left. If that step still ran at the
 * next record, it may have set any time in between.
 */
struct course {
	uint32_t set;	  /* index + 1 of the log whose step set the time last, or 0 */
	int64_t mtime_ns; /* in the newest record */
};

/* Returns whether the file may have this time when that record of the log was written. */
static bool fits(const struct look *s, const struct course *c, uint64_t seq, uint32_t log,
		 int64_t mtime_ns)
{
	const struct past_log *set = c->set ? &s->p->logs[c->set - 1] : NULL;
	const struct change_side *left = NULL;

	if (set && (c->set == log + 1 || seq <= (s->p->undone ? set->last : set->end)))
		return true;
	for (size_t i = 0; set && !left && i < s->n_nodes; i++)
		left = past_left_of(s->p, c->set - 1, s->nodes[i]);
	if (set && !left && s->by_inode)
		left = past_left_of_inode(s->p, c->set - 1, s->want->ino);
	if (!left)
		return mtime_ns == c->mtime_ns;
	return left->exists && left->size == s->want->size && left->mtime_ns == mtime_ns;
}

/* Returns whether the file, after its changes before `end`, may have this time when that record of
 * the log was written. */
static bool leads_to(struct look *s, size_t end, uint64_t seq, uint32_t log, int64_t mtime_ns)
{
	struct course c = {.mtime_ns = s->want->mtime_ns};

	for (size_t i = 0; i < end; i++) {
		struct vchange *one = change_at(s, i);
		int64_t at = time_of(s, one);
		bool own = i == 0 && !s->by_inode && &s->p->logs[one->log] == s->own;

		if (one->type == REC_GONE && at < 0) /* its last hard link */
			continue;
		if (!own && !fits(s, &c, one->seq, one->log, at))
			return false;
		if (one->type == REC_META)
			c.set = one->log + 1;
		c.mtime_ns = at;
	}
	return fits(s, &c, seq, log, mtime_ns);
}

/* Returns whether the captured bytes are the wanted ones. */
static bool is_captured(struct look *s, int fd)
{
	struct vchange *c = change_at(s, s->bytes);
	struct object o;

	if (object_stat(fd, "", &o) < 0 || o.size != s->want->size)
		return false; /* of its own: a concurrent step wrote to it before */
	return is_own(s) || leads_to(s, s->bytes, c->seq, c->log,
				     c->type == REC_XINODE ? o.mtime_ns : time_of(s, c));
}

/* Returns whether the inode as it lies is the wanted object. */
static bool is_present(struct look *s)
{
	const struct vchange *gone = s->gone;
	struct change_side now;
	bool own;

	change_side_set(&now, &s->lies);
	if (!now.exists || (now.mode ^ s->want->mode) & S_IFMT)
		return false;
	if (s->by_inode && now.ino != s->want->ino)
		return false;
	own = gone && s->lies.nlink < 2 && &s->p->logs[gone->log] == s->own;
	if (now.size != s->want->size && (S_ISREG(now.mode) || !own))
		return false;
	if (own || !S_ISREG(now.mode))
		return true;
	return leads_to(s, s->n, gone ? gone->seq : UINT64_MAX, gone ? gone->log : UINT32_MAX,
			now.mtime_ns);
}

/* ---- the whole --------------------------------------------------------------------------------
 */

/* Opens the object where it lies, or reads its metadata. Sets ret->present if it is in the folder.
 */
static int take_present(struct look *s, int root, struct content_origin *ret, bool bytes)
{
	struct reach reach = {0};
	struct vobject o;
	int r = tree_look_at_node(&s->p->tree, s->nodes[0], &reach, &o);

	if (r == 0 && o.root == root && !ret->present)
		ret->present = xstrdup(s->p->tree.path.data);
	if (r == 0 && bytes)
		r = ret->fd = content_open(s->j, o.at.fd, o.at.name);
	else if (r == 0)
		r = read_meta(s->j, o.at.fd, o.at.name, &ret->meta);
	reach_close(s->j, &reach);
	return r == -ENOENT ? -ESTALE : MIN(r, 0); /* removed at this moment */
}

/* Returns -ESTALE if the wanted state is unknown, though a record has it (c), or the object as it
 * lies (c is NULL): a damaged step came between, or its bytes were not kept. */
static int check(const struct look *s, const struct vchange *c, struct content_origin *ret)
{
	uint64_t until = c ? c->seq : s->gone ? s->gone->seq : UINT64_MAX;

	for (size_t i = 0; i < s->p->n_blind; i++)
		if (s->p->blind[i].seq >= s->moment && s->p->blind[i].seq < until)
			ret->damaged = s->p->blind[i].id;
	if (ret->damaged || (c && c->type == REC_MARK))
		return -ESTALE;
	return !c && s->lies.mode == OBJECT_UNSEEN ? -EACCES : 0;
}

static int find_bytes(struct look *s, int root, struct content_origin *ret)
{
	struct vchange *c = s->bytes < s->n ? change_at(s, s->bytes) : NULL;
	int r = check(s, c, ret);

	if (r < 0)
		return r;
	if (!c)
		return is_present(s) ? take_present(s, root, ret, true) : -ESTALE;
	ret->fd = open_captured(s, c);
	return ret->fd < 0 || is_captured(s, ret->fd) ? MIN(ret->fd, 0) : -ESTALE;
}

static int meta_of(struct look *s, const struct vchange *c, struct content_origin *ret)
{
	AUTO_BUF struct buf mem = BUF_INIT;
	struct span meta, bytes;
	struct rec rec;
	char slot[24];
	int r;

	if (c->type == REC_XINODE) {
		r = tree_objects_of(&s->p->tree, c->log);
		store_slot_name(slot, c->slot);
		return r < 0 ? r : read_meta(s->j, r, slot, &ret->meta);
	}
	r = past_fetch(s->p, c, &mem, &rec);
	if (r < 0)
		return r;
	undo_log_content(&rec, &meta, &bytes);
	buf_add(&ret->meta, meta.data, meta.len);
	return 0;
}

static int find_meta(struct look *s, int root, struct content_origin *ret)
{
	const struct vchange *c;
	size_t i = 0;
	int r;

	while (i < s->n && change_at(s, i)->type == REC_GONE)
		i++;
	c = i < s->n ? change_at(s, i) : NULL;
	r = check(s, c, ret);
	if (r < 0 || c)
		return r < 0 ? r : meta_of(s, c, ret);
	return ret->fd >= 0 || is_present(s) ? take_present(s, root, ret, false) : -ESTALE;
}

/* Finds the slot that has the inode itself, if there is one. */
static int find_slot(struct look *s, struct content_origin *ret)
{
	const struct vchange *gone = s->gone;
	int obj;

	if (s->bytes < s->n || !gone || s->p->tree.nodes[s->nodes[0]].up != NO_NODE)
		return 0;
	store_slot_name(ret->slot, gone->slot);
	obj = tree_objects_of(&s->p->tree, gone->log);
	ret->slots = obj < 0 ? obj : fcntl(obj, F_DUPFD_CLOEXEC, 3);
	return ret->slots < 0 ? -ESTALE : 0;
}

int content_find(struct journal *j, int64_t id, const struct change *c, bool after, bool undone,
		 bool whole, struct content_origin *ret)
{
	struct look s = {.j = j};
	int r;

	store_forget_near(j);
	r = find_object(&s, id, c, after, undone);
	if (r == 0 && content_has_bytes(s.want))
		r = find_bytes(&s, c->root, ret);
	if (r == -ESTALE && !ret->damaged && s.own && S_ISREG(s.want->mode) &&
	    follow_inode(&s, !after && !undone)) {
		util_close_fd(&ret->fd);
		r = find_bytes(&s, c->root, ret);
	}
	if (r == 0 && whole)
		r = find_meta(&s, c->root, ret);
	if (r == 0 && whole && !S_ISDIR(s.want->mode))
		r = find_slot(&s, ret);
	store_forget_near(j);
	free(s.nodes);
	free(s.list);
	return r;
}
