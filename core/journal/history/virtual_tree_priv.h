/* virtual_tree_priv - nodes and entries, between the two files of virtual_tree.h. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/hash.h"
#include "core/journal/history/virtual_tree.h"

#define KEY_LEN 6 /* of a directory's number, before the name */

struct vnode {
	uint32_t up; /* the directory in which it lies in the folder or in an object; or NO_NODE */
	uint32_t entry; /* its name there */
	int32_t root;	/* of a root's node; else -1 */
	uint32_t log;
	uint64_t slot;	/* it is that object of step `log`; 0, without `up` and root: a new one */
	uint32_t state; /* index + 1; 0: as it lies. With vtree.keeps: of its changes */
	/* Entries of the tree in it that exist. With vtree.keeps: index + 1 of another node of the
	 * same file, or 0. */
	uint32_t held;
	/* It is as the record of a name that was removed later has noted. */
	bool noted;
	uint64_t edited; /* its inode, if another hard link may have been edited; or 0 */
};

struct linked_node {	 /* hash: the node of a file with several hard links */
	uint64_t key[2]; /* device, inode */
	uint32_t node;
	UT_hash_handle hh;
};

/* Returns the number of the entry, which is created if `put`; or PATH_SET_NONE. */
size_t tree_entry(struct vtree *t, uint32_t dir, const char *name, size_t len, bool put);
/* Returns the number of the new node. */
uint32_t tree_add_node(struct vtree *t, struct vnode one);
/* Returns whether the entry holds the object that lies under its name in the folder. */
bool tree_is_at_home(const struct vtree *t, size_t i);
/* Makes the name hold that node, or none. */
void tree_set_child(struct vtree *t, uint32_t dir, const char *name, uint32_t node);
/* Returns the node of a directory's entry. Without one, it takes that of the folder. */
uint32_t tree_enter(struct vtree *t, uint32_t dir, const char *name, size_t len);
/* Returns the directory of the path's last name, or NO_NODE. */
uint32_t tree_walk(struct vtree *t, int root, const char *path, const char **leaf);
/* Puts the path into t->path, relative to the node that is returned: a root, an object (then it
 * begins with the slot), or a new node. */
const struct vnode *tree_place_of(struct vtree *t, uint32_t dir, const char *name);
/* Finds the node of a file with several hard links, or NULL. */
struct linked_node *tree_linked_find(const struct vtree *t, const struct object *o);
/* Notes it for a file with several hard links. */
void tree_linked_add(struct vtree *t, const struct object *o, uint32_t node);
/* Looks at a name without making a node for it. Returns 0, or -errno. */
int tree_peek(struct vtree *t, uint32_t dir, const char *leaf, struct reach *w,
	      struct vobject *ret);
/* Returns the node at the path if something is there, and its look; or NO_NODE. */
uint32_t tree_node_at(struct vtree *t, int root, const char *path, struct vobject *ret);
