/* plan_compare - finds external edits: compares each step's after-image with what it left. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/journal/fs/object.h"
#include "core/journal/history.h"
#include "core/journal/history/after_image.h"
#include "core/journal/history/list.h"
#include "core/journal/history/net_changes.h"
#include "core/journal/history/rename_list.h"
#include "core/journal/history/step_summary.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback/plan_priv.h"
#include "core/journal/history/virtual_tree.h"
#include "core/journal/store/reach.h"
#include "core/journal/store/store.h"
#include "core/journal/util/grow.h"
#include "core/journal/util/path_set.h"

/*
 * The records of the steps are reversed in a virtual tree, the newest first. Where a step ended,
 * the tree is compared with the step's after-images: a difference is an edit from outside, later
 * than the step and earlier than the next record about the path. So an undo of several steps finds
 * the same edits as an undo of one after the other. A redo compares before its first record: an
 * edit between two of its steps was found by the undo, which captured it.
 */

struct moment {		     /* the end of a step */
	uint64_t seq, first; /* first: of its first record */
	uint64_t limit;	     /* seq, or UINT64_MAX: its records do not say where it ended */
	size_t step;
	/* On demand: present names in its records, and inodes that they change in place; number i
	 * was first recorded by since[i]. */
	struct path_set touched;
	uint64_t *since;
	size_t cap_since;
};

struct comparison {
	struct planner *p;
	struct vtree tree;
	struct moment *moments; /* newest first */
	size_t n_moments, n_done;
	const struct moment *now;   /* it is compared */
	struct image_stamps stamps; /* at the first difference */
	bool has_stamps;
	struct path_set foreign; /* paths where images, the newest foreign[i], show an edit */
	uint64_t *foreign_seq;
	struct u64_set seen;   /* files with several hard links, edited at a compared path */
	struct u64_set edited; /* files that were edited through a link that no record names, */
	struct path_set names; /* and of each a name through which the steps had written to it */
	struct path_set fine;  /* files with several hard links that are as a step left them */
};

/* ---- one path ---------------------------------------------------------------------------------
 */

/* Returns whether the state is known to be that of p without reading the object. In a redo an older
 * step, which was redone meanwhile, may have taken over an edit. */
static bool is_stamped(struct comparison *c, const struct after_image *p, const struct object *o)
{
	const struct image_stamp *one;
	struct change_side was, is;

	if (!c->has_stamps && image_stamps_load(c->p->j, &c->stamps) < 0)
		return false;
	c->has_stamps = true;
	one = image_stamps_find(&c->stamps, o);
	change_side_set(&was, &p->obj);
	change_side_set(&is, o);
	if (one && c->p->redo && one->seq > p->seq)
		return true;
	return one && (!one->hash || !p->hash || one->hash == p->hash) &&
	       change_sides_equal(&was, &is);
}

/* Finds an object's captured content and attributes. If only the attributes were captured, the
 * content still lies at the object's place. The caller closes as->fd. Returns whether both can be
 * compared. */
static bool find_captured(struct comparison *c, const struct vobject *now, mode_t mode,
			  struct captured_object *as)
{
	*as = (struct captured_object){.at = now->at, .fd = -1};
	if (now->state)
		as->meta = now->state->meta;
	if (!S_ISREG(mode))
		return now->at.fd >= 0 || (S_ISDIR(mode) && as->meta.len);
	if (now->state && now->state->has_content)
		as->fd = tree_open(&c->tree, now->state);
	else if (now->at.fd >= 0)
		as->fd = after_image_open(&now->at);
	return as->fd >= 0;
}

/* Returns whether a captured object is as the step left it. Its bytes tell, as they do for an
 * object of the folder: without them size and time do. An object of the store has a new ctime, and
 * a file that a rollback restored may have a new inode. */
static bool is_captured_as_left(struct comparison *c, const struct after_image *p,
				const struct vobject *now)
{
	struct change_side was, is;
	struct captured_object as = {.fd = -1};
	bool fits;

	change_side_set(&was, &p->obj);
	change_side_set(&is, &now->o);
	if (now->state)
		is = now->state->side;
	if (p->hash && find_captured(c, now, is.mode, &as)) {
		fits = after_image_fits_capture(p, &is, &as);
		util_close_fd(&as.fd);
		return fits;
	}
	if (is.size == UINT64_MAX) /* unknown: compressed and damaged */
		is.size = was.size;
	return change_sides_equal(&was, &is) ||
	       (!now->state && now->at.fd >= 0 && after_image_fits(p, &now->at, &now->o));
}

/* Returns whether the object that the tree has at the image's path is as the step left it. */
static bool is_as_left(struct comparison *c, const struct after_image *p, const struct vobject *now)
{
	if (p->obj.mode == OBJECT_UNSEEN || now->o.mode == OBJECT_UNSEEN)
		return true;
	if (!p->obj.mode || !now->o.mode)
		return p->obj.mode == now->o.mode;
	if (now->state || now->root < 0 || now->at.fd < 0)
		return is_captured_as_left(c, p, now);
	return after_image_fits(p, &now->at, &now->o) || is_stamped(c, p, &now->o);
}

static void add_edit(struct comparison *c, const char *key, bool here)
{
	path_set_add_key(&c->p->edited, key);
	if (!here)
		path_set_add_key(&c->p->moved_edits, key);
}

static int add_foreign(void *data, const struct after_image *p)
{
	struct comparison *c = data;
	bool fresh;
	size_t i;

	if (!(p->flags & IMAGE_FOREIGN) || !path_set_has_key(&c->p->places, p->key))
		return 0;
	i = path_set_put(&c->foreign, p->key, &fresh);
	if (fresh && i % 16 == 0)
		c->foreign_seq = xrealloc(c->foreign_seq, (i + 16) * sizeof(*c->foreign_seq));
	c->foreign_seq[i] = fresh ? p->seq : MAX(c->foreign_seq[i], p->seq);
	return 0;
}

/* Returns whether a rollback after the image left an edit at the path. */
static bool is_foreign(const struct comparison *c, const struct after_image *p)
{
	size_t i = path_set_find(&c->foreign, p->key);

	return p->flags & IMAGE_FOREIGN || (i != PATH_SET_NONE && c->foreign_seq[i] > p->seq);
}

/* Notes the record as the first one of the names and files that were added for it. */
static void note_since(struct moment *m, size_t from, uint64_t seq)
{
	for (; from < path_set_count(&m->touched); from++) {
		GROW(m->since, m->cap_since, from);
		m->since[from] = seq;
	}
}

static char *file_key(uint64_t ino)
{
	return xasprintf("#%" PRIu64, ino);
}

static void load_touched(struct comparison *c, struct moment *m)
{
	const struct undo_log *log = &c->p->logs[m->step];
	struct rec rec;
	size_t at = 0;

	while (undo_log_next(log, &at, &rec)) {
		size_t n = path_set_count(&m->touched);
		AUTO_FREE char *file = file_key(rec.ino);

		if (rec_is_quiet(rec.type))
			continue;
		renames_add_now(&c->p->moves, rec.seq, rec.root, rec.path, &m->touched);
		if (rec.path2[0])
			renames_add_now(&c->p->moves, rec.seq, rec.root2, rec.path2, &m->touched);
		if (rec_is_in_place(&rec) && !rec_is_idle(&rec))
			path_set_add_key(&m->touched, file);
		note_since(m, n, rec.seq);
	}
}

static bool has_touched(const struct moment *m, const char *key, uint64_t limit)
{
	size_t i = path_set_find(&m->touched, key);

	return i != PATH_SET_NONE && m->since[i] < limit;
}

/* Returns whether another step had captured the object before the limit, and ran on after `seq`: it
 * may have changed the object meanwhile, and captured it once, so its state at this moment is lost.
 * That step's image has the last state. */
static bool may_have_changed(struct comparison *c, size_t step, uint64_t seq, uint64_t limit,
			     const char *key, uint64_t ino)
{
	AUTO_FREE char *file = file_key(ino);

	for (size_t i = 0; i < c->n_moments && !c->p->redo; i++) {
		struct moment *m = &c->moments[i];

		if (m->step == step || m->seq <= seq || m->first >= seq)
			continue;
		if (!path_set_count(&m->touched))
			load_touched(c, m);
		if (has_touched(m, key, limit) || has_touched(m, file, limit))
			return true;
	}
	return false;
}

#define ANY_STEP SIZE_MAX

static char *fine_key(size_t step, uint64_t ino)
{
	return xasprintf("%zu/%" PRIu64, step, ino);
}

/* Notes that the file is, under any name, as the step left it. */
static void note_fine(struct comparison *c, size_t step, uint64_t ino)
{
	AUTO_FREE char *own = fine_key(step, ino), *any = fine_key(ANY_STEP, ino);

	path_set_add_key(&c->fine, own);
	path_set_add_key(&c->fine, any);
}

/* Returns whether the file, which is not as the step found it when it removed a name, is as the
 * step or a concurrent one left it. Without a note in the record it had no other name; then a newer
 * step may have given it one. */
static bool is_fine(struct comparison *c, const struct vfind *find, const char *key)
{
	size_t step = find->by->meta.len ? find->log : ANY_STEP;
	AUTO_FREE char *fine = fine_key(step, find->ino);

	return path_set_has_key(&c->fine, fine) ||
	       may_have_changed(c, find->log, find->by->seq, find->by->seq, key, find->ino);
}

/* Returns whether the state that the step left at the path is lost. */
static bool is_lost(struct comparison *c, const char *key, const struct vobject *now)
{
	const struct moment *m = c->now;

	return may_have_changed(c, m->step, m->seq, m->limit, key, now->o.ino);
}

static int compare_one(struct comparison *c, const struct after_image *p)
{
	struct planner *planner = c->p;
	struct reach reach = {0};
	AUTO_FREE char *now = NULL, *key = NULL;
	struct vobject object;
	int root = p->root, r;

	now = renames_now(&planner->moves, c->now->seq, &root, p->path);
	key = path_key_make(root, now);
	if (!path_set_has_key(&planner->places, key) && !net_effects_find(&planner->fates, p->key))
		return 0;
	r = tree_look(&c->tree, p->root, p->path, &reach, &object);
	if (r < 0 || is_foreign(c, p) || !(is_as_left(c, p, &object) || is_lost(c, key, &object)))
		add_edit(c, key, object.in_folder && !object.state);
	else if (object.o.nlink > 1)
		note_fine(c, c->now->step, object.o.ino);
	if (object.o.nlink > 1 && path_set_has_key(&planner->edited, key))
		u64_set_add(&c->seen, object.o.ino);
	reach_close(planner->j, &reach);
	return r == -ENOENT || r == -EACCES ? 0 : MIN(r, 0);
}

/* ---- steps ------------------------------------------------------------------------------------
 */

/* Returns whether the image shows a state that newer steps left, which were redone with this one.
 */
static bool is_others(const struct comparison *c, const struct after_image *p)
{
	return !c->p->redo && p->flags & IMAGE_SHARED && !(p->flags & IMAGE_FOREIGN) && !p->earlier;
}

/* Compares the images in a file, or those of the paths in `only` if it is not NULL. Adds paths to
 * `others` if the step's own state of them is in "left". A step without a record for a path, which
 * it created and removed, has no state of its own there: "left" may show a concurrent step's. */
static int compare_images(struct comparison *c, int dir, const char *name,
			  const struct path_set *only, struct path_set *others)
{
	AUTO_IMAGE_READER struct after_image_reader reader;
	struct after_image p;
	int r = after_image_begin(&reader, dir, name);

	while (r >= 0 && (r = after_image_next(&reader, &p)) > 0)
		if (only && !path_set_has_key(only, p.key))
			continue;
		else if (!is_others(c, &p))
			r = compare_one(c, &p);
		else if (others && !(p.flags & IMAGE_PASSING))
			path_set_add_key(others, p.key);
	return r == -ENOENT ? 0 : r;
}

static int compare_step(struct comparison *c, const struct moment *at)
{
	const char *name = c->p->dirs->list[at->step];
	AUTO_CLOSE int dir = store_open_dir(c->p->j, name);
	AUTO_PATH_SET struct path_set others = {0};
	int r = dir;

	c->now = at;
	store_forget_near(c->p->j);
	if (r >= 0)
		r = compare_images(c, dir, "post", NULL, &others);
	if (r == 0 && path_set_count(&others))
		r = compare_images(c, dir, "left", &others, NULL);
	store_forget_near(c->p->j);
	return r < 0 ? history_step_unread(c->p->err, r, strchr(name, '/') + 1) : 0;
}

/* Compares the steps that ended after the record. */
static int compare_until(struct comparison *c, uint64_t seq)
{
	int r = 0;

	while (r == 0 && c->n_done < c->n_moments && c->moments[c->n_done].seq >= seq)
		r = compare_step(c, &c->moments[c->n_done++]);
	return r;
}

static int by_seq(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;

	return x->seq > y->seq ? -1 : x->seq < y->seq;
}

/* Finds the record that says where the step ended. Without it (a store of an older version, a step
 * that was rolled back as it ended), takes the last record, if a redo has written it anew, or else
 * the summary's number. */
static void find_end(const struct undo_log *log, struct moment *m)
{
	size_t at = undo_log_tail(log);
	struct rec r;

	m->limit = UINT64_MAX;
	for (bool first = true; undo_log_last(log, at, &r, &at); first = false) {
		if (r.type == REC_END) {
			m->limit = m->seq = r.seq;
			return;
		}
		if (first)
			m->seq = MAX(m->seq, r.seq);
	}
}

static uint64_t first_of(const struct undo_log *log)
{
	struct rec r = {0};
	size_t at = 0;

	while (undo_log_next(log, &at, &r) && r.type == REC_STEP)
		;
	return r.seq;
}

static int find_moment(struct comparison *c, size_t i, struct moment *ret)
{
	AUTO_CLOSE int dir = store_open_dir(c->p->j, c->p->dirs->list[i]);
	const struct undo_log *log = &c->p->logs[i];
	int r = dir < 0 ? dir : summary_seq(dir, &ret->seq);

	ret->step = i;
	ret->first = first_of(log);
	if (c->p->redo)
		ret->seq = ret->limit = UINT64_MAX;
	else
		find_end(log, ret);
	return r < 0 ? history_step_unread(c->p->err, r, strchr(c->p->dirs->list[i], '/') + 1) : 0;
}

/* Called for what the tree shows without an after-image. */
static bool found(void *data, const struct vfind *find)
{
	struct comparison *c = data;
	struct planner *p = c->p;
	int root = find->root;
	bool lies = find->what == VFIND_LEFT || find->what == VFIND_IN_WAY;
	AUTO_FREE char *now = lies ? xstrdup(find->path)
				   : renames_now(&p->moves, find->by->seq, &root, find->path);
	AUTO_FREE char *key = path_key_make(root, now);
	bool ours = path_set_has_key(&p->places, key);

	if (find->what == VFIND_LINKED)
		return !is_fine(c, find, key);
	if (find->what == VFIND_WRITTEN && path_set_add_key(&c->names, key))
		u64_set_add(&c->edited, find->ino);
	else if (find->what == VFIND_WRITTEN)
		return false;
	else if (!ours && path_set_add_key(&p->named, key))
		plan_entry(p, root, now, 'D', true);
	else if (ours && find->what != VFIND_IN_WAY)
		add_edit(c, key, false);
	return ours && find->what == VFIND_IN_WAY;
}

/* A file that was compared under another name was found there. */
static void add_linked(struct comparison *c)
{
	u64_set_sort(&c->seen);
	for (size_t i = 0; i < c->edited.n; i++) {
		if (u64_set_have(&c->seen, c->edited.list[i]))
			continue;
		path_set_add_key(&c->p->linked, path_set_key(&c->names, i));
		add_edit(c, path_set_key(&c->names, i), false);
	}
}

/* Open steps have no after-images. */
static int begin(struct comparison *c)
{
	struct planner *p = c->p;
	int r = 0;

	c->moments = xcalloc(p->dirs->n + 1, sizeof(*c->moments));
	for (size_t i = 0; r == 0 && i < p->dirs->n; i++) {
		log_written(&p->logs[i], &c->tree.written);
		if (!p->open)
			r = find_moment(c, i, &c->moments[c->n_moments++]);
	}
	u64_set_sort(&c->tree.written);
	qsort(c->moments, c->n_moments, sizeof(*c->moments), by_seq);
	return r == 0 && !p->open ? after_image_each(p->j, NULL, NULL, add_foreign, c) : r;
}

static void end(struct comparison *c)
{
	for (size_t i = 0; i < c->n_moments; i++) {
		path_set_done(&c->moments[i].touched);
		free(c->moments[i].since);
	}
	free(c->moments);
	image_stamps_done(&c->stamps);
	path_set_done(&c->foreign);
	free(c->foreign_seq);
	u64_set_done(&c->seen);
	u64_set_done(&c->edited);
	path_set_done(&c->names);
	path_set_done(&c->fine);
	tree_done(&c->tree);
}

int plan_compare(struct planner *p)
{
	struct comparison c = {.p = p,
			       .tree = {.j = p->j,
					.dirs = p->dirs,
					.found = found,
					.below = -1,
					.data = &c,
					.key = BUF_INIT,
					.path = BUF_INIT}};
	struct undo_log_back walk = undo_log_back_begin(p->logs, p->dirs->n);
	struct rec rec = {0};
	int r = begin(&c);

	while (r == 0 && undo_log_back(&walk, &rec)) {
		r = compare_until(&c, rec.seq);
		if (r == 0)
			tree_reverse(&c.tree, &rec, walk.log);
	}
	if (r == 0)
		r = compare_until(&c, 0);
	if (r == 0)
		add_linked(&c);
	undo_log_back_end(&walk);
	end(&c);
	return r;
}
