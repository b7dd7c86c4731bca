/* target - the target of an operation: its path for the record, its name, its object. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/fs/object.h"
#include "core/journal/journal.h"
#include "core/journal/log/capture.h"
#include "core/journal/step/guarded.h"
#include "core/journal/step/open_files.h"
#include "core/journal/step/step.h"
#include "core/journal/step/target.h"

#include <errno.h>
#include <string.h>

void where_done(struct where *w)
{
	free(w->path);
	free(w->own);
}

static char *join(const char *dir, const char *name)
{
	char *path = xmalloc(strlen(dir) + 1 + strlen(name) + 1);
	char *at = stpcpy(path, dir);

	if (at != path)
		*at++ = '/';
	strcpy(at, name);
	return path;
}

void where_set(struct where *w, const struct at *at)
{
	size_t len = strlen(at->name);

	*w = (struct where){.root = at->root,
			    .dirfd = at->dirfd,
			    .raw = at->name,
			    .bare = at->name,
			    .dir = at->dir};
	if (len == 0) {
		if (at->leaf)
			w->path = *at->leaf ? join(at->dir, at->leaf) : xstrdup(at->dir);
		return;
	}
	while (len > 1 && at->name[len - 1] == '/')
		len--;
	if (at->name[len])
		w->bare = w->own = xstrndup(at->name, len);
	w->plain = str_eq(w->bare, ".") || str_eq(w->bare, "..");
	w->path = join(at->dir, w->bare);
}

int where_look(struct where *w, const struct at *at)
{
	where_set(w, at);
	return obj_stat(w->dirfd, w->bare, &w->obj);
}

int where_touch_dir(struct step *s, const struct where *w)
{
	int r = step_make(s);

	return r < 0 ? r : side_touch_dir(&s->side, w->root, w->dirfd, w->dir);
}

/* What leaves a guarded name is kept by its bytes where somebody may still write to it. */
static int keep_held(struct step *s, const struct where *w)
{
	if (!guarded_name(s->j, w->root, w->path, S_IFREG) ||
	    !guarded_is_held(s->j, w->dirfd, w->bare, &w->obj))
		return 0;
	return step_keep_again(s, w->root, w->path, w->dirfd, w->bare, &w->obj);
}

int where_keep_written(struct step *s, const struct where *w)
{
	AUTO_CLOSE int fd = -1;
	struct writer *known;

	if (!S_ISREG(w->obj.mode))
		return 0;
	known = writer_find(s->j, &w->obj);
	if (!known)
		return keep_held(s, w);
	fd = data_open(s->j, w->dirfd, w->bare);
	if (fd >= 0 && !data_has_writer(fd)) {
		if (!known->once) /* its close is told of yet, by another name */
			writer_drop(s->j, known);
		return 0;
	}
	if (w->obj.nlink > 1 && !writer_seek(s->j, known, w->root, w->path))
		step_mark_incomplete(s, NAME_UNKNOWN);
	known->sought = w->obj.nlink <= 1; /* it may come back by this name alone */
	return step_keep_content(s, w->root, w->path, w->dirfd, w->bare, &w->obj, false);
}

void where_report(struct step *s, const struct where *w, const struct obj *before, bool *touched)
{
	bool first = w->path && step_touch(s, w->root, w->path, before);

	if (touched)
		*touched = first;
}
