/* overlays - keeps or removes the changes in copy-on-write directories. */
/* SPDX-License-Identifier: MIT */
#include "core/session/start/overlays.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/log.h"
#include "core/base/path.h"

char *overlay_dir(const char *state_dir, const char *session, size_t i, const char *path)
{
	return xasprintf("%s/overlay/%s/%zu-%s", state_dir, session, i, path_base(path));
}

/* Returns whether the mode of the directory itself has changed: an empty upper directory may still
 * hold this change. */
static bool has_other_mode(const char *upper, const char *path)
{
	struct stat st, host;

	return stat(upper, &st) == 0 && stat(path, &host) == 0 &&
	       (st.st_mode & 07777) != (host.st_mode & 07777);
}

void overlay_drop_work(const char *dir)
{
	AUTO_FREE char *work = path_join(dir, "work");
	AUTO_FREE char *shut = path_join(work, "work");
	int r;

	chmod(shut, 0700);
	r = io_remove_tree(AT_FDCWD, work);
	if (r < 0 && r != -ENOENT)
		log_warn("overlay", "remove '%s': %s", work, strerror(-r));
}

bool overlay_drop_empty(const char *dir)
{
	AUTO_FREE char *upper = path_join(dir, "upper");

	overlay_drop_work(dir);
	if (rmdir(upper) < 0 && errno != ENOENT)
		return false;
	rmdir(dir);
	return true;
}

/* Removes a layer that is empty. Returns false if it has changes. */
static bool drop(const char *dir, const char *path)
{
	AUTO_FREE char *upper = path_join(dir, "upper");

	if (!has_other_mode(upper, path))
		return overlay_drop_empty(dir);
	overlay_drop_work(dir);
	return false;
}

void overlays_settle(const char *state_dir, const char *session, char *const *paths,
		     struct buf *kept)
{
	AUTO_FREE char *all = path_join(state_dir, "overlay");
	AUTO_FREE char *mine = path_join(all, session);

	if (!paths || !paths[0])
		return;
	for (size_t i = 0; paths[i]; i++) {
		AUTO_FREE char *dir = overlay_dir(state_dir, session, i, paths[i]);

		if (!drop(dir, paths[i]) && kept)
			buf_fmt(kept, "%s: changes are kept in %s/upper\n", paths[i], dir);
	}
	rmdir(mine);
	rmdir(all);
}
