/* renew_guarded - replaces files that programs outside put at guarded names by copies. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "core/journal/edits.h"
#include "core/journal/fs/borrow.h"
#include "core/journal/fs/object.h"
#include "core/journal/op.h"
#include "core/journal/step/guarded.h"
#include "core/journal/step/hard_links.h"
#include "core/journal/step/open_files.h"
#include "core/journal/step/step.h"
#include "core/journal/steps.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"
#include "core/os/process.h"

/*
 * Theory of operation. An editor outside saves .envrc by way of a temporary file with a fixed name.
 * A process inside has created that file before, and holds it open: it could still write to the
 * file that now has the protected name. So a copy replaces the file, in a step of its own: the copy
 * is made beside it and renamed over it, and the step keeps the replaced file. Processes inside
 * cannot touch either meanwhile, as this process opens and links for them. Programs outside can: if
 * the file changes before the copy has its name, it is copied again.
 *
 * Whether a process inside has the file open is known from the files opened for them (open_files.c)
 * and from a lease, which the kernel refuses while any process has the file open for writing. A
 * file that only programs outside write to stays.
 */

#define TRIES	   16
#define COPY_STALE 1

struct renewing {
	struct journal *j;
	const char *path; /* the guarded name that was filled */
	const struct journal_filled *by;
	char **paths; /* to be renewed, below the root */
	size_t n;
};

static bool was_opened(struct journal *j, const struct object *o)
{
	struct journal *k = j;

	do {
		if (open_file_find(k, o))
			return true;
	} while ((k = k->sibling) != j);
	return false;
}

static bool is_of_open_step(struct journal *j, const struct object *o)
{
	struct journal *k = j;

	do {
		for (struct step *s = k->open; s; s = s->next)
			if (step_known(s, o) || hard_link_has(s, o))
				return true;
	} while ((k = k->sibling) != j);
	return false;
}

static bool is_written(struct journal *j, int dirfd, const char *name, const struct object *o)
{
	AUTO_CLOSE int fd = -1;

	if (!j->options.off && !was_opened(j, o))
		return false;
	fd = borrow_peek(j, dirfd, name);
	return fd < 0 || object_has_writer(fd);
}

static int look(void *data, const char *rel, int dirfd, const char *name, const struct object *o)
{
	struct renewing *a = data;
	AUTO_FREE char *path = xasprintf("%s%s%s", a->path, *rel ? "/" : "", rel);

	if (!S_ISREG(o->mode) || a->by->is_theirs(a->by->data, path, o))
		return 0;
	if (!is_written(a->j, dirfd, name, o)) {
		if (o->nlink < 2)
			return 0;
		/* A rollback of that step may write to it through its other name. */
		if (!is_of_open_step(a->j, o)) {
			a->by->remember(a->by->data, path, dirfd, name);
			return 0;
		}
	}
	if (a->n % 16 == 0)
		a->paths = xrealloc(a->paths, (a->n + 16) * sizeof(*a->paths));
	a->paths[a->n++] = take_ptr(&path);
	return 0;
}

/* ---- a copy ----------------------------------------------------------------------------------
 */

static bool is_unchanged(const struct at *at, const struct object *was)
{
	struct object now;

	return object_stat(at->dirfd, at->name, &now) == 0 && object_same(&now, was) &&
	       now.size == was->size && now.mtime_ns == was->mtime_ns &&
	       now.ctime_ns == was->ctime_ns;
}

/* Copies the file to tmp. Returns COPY_STALE if it has changed meanwhile. *was: its copied
 * state. */
static int copy_once(struct step *s, const struct at *at, const struct at *tmp, struct object *was)
{
	AUTO_BUF struct buf meta = BUF_INIT;
	AUTO_CLOSE int from = borrow_open_file(s->j, at->dirfd, at->name);
	AUTO_CLOSE int object = object_open(at->dirfd, at->name);
	AUTO_CLOSE int to = -1;
	struct object there;
	int r = from < 0 ? from : object < 0 ? object : object_stat(from, "", was);

	if (r == 0)
		r = object_stat(object, "", &there);
	if (r == 0)
		r = object_same(was, &there) ? attributes_read(s->j, object, &meta) : -ESTALE;
	if (r < 0)
		return r;
	to = op_open(s, tmp, O_WRONLY | O_CREAT | O_EXCL, 0600, NULL);
	if (to < 0)
		return take_fd(&to);
	r = object_copy_data(from, to);
	if (r >= 0)
		r = attributes_apply_ours(to, (struct span){meta.data, meta.len});
	if (r >= 0)
		r = is_unchanged(at, was) ? 0 : COPY_STALE;
	return r;
}

/* Renames the copy over the file. was: only if the file still has this state; or NULL. */
static int rename_over(struct step *s, const struct at *tmp, const struct at *at,
		       const struct object *was)
{
	int r;

	s->only = was;
	s->careful = was != NULL;
	r = op_rename(s, tmp, at, 0, NULL);
	s->only = NULL;
	return r == -ESTALE ? COPY_STALE : r;
}

/* Replaces the file by a copy. If a program writes to it all the time, the last copy is taken as it
 * is: the step keeps the replaced file. */
static int copy_over(struct step *s, const struct at *at)
{
	int r = COPY_STALE;

	for (int i = 0; r == COPY_STALE; i++) {
		struct at tmp = *at;
		char name[64];
		uint64_t random = 0;
		struct object was;
		int gone;

		/* A name that no other process can guess. */
		if (getrandom(&random, sizeof(random), 0) < 0)
			return -errno;
		snprintf(name, sizeof(name), ".cordon-renew-%016llx", (unsigned long long)random);
		tmp.name = name;
		r = copy_once(s, at, &tmp, &was);
		if (r == 0 || (r == COPY_STALE && i == TRIES))
			r = rename_over(s, &tmp, at, i < TRIES ? &was : NULL);
		if (r == 0)
			return 0;
		gone = op_unlink(s, &tmp, NULL);
		if (gone < 0 && gone != -ENOENT)
			return gone;
	}
	return r;
}

static int renew_one(struct step *s, const char *path)
{
	AUTO_FREE char *own = xstrdup(path);
	AUTO_CLOSE int dir = -1;
	char *slash = strrchr(own, '/');
	struct at at = {.dir = "", .name = own};
	struct spot spot;
	mode_t was;
	int r = root_find(s->j, 0, path, &spot), back;

	if (r == 0)
		r = dir = object_open(spot.fd, "");
	if (r < 0)
		return r;
	at.dirfd = dir;
	if (slash) {
		*slash = '\0';
		at.dir = own;
		at.name = slash + 1;
	}
	r = copy_over(s, &at);
	if (r != -EACCES)
		return r;
	r = borrow_bits(s->j, dir, S_IWUSR | S_IXUSR, &was);
	if (r < 0)
		return r;
	r = copy_over(s, &at);
	back = borrow_return(s->j, dir, was);
	return r < 0 ? r : back;
}

static int renew_all(const struct renewing *a, struct err *err)
{
	AUTO_BUF struct buf shown = BUF_INIT, label = BUF_INIT;
	struct step *s = NULL;
	struct err ignored = {0};
	int r;

	a->by->before(a->by->data);
	text_escape(&shown, a->paths[0], strlen(a->paths[0]));
	buf_fmt(&label, "cordon: a file of its own for %s", shown.data);
	r = journal_begin(a->j, STEP_API, label.data, &s, err);
	store_forget_near(a->j);
	if (r == 0)
		step_spare(s);
	for (size_t i = 0; r == 0 && i < a->n; i++) {
		r = renew_one(s, a->paths[i]);
		if (r == -ENOENT || r == -ENOTDIR || r == -ELOOP || r == -ESTALE)
			r = 0; /* moved meanwhile, and that was seen as well */
		if (r < 0)
			err_set(err, r, "give '%s' a file of its own", shown.data);
	}
	if (s && r == 0)
		return journal_commit(s, 0, err);
	if (s && journal_abort(s, &ignored) < 0)
		r = err_wrap(err, r, "put back");
	return r;
}

int journal_renew_guarded(struct journal *j, const char *path, const struct journal_filled *by,
			  struct err *err)
{
	struct renewing a = {.j = j, .path = path, .by = by};
	struct guarded_walk walk = {.j = j, .path = path, .on = look, .data = &a};
	AUTO_CLOSE int dir = -1;
	struct spot at;
	int r;

	store_forget_near(j);
	r = root_find(j, 0, path, &at);
	if (r == 0)
		r = dir = object_open(at.fd, "");
	if (r >= 0)
		r = guarded_each(&walk, dir, at.name);
	if (r < 0 && r != -ENOENT && r != -ENOTDIR && r != -ELOOP)
		err_set(err, r, "look at what took its name");
	else
		r = a.n ? renew_all(&a, err) : 0;
	for (size_t i = 0; i < a.n; i++)
		free(a.paths[i]);
	free(a.paths);
	return r < 0 ? r : (int)MIN(a.n, (size_t)INT_MAX);
}
