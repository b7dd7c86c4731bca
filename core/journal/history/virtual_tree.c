/* virtual_tree - the folder as it was before the newest records of some steps; changes nothing. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/history/virtual_tree_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/base/path.h"
#include "core/journal/log/capture.h"
#include "core/journal/store/store.h"
#include "core/journal/util/grow.h"

/* ---- entries and nodes ------------------------------------------------------------------------
 */

size_t tree_entry(struct vtree *t, uint32_t dir, const char *name, size_t len, bool put)
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
	if (fresh && t->keeps) {
		GROW(t->past, t->cap_past, i);
		t->past[i] = 0;
	}
	return i;
}

/* Returns what the entry holds at the moment, as in t->child. */
static uint32_t child_of(const struct vtree *t, size_t i)
{
	uint32_t v = t->keeps ? t->past[i] : 0;

	while (v && t->versions[v - 1].seq < t->moment)
		v = t->versions[v - 1].next;
	return v ? t->versions[v - 1].child : t->child[i];
}

uint32_t tree_add_node(struct vtree *t, struct vnode one)
{
	GROW(t->nodes, t->cap_nodes, t->n_nodes);
	t->nodes[t->n_nodes] = one;
	return t->n_nodes++;
}

bool tree_is_at_home(const struct vtree *t, size_t i)
{
	const struct vnode *n;

	if (!t->child[i])
		return false;
	n = &t->nodes[t->child[i] - 1];
	return n->up != NO_NODE && n->entry == i;
}

static void keep_version(struct vtree *t, uint32_t dir, const char *name, uint32_t child)
{
	size_t len = strlen(name), i;

	(void)tree_enter(t, dir, name, len); /* what the folder has there */
	i = tree_entry(t, dir, name, len, true);
	GROW(t->versions, t->cap_versions, t->n_versions);
	t->versions[t->n_versions++] =
		(struct vversion){.seq = t->seq, .child = child, .next = t->past[i]};
	t->past[i] = t->n_versions;
}

void tree_set_child(struct vtree *t, uint32_t dir, const char *name, uint32_t node)
{
	size_t i;
	bool held;

	if (t->keeps) {
		keep_version(t, dir, name, node == NO_NODE ? 0 : node + 1);
		return;
	}
	i = tree_entry(t, dir, name, strlen(name), true);
	held = t->child[i] && !tree_is_at_home(t, i);

	t->child[i] = node == NO_NODE ? 0 : node + 1;
	t->nodes[dir].held += (t->child[i] && !tree_is_at_home(t, i)) - held;
}

/* Returns whether the node's entries that the tree lacks may be read where it lies. */
static bool tree_lies(const struct vnode *n)
{
	return n->up != NO_NODE || n->root >= 0 || n->slot;
}

uint32_t tree_enter(struct vtree *t, uint32_t dir, const char *name, size_t len)
{
	size_t i = tree_entry(t, dir, name, len, false);
	uint32_t node;

	if (i != PATH_SET_NONE)
		return child_of(t, i) - 1; /* 0: NO_NODE */
	if (!tree_lies(&t->nodes[dir]))
		return NO_NODE;
	i = tree_entry(t, dir, name, len, true);
	node = tree_add_node(t, (struct vnode){.up = dir, .entry = (uint32_t)i, .root = -1});
	t->child[i] = node + 1;
	return node;
}

static uint32_t root_node(struct vtree *t, int root)
{
	char name[12];
	size_t i;

	snprintf(name, sizeof(name), "%d", root);
	i = tree_entry(t, NO_NODE, name, strlen(name), true);
	if (!t->child[i])
		t->child[i] = tree_add_node(t, (struct vnode){.up = NO_NODE, .root = root}) + 1;
	return t->child[i] - 1;
}

uint32_t tree_walk(struct vtree *t, int root, const char *path, const char **leaf)
{
	uint32_t dir = root_node(t, root);

	for (const char *slash; dir != NO_NODE && (slash = strchr(path, '/')); path = slash + 1)
		dir = tree_enter(t, dir, path, (size_t)(slash - path));
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

const struct vnode *tree_place_of(struct vtree *t, uint32_t dir, const char *name)
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

int tree_objects_of(struct vtree *t, size_t log)
{
	AUTO_FREE char *name = NULL;

	if (t->obj_log == log + 1)
		return t->obj;
	if (t->obj_log)
		util_close_fd(&t->obj);
	name = path_join(t->dirs->list[log], "obj");
	t->obj = store_open_dir(t->j, name);
	t->obj_log = t->obj < 0 ? 0 : log + 1;
	return t->obj;
}

/* Looks at t->path among the objects of a step, without following a link. */
static int look_in_store(struct vtree *t, size_t log, struct vobject *ret)
{
	AUTO_CLOSE int fd = -1;
	char *name = t->path.data, *slash;
	int r = tree_objects_of(t, log);

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
	if (fd >= 0) {
		util_close_fd(&t->below);
		t->below = take_fd(&fd);
	}
	return r;
}

static int look_where_it_lies(struct vtree *t, uint32_t dir, const char *name, struct reach *w,
			      struct vobject *ret)
{
	const struct vnode *n = tree_place_of(t, dir, name);

	*ret = (struct vobject){.at = {.fd = -1, .name = ""}, .root = n->root};
	if (n->root >= 0)
		return reach_look(t->j, w, n->root, t->path.data, &ret->at, &ret->o);
	return n->slot ? look_in_store(t, n->log, ret) : 0;
}

struct linked_node *tree_linked_find(const struct vtree *t, const struct object *o)
{
	const uint64_t key[2] = {o->dev, o->ino};
	struct linked_node *one;

	HASH_FIND(hh, t->linked, key, sizeof(key), one);
	return one;
}

void tree_linked_add(struct vtree *t, const struct object *o, uint32_t node)
{
	struct linked_node *one;

	if (o->nlink < 2 || S_ISDIR(o->mode) || o->mode == OBJECT_UNSEEN || tree_linked_find(t, o))
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

	if (t->keeps)
		return;
	if (ret->o.nlink > 1 && !S_ISDIR(ret->o.mode) && (one = tree_linked_find(t, &ret->o)))
		node = one->node;
	if (node != NO_NODE && t->nodes[node].state)
		ret->state = &t->states[t->nodes[node].state - 1];
	if (ret->state && !ret->o.mode)
		ret->o.mode = ret->state->side.mode;
}

int tree_look_at_node(struct vtree *t, uint32_t node, struct reach *w, struct vobject *ret)
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

int tree_peek(struct vtree *t, uint32_t dir, const char *leaf, struct reach *w, struct vobject *ret)
{
	size_t i = *leaf ? tree_entry(t, dir, leaf, strlen(leaf), false) : PATH_SET_NONE;
	int r;

	*ret = (struct vobject){.at = {.fd = -1, .name = ""}, .root = -1};
	if (i != PATH_SET_NONE)
		return child_of(t, i) ? tree_look_at_node(t, child_of(t, i) - 1, w, ret) : 0;
	r = look_where_it_lies(t, dir, leaf, w, ret);
	if (r == 0)
		take_state(t, NO_NODE, ret);
	return r;
}

int tree_look(struct vtree *t, int root, const char *path, struct reach *w, struct vobject *ret)
{
	const char *leaf;
	uint32_t dir = tree_walk(t, root, path, &leaf);
	int r;

	*ret = (struct vobject){.at = {.fd = -1, .name = ""}, .root = -1};
	r = dir == NO_NODE ? 0 : tree_peek(t, dir, leaf, w, ret);
	ret->in_folder = ret->root == root && str_eq(t->path.data, path);
	return r;
}

uint32_t tree_node(struct vtree *t, int root, const char *path)
{
	const char *leaf;
	uint32_t dir = tree_walk(t, root, path, &leaf);

	return dir == NO_NODE || !*leaf ? dir : tree_enter(t, dir, leaf, strlen(leaf));
}

uint32_t tree_node_at(struct vtree *t, int root, const char *path, struct vobject *ret)
{
	const struct linked_node *one;
	struct reach w = {0};
	uint32_t node = tree_node(t, root, path);

	*ret = (struct vobject){0};
	if (t->keeps)
		return node;
	if (node == NO_NODE || tree_look_at_node(t, node, &w, ret) < 0)
		node = NO_NODE;
	reach_close(t->j, &w);
	if (node == NO_NODE || (!ret->o.mode && !ret->state && !t->nodes[node].held))
		return NO_NODE;
	if (ret->o.nlink < 2 || S_ISDIR(ret->o.mode) || ret->o.mode == OBJECT_UNSEEN)
		return node;
	one = tree_linked_find(t, &ret->o);
	if (one)
		return one->node;
	tree_linked_add(t, &ret->o, node);
	return node;
}

void tree_done(struct vtree *t)
{
	struct linked_node *one, *rest;

	HASH_ITER (hh, t->linked, one, rest) {
		HASH_DEL(t->linked, one);
		free(one);
	}
	if (t->obj_log)
		util_close_fd(&t->obj);
	t->obj_log = 0;
	util_close_fd(&t->below);
	u64_set_done(&t->written);
	path_set_done(&t->names);
	free(t->child);
	free(t->past);
	free(t->versions);
	free(t->changes);
	free(t->nodes);
	free(t->states);
	buf_done(&t->key);
	buf_done(&t->path);
}
