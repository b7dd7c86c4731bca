/* reach - looks at a path below directories of ours that lack search permission. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/fs/reach.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/journal/fs/object.h"
#include "core/journal/store/store.h"

/*
 * Who locks a directory, be it an agent or a human, hides what somebody did in it before. To say
 * that it is as it was left it has to be looked at, so its owner opens the way there as he does to
 * read a file that he may not (borrow_mode.c), and closes it at once.
 */

int way_lend(struct journal *j, struct way *w, const struct spot *at, mode_t bits)
{
	AUTO_CLOSE int fd = obj_open(at->fd, at->name);
	struct obj o;
	mode_t was;
	int r = fd < 0 ? fd : obj_stat(fd, "", &o);

	if (r < 0 || !S_ISDIR(o.mode) || (o.mode & bits) == bits)
		return r;
	r = bits_borrow(j, fd, bits, &was);
	if (r < 0)
		return r;
	w->list = xrealloc(w->list, (w->n + 1) * sizeof(*w->list));
	w->list[w->n++] = (struct way_dir){.fd = take_fd(&fd), .was = was};
	return 0;
}

static int open_dir(struct journal *j, struct way *w, int root, const char *path)
{
	struct spot at;
	int r = spot_find(j, root, path, &at);

	return r < 0 ? r : way_lend(j, w, &at, S_IXUSR);
}

static int open_all(struct journal *j, struct way *w, int root, const char *path)
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

int way_look(struct journal *j, struct way *w, int root, const char *path, struct spot *at,
	     struct obj *o)
{
	int r = spot_look(j, root, path, at, o);

	if (r < 0 || o->mode != OBJ_UNSEEN)
		return r;
	r = open_all(j, w, root, path);
	store_forget_near(j);
	if (r == -EACCES)
		return 0;
	/* It may have gone with the way there. */
	if (r < 0 && r != -ENOENT && r != -ENOTDIR && r != -ELOOP)
		return r;
	return spot_look(j, root, path, at, o);
}

int way_see(struct journal *j, int root, const char *path, struct obj *o)
{
	struct way way = {0};
	struct spot at;
	int r = way_look(j, &way, root, path, &at, o);

	way_close(j, &way);
	return r;
}

void way_close(struct journal *j, struct way *w)
{
	for (size_t i = w->n; i-- > 0;) {
		int r = bits_return(j, w->list[i].fd, w->list[i].was);

		if (r < 0) /* the next start tries again */
			log_warn("journal", "a directory of '%s' keeps a mode that was lent: %s",
				 j->folder, strerror(-r));
		close(w->list[i].fd);
	}
	if (w->n) /* what lies behind is out of reach again */
		store_forget_near(j);
	free(w->list);
	*w = (struct way){0};
}
