/* predicted_result - predicts what will be at a path after a rollback. */
/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <string.h>

#include "core/base/path.h"
#include "core/journal/fs/object.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback/undo.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"

/*
 * A rollback ends with the oldest record, in any step's log: steps may be concurrent, and a step
 * that was undone and redone alone has younger records than a later step. So the oldest record
 * about a name decides which object is there in the end. If that object had another name before,
 * the same search is done for that name, among the younger records.
 */

struct name {
	int root;
	char *path;
	uint64_t seq; /* of the record that led to this name */
};

/* Returns the rest of path behind dir: "" for dir itself, "/x" below it, else NULL. */
static const char *rest_of(const struct name *n, int root, const char *dir)
{
	size_t len = strlen(dir);

	if (n->root != root || strncmp(n->path, dir, len) != 0 ||
	    (n->path[len] && n->path[len] != '/'))
		return NULL;
	return n->path + len;
}

static bool is_about(const struct rec *r, const struct name *n)
{
	const char *rest = rest_of(n, r->root, r->path);
	bool above = rest && *rest;

	if (rest && (!above || (r->type != REC_META && r->type != REC_CONTENT)))
		return true;
	return r->path2[0] && rest_of(n, r->root2, r->path2);
}

static bool oldest(const struct emptied *e, const struct name *n, struct rec *ret, size_t *ret_log)
{
	struct undo_log_walk at = {0};
	bool found = false;
	struct rec r;

	while (undo_log_walk(e->logs, e->dirs->n, &at, &r)) {
		if (rec_is_idle(&r) || r.seq <= n->seq || (found && r.seq >= ret->seq) ||
		    !is_about(&r, n))
			continue;
		found = true;
		*ret = r;
		*ret_log = at.log;
	}
	return found;
}

/* Returns the mode of the object in the slot; 0: there is none, and the record changes nothing. */
static mode_t kept(struct journal *j, const char *stepdir, uint64_t slot)
{
	AUTO_FREE char *dir = path_join(stepdir, "obj");
	AUTO_CLOSE int fd = store_open_dir(j, dir);
	struct object o = {0};
	char name[24];

	store_slot_name(name, slot);
	return fd < 0 || object_stat(fd, name, &o) < 0 ? OBJECT_UNSEEN : o.mode;
}

/* Continues with the record's other name, if the object comes from it. Else returns false. */
static bool go_on(struct name *n, const struct rec *r)
{
	bool itself = str_eq(n->path, r->path) || str_eq(n->path, r->path2);

	return (itself || r->flags & REC_DIRECTORY) && rec_carry(r, &n->root, &n->path);
}

static bool is_file_now(struct journal *j, const struct name *n)
{
	struct spot at;
	struct object o;
	int r;

	store_forget_near(j);
	r = root_look(j, n->root, n->path, &at, &o);
	store_forget_near(j);
	return r == 0 && o.mode != OBJECT_UNSEEN && S_ISREG(o.mode);
}

bool predicted_is_file(struct journal *j, const struct emptied *e, int root, const char *path)
{
	struct name n = {.root = root, .path = xstrdup(path)};
	bool file = false, known = false;
	struct rec r = {0};
	size_t log = 0;

	while (!known && oldest(e, &n, &r, &log)) {
		mode_t mode = 0;

		n.seq = r.seq;
		switch (r.type) {
		case REC_GONE:
		case REC_XINODE:
			mode = kept(j, e->dirs->list[log], r.slot);
			known = mode != 0;
			file = mode != OBJECT_UNSEEN && S_ISREG(mode) &&
			       str_eq(rest_of(&n, r.root, r.path), "");
			break;
		case REC_CONTENT:
			file = known = true;
			break;
		case REC_RENAME:
		case REC_XCHG:
			known = !go_on(&n, &r);
			break;
		case REC_NEW:
		case REC_DIR_NEW:
		case REC_DIR_GONE:
			known = true;
			break;
		case REC_META:
		case REC_DTIME:
		case REC_STEP:
		case REC_MARK:
		case REC_INTENT:
		case REC_END:
		case REC_TYPES:
			break;
		}
	}
	if (!known)
		file = is_file_now(j, &n);
	free(n.path);
	return file;
}
