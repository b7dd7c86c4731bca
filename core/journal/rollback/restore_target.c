/* restore_target - the path to which a restore brings an object. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/rollback/restore_target.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/journal/fs/object.h"
#include "core/journal/history.h"
#include "core/journal/history/content.h"
#include "core/journal/op.h"
#include "core/journal/rollback/restore.h"
#include "core/journal/steps.h"
#include "core/journal/store/placed.h"
#include "core/journal/store/roots.h"

void target_done(struct target *t)
{
	util_close_fd(&t->fd);
	free(t->path);
	free(t->dir);
}

int target_find(struct restore *r, int root, const char *path, struct target *t)
{
	const char *slash;
	struct spot spot;
	int e;

	t->path = xstrdup(path);
	slash = strrchr(t->path, '/');
	e = root_find(r->j, root, t->path, &spot);
	if (e < 0)
		return e;
	t->fd = object_open(spot.fd, "");
	if (t->fd < 0)
		return t->fd;
	t->dir = xstrndup(t->path, slash ? (size_t)(slash - t->path) : 0);
	t->at = (struct at){
		.root = root, .dirfd = t->fd, .dir = t->dir, .name = slash ? slash + 1 : t->path};
	t->at.leaf = ""; /* for the root itself, whose name is "" */
	return object_stat(t->fd, t->at.name, &t->now);
}

int target_clear(struct restore *r, struct target *t)
{
	int e;

	if (!t->now.mode)
		return 0;
	e = S_ISDIR(t->now.mode) ? op_rmdir(r->s, &t->at, NULL) : op_unlink(r->s, &t->at, NULL);
	store_forget_near(r->j);
	return e;
}

/* Recreates a directory with the metadata that the step left, if known. Removes another object at
 * its path. */
static int make_parent(struct restore *r, int root, const char *path, struct target *t)
{
	const struct change c = {.root = root,
				 .path = (char *)(uintptr_t)path,
				 .after = {.exists = true, .mode = S_IFDIR}};
	AUTO_CONTENT_ORIGIN struct content_origin o = CONTENT_ORIGIN_NONE;
	struct err ignored = {0};
	struct parent *p;
	int e = target_clear(r, t);

	if (e < 0)
		return e;
	if (content_origin_find(r->j, r->id, &c, true, &o, &ignored) < 0 || o.present)
		return op_mkdir(r->s, &t->at, 0755, NULL);
	r->parents = xrealloc(r->parents, (r->n_parents + 1) * sizeof(*r->parents));
	p = &r->parents[r->n_parents++];
	*p = (struct parent){.root = root, .path = xstrdup(path), .meta = BUF_INIT};
	buf_add(&p->meta, o.meta.data, o.meta.len);
	return op_mkdir(r->s, &t->at, 0700, NULL);
}

/* Recreates missing directories above a path. The step's own were restored before; these were
 * removed later. */
static int make_parents(struct restore *r, int root, const char *path)
{
	AUTO_FREE char *prefix = xstrdup(path);
	int e = 0;

	for (char *slash = strchr(prefix, '/'); e == 0 && slash; slash = strchr(slash + 1, '/')) {
		AUTO_TARGET struct target t = TARGET_NONE;

		*slash = '\0';
		e = target_find(r, root, prefix, &t);
		if (e == 0 && !S_ISDIR(t.now.mode))
			e = make_parent(r, root, prefix, &t);
		*slash = '/';
	}
	return e;
}

int target_make(struct restore *r, int root, const char *path, struct target *t)
{
	int e = make_parents(r, root, path);

	return e < 0 ? e : target_find(r, root, path, t);
}

/* Uses the descriptor, whatever object has the name. */
struct at target_object(const struct target *t, int fd)
{
	struct at at = t->at;

	at.dirfd = fd;
	at.leaf = at.name;
	at.name = "";
	return at;
}

/* Returns a struct at beside the target, with an unused name. */
struct at target_beside(struct restore *r, const struct target *t, char name[64])
{
	struct at at = t->at;

	snprintf(name, 64, ".cordon-restore-%lld-%u", (long long)step_id(r->s), r->tmp++);
	at.name = name;
	return at;
}

/* Sets the attributes of an object that other processes can already write to, unless another object
 * has its name. */
int target_set_attrs(struct restore *r, const struct target *t, struct span meta)
{
	AUTO_CLOSE int fd = object_open(t->at.dirfd, t->at.name);
	const struct at at = target_object(t, fd);
	struct object o;
	int e = fd < 0 ? fd : object_stat(fd, "", &o);

	if (e < 0 || !object_same(&o, &t->now))
		return e;
	e = op_set_attrs(r->s, &at, meta);
	if (e == 0)
		placed_dressed(r->j, fd, &t->now, meta);
	return e;
}
