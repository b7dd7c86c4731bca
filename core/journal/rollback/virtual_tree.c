/* virtual_tree - the folder as it was before the newest records of some steps; changes nothing. */
/* SPDX-License-Identifier: MIT */
#include "core/base/hash.h"
#include "core/journal/rollback/virtual_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/path.h"
#include "core/journal/history/net_changes.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback/undo.h"
#include "core/journal/store/compressed.h"
#include "core/journal/store/store.h"
#include "core/journal/util/codec.h"
#include "core/journal/util/grow.h"
#include "core/journal/util/names.h"
#include "core/os/file.h"

#define NO_NODE	  UINT32_MAX
#define KEY_LEN	  6 /* of a directory's number, before the name */
#define SIZE_NONE UINT64_MAX

struct vnode {
	uint32_t up; /* the directory in which it lies in the folder or in an object; or NO_NODE */
	uint32_t entry; /* its name there */
	int32_t root;	/* of a root's node; else -1 */
	uint32_t log;
	uint64_t slot;	/* it is that object of step `log`; 0, without `up` and root: a new one */
	uint32_t state; /* index + 1; 0: as it lies */
	uint32_t held;	/* entries of the tree in it that exist */
	uint64_t
		ino; /* edited through another hard link, after the steps had written to it; or 0 */
};

struct linked_node {
	uint64_t key[2]; /* device, inode */
	uint32_t node;
	UT_hash_handle hh;
};

static const struct vnode new_node = {.up = NO_NODE, .root = -1};

/* ---- entries and nodes ------------------------------------------------------------------------
 */

/* Returns the number of the entry, which is created if `put`; or PATH_SET_NONE. */
static size_t entry_of(struct vtree *t, uint32_t dir, const char *name, size_t len, bool put)
{
	bool fresh = false;
	size_t i;

	buf_clear(&t->key);
	for (int k = 0; k < KEY_LEN; k++)
		buf_ch(&t->key, (char)('0' + (dir >> 6 * k & 63)));
	buf_add(&t->key, name, len);
	if (!put)
		return path_set_find(&t->names, t->key.data);
	i = path_set_put(&t->names, t->key.data, &fresh);
	GROW(t->child, t->cap_child, i);
	if (fresh)
		t->child[i] = 0;
	return i;
}

static uint32_t add_node(struct vtree *t, struct vnode one)
{
	GROW(t->nodes, t->cap_nodes, t->n_nodes);
	t->nodes[t->n_nodes] = one;
	return t->n_nodes++;
}

/* Returns whether the entry holds the object that lies under its name in the folder. */
static bool is_at_home(const struct vtree *t, size_t i)
{
	const struct vnode *n = t->child[i] ? &t->nodes[t->child[i] - 1] : NULL;

	return n && n->up != NO_NODE && n->entry == i;
}

/* Makes the name hold that node, or none. */
static void set_child(struct vtree *t, uint32_t dir, const char *name, uint32_t node)
{
	size_t i = entry_of(t, dir, name, strlen(name), true);
	bool held = t->child[i] && !is_at_home(t, i);

	t->child[i] = node == NO_NODE ? 0 : node + 1;
	t->nodes[dir].held += (t->child[i] && !is_at_home(t, i)) - held;
}

/* Returns whether the node's entries that the tree lacks may be read where it lies. */
static bool lies(const struct vnode *n)
{
	return n->up != NO_NODE || n->root >= 0 || n->slot;
}

/* Returns the node of a directory's entry. Without one, it takes that of the folder. */
static uint32_t enter(struct vtree *t, uint32_t dir, const char *name, size_t len)
{
	size_t i = entry_of(t, dir, name, len, false);
	uint32_t node;

	if (i != PATH_SET_NONE)
		return t->child[i] ? t->child[i] - 1 : NO_NODE;
	if (!lies(&t->nodes[dir]))
		return NO_NODE;
	i = entry_of(t, dir, name, len, true);
	node = add_node(t, (struct vnode){.up = dir, .entry = (uint32_t)i, .root = -1});
	t->child[i] = node + 1;
	return node;
}

static uint32_t root_node(struct vtree *t, int root)
{
	char name[12];
	size_t i;

	snprintf(name, sizeof(name), "%d", root);
	i = entry_of(t, NO_NODE, name, strlen(name), true);
	if (!t->child[i])
		t->child[i] = add_node(t, (struct vnode){.up = NO_NODE, .root = root}) + 1;
	return t->child[i] - 1;
}

/* Returns the directory of the path's last name, or NO_NODE. */
static uint32_t walk(struct vtree *t, int root, const char *path, const char **leaf)
{
	uint32_t dir = root_node(t, root);

	for (const char *slash; dir != NO_NODE && (slash = strchr(path, '/')); path = slash + 1)
		dir = enter(t, dir, path, (size_t)(slash - path));
	*leaf = path;
	return dir;
}

/* ---- where a node lies ------------------------------------------------------------------------
 */

static const char *name_of(const struct vtree *t, const struct vnode *n)
{
	return path_set_key(&t->names, n->entry) + KEY_LEN;
}

static void put_before(struct buf *b, size_t *start, const char *name)
{
	size_t len = strlen(name);

	if (len && *start < b->len)
		b->data[--*start] = '/';
	*start -= len;
	memcpy(b->data + *start, name, len);
}

/* Puts the path into t->path, relative to the node that is returned: a root, an object (then it
 * begins with the slot), or a new node. */
static const struct vnode *place_of(struct vtree *t, uint32_t dir, const char *name)
{
	const struct vnode *n = &t->nodes[dir], *base = n;
	char slot[24] = "";
	size_t start = strlen(name) + sizeof(slot);

	for (; base->up != NO_NODE; base = &t->nodes[base->up])
		start += strlen(name_of(t, base)) + 1;
	if (base->slot)
		store_slot_name(slot, base->slot);
	buf_clear(&t->path);
	buf_reserve(&t->path, start);
	t->path.len = start;
	put_before(&t->path, &start, name);
	for (; n != base; n = &t->nodes[n->up])
		put_before(&t->path, &start, name_of(t, n));
	put_before(&t->path, &start, slot);
	t->path.len -= start;
	memmove(t->path.data, t->path.data + start, t->path.len);
	t->path.data[t->path.len] = '\0';
	return base;
}

/* Opens the objects of a step; the descriptor is borrowed until the next call. */
static int objects_of(struct vtree *t, size_t log)
{
	AUTO_CLOSE int dir = -1;

	if (t->obj_log == log + 1)
		return t->obj;
	if (t->obj_log)
		util_close_fd(&t->obj);
	t->obj_log = 0;
	dir = store_open_dir(t->j, t->dirs->list[log]);
	t->obj = dir < 0 ? dir : openat(dir, "obj", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (t->obj < 0)
		return dir < 0 ? dir : -errno;
	t->obj_log = log + 1;
	return t->obj;
}

/* Looks at t->path among the objects of a step, without following a link. */
static int look_in_store(struct vtree *t, size_t log, struct vobject *ret)
{
	AUTO_CLOSE int fd = -1;
	char *name = t->path.data, *slash;
	int r = objects_of(t, log);

	if (r < 0)
		return r;
	ret->at.fd = r;
	for (; (slash = strchr(name, '/')); name = slash + 1) {
		int next;

		*slash = '\0';
		next = openat(ret->at.fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (next < 0)
			ret->o.mode = errno == EACCES ? OBJECT_UNSEEN : 0;
		util_close_fd(&fd);
		ret->at.fd = fd = next;
		if (fd < 0)
			return 0;
	}
	ret->at.name = name;
	r = object_stat(ret->at.fd, name, &ret->o);
	if (fd >= 0) /* content below an object is not compared */
		ret->at.fd = -1;
	return r;
}

static int look_where_it_lies(struct vtree *t, uint32_t dir, const char *name, struct reach *w,
			      struct vobject *ret)
{
	const struct vnode *n = place_of(t, dir, name);

	*ret = (struct vobject){.at = {.fd = -1, .name = ""}, .root = n->root};
	if (n->root >= 0)
		return reach_look(t->j, w, n->root, t->path.data, &ret->at, &ret->o);
	return n->slot ? look_in_store(t, n->log, ret) : 0;
}

static struct linked_node *linked_find(const struct vtree *t, const struct object *o)
{
	const uint64_t key[2] = {o->dev, o->ino};
	struct linked_node *one;

	HASH_FIND(hh, t->linked, key, sizeof(key), one);
	return one;
}

static void linked_add(struct vtree *t, const struct object *o, uint32_t node)
{
	struct linked_node *one;

	if (o->nlink < 2 || S_ISDIR(o->mode) || o->mode == OBJECT_UNSEEN || linked_find(t, o))
		return;
	one = xcalloc(1, sizeof(*one));
	one->key[0] = o->dev;
	one->key[1] = o->ino;
	one->node = node;
	HASH_ADD(hh, t->linked, key, sizeof(one->key), one);
}

static void take_state(const struct vtree *t, uint32_t node, struct vobject *ret)
{
	const struct linked_node *one = NULL;

	if (ret->o.nlink > 1 && !S_ISDIR(ret->o.mode) && (one = linked_find(t, &ret->o)))
		node = one->node;
	if (node != NO_NODE && t->nodes[node].state)
		ret->state = &t->states[t->nodes[node].state - 1];
	if (ret->state && !ret->o.mode)
		ret->o.mode = ret->state->side.mode;
}

static int look_at_node(struct vtree *t, uint32_t node, struct reach *w, struct vobject *ret)
{
	const struct vnode *n = &t->nodes[node];
	int r;

	if (n->up == NO_NODE)
		r = look_where_it_lies(t, node, "", w, ret);
	else
		r = look_where_it_lies(t, n->up, name_of(t, n), w, ret);
	if (r == 0)
		take_state(t, node, ret);
	return r;
}

/* Looks at a name without making a node for it. */
static int peek(struct vtree *t, uint32_t dir, const char *leaf, struct reach *w,
		struct vobject *ret)
{
	size_t i = *leaf ? entry_of(t, dir, leaf, strlen(leaf), false) : PATH_SET_NONE;
	int r;

	*ret = (struct vobject){.at = {.fd = -1, .name = ""}, .root = -1};
	if (i != PATH_SET_NONE)
		return t->child[i] ? look_at_node(t, t->child[i] - 1, w, ret) : 0;
	r = look_where_it_lies(t, dir, leaf, w, ret);
	if (r == 0)
		take_state(t, NO_NODE, ret);
	return r;
}

int vtree_look(struct vtree *t, int root, const char *path, struct reach *w, struct vobject *ret)
{
	const char *leaf;
	uint32_t dir = walk(t, root, path, &leaf);
	int r;

	*ret = (struct vobject){.at = {.fd = -1, .name = ""}, .root = -1};
	r = dir == NO_NODE ? 0 : peek(t, dir, leaf, w, ret);
	ret->in_folder = ret->root == root && str_eq(t->path.data, path);
	return r;
}

/* Returns the node at the path if something is there, and its look; or NO_NODE. */
static uint32_t node_at(struct vtree *t, int root, const char *path, struct vobject *ret)
{
	const struct linked_node *one;
	struct reach w = {0};
	const char *leaf;
	uint32_t dir = walk(t, root, path, &leaf), node;

	*ret = (struct vobject){0};
	node = dir == NO_NODE || !*leaf ? dir : enter(t, dir, leaf, strlen(leaf));
	if (node == NO_NODE || look_at_node(t, node, &w, ret) < 0)
		node = NO_NODE;
	reach_close(t->j, &w);
	if (node == NO_NODE || (!ret->o.mode && !ret->state && !t->nodes[node].held))
		return NO_NODE;
	if (ret->o.nlink < 2 || S_ISDIR(ret->o.mode) || ret->o.mode == OBJECT_UNSEEN)
		return node;
	one = linked_find(t, &ret->o);
	if (one)
		return one->node;
	linked_add(t, &ret->o, node);
	return node;
}

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

static void set_attrs(struct change_side *side, struct span meta)
{
	struct codec_reader g = {.p = meta.data, .end = meta.data + meta.len};
	uint64_t sec;

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
	int obj = objects_of(t, log);
	char name[24];

	store_slot_name(name, slot);
	if (obj >= 0 && object_stat(obj, name, &o) < 0)
		o = (struct object){0};
	return o;
}

int vtree_open(struct vtree *t, const struct vstate *s)
{
	AUTO_CLOSE int mem = -1;
	char name[24];
	int r;

	if (s->slot) {
		r = objects_of(t, s->log);
		store_slot_name(name, s->slot);
		return r < 0 ? r : compressed_open(r, name);
	}
	mem = os_memory_file("cordon-content");
	if (mem < 0)
		return take_fd(&mem);
	r = io_pwrite_all(mem, s->bytes.data, s->bytes.len, 0);
	return r < 0 ? r : take_fd(&mem);
}

/* Returns the size of the content in a slot, which may be compressed. */
static uint64_t slot_size(struct vtree *t, size_t log, uint64_t slot)
{
	struct object o = slot_object(t, log, slot);

	return o.mode ? o.size : SIZE_NONE;
}

static void set_content(struct vtree *t, struct vstate *s, const struct rec *r, size_t log)
{
	struct span meta, bytes;

	undo_log_content(r, &meta, &bytes);
	set_attrs(&s->side, meta);
	s->bytes = bytes;
	s->slot = r->flags & REC_INLINE ? 0 : r->slot;
	s->log = (uint32_t)log;
	s->has_content = true;
	s->side.size = s->slot ? slot_size(t, log, r->slot) : bytes.len;
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
		if (of == dir && t->child[i] && !is_at_home(t, i))
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

	if (look_at_node(t, dir, &w, &now) == 0 && S_ISDIR(now.o.mode) && now.root >= 0 &&
	    reach_open(t->j, &w, &now.at, S_IRUSR) == 0)
		fd = openat(now.at.fd, now.at.name,
			    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	reach_close(t->j, &w);
	open = fd < 0 ? NULL : fdopendir(fd);
	while (open && (e = readdir(open))) {
		size_t i = entry_of(t, dir, e->d_name, strlen(e->d_name), false);

		if (str_eq(e->d_name, ".") || str_eq(e->d_name, "..") ||
		    (i != PATH_SET_NONE && !is_at_home(t, i)))
			continue;
		find.root = place_of(t, dir, e->d_name)->root;
		find.path = t->path.data;
		if (tell(t, find))
			u64_set_add(list, enter(t, dir, e->d_name, strlen(e->d_name)));
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
	int e = t->found && *leaf ? peek(t, dir, leaf, &w, &now) : -ENOENT;

	reach_close(t->j, &w);
	if (e < 0 || !S_ISDIR(now.o.mode))
		return;
	u64_set_add(&list, enter(t, dir, leaf, strlen(leaf)));
	if (made)
		tell_held(t, r, (uint32_t)list.list[0]);
	for (size_t i = 0; i < list.n; i++)
		tell_present(t, (struct vfind){made ? VFIND_LEFT : VFIND_IN_WAY, r, 0, NULL, 0, 0},
			     (uint32_t)list.list[i], &list);
	u64_set_done(&list);
}

static void put(struct vtree *t, const struct rec *r, uint32_t node)
{
	const char *leaf;
	uint32_t dir = walk(t, r->root, r->path, &leaf);

	if (dir == NO_NODE || !*leaf)
		return;
	take_away(t, r, dir, leaf);
	set_child(t, dir, leaf, node);
}

/* Compares a file with its state when the record removed its name, if the steps had written to it:
 * another hard link, which no record names, may have been edited. */
static void check_link(struct vtree *t, const struct rec *r, size_t log, uint32_t node,
		       const struct object *o)
{
	const struct vnode *n = &t->nodes[node];
	struct change_side was, is;

	capture_noted(r, &was);
	change_side_set(&is, o);
	if (n->state)
		is = t->states[n->state - 1].side;
	if (o->nlink > 1 && S_ISREG(o->mode) && !(was.exists && change_sides_equal(&was, &is)) &&
	    tell(t, (struct vfind){VFIND_LINKED, r, r->root, r->path, o->ino, log}))
		t->nodes[node].ino = o->ino;
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
		other = o.nlink > 1 ? linked_find(t, &o) : NULL;
	}
	one.log = (uint32_t)log;
	one.slot = r->slot;
	node = other ? other->node : add_node(t, one);
	linked_add(t, &o, node);
	if (written)
		check_link(t, r, log, node, &o);
	put(t, r, node);
}

static void reverse_dir_gone(struct vtree *t, const struct rec *r)
{
	struct vobject now;
	uint32_t node = node_at(t, r->root, r->path, &now);
	bool there = node != NO_NODE && S_ISDIR(now.o.mode);

	if (!there)
		node = add_node(t, new_node);
	set_attrs(&state_of(t, node, there ? &now : NULL)->side, r->meta);
	if (!there)
		put(t, r, node);
}

static void reverse_rename(struct vtree *t, const struct rec *r)
{
	struct vobject one, two;
	uint32_t from = node_at(t, r->root2, r->path2, &one), to = NO_NODE, dir;
	const char *leaf;

	if (r->type == REC_XCHG)
		to = node_at(t, r->root, r->path, &two);
	if (from == NO_NODE && to == NO_NODE)
		return;
	dir = walk(t, r->root2, r->path2, &leaf);
	if (dir != NO_NODE && *leaf)
		set_child(t, dir, leaf, to);
	if (r->type == REC_RENAME) {
		put(t, r, from);
		return;
	}
	dir = walk(t, r->root, r->path, &leaf);
	if (dir != NO_NODE && *leaf)
		set_child(t, dir, leaf, from);
}

static void report_edited(struct vtree *t, const struct rec *r, uint32_t node)
{
	if (node != NO_NODE && t->nodes[node].ino)
		tell(t, (struct vfind){VFIND_WRITTEN, r, r->root, r->path, t->nodes[node].ino, 0});
}

static void reverse_meta(struct vtree *t, const struct rec *r)
{
	struct vobject now;
	uint32_t node = node_at(t, r->root, r->path, &now);

	report_edited(t, r, node);
	if (node != NO_NODE && (now.o.mode & S_IFMT) == (attributes_mode(r->meta) & S_IFMT))
		set_attrs(&state_of(t, node, &now)->side, r->meta);
}

static void reverse_content(struct vtree *t, const struct rec *r, size_t log)
{
	struct object slot = r->type == REC_XINODE ? slot_object(t, log, r->slot)
						   : (struct object){.mode = S_IFREG};
	struct vobject now;
	uint32_t node = node_at(t, r->root, r->path, &now);
	struct vstate *s;

	report_edited(t, r, node);
	if (!slot.mode)
		return;
	if (node == NO_NODE || !S_ISREG(now.o.mode) || now.o.mode == OBJECT_UNSEEN) {
		node = add_node(t, new_node);
		put(t, r, node);
	}
	s = state_of(t, node, NULL);
	if (r->type == REC_CONTENT) {
		set_content(t, s, r, log);
		return;
	}
	change_side_set(&s->side, &slot);
	s->slot = r->slot;
	s->log = (uint32_t)log;
	s->has_content = true;
}

void vtree_reverse(struct vtree *t, const struct rec *r, size_t log)
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

bool predicted_is_file(struct journal *j, const struct emptied *e, int root, const char *path)
{
	struct vtree t = {.j = j, .dirs = e->dirs, .key = BUF_INIT, .path = BUF_INIT};
	struct undo_log_back walk = undo_log_back_begin(e->logs, e->dirs->n);
	struct reach w = {0};
	struct vobject o;
	struct rec r = {0};
	bool file;

	store_forget_near(j);
	while (undo_log_back(&walk, &r))
		vtree_reverse(&t, &r, walk.log);
	file = vtree_look(&t, root, path, &w, &o) == 0 && o.o.mode != OBJECT_UNSEEN &&
	       S_ISREG(o.state ? o.state->side.mode : o.o.mode);
	reach_close(j, &w);
	store_forget_near(j);
	undo_log_back_end(&walk);
	vtree_done(&t);
	return file;
}

void vtree_done(struct vtree *t)
{
	struct linked_node *one, *rest;

	HASH_ITER (hh, t->linked, one, rest) {
		HASH_DEL(t->linked, one);
		free(one);
	}
	if (t->obj_log)
		util_close_fd(&t->obj);
	t->obj_log = 0;
	u64_set_done(&t->written);
	path_set_done(&t->names);
	free(t->child);
	free(t->nodes);
	free(t->states);
	buf_done(&t->key);
	buf_done(&t->path);
}
