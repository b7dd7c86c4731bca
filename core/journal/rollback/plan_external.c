/* plan_external - decides by the newest after-image whether a path was edited from outside. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/journal/fs/object.h"
#include "core/journal/history.h"
#include "core/journal/history/after_image.h"
#include "core/journal/history/content.h"
#include "core/journal/history/net_changes.h"
#include "core/journal/history/net_effect.h"
#include "core/journal/history/rename_list.h"
#include "core/journal/history/version_chain.h"
#include "core/journal/rollback/plan_priv.h"
#include "core/journal/store/reach.h"
#include "core/journal/store/store.h"
#include "core/journal/util/path_set.h"

/* Returns after_image_index_hash() of the path's before-state, or 0 if it is no index or is
 * unknown. */
static uint64_t found_hash(struct planner *p, int64_t id, const struct change *c)
{
	AUTO_CONTENT_ORIGIN struct content_origin o = CONTENT_ORIGIN_NONE;
	struct err ignored = {0};
	struct stat st;

	if (!c->before.exists || content_origin_find(p->j, id, c, false, &o, &ignored) < 0 ||
	    o.fd < 0 || fstat(o.fd, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	return after_image_index_hash(o.fd, (size_t)st.st_size);
}

/* Returns the hash in the step's after-image of the path, or 0. */
static uint64_t left_hash(struct planner *p, const char *dir, const char *key)
{
	AUTO_IMAGE_READER struct after_image_reader reader = {0};
	AUTO_CLOSE int fd = store_open_dir(p->j, dir);
	struct after_image post;

	if (fd < 0 || after_image_begin(&reader, fd, "post") < 0)
		return 0;
	while (after_image_next(&reader, &post) > 0)
		if (str_eq(post.key, key))
			return post.hash;
	return 0;
}

static const struct change *change_at(const struct planner *p, const struct change *list, size_t n,
				      const struct after_image *post)
{
	for (size_t i = 0; i < n; i++)
		if ((!list[i].in || list[i].in == p->j) && list[i].root == post->root &&
		    str_eq(list[i].path, post->path))
			return &list[i];
	return NULL;
}

/* Returns whether each step found the git index as the step before it had left it, apart from the
 * fields that git refreshes on a read. False for any other file, or if that is unknown. */
static bool index_holds(struct planner *p, const struct after_image *post)
{
	const char *name = strrchr(post->path, '/');
	uint64_t found = 0;
	bool newer = false;

	if (!name || !str_eq(name, "/index"))
		return false;
	for (size_t i = 0; i < p->dirs->n; i++) { /* newest first */
		int64_t id = atoll(strchr(p->dirs->list[i], '/') + 1);
		const struct change *c;
		struct change *list = NULL;
		size_t n = 0;
		bool same = true;

		if (journal_changes(p->j, id, &list, &n, NULL) < 0)
			return false;
		c = change_at(p, list, n, post);
		if (c && newer)
			same = found && found == left_hash(p, p->dirs->list[i], post->key);
		if (c)
			found = found_hash(p, id, c);
		newer |= c != NULL;
		change_free(list, n);
		if (!same)
			return false;
	}
	return newer;
}

/* Returns whether the step began after all steps of the plan. */
static bool is_newer(const struct planner *p, int64_t id)
{
	for (size_t i = 0; i < p->dirs->n; i++)
		if (llabs(atoll(strchr(p->dirs->list[i], '/') + 1)) >= llabs(id))
			return false;
	return true;
}

/* Keeps the image of each inode, except those of a passing step and, in an undo, of a step that
 * only renamed the file: both may show an external edit. */
static int keep_inode(void *data, const struct after_image *post)
{
	struct planner *p = data;

	if (!plan_is_passing(p, post) && (p->redo || !plan_only_found(p, post)))
		inode_images_take(&p->inodes, post);
	return 0;
}

/* Returns whether the path differs from its image. The images of all inodes are many and slow to
 * load: they are loaded at the first difference. */
static bool differs(struct planner *p, const struct after_image *post)
{
	if (!after_image_differs(p->j, post, NULL))
		return false;
	if (!p->has_inodes && after_image_each(p->j, NULL, NULL, keep_inode, p) < 0)
		return true;
	p->has_inodes = true;
	if (after_image_differs(p->j, post, p->inodes))
		return !plan_is_as_taken(p, post);
	/* The file equals an image of its inode under another name. Unless one of these steps wrote
	 * to it, that is an external edit. */
	return !p->redo && !plan_has_written(p, post->obj.ino);
}

/* Returns whether an object is at a path that the steps created and removed again. */
static bool taken_since(const struct planner *p, const struct after_image *post)
{
	return post->obj.mode && path_set_has_key(&p->made, post->key);
}

static bool is_broken(struct planner *p, const struct after_image *post)
{
	enum chain_state state = chains_judge(&p->chains, post->key);
	struct object o;

	if (state != CHAIN_WHOLE && index_holds(p, post))
		return false;
	if (state != CHAIN_EDITED)
		return state == CHAIN_BROKEN;
	return reach_see(p->j, post->root, post->path, &o) == 0 &&
	       (o.nlink == 1 || !plan_has_written(p, o.ino));
}

/* Returns whether the path was edited from outside between the steps or before a passing step. The
 * newest image may be that step's and show the edit; the steps' states are in their own images. */
static bool edited_between(struct planner *p, const struct after_image *post,
			   const struct after_image *left, const struct net_effect *f)
{
	struct change_side now, last;

	if (is_broken(p, post))
		return true;
	if (!plan_is_passing(p, post))
		return false;
	/* A further hard link of a file that the steps changed; it is gone with its step. */
	if (!post->obj.mode && !path_set_has_key(&p->places, post->key))
		return false;
	if (left && !(left->flags & IMAGE_SHARED))
		return original_image_differs(p->j, left, post);
	change_side_set(&now, &post->obj);
	if (left && chains_last(&p->chains, post->key, &last))
		return !change_sides_equal(&now, &last);
	/* After renames of directories, several steps have different names for one path. The step
	 * that renamed a directory has images of all below it. */
	if (renames_touch(&p->moves, post->root, post->path) && (p->redo || p->dirs->n > 1 || !f))
		return false;
	if (!f)
		return taken_since(p, post);
	return !f->tangled && !change_sides_equal(&now, p->redo ? &f->before : &f->after);
}

/* Returns whether the file is as the steps left it although it differs from a passing step's image:
 * an undone step may have written to it through another hard link before its undo. */
static bool is_as_left(struct planner *p, const struct after_image *post,
		       const struct after_image *left)
{
	return left && plan_is_passing(p, post) && !(post->flags & IMAGE_FOREIGN) &&
	       !(left->flags & IMAGE_SHARED) && left->obj.mode != OBJECT_UNSEEN &&
	       !after_image_differs(p->j, left, NULL);
}

bool plan_is_foreign(struct planner *p, const struct after_image *post, const struct net_effect *f)
{
	struct after_image left;
	bool has_left;

	/* A newer step, which ran at the same time and stays, changed the path last. */
	if (post->kept && is_newer(p, post->id))
		return true;
	has_left = after_images_find(&p->left, post->key, &left);
	if (has_left && left.flags & IMAGE_FOREIGN)
		return true;
	return (differs(p, post) && !is_as_left(p, post, has_left ? &left : NULL)) ||
	       edited_between(p, post, has_left ? &left : NULL, f);
}
