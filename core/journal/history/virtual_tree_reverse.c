/* virtual_tree_reverse - reverses records in a virtual tree. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/history/virtual_tree_priv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/base/path.h"
#include "core/journal/history/net_changes.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/store/compressed.h"
#include "core/journal/store/store.h"
#include "core/journal/util/codec.h"
#include "core/journal/util/grow.h"
#include "core/journal/util/names.h"

#define SIZE_NONE    UINT64_MAX
#define UNPACKED_MAX (64u << 20) /* of compressed content: it is unpacked into memory */

static const struct vnode new_node = {.up = NO_NODE, .root = -1};

/* ---- states -----------------------------------------------------------------------------------
 */

static struct vstate *state_of(struct vtree *t, uint32_t node, const struct vobject *now)
{
	struct vnode *n = &t->nodes[node];

	if (!n->state) {
		GROW(t->states, t->cap_states, t->n_states);
		t->states[t->n_states] = (struct vstate){0};
		n->state = ++t->n_states;
		if (now && now->o.mode && now->o.mode != OBJECT_UNSEEN)
			change_side_set(&t->states[n->state - 1].side, &now->o);
	}
	return &t->states[n->state - 1];
}

static void set_attrs(struct vstate *s, struct span meta)
{
	struct change_side *side = &s->side;
	struct codec_reader g = {.p = meta.data, .end = meta.data + meta.len};
	uint64_t sec;

	s->meta = meta;
	side->exists = true;
	side->mode = codec_get_u32(&g);
	side->uid = codec_get_u32(&g);
	side->gid = codec_get_u32(&g);
	sec = codec_get_u64(&g);
	side->mtime_ns = attributes_ns(sec, codec_get_u32(&g));
}

/* Returns the state of an object of the step, as it lies in the store. */
static struct object slot_object(struct vtree *t, size_t log, uint64_t slot)
{
	struct object o = {0};
	int obj = tree_objects_of(t, log);
	char name[24];

	store_slot_name(name, slot);
	if (obj >= 0 && object_stat(obj, name, &o) < 0)
		o = (struct object){0};
	return o;
}

int tree_open(struct vtree *t, const struct vstate *s)
{
	char name[24];
	int r;

	if (!s->slot)
		return capture_in_memory(s->bytes);
	if (s->packed && s->side.size > UNPACKED_MAX)
		return -EFBIG;
	r = tree_objects_of(t, s->log);
	store_slot_name(name, s->slot);
	return r < 0 ? r : compressed_open(r, name);
}

/* Returns the size of the content in the state's slot, which may be compressed. */
static uint64_t slot_size(struct vtree *t, struct vstate *s)
{
	struct object o = slot_object(t, s->log, s->slot);
	int obj = tree_objects_of(t, s->log);
	uint64_t size = SIZE_NONE;
	char name[24];

	store_slot_name(name, s->slot);
	s->packed = !o.mode && obj >= 0 && compressed_size(obj, name, &size) == 0;
	return o.mode ? o.size : size;
}

static void set_content(struct vtree *t, struct vstate *s, const struct rec *r, size_t log)
{
	struct span meta, bytes;

	undo_log_content(r, &meta, &bytes);
	set_attrs(s, meta);
	s->bytes = bytes;
	s->slot = r->flags & REC_INLINE ? 0 : r->slot;
	s->log = (uint32_t)log;
	s->has_content = true;
	s->packed = false;
	s->side.size = s->slot ? slot_size(t, s) : bytes.len;
}

/* ---- the records ------------------------------------------------------------------------------
 */

static bool tell(struct vtree *t, struct vfind find)
{
	return t->found && t->found(t->data, &find);
}

/* Tells of the names that the steps gave back in a directory that is about to be removed, */
static void tell_held(struct vtree *t, const struct rec *r, uint32_t dir)
{
	for (size_t i = 0; t->nodes[dir].held && i < path_set_count(&t->names); i++) {
		const char *key = path_set_key(&t->names, i);
		AUTO_FREE char *path = path_join(r->path, key + KEY_LEN);
		uint32_t of = 0;

		for (int k = 0; k < KEY_LEN; k++)
			of |= (uint32_t)(key[k] - '0') << 6 * k;
		if (of == dir && t->child[i] && !tree_is_at_home(t, i))
			tell(t, (struct vfind){VFIND_HELD, r, r->root, path, 0, 0});
	}
}

/* and of the folder's files in it. Adds those to look into to the list. */
static void tell_present(struct vtree *t, struct vfind find, uint32_t dir, struct u64_set *list)
{
	struct vobject now = {.at = {.fd = -1}};
	struct reach w = {0};
	DIR *open = NULL;
	struct dirent *e;
	int fd = -1;

	if (tree_look_at_node(t, dir, &w, &now) == 0 && S_ISDIR(now.o.mode) && now.root >= 0 &&
	    reach_open(t->j, &w, &now.at, S_IRUSR) == 0)
		fd = openat(now.at.fd, now.at.name,
			    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	reach_close(t->j, &w);
	open = fd < 0 ? NULL : fdopendir(fd);
	while (open && (e = readdir(open))) {
		size_t i = tree_entry(t, dir, e->d_name, strlen(e->d_name), false);

		if (str_eq(e->d_name, ".") || str_eq(e->d_name, "..") ||
		    (i != PATH_SET_NONE && !tree_is_at_home(t, i)))
			continue;
		find.root = tree_place_of(t, dir, e->d_name)->root;
		find.path = t->path.data;
		if (tell(t, find))
			u64_set_add(list, tree_enter(t, dir, e->d_name, strlen(e->d_name)));
	}
	if (open)
		closedir(open);
	else
		util_close_fd(&fd);
}

/* Called before the name gets another object, or none. */
static void take_away(struct vtree *t, const struct rec *r, uint32_t dir, const char *leaf)
{
	bool made = r->type == REC_DIR_NEW;
	struct u64_set list = {0};
	struct reach w = {0};
	struct vobject now;
	int e = t->found && *leaf ? tree_peek(t, dir, leaf, &w, &now) : -ENOENT;

	reach_close(t->j, &w);
	if (e < 0 || !S_ISDIR(now.o.mode))
		return;
	u64_set_add(&list, tree_enter(t, dir, leaf, strlen(leaf)));
	if (made)
		tell_held(t, r, (uint32_t)list.list[0]);
	for (size_t i = 0; i < list.n; i++)
		tell_present(t, (struct vfind){made ? VFIND_LEFT : VFIND_IN_WAY, r, 0, NULL, 0, 0},
			     (uint32_t)list.list[i], &list);
	u64_set_done(&list);
}

/* Adds the directories above the path that do not exist, as a rollback makes them: a step does not
 * record that it removed a directory of its own. Returns as tree_walk() does. */
static uint32_t make_dirs(struct vtree *t, int root, const char *path, const char **leaf)
{
	AUTO_FREE char *names = xstrdup(path);
	uint32_t dir = tree_walk(t, root, "", leaf);
	char *name = names;

	for (char *slash; (slash = strchr(name, '/')); name = slash + 1) {
		uint32_t up = dir;

		*slash = '\0';
		dir = tree_enter(t, up, name, strlen(name));
		if (dir != NO_NODE)
			continue;
		dir = tree_add_node(t, new_node);
		if (!t->keeps)
			state_of(t, dir, NULL)->side =
				(struct change_side){.exists = true, .mode = S_IFDIR | 0755};
		tree_set_child(t, up, name, dir);
	}
	*leaf = path + (name - names);
	return dir;
}

static void put(struct vtree *t, const struct rec *r, uint32_t node)
{
	const char *leaf;
	uint32_t dir = tree_walk(t, r->root, r->path, &leaf);

	if (dir == NO_NODE && node != NO_NODE)
		dir = make_dirs(t, r->root, r->path, &leaf);
	if (dir == NO_NODE || !*leaf)
		return;
	take_away(t, r, dir, leaf);
	tree_set_child(t, dir, leaf, node);
}

/* Compares a file with its state when the record removed its name, if the steps had written to it:
 * another hard link, which no record names, may have been edited. */
static void check_link(struct vtree *t, const struct rec *r, size_t log, uint32_t node,
		       const struct object *o)
{
	struct vnode *n = &t->nodes[node];
	struct change_side was, is;

	capture_noted(r, &was);
	change_side_set(&is, o);
	if (n->state)
		is = t->states[n->state - 1].side;
	if (was.exists && change_sides_equal(&was, &is))
		n->noted = true;
	else if (o->nlink > 1 && S_ISREG(o->mode) && (was.exists || !n->noted) &&
		 tell(t, (struct vfind){VFIND_LINKED, r, r->root, r->path, o->ino, log}))
		t->nodes[node].edited = o->ino;
}

static void reverse_gone(struct vtree *t, const struct rec *r, size_t log)
{
	bool linked = r->flags & REC_LINKED, written = u64_set_have(&t->written, r->ino);
	struct vnode one = new_node;
	const struct linked_node *other = NULL;
	struct object o = {0};
	uint32_t node = NO_NODE;

	if (linked || written || r->meta.len) {
		o = slot_object(t, log, r->slot);
		if (!o.mode) /* the name exists, or the object is missing */
			return;
		other = o.nlink > 1 ? tree_linked_find(t, &o) : NULL;
	}
	one.log = (uint32_t)log;
	one.slot = r->slot;
	node = other ? other->node : tree_add_node(t, one);
	tree_linked_add(t, &o, node);
	if (written)
		check_link(t, r, log, node, &o);
	put(t, r, node);
}

static void reverse_dir_gone(struct vtree *t, const struct rec *r)
{
	struct vobject now;
	uint32_t node = tree_node_at(t, r->root, r->path, &now);
	bool there = node != NO_NODE && S_ISDIR(now.o.mode);

	if (!there)
		node = tree_add_node(t, new_node);
	set_attrs(state_of(t, node, there ? &now : NULL), r->meta);
	if (!there)
		put(t, r, node);
}

static void reverse_rename(struct vtree *t, const struct rec *r)
{
	struct vobject one, two;
	uint32_t from = tree_node_at(t, r->root2, r->path2, &one), to = NO_NODE, dir;
	const char *leaf;

	if (r->type == REC_XCHG)
		to = tree_node_at(t, r->root, r->path, &two);
	if (from == NO_NODE && to == NO_NODE)
		return;
	dir = tree_walk(t, r->root2, r->path2, &leaf);
	if (dir != NO_NODE && *leaf)
		tree_set_child(t, dir, leaf, to);
	if (r->type == REC_RENAME) {
		put(t, r, from);
		return;
	}
	dir = tree_walk(t, r->root, r->path, &leaf);
	if (dir != NO_NODE && *leaf)
		tree_set_child(t, dir, leaf, from);
}

static void report_edited(struct vtree *t, const struct rec *r, uint32_t node)
{
	if (node != NO_NODE && t->nodes[node].edited)
		tell(t,
		     (struct vfind){VFIND_WRITTEN, r, r->root, r->path, t->nodes[node].edited, 0});
}

static void reverse_meta(struct vtree *t, const struct rec *r)
{
	struct vobject now;
	uint32_t node = tree_node_at(t, r->root, r->path, &now);

	report_edited(t, r, node);
	if (node != NO_NODE && (now.o.mode & S_IFMT) == (attributes_mode(r->meta) & S_IFMT))
		set_attrs(state_of(t, node, &now), r->meta);
}

static void reverse_content(struct vtree *t, const struct rec *r, size_t log)
{
	struct object slot = r->type == REC_XINODE ? slot_object(t, log, r->slot)
						   : (struct object){.mode = S_IFREG};
	struct vobject now;
	uint32_t node = tree_node_at(t, r->root, r->path, &now);
	struct vstate *s;

	report_edited(t, r, node);
	if (!slot.mode)
		return;
	if (node == NO_NODE || !S_ISREG(now.o.mode) || now.o.mode == OBJECT_UNSEEN) {
		node = tree_add_node(t, new_node);
		put(t, r, node);
	}
	s = state_of(t, node, NULL);
	if (r->type == REC_CONTENT) {
		set_content(t, s, r, log);
		return;
	}
	change_side_set(&s->side, &slot);
	s->meta = (struct span){0};
	s->slot = r->slot;
	s->log = (uint32_t)log;
	s->has_content = true;
	s->packed = false;
}

void tree_reverse(struct vtree *t, const struct rec *r, size_t log)
{
	if (rec_is_idle(r))
		return;
	if (r->type == REC_NEW || r->type == REC_DIR_NEW)
		put(t, r, NO_NODE);
	else if (r->type == REC_GONE)
		reverse_gone(t, r, log);
	else if (r->type == REC_DIR_GONE)
		reverse_dir_gone(t, r);
	else if (r->type == REC_RENAME || r->type == REC_XCHG)
		reverse_rename(t, r);
	else if (r->type == REC_META)
		reverse_meta(t, r);
	else if (r->type == REC_CONTENT || r->type == REC_XINODE)
		reverse_content(t, r, log);
}

/* ---- for a look at any moment -----------------------------------------------------------------
 */

static void add_change(struct vtree *t, const struct rec *r, size_t log, uint64_t at, uint32_t node)
{
	struct vnode *n = &t->nodes[node];

	GROW(t->changes, t->cap_changes, t->n_changes);
	t->changes[t->n_changes++] = (struct vchange){.seq = r->seq,
						      .slot = r->slot,
						      .ino = r->ino,
						      .at = at,
						      .mtime_ns = VCHANGE_NOT_ASKED,
						      .log = (uint32_t)log,
						      .next = n->state,
						      .type = r->type,
						      .flags = r->flags};
	n->state = t->n_changes;
}

void tree_keep(struct vtree *t, const struct rec *r, size_t log, uint64_t at)
{
	bool names = r->type == REC_GONE || r->type == REC_DIR_GONE;
	struct vnode one = new_node;
	uint32_t node;

	t->seq = r->seq;
	if (!names && !rec_is_in_place(r) && r->type != REC_MARK) {
		tree_reverse(t, r, log);
		return;
	}
	node = names ? NO_NODE : tree_node(t, r->root, r->path);
	one.log = (uint32_t)log;
	one.slot = r->type == REC_GONE ? r->slot : 0;
	if (node == NO_NODE) {
		node = tree_add_node(t, one);
		put(t, r, node);
	}
	add_change(t, r, log, at, node);
}

struct vchange *tree_next_change(const struct vtree *t, const struct vchange *c)
{
	return c->next ? &t->changes[c->next - 1] : NULL;
}

struct vchange *tree_change(const struct vtree *t, uint32_t node, uint64_t moment)
{
	uint32_t i = t->nodes[node].state;
	struct vchange *c = i ? &t->changes[i - 1] : NULL;

	while (c && c->seq < moment)
		c = tree_next_change(t, c);
	return c;
}

const struct vchange *tree_removal(const struct vtree *t, uint32_t node)
{
	const struct vchange *c;

	while (t->nodes[node].up != NO_NODE)
		node = t->nodes[node].up;
	c = tree_change(t, node, 0);
	while (c && c->next)
		c = tree_next_change(t, c);
	return c && c->type == REC_GONE ? c : NULL;
}
