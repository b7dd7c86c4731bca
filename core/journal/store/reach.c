/* reach - looks at a path below this user's directories that lack search permission. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/store/reach.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/journal/fs/borrow.h"
#include "core/journal/fs/object.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"

/*
 * A directory without search permission, whether the agent or the user removed it, hides external
 * edits below. To compare its files with their after-images, its owner adds the permission, as for
 * reading a file (borrow_mode.c), and removes it at once.
 */

int reach_open(struct journal *j, struct reach *w, const struct spot *at, mode_t bits)
{
	AUTO_CLOSE int fd = object_open(at->fd, at->name);
	struct object o;
	mode_t was;
	int r = fd < 0 ? fd : object_stat(fd, "", &o);

	if (r < 0 || !S_ISDIR(o.mode) || (o.mode & bits) == bits)
		return r;
	r = borrow_bits(j, fd, bits, &was);
	if (r < 0)
		return r;
	w->list = xrealloc(w->list, (w->n + 1) * sizeof(*w->list));
	w->list[w->n++] = (struct reach_dir){.fd = take_fd(&fd), .was = was};
	return 0;
}

static int open_dir(struct journal *j, struct reach *w, int root, const char *path)
{
	struct spot at;
	int r = root_find(j, root, path, &at);

	return r < 0 ? r : reach_open(j, w, &at, S_IXUSR);
}

static int open_all(struct journal *j, struct reach *w, int root, const char *path)
{
	AUTO_FREE char *prefix = xstrdup(path);
	int r = open_dir(j, w, root, "");

	for (char *slash = strchr(prefix, '/'); r == 0 && slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		r = open_dir(j, w, root, prefix);
		*slash = '/';
	}
	return r;
}

int reach_look(struct journal *j, struct reach *w, int root, const char *path, struct spot *at,
	       struct object *o)
{
	int r = root_look(j, root, path, at, o);

	if (r < 0 || o->mode != OBJECT_UNSEEN)
		return r;
	r = open_all(j, w, root, path);
	store_forget_near(j);
	if (r == -EACCES)
		return 0;
	/* The path may not exist, nor a directory above it. */
	if (r < 0 && r != -ENOENT && r != -ENOTDIR && r != -ELOOP)
		return r;
	return root_look(j, root, path, at, o);
}

int reach_see(struct journal *j, int root, const char *path, struct object *o)
{
	struct reach reach = {0};
	struct spot at;
	int r = reach_look(j, &reach, root, path, &at, o);

	reach_close(j, &reach);
	return r;
}

void reach_close(struct journal *j, struct reach *w)
{
	for (size_t i = w->n; i-- > 0;) {
		int r = borrow_return(j, w->list[i].fd, w->list[i].was);

		if (r < 0) /* the next start tries again */
			log_warn("journal",
				 "a directory in '%s' keeps the permissions that cordon gave it "
				 "for a moment: %s",
				 j->folder, strerror(-r));
		close(w->list[i].fd);
	}
	if (w->n) /* files below are out of reach again */
		store_forget_near(j);
	free(w->list);
	*w = (struct reach){0};
}
