/* place - the target of a path argument: a folder's directory and a name, or a path outside. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/door/place.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "backends/linux/door/call.h"
#include "backends/linux/door/state.h"
#include "core/base/path.h"
#include "core/journal/fs/object.h"

void place_done(struct place *p)
{
	util_close_fd(&p->fd);
	util_close_fd(&p->seen);
	p->fd = p->seen = -1;
}

/* Asks policy about a place outside. A place on a mount that was made inside is not the host's:
 * there is nothing to ask, grant or report, and the mount alone decides. */
int place_outside(struct ldoor *d, const struct caller *c, const struct place *p)
{
	return p->nested ? 0 : folder_outside(d->k, c, p->text);
}

int place_granted(int got)
{
	return got == 1 ? DOOR_AGAIN : got;
}

void place_text(const struct place *p, char *out, size_t size)
{
	const char *name;

	if (p->folder == NULL) {
		snprintf(out, size, "%s", p->text);
		return;
	}
	name = p->at.name[0] != '\0' || p->at.leaf == NULL ? p->at.name : p->at.leaf;
	snprintf(out, size, "%s%s%s%s%s", folder_path(p->folder), p->at.dir[0] != '\0' ? "/" : "",
		 p->at.dir, name[0] != '\0' ? "/" : "", name);
}

bool place_is_own(const struct ldoor *d, const struct place *p)
{
	for (const char *const *own = d->floor.own; own && *own; own++)
		if (p->folder == NULL && path_is_beneath(p->text, *own))
			return true;
	return false;
}

/*
 * Returns whether a file without a name may be changed. It may be a file of the undo store, which
 * holds replaced files. Without mounts the caller may also have opened it for reading and then
 * removed this one of its names. So it may be changed if it has no name left, or if the journal has
 * its old state.
 */
bool place_orphan_is_kept(const struct caller *c, const struct place *p)
{
	struct object o;

	return p->st.st_nlink == 0 ||
	       (object_stat(p->at.dirfd, "", &o) == 0 && folder_has_inode(p->folder, c, &o));
}
