/* content - opens the content of a change before or after its step. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/history/content.h"

#include <errno.h>
#include <inttypes.h>

#include "core/base/path.h"
#include "core/journal/fs/object.h"
#include "core/journal/history.h"
#include "core/journal/history/after_image.h"
#include "core/journal/history/list.h"
#include "core/journal/history/net_changes.h"
#include "core/journal/history/past.h"
#include "core/journal/history/step_summary.h"
#include "core/journal/log/capture.h"
#include "core/journal/store/reach.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"

void content_origin_done(struct content_origin *o)
{
	util_close_fd(&o->fd);
	util_close_fd(&o->slots);
	buf_done(&o->meta);
	free(o->present);
	*o = (struct content_origin)CONTENT_ORIGIN_NONE;
}

/* Opens the bytes in the step's after-image, if it has them. */
static int open_image(int stepdir, int root, const char *path, const struct change_side *want,
		      struct content_origin *ret)
{
	AUTO_BUF struct buf bytes = BUF_INIT;

	if (after_image_bytes(stepdir, root, path, want, &bytes) < 0)
		return -ESTALE;
	ret->fd = capture_in_memory((struct span){bytes.data, bytes.len});
	return MIN(ret->fd, 0);
}

bool content_unprotected(int stepdir)
{
	AUTO_SUMMARY struct summary s = {0};

	return summary_load(stepdir, false, &s) == 0 && s.info.unprotected;
}

bool journal_is_incomplete(struct journal *j, int64_t id)
{
	struct journal *k = j;
	bool lacks = false;

	do {
		bool undone = false;
		struct err ignored = {0};
		AUTO_CLOSE int step = history_find(k, id, &undone, &ignored);
		AUTO_SUMMARY struct summary s = {0};

		lacks |= step >= 0 && summary_load(step, false, &s) == 0 && s.info.incomplete;
	} while (!lacks && (k = k->sibling) != j);
	return lacks;
}

static int unread(struct journal *j, int64_t id, int r, const char *path, struct err *err)
{
	if (!history_step_is_damaged(r) || r == -EIO)
		return err_set(err, r, "read '%s'", path);
	if (!history_has(j, id, err))
		return -ESTALE;
	return err_say(err, -EBADMSG,
		       "read '%s': step %" PRId64 " or a later one is damaged: `cordon journal "
		       "verify` says where",
		       path, id);
}

/* Returns whether the writer has undone or redone the step meanwhile. */
static bool has_moved(const struct journal *j, int64_t id, bool undone)
{
	AUTO_FREE char *dir = xasprintf("%s/%" PRId64, undone ? "redo" : "steps", id);

	return history_step_is_gone(j, dir);
}

static int find(struct journal *j, int64_t id, const struct change *c, bool after, bool whole,
		struct content_origin *ret, struct err *err)
{
	const char *path = !after && c->old_path ? c->old_path : c->path;
	bool undone = false, old = j->past;
	AUTO_CLOSE int step = -1;
	int64_t damaged;
	int r = 0;

	for (bool again = true, first = true; again; first = false) {
		util_close_fd(&step);
		step = history_find(j, id, &undone, err);
		if (step == -ENOENT) /* pruned by the writer meanwhile */
			return -ESTALE;
		if (step < 0)
			return take_fd(&step);
		if (!(after ? &c->after : &c->before)->exists)
			return err_say(err, -ENOENT, "'%s' was not there", path);
		r = content_find(j, id, c, after, undone, whole, ret);
		/* the tree may be older than the store */
		again = r < 0 &&
			((first && (old || history_step_is_damaged(r)) && past_is_old(j)) ||
			 has_moved(j, id, undone));
		if (again) {
			past_drop(j);
			content_origin_done(ret);
		}
	}
	damaged = ret->damaged;
	if (r == -ESTALE && !whole && after != undone) {
		content_origin_done(ret);
		r = open_image(step, c->root, path, after ? &c->after : &c->before, ret);
	}
	if (r == -ESTALE && damaged)
		return err_say(err, r,
			       "what step %" PRId64 " did to '%s' is not known, it is damaged: "
			       "`cordon journal verify` says where",
			       damaged, path);
	if (r == -ESTALE && !after && content_unprotected(step))
		return err_say(
			err, r,
			"what was at '%s' before step %" PRId64
			" is not kept, because the step was beyond the limits of undo by then",
			path, id);
	if (r == -ESTALE)
		return err_say(err, r, "'%s' has been changed since", path);
	return r < 0 ? unread(j, id, r, path, err) : 0;
}

int content_origin_find(struct journal *j, int64_t id, const struct change *c, bool after,
			struct content_origin *ret, struct err *err)
{
	return find(j, id, c, after, true, ret, err);
}

int journal_content(struct journal *j, int64_t id, const struct change *c, bool after, int *ret_fd,
		    struct err *err)
{
	AUTO_CONTENT_ORIGIN struct content_origin o = CONTENT_ORIGIN_NONE;
	const struct change_side *want = after ? &c->after : &c->before;
	int r;

	if (want->exists && !content_has_bytes(want))
		return err_say(err, -EINVAL, "'%s' is not a file", c->path);
	r = find(c->in ? c->in : j, id, c, after, false, &o, err);
	if (r == 0)
		*ret_fd = take_fd(&o.fd);
	return r;
}

int journal_present(struct journal *j, const char *path, struct change_side *ret, int *ret_fd,
		    struct err *err)
{
	struct journal *k = j;
	const char *below = path;
	struct reach reach = {0};
	struct spot at;
	struct object o;
	int r;

	*ret_fd = -1;
	if (*path == '/')
		while (!(below = path_below(path, k->folder)) && (k = k->sibling) != j)
			continue;
	if (!below)
		return err_say(err, -EINVAL, "'%s': in no folder of this history", path);
	store_forget_near(k);
	r = reach_look(k, &reach, 0, below, &at, &o);
	change_side_set(ret, &o);
	if (r == 0 && content_has_bytes(ret))
		r = *ret_fd = content_open(k, at.fd, at.name);
	reach_close(k, &reach);
	store_forget_near(k);
	return r < 0 ? err_set(err, r, "read '%s'", path) : 0;
}

size_t content_slots_of(struct journal *j, uint64_t ino)
{
	struct past *p = j->past;
	size_t n = 0;

	for (size_t i = 0; p && i < p->tree.n_changes; i++) {
		const struct vchange *c = &p->tree.changes[i];
		struct object o;
		char slot[24];
		int obj = -1;

		if (c->type == REC_GONE && c->ino == ino)
			obj = tree_objects_of(&p->tree, c->log);
		store_slot_name(slot, c->slot);
		if (obj >= 0 && object_stat(obj, slot, &o) == 0 && o.ino == ino)
			n++;
	}
	return n;
}
